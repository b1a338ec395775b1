"""`get` and `ps` from their words to their end: a table, objects as JSON or YAML, or a watch of either.

Source: kubectl v1.36 pkg/cmd/get.
"""

from __future__ import annotations

import json
from contextlib import aclosing
from datetime import datetime
from typing import TYPE_CHECKING, cast

import click
from attrs import define, field, frozen

from kubelet_emu.cli.failures import explain
from kubelet_emu.cli.remote.event_cells import is_about
from kubelet_emu.cli.remote.finding import open_view
from kubelet_emu.cli.remote.kinds import EVENTS, POD, Kind, kind_of
from kubelet_emu.cli.remote.other_cells import with_counts
from kubelet_emu.cli.remote.pod_cells import NONE, part
from kubelet_emu.cli.remote.table import Table
from kubelet_emu.cli.remote.views import LiveView
from kubelet_emu.cli.remote.words import Refusal
from kubelet_emu.cli.remote.yaml_text import to_yaml
from kubelet_emu.control.errors import ControlError, Reason

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from kubelet_emu.cli.remote.target import Target
    from kubelet_emu.cli.remote.views import Object, View

NO_RESOURCES = "No resources found"


@frozen(kw_only=True)
class GetRequest:
    """What was asked for. `output` is empty for a table; `about` (kind, name) keeps events of one object alone."""

    kind: Kind = POD
    names: tuple[str, ...] = ()
    everywhere: bool = False
    output: str = ""
    watches: bool = False
    labels: tuple[tuple[str, str], ...] = ()
    about: tuple[str, str] | None = None
    types: frozenset[str] = frozenset()
    has_header: bool = True
    shows_labels: bool = False

    def wants(self, obj: Object) -> bool:
        """Tell whether an object is among those that were asked for."""
        metadata = part(obj, "metadata")
        labels = part(metadata, "labels")
        return (
            (not self.names or metadata.get("name") in self.names)
            and all(labels.get(key) == value for key, value in self.labels)
            and (self.about is None or is_about(obj, *self.about))
            and (not self.types or obj.get("type") in self.types)
        )


async def show(target: Target, request: GetRequest, write: Callable[[str], None]) -> bool:
    """Show what was asked for; tells whether all of it is there, what isn't having been said. InputError."""
    async with open_view(target) as view:
        namespace = None if request.everywhere else target.namespace
        if request.watches:
            if not isinstance(view, LiveView):
                raise Refusal("a run that has ended can't be watched")
            return await Watching(request, write).run(view, namespace)
        found = [each for each in await listed(view, request, namespace) if request.wants(each)]
        await _print(view, request, found, write)
        if not found and not request.names:
            await _say_empty(view, request, namespace)
    return _say_missing(request, found)


async def listed(view: View, request: GetRequest, namespace: str | None) -> list[Object]:
    """Return the objects of a kind; for a table workloads have the counts of their pods."""
    found = await view.list(request.kind.name, namespace)
    if request.output in {"json", "yaml", "name"} or not found or not request.kind.resource.endswith(".apps"):
        return found
    pods, sets = await view.list("Pod", namespace), await view.list("ReplicaSet", namespace)
    return [with_counts(each, pods, sets) for each in found]


async def _print(view: View, request: GetRequest, found: Sequence[Object], write: Callable[[str], None]) -> None:
    if request.output in {"json", "yaml"}:
        if found or not request.names:
            write(as_text(_one_or_list(request, found), request.output))
    elif request.output == "name":
        write("".join(f"{request.kind.singular}/{part(each, 'metadata')['name']}\n" for each in found))
    elif found:
        now = await view.now()
        rows = [row_of(request, each, now) for each in found]
        head = [header_of(request)] if request.has_header else []
        write("".join(f"{line}\n" for line in Table().lines([*head, *rows])))


def _one_or_list(request: GetRequest, found: Sequence[Object]) -> Object:
    if len(request.names) == 1 and len(found) == 1:
        return found[0]
    return {"apiVersion": "v1", "items": list(found), "kind": "List", "metadata": {"resourceVersion": ""}}


def as_text(obj: Object, output: str) -> str:
    """Return an object as JSON or YAML, keys by name."""
    if output == "yaml":
        return to_yaml(obj)
    return json.dumps(obj, indent=4, sort_keys=True, ensure_ascii=False) + "\n"


def header_of(request: GetRequest) -> tuple[str, ...]:
    """Return the head of the table that was asked for."""
    head = request.kind.header(is_wide=request.output == "wide")
    return (
        *(("NAMESPACE",) if request.everywhere else ()),
        *head,
        *(("LABELS",) if request.shows_labels else ()),
    )


def row_of(request: GetRequest, obj: Object, now: datetime) -> tuple[str, ...]:
    """Return the row of an object."""
    metadata = part(obj, "metadata")
    labels = ",".join(f"{key}={value}" for key, value in sorted(part(metadata, "labels").items()))
    return (
        *((str(metadata.get("namespace", "")),) if request.everywhere else ()),
        *request.kind.cells(obj, now, is_wide=request.output == "wide"),
        *((labels or NONE,) if request.shows_labels else ()),
    )


async def _say_empty(view: View, request: GetRequest, namespace: str | None) -> None:
    if request.output in {"json", "yaml", "name"}:
        return
    where = "" if namespace is None else f" in {namespace} namespace."
    click.echo(f"{NO_RESOURCES}{where}", err=True)
    if namespace is not None:
        found = {str(part(each, "metadata").get("namespace")) for each in await view.list(request.kind.name, None)}
        if others := sorted(found - {namespace}):
            click.echo(f"hint: there are some in {', '.join(others)}: -n NAMESPACE, or -A for all", err=True)


def _say_missing(request: GetRequest, found: Sequence[Object]) -> bool:
    have = {part(each, "metadata").get("name") for each in found}
    missing = [name for name in request.names if name not in have]
    say_not_found(request.kind, missing)
    return not missing


def say_not_found(kind: Kind, names: Iterable[str]) -> None:
    """Say of objects that they are not there."""
    for name in names:
        error = ControlError(Reason.NOT_FOUND, f'{kind.resource} "{name}" not found')
        click.echo(explain(error).text, err=True)


@define(eq=False)
class Watching:
    """A watch on its way to the terminal: what there is, then a line for each change."""

    request: GetRequest
    write: Callable[[str], None]
    _table: Table = field(factory=Table, init=False)
    _first: list[tuple[Object, datetime]] | None = field(factory=list, init=False)
    _has_header: bool = field(default=False, init=False)

    async def run(self, view: LiveView, namespace: str | None) -> bool:
        """Show changes until the run ends; tells whether what was asked for by name was there."""
        kind = self.request.kind.name
        is_whole = True
        try:
            async with aclosing(view.client.events("watch", kind=kind, namespace=namespace)) as events:
                async for event in events:
                    is_whole = self._take(event) and is_whole
                    if not is_whole:
                        break
        except ControlError as error:
            if error.reason is not Reason.ENDED:
                raise
        return is_whole

    def _take(self, event: Object) -> bool:
        """Show a change; those from before the watch wait for the last of them, to be one table."""
        now = datetime.fromisoformat(str(event["now"]))
        if event["type"] == "SYNCED":
            first, self._first = self._first or [], None
            self._show(first)
            return _say_missing(self.request, [obj for obj, _ in first])
        obj = cast("Object", event["object"])
        if not self.request.wants(obj):
            return True
        if self._first is not None:
            self._first.append((obj, now))
        else:
            self._show([(obj, now)])
        return True

    def _show(self, found: Sequence[tuple[Object, datetime]]) -> None:
        match self.request.output:
            case "json":
                text = "".join(as_text(obj, "json") for obj, _ in found)
            case "yaml":
                text = "".join(f"---\n{to_yaml(obj)}" for obj, _ in found)
            case "name":
                kind = self.request.kind.singular
                text = "".join(f"{kind}/{part(obj, 'metadata')['name']}\n" for obj, _ in found)
            case _:
                text = self._lines(found)
        self.write(text)

    def _lines(self, found: Sequence[tuple[Object, datetime]]) -> str:
        rows: list[Sequence[str]] = [row_of(self.request, obj, now) for obj, now in found]
        if rows and self.request.has_header and not self._has_header:
            rows.insert(0, header_of(self.request))
            self._has_header = True
        return "".join(f"{line}\n" for line in self._table.lines(rows))


def request_of(kind: Kind, names: tuple[str, ...], given: Mapping[str, object]) -> GetRequest:
    """Return what click parsed as one value; Refusal."""
    about = cast("str | None", given.get("about"))
    types = cast("str | None", given.get("types"))
    if (about or types) and kind is not EVENTS:
        raise Refusal("--for and --types are for events")
    return GetRequest(
        kind=kind,
        names=names,
        everywhere=bool(given.get("everywhere")),
        output=cast("str", given.get("output") or ""),
        watches=bool(given.get("watch")),
        labels=read_labels(cast("str | None", given.get("selector"))),
        about=None if about is None else _about(about),
        types=frozenset((types or "").split(",")) - {""},
        has_header=not given.get("no_headers"),
        shows_labels=bool(given.get("show_labels")),
    )


def _about(word: str) -> tuple[str, str]:
    kind, slash, name = word.partition("/")
    if not slash:
        kind, name = "pod", word
    found = kind_of(kind)
    if found is None or not name:
        raise Refusal(f"--for {word}: use NAME or TYPE/NAME")
    return found.name, name


def read_labels(selector: str | None) -> tuple[tuple[str, str], ...]:
    """Read `KEY=VALUE,...`; Refusal."""
    pairs = []
    for word in (selector or "").split(","):
        key, equals, value = word.replace("==", "=").partition("=")
        if word and (not equals or key.endswith("!")):
            raise Refusal(f"-l {word}: use KEY=VALUE")
        if word:
            pairs.append((key.strip(), value.strip()))
    return tuple(pairs)
