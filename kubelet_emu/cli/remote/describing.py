"""`describe` from its words to its pages. Source: kubectl v1.36 pkg/cmd/describe."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import click
from attrs import frozen

from kubelet_emu.api.batch_v1 import Job
from kubelet_emu.api.codec import decode_mapping
from kubelet_emu.api.v1 import Pod
from kubelet_emu.cli.remote.finding import open_view
from kubelet_emu.cli.remote.kinds import kind_of
from kubelet_emu.cli.remote.ordering import as_listed
from kubelet_emu.cli.remote.pod_cells import part
from kubelet_emu.cli.remote.requests import read_kinds
from kubelet_emu.cli.remote.selectors import ANY, labels_match, read_selector
from kubelet_emu.cli.remote.showing import NO_RESOURCES, say_not_found
from kubelet_emu.cli.remote.words import Refusal
from kubelet_emu.printers.describe import describe_pod
from kubelet_emu.printers.describe_job import describe_job

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from datetime import datetime

    from kubelet_emu.api.meta import LabelSelector
    from kubelet_emu.cli.remote.kinds import Kind
    from kubelet_emu.cli.remote.target import Target
    from kubelet_emu.cli.remote.views import Object, View

_DESCRIBED = frozenset({"Pod", "Job"})
BETWEEN = "\n\n"


@frozen(kw_only=True)
class DescribeRequest:
    """What was asked for; a kind without names is all of its objects."""

    asked: tuple[tuple[Kind, tuple[str, ...]], ...]
    labels: LabelSelector = ANY
    everywhere: bool = False
    shows_events: bool = True


def request_of(words: tuple[str, ...], given: Mapping[str, object]) -> DescribeRequest:
    """Return what click parsed as one value: `POD`, `KIND`, `KIND NAME...` or `KIND/NAME...`; Refusal."""
    selector = cast("str | None", given.get("selector"))
    is_name = len(words) == 1 and not any(sign in words[0] for sign in "/,") and kind_of(words[0]) is None
    asked = read_kinds(("pods", *words) if is_name or not words else words)
    if any(kind.name not in _DESCRIBED for kind, _ in asked):
        raise Refusal("describe shows pods and Jobs: NAME, pod/NAME or job/NAME")
    if selector and any(names for _, names in asked):
        raise Refusal("name cannot be provided when a selector is specified")
    return DescribeRequest(
        asked=asked,
        labels=read_selector(selector),
        everywhere=bool(given.get("everywhere")),
        shows_events=bool(given.get("show_events")),
    )


async def describe(target: Target, request: DescribeRequest, write: Callable[[str], None]) -> bool:
    """Write the page of each object; tells whether all that were named are there, what isn't having been said."""
    async with open_view(target) as view:
        return await describe_of(view, None if request.everywhere else target.namespace, request, write)


async def describe_of(
    view: View, namespace: str | None, request: DescribeRequest, write: Callable[[str], None]
) -> bool:
    """Write the pages of objects of a run; tells whether all that were named are there. ControlError."""
    found: list[Object] = []
    missing: list[tuple[Kind, str]] = []
    alike: list[Object] = []
    for kind, names in request.asked:
        objects = as_listed(
            each for each in await view.list(kind.name, namespace) if labels_match(request.labels, each)
        )
        found += [each for each in objects if not names]
        for name in names:
            mine = [each for each in objects if _name(each) == name]
            found += mine
            missing += [] if mine else [(kind, name)]
            alike = [each for each in objects if _name(each).startswith(name)]
    events = await view.list("Event", namespace) if request.shows_events else None
    now = await view.now()
    if not found and len(missing) == 1 and alike:
        write("".join(f"{_page(each, events, now)}\n" for each in alike))
        return True
    write(BETWEEN.join(_page(each, events, now) for each in found))
    for kind, name in missing:
        say_not_found(kind, [name])
    if not found and not missing:
        click.echo(f"{NO_RESOURCES}{'' if namespace is None else f' in {namespace} namespace.'}", err=True)
    return not missing


def _page(obj: Object, events: list[Object] | None, now: datetime) -> str:
    uid = part(obj, "metadata").get("uid")
    mine = None if events is None else [each for each in events if part(each, "involvedObject").get("uid") == uid]
    return page_of(str(obj["kind"]), obj, mine, now)


def _name(obj: Object) -> str:
    return str(part(obj, "metadata").get("name", ""))


def page_of(kind: str, obj: Object, events: list[Object] | None, now: datetime) -> str:
    """Return the page of a pod or a Job in its JSON form."""
    if kind == "Job":
        return describe_job(decode_mapping(Job, obj, ignore_unknown=True), events, now)
    return describe_pod(decode_mapping(Pod, obj, ignore_unknown=True), events, now)
