"""Completion of words in a shell: runs, namespaces, pods and containers of the runs that live.

A shell waits for it at each press of a key: who doesn't answer within half a second has nothing to offer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    import click
    from click.shell_completion import CompletionItem

    from kubelet_emu.cli.remote.views import Object

PATIENCE_SECONDS = 0.5


def complete_files(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Have the shell offer files and folders."""
    return [_item(incomplete, "file")]


def complete_pods_and_files(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Offer the names of pods, and files."""
    return [*complete_pods(ctx, param, incomplete), *complete_files(ctx, param, incomplete)]


def complete_runs(ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Offer the ids of runs that keep their state."""
    from kubelet_emu.cli.remote.target import target_of
    from kubelet_emu.control.places import RunFacts, folders

    try:
        places = folders(target_of(ctx.params).root)
    except OSError:  # another user's
        return []
    found = (RunFacts.read(each) for each in places)
    return [_item(each.id, text=" ".join(each.manifests)) for each in found if each.id.startswith(incomplete)]


def complete_namespaces(ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Offer the namespaces that have pods."""
    return _items({str(_metadata(pod)["namespace"]) for pod in _objects(ctx, "Pod", None)}, incomplete)


def complete_pods(ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Offer the names of pods of the namespace."""
    return _items(_names(ctx, "Pod"), incomplete)


def complete_containers(ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Offer the containers of the pod that was named, or of all."""
    from kubelet_emu.cli.remote.containers import all_containers

    pod_word = ctx.params.get("pod")
    wanted = None if pod_word is None else str(pod_word).rpartition("/")[2]
    pods = _objects(ctx, "Pod", str(ctx.params.get("namespace") or "default"))
    found = [pod for pod in pods if wanted in {None, _metadata(pod)["name"]}]
    return _items({name for pod in found for name in all_containers(pod)}, incomplete)


def complete_resources(ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Offer the names of pods, or of the objects of a type for `TYPE/NAME`."""
    from kubelet_emu.cli.remote.kinds import POD, kind_of

    word, slash, _ = incomplete.rpartition("/")
    kind = kind_of(word) if slash else POD
    return [] if kind is None else _items({f"{word}{slash}{name}" for name in _names(ctx, kind.name)}, incomplete)


def complete_kinds_and_names(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Offer kinds, or TYPE/NAME, then the names of the kind that was named."""
    from kubelet_emu.cli.remote.kinds import KINDS, kind_of

    if "/" in incomplete:
        return complete_resources(ctx, param, incomplete)
    if not (word := ctx.params.get("kind")):
        return _items({kind.resource.partition(".")[0] for kind in KINDS}, incomplete)
    kind = kind_of(str(word))
    return [] if kind is None else _items(_names(ctx, kind.name), incomplete)


def complete_described(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Offer `pod`, `job` and the names of pods, then names of what was said."""
    from kubelet_emu.cli.remote.kinds import kind_of

    words = ctx.params.get("words") or ()
    if words:
        kind = kind_of(str(words[0]))
        return [] if kind is None else _items(_names(ctx, kind.name), incomplete)
    return [*_items({"pod", "job"}, incomplete), *complete_resources(ctx, param, incomplete)]


def complete_outputs(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Offer the words of `-o`."""
    from kubelet_emu.cli.remote.formats import PLAIN, WITH_TEXT

    return _items({*PLAIN, *(f"{each}=" for each in WITH_TEXT)}, incomplete)


def _items(names: set[str], incomplete: str) -> list[CompletionItem]:
    return [_item(name) for name in sorted(names) if name.startswith(incomplete)]


def _item(name: str, kind: str = "plain", text: str | None = None) -> CompletionItem:
    from click.shell_completion import CompletionItem

    return CompletionItem(name, type=kind, help=text)


def _names(ctx: click.Context, kind: str) -> set[str]:
    """Return the names of the objects of a kind in the namespace."""
    found = _objects(ctx, kind, str(ctx.params.get("namespace") or "default"))
    return {str(_metadata(each)["name"]) for each in found}


def _metadata(pod: Object) -> Object:
    return cast("Object", pod["metadata"])


def _objects(ctx: click.Context, kind: str, namespace: str | None) -> list[Object]:
    """Return the objects of the run that is meant; none when that can't be told at once."""
    import trio

    from kubelet_emu.cli.failures import InputError
    from kubelet_emu.cli.remote.finding import open_run
    from kubelet_emu.cli.remote.target import target_of
    from kubelet_emu.control.errors import ControlError

    async def ask() -> list[Object]:
        with trio.move_on_after(PATIENCE_SECONDS):
            async with open_run(target_of(ctx.params)) as view:
                return await view.list(kind, namespace)
        return []

    try:
        return trio.run(ask)
    except (InputError, ControlError, OSError):
        return []
