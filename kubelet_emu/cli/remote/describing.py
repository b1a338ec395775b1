"""`describe` from its words to the page. Source: kubectl v1.36 pkg/cmd/describe."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubelet_emu.api.batch_v1 import Job
from kubelet_emu.api.codec import decode_mapping
from kubelet_emu.api.v1 import Pod
from kubelet_emu.cli.remote.finding import open_view
from kubelet_emu.cli.remote.kinds import kind_of
from kubelet_emu.cli.remote.pod_cells import part
from kubelet_emu.cli.remote.words import Refusal
from kubelet_emu.control.errors import ControlError, Reason
from kubelet_emu.printers.describe import describe_pod
from kubelet_emu.printers.describe_job import describe_job

if TYPE_CHECKING:
    from datetime import datetime

    from kubelet_emu.cli.remote.target import Target
    from kubelet_emu.cli.remote.views import Object

_RESOURCES = {"Pod": "pods", "Job": "jobs.batch"}


def read_words(words: tuple[str, ...]) -> tuple[str, str]:
    """Return kind and name of `NAME`, `KIND/NAME` or `KIND NAME`; Refusal."""
    first, slash, rest = words[0].partition("/")
    word, names = (first, (rest,)) if slash else (first, words[1:]) if len(words) > 1 else ("pod", words)
    found = kind_of(word)
    if found is None:
        raise Refusal(f'the server doesn\'t have a resource type "{word}"')
    if found.name not in _RESOURCES or len(names) != 1 or (slash and len(words) > 1):
        raise Refusal("describe shows one pod or one Job: NAME, pod/NAME or job/NAME")
    return found.name, names[0]


async def describe(target: Target, kind: str, name: str, show_events: bool) -> str:  # noqa: FBT001 - trio.run hands it on
    """Return the page of an object; InputError, ControlError (NotFound)."""
    async with open_view(target) as view:
        found = await view.list(kind, target.namespace, name)
        if not found:
            raise ControlError(Reason.NOT_FOUND, f'{_RESOURCES[kind]} "{name}" not found')
        uid = part(found[-1], "metadata").get("uid")
        events = await view.list("Event", target.namespace) if show_events else []
        mine = [each for each in events if part(each, "involvedObject").get("uid") == uid]
        return page_of(kind, found[-1], mine if show_events else None, await view.now())


def page_of(kind: str, obj: Object, events: list[Object] | None, now: datetime) -> str:
    """Return the page of a pod or a Job in its JSON form."""
    if kind == "Job":
        return describe_job(decode_mapping(Job, obj, ignore_unknown=True), events, now)
    return describe_pod(decode_mapping(Pod, obj, ignore_unknown=True), events, now)
