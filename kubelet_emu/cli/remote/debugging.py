"""`debug` from its words to its end: an ephemeral container in a pod, and this terminal attached to it.

Source: kubectl v1.36 pkg/cmd/debug.
"""

from __future__ import annotations

import random
from contextlib import aclosing
from typing import TYPE_CHECKING, cast

import click
from attrs import frozen

from kubelet_emu.api.image_names import InvalidImageNameError, parse_image_name
from kubelet_emu.cli.remote.attachable import Wanted, name_of
from kubelet_emu.cli.remote.attaching import AttachRequest, attach_to
from kubelet_emu.cli.remote.containers import all_containers
from kubelet_emu.cli.remote.detaching import DetachKeys
from kubelet_emu.cli.remote.finding import open_run
from kubelet_emu.cli.remote.views import get_pod
from kubelet_emu.cli.remote.words import Refusal, write_out
from kubelet_emu.cluster.cluster import SUFFIX_ALPHABET, SUFFIX_LENGTH

if TYPE_CHECKING:
    from kubelet_emu.cli.remote.target import Target
    from kubelet_emu.cli.remote.views import LiveView, Object


@frozen(kw_only=True)
class DebugRequest:
    """What was asked for; without a name of its own the container gets one."""

    pod: str
    image: str
    container: str | None = None
    target: str | None = None
    pull_policy: str | None = None
    command: tuple[str, ...] = ()
    are_arguments: bool = False
    has_stdin: bool = False
    wants_tty: bool = False
    is_quiet: bool = False
    attaches: bool = False


def check(request: DebugRequest) -> None:
    """Refuse what can't be; Refusal."""
    if not request.image:
        raise Refusal("you must specify --image")
    try:
        parse_image_name(request.image)
    except InvalidImageNameError as error:
        raise Refusal(f'invalid image name "{request.image}": invalid reference format') from error
    if request.wants_tty and not request.has_stdin:
        raise Refusal("-i/--stdin is required for containers with -t/--tty=true")


async def debug(target: Target, request: DebugRequest) -> None:
    """Add the container, and with `attaches` wait for it and attach; Refusal, ControlError, InputError."""
    check(request)
    async with open_run(target) as run:
        await debug_in(run, target.namespace, request)


async def debug_in(run: LiveView, namespace: str, request: DebugRequest) -> None:
    """Do it in a run; Refusal, ControlError."""
    if request.target and not request.is_quiet:
        click.echo(
            f'Targeting container "{request.target}". If you don\'t see processes from this container it may be '
            "because the container runtime doesn't support this feature."
        )
    pod = await get_pod(run, namespace, request.pod)
    container = request.container or _new_name(pod, is_quiet=request.is_quiet)
    await run.client.call(
        "debug",
        namespace=namespace,
        pod=request.pod,
        container=container,
        image=request.image,
        imagePullPolicy=request.pull_policy,
        stdin=request.has_stdin,
        tty=request.wants_tty,
        target=request.target,
        **({"args" if request.are_arguments else "command": list(request.command)} if request.command else {}),
    )
    if request.attaches:
        await _attach(run, namespace, container, request)


def _new_name(pod: Object, *, is_quiet: bool) -> str:
    """Return `debugger-` and five characters, and say so."""
    known = all_containers(pod)
    while True:
        suffix = "".join(random.SystemRandom().choices(SUFFIX_ALPHABET, k=SUFFIX_LENGTH))
        if (name := f"debugger-{suffix}") not in known:
            break
    if not is_quiet:
        click.echo(f"Defaulting debug container name to {name}.")
    return name


async def _attach(run: LiveView, namespace: str, container: str, request: DebugRequest) -> None:
    """Attach once the container runs; show the log of one that has ended by then."""
    pod, has_ended = await _started(run, namespace, request.pod, container)
    if not has_ended:
        wanted = Wanted(resource=request.pod, container=container, is_quiet=request.is_quiet)
        keys = DetachKeys.parse("")
        attaching = AttachRequest(
            wanted=wanted, detach_keys=keys, has_stdin=request.has_stdin, wants_tty=request.wants_tty
        )
        try:
            await attach_to(run, namespace, pod, attaching)
        except Refusal as error:
            said = f"couldn't attach to pod/{name_of(pod)}, falling back to streaming logs: {error.message}"
            click.echo(f"warning: {said}", err=True)
        else:
            return
    async with aclosing(run.logs(namespace, request.pod, container, {"follow": True})) as lines:
        async for line in lines:
            write_out(f"{line['line']}\n" if "line" in line else str(line["text"]))


async def _started(run: LiveView, namespace: str, name: str, container: str) -> tuple[Object, bool]:
    """Return the pod once a container of it runs or has ended, and whether it has; Refusal when the pod goes."""
    client = await run.dial()
    try:
        async with aclosing(client.events("watch", kind="Pod", namespace=namespace, name=name)) as events:
            async for event in events:
                if event["type"] == "DELETED":
                    break
                pod = cast("Object", event.get("object") or {})
                state = _state(pod, container)
                if "running" in state or "terminated" in state:
                    return pod, "terminated" in state
    finally:
        await client.aclose()
    raise Refusal(f'pods "{name}" is gone before container {container} has started')


def _state(pod: Object, container: str) -> Object:
    status = cast("Object", pod.get("status") or {})
    for each in cast("list[Object]", status.get("ephemeralContainerStatuses") or []):
        if each["name"] == container:
            return cast("Object", each.get("state") or {})
    return {}
