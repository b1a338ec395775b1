"""What a second terminal does to a run: delete pods, send signals.

Source: kubectl v1.36 pkg/cmd/delete.
"""

from __future__ import annotations

from contextlib import aclosing
from typing import TYPE_CHECKING, cast

import click
import trio
from attrs import frozen

from kubelet_emu.cli.failures import explain
from kubelet_emu.cli.remote.containers import default_container
from kubelet_emu.cli.remote.finding import open_run
from kubelet_emu.cli.remote.ordering import as_listed
from kubelet_emu.cli.remote.pod_cells import part
from kubelet_emu.cli.remote.selectors import labels_match
from kubelet_emu.cli.remote.views import get_pod
from kubelet_emu.control.errors import ControlError, Reason

if TYPE_CHECKING:
    from kubelet_emu.api.meta import LabelSelector
    from kubelet_emu.cli.remote.target import Target
    from kubelet_emu.cli.remote.views import LiveView, View

FORCED = (
    "Warning: Immediate deletion does not wait for confirmation that the running resource has been terminated. "
    "The resource may continue to run on the cluster indefinitely."
)


@frozen(kw_only=True)
class Deletion:
    """What was asked for: pods by name, or those with `labels`.

    `grace` None is each pod's own, `timeout` None is for ever.
    """

    names: tuple[str, ...] = ()
    labels: LabelSelector | None = None
    grace: int | None = None
    is_forced: bool = False
    waits: bool = True
    timeout: float | None = None
    ignores_missing: bool = False


async def delete_pods(target: Target, deletion: Deletion) -> bool:
    """Delete pods, and wait until all are gone; tell whether all was well, what wasn't having been said."""
    is_well = True
    async with open_run(target) as run:
        if deletion.is_forced and deletion.grace == 0:
            click.echo(FORCED, err=True)
        uids: dict[str, str] = {}
        for name in await names_of(run, target.namespace, deletion):
            try:
                answer = await run.client.call(
                    "delete", namespace=target.namespace, pod=name, gracePeriodSeconds=deletion.grace
                )
            except ControlError as error:
                if error.reason is not Reason.NOT_FOUND or not deletion.ignores_missing:
                    click.echo(explain(error).text, err=True)
                    is_well = False
                continue
            done = "force deleted" if deletion.grace == 0 else "deleted"
            click.echo(f'pod "{name}" {done} from {target.namespace} namespace')
            if not answer["gone"]:
                uids[name] = str(answer["uid"])
        if deletion.waits:
            with trio.move_on_after(float("inf") if deletion.timeout is None else deletion.timeout) as scope:
                for name, uid in uids.items():
                    await _until_gone(run, target.namespace, name, uid)
            if scope.cancelled_caught:
                click.echo(f"error: timed out waiting for the condition on pods/{name}", err=True)
                is_well = False
    return is_well


async def names_of(view: View, namespace: str, deletion: Deletion) -> tuple[str, ...]:
    """Return the names of the pods that are meant."""
    if deletion.labels is None:
        return deletion.names
    labels = deletion.labels
    pods = as_listed(each for each in await view.list("Pod", namespace) if labels_match(labels, each))
    if not pods:
        click.echo("No resources found", err=True)
    return tuple(str(part(each, "metadata")["name"]) for each in pods)


async def _until_gone(run: LiveView, namespace: str, name: str, uid: str) -> None:
    """Return when a pod is gone, or the run is."""
    try:
        client = await run.dial()
    except ControlError as error:
        if error.reason is not Reason.ENDED:
            raise
        return
    try:
        async with aclosing(client.events("watch", kind="Pod", namespace=namespace, name=name)) as events:
            is_there = False
            async for event in events:
                if event["type"] == "SYNCED" and not is_there:
                    return
                if event["type"] == "SYNCED" or _uid(event) != uid:
                    continue
                is_there = event["type"] != "DELETED"
                if not is_there:
                    return
    finally:
        await client.aclose()


def _uid(event: object) -> str:
    obj = cast("dict[str, dict[str, dict[str, str]]]", event)["object"]
    return obj["metadata"].get("uid", "")


async def kill(target: Target, pod: str, container: str | None, signal: str) -> str:
    """Send a signal and return what was done; ControlError, InputError."""
    async with open_run(target) as run:
        found = await get_pod(run, target.namespace, pod)
        if container is None:
            container, said = default_container(found)
            if said:
                click.echo(said, err=True)
        answer = await run.client.call("kill", namespace=target.namespace, pod=pod, container=container, signal=signal)
        return f'{answer["signal"]} sent to container "{container}" of pod "{pod}"'
