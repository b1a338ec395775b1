"""Completion of words in a shell: runs, namespaces, pods and containers of the runs that live.

A shell waits for it at each press of a key: who doesn't answer within half a second has nothing to offer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from click.shell_completion import CompletionItem

if TYPE_CHECKING:
    import click

    from kubelet_emu.cli.remote.views import Object

PATIENCE_SECONDS = 0.5


def complete_runs(ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Offer the ids of runs that keep their state."""
    from kubelet_emu.cli.remote.target import target_of
    from kubelet_emu.control.places import RunFacts, folders

    found = (RunFacts.read(each) for each in folders(target_of(ctx.params).root))
    return [CompletionItem(each.id, help=" ".join(each.manifests)) for each in found if each.id.startswith(incomplete)]


def complete_namespaces(ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Offer the namespaces that have pods."""
    return _items({str(_metadata(pod)["namespace"]) for pod in _pods(ctx, None)}, incomplete)


def complete_pods(ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Offer the names of pods of the namespace."""
    names = {str(_metadata(pod)["name"]) for pod in _pods(ctx, str(ctx.params.get("namespace") or "default"))}
    return _items(names, incomplete)


def complete_containers(ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Offer the containers of the pod that was named, or of all."""
    from kubelet_emu.cli.remote.containers import all_containers

    wanted = ctx.params.get("pod")
    pods = _pods(ctx, str(ctx.params.get("namespace") or "default"))
    found = [pod for pod in pods if wanted in {None, _metadata(pod)["name"]}]
    return _items({name for pod in found for name in all_containers(pod)}, incomplete)


def complete_kinds_and_pods(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Offer kinds, then names of pods."""
    from kubelet_emu.cli.remote.kinds import KINDS

    if not ctx.params.get("kind"):
        return _items({kind.resource.partition(".")[0] for kind in KINDS}, incomplete)
    return complete_pods(ctx, param, incomplete)


def _items(names: set[str], incomplete: str) -> list[CompletionItem]:
    return [CompletionItem(name) for name in sorted(names) if name.startswith(incomplete)]


def _metadata(pod: Object) -> Object:
    return cast("Object", pod["metadata"])


def _pods(ctx: click.Context, namespace: str | None) -> list[Object]:
    """Return the pods of the run that is meant; none when that can't be told at once."""
    import trio

    from kubelet_emu.cli.failures import InputError
    from kubelet_emu.cli.remote.finding import open_run
    from kubelet_emu.cli.remote.target import target_of
    from kubelet_emu.control.errors import ControlError

    async def ask() -> list[Object]:
        with trio.move_on_after(PATIENCE_SECONDS):
            async with open_run(target_of(ctx.params)) as view:
                return await view.list("Pod", namespace)
        return []

    try:
        return trio.run(ask)
    except (InputError, ControlError, OSError):
        return []
