"""`get` and `ps` from what was asked for to their end: tables, objects as text, or a watch of either.

Source: kubectl v1.36 pkg/cmd/get.
"""

from __future__ import annotations

from contextlib import aclosing
from datetime import datetime
from typing import TYPE_CHECKING, cast

import click
from attrs import define, field

from kubelet_emu.cli.failures import explain
from kubelet_emu.cli.remote.event_cells import seen_at
from kubelet_emu.cli.remote.finding import open_view
from kubelet_emu.cli.remote.ordering import as_listed, by_field
from kubelet_emu.cli.remote.other_cells import labels_text, with_counts
from kubelet_emu.cli.remote.pod_cells import part
from kubelet_emu.cli.remote.table import Table
from kubelet_emu.cli.remote.views import LiveView
from kubelet_emu.cli.remote.words import Refusal
from kubelet_emu.cli.remote.workload_watching import watch_workloads
from kubelet_emu.control.errors import ControlError, Reason

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from kubelet_emu.cli.remote.kinds import Kind
    from kubelet_emu.cli.remote.requests import GetRequest
    from kubelet_emu.cli.remote.target import Target
    from kubelet_emu.cli.remote.views import Object, View

NO_RESOURCES = "No resources found"


async def show(target: Target, requests: Sequence[GetRequest], write: Callable[[str], None]) -> bool:
    """Show what was asked for; tells whether all of it is there, what isn't having been said. InputError."""
    async with open_view(target) as view:
        return await show_of(view, None if requests[0].everywhere else target.namespace, requests, write)


async def show_of(
    view: View, namespace: str | None, requests: Sequence[GetRequest], write: Callable[[str], None]
) -> bool:
    """Show what was asked for of a run; tells whether all of it is there. Refusal, ControlError."""
    if requests[0].watches:
        if not isinstance(view, LiveView):
            raise Refusal("a run that has ended can't be watched")
        return await Watching(requests[0], write).run(view, namespace)
    found = [(each, await listed(view, each, namespace)) for each in requests]
    await _print(view, found, write)
    if not any(objects or request.names for request, objects in found):
        await _say_empty(view, requests, namespace)
    missing = [request for request, objects in found if not _say_missing(request, objects)]
    return not missing


async def listed(view: View, request: GetRequest, namespace: str | None) -> list[Object]:
    """Return the objects that are wanted, in their order; for a table workloads have the counts of their pods."""
    found = ordered(request, [each for each in await view.list(request.kind.name, namespace) if request.wants(each)])
    if request.names:
        found.sort(key=lambda each: request.names.index(str(part(each, "metadata").get("name"))))
    if request.sort_by:
        found = by_field(found, request.sort_by)
    if not request.output.is_table or not found or not request.kind.is_workload:
        return found
    pods, sets = await view.list("Pod", namespace), await view.list("ReplicaSet", namespace)
    return [with_counts(each, pods, sets) for each in found]


def ordered(request: GetRequest, objects: Iterable[Object]) -> list[Object]:
    """Return objects in the order of a server's list, of a timeline in that of time."""
    found = as_listed(objects)
    return sorted(found, key=seen_at) if request.kind.is_timeline else found


async def _print(view: View, found: Sequence[tuple[GetRequest, list[Object]]], write: Callable[[str], None]) -> None:
    request = found[0][0]
    if request.output.is_one_text:
        objects = [each for _, of_kind in found for each in of_kind]
        if objects or not any(each.names for each, _ in found):
            write(request.output.text(_one_or_list([name for each, _ in found for name in each.names], objects)))
        return
    now = await view.now()
    texts = [Table().text(_rows(each, objects, now)) for each, objects in found if objects]
    if request.output.name == "custom-columns" and not any(objects for _, objects in found):
        texts = [Table().text(_rows(request, [], now))]
    write(("\n" if request.output.is_table else "").join(texts))


def _rows(request: GetRequest, objects: Sequence[Object], now: datetime) -> list[tuple[str, ...]]:
    head = [header_of(request)] if request.has_header and request.output.name != "name" else []
    return [*head, *(row_of(request, each, now) for each in objects)]


def _one_or_list(names: Sequence[str], found: Sequence[Object]) -> Object:
    if len(names) == 1 and len(found) == 1:
        return found[0]
    return {"apiVersion": "v1", "items": list(found), "kind": "List", "metadata": {"resourceVersion": ""}}


def header_of(request: GetRequest) -> tuple[str, ...]:
    """Return the head of the table that was asked for."""
    if request.output.columns:
        return tuple(column.header for column in request.output.columns)
    return (
        *(("NAMESPACE",) if request.everywhere else ()),
        *request.kind.header(is_wide=request.output.name == "wide"),
        *(label.rpartition("/")[2].upper() for label in request.label_columns),
        *(("LABELS",) if request.shows_labels else ()),
    )


def row_of(request: GetRequest, obj: Object, now: datetime) -> tuple[str, ...]:
    """Return the row of an object; Refusal."""
    metadata = part(obj, "metadata")
    if request.output.name == "name":
        return (f"{request.kind.singular}/{metadata['name']}",)
    if request.output.columns:
        return tuple(column.cell(obj) for column in request.output.columns)
    labels = part(metadata, "labels")
    cells = list(request.kind.cells(obj, now, is_wide=request.output.name == "wide"))
    if request.shows_kind and request.kind.headers[0] == "NAME":
        cells[0] = f"{request.kind.singular}/{cells[0]}"
    return (
        *((str(metadata.get("namespace", "")),) if request.everywhere else ()),
        *cells,
        *(str(labels.get(name, "")) for name in request.label_columns),
        *((labels_text(labels),) if request.shows_labels else ()),
    )


async def _say_empty(view: View, requests: Sequence[GetRequest], namespace: str | None) -> None:
    if not requests[0].output.is_table or requests[0].ignores_missing:
        return
    where = "" if namespace is None else f" in {namespace} namespace."
    click.echo(f"{'No events found' if requests[0].kind.is_timeline else NO_RESOURCES}{where}", err=True)
    if namespace is not None:
        objects = [obj for each in requests for obj in await view.list(each.kind.name, None) if each.wants(obj)]
        found = {str(part(each, "metadata").get("namespace")) for each in objects}
        if others := sorted(found - {namespace}):
            click.echo(f"hint: there are some in {', '.join(others)}: -n NAMESPACE, or -A for all", err=True)


def _say_missing(request: GetRequest, found: Sequence[Object]) -> bool:
    have = {part(each, "metadata").get("name") for each in found}
    missing = [name for name in request.names if name not in have and not request.ignores_missing]
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
        """Show changes until the run ends; tells whether what was asked for by name was there. ControlError."""
        kind = self.request.kind
        if self.request.output.is_table and kind.is_workload:
            return await watch_workloads(view, kind.name, namespace, self._take)
        is_whole = True
        async with aclosing(view.client.events("watch", kind=kind.name, namespace=namespace)) as events:
            async for event in events:
                is_whole = self._take(event) and is_whole
                if not is_whole:
                    break
        return is_whole

    def _take(self, event: Object) -> bool:
        """Show a change; those from before the watch wait for the last of them, to be one table."""
        now = datetime.fromisoformat(str(event["now"]))
        if event["type"] == "SYNCED":
            first, self._first = self._first or [], None
            first = [(each, now) for each in ordered(self.request, [obj for obj, _ in first])]
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
        output = self.request.output
        if output.is_one_text:
            begin = "---\n" if output.name == "yaml" else ""
            self.write("".join(f"{begin}{output.text(obj)}" for obj, _ in found))
            return
        rows: list[Sequence[str]] = [row_of(self.request, obj, now) for obj, now in found]
        if rows and self.request.has_header and output.name != "name" and not self._has_header:
            rows.insert(0, header_of(self.request))
            self._has_header = True
        self.write(self._table.text(rows))
