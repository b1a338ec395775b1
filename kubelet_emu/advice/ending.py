"""Whether a pod ends by itself, and who keeps it from that.

Source: kubelet v1.36 getPhase (a pod has ended when its mains have; sidecars don't count, KEP-753), KEP-5307, and the
Job controller's pastBackoffLimitOnFailure.
"""

from __future__ import annotations

import enum
from typing import TYPE_CHECKING

from attrs import field, frozen

from kubelet_emu.advice.advices import Advice, Rule, listed, names_of, short, verb
from kubelet_emu.advice.rewriting import as_native_sidecar
from kubelet_emu.advice.starting import starts
from kubelet_emu.advice.subjects import Role

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kubelet_emu.advice.subjects import Part, Subject

_LONGEST_COUNT = 1 << 31
_EXIT_CODES = range(256)


class Ends(enum.Enum):
    """How a pod ends: by its mains, only if some that aren't expected to end do, by a deadline or deletion, or never.

    `NEVER` is certain: a program never ends, is always run again, or something before it never lets it start.
    """

    WITH_MAINS = "withMains"
    IF_KEEPERS_END = "ifKeepersEnd"
    WHEN_DELETED = "whenDeleted"
    NEVER = "never"


@frozen(kw_only=True)
class Ending:
    """How a pod ends. `keepers` are the containers that keep it from ending; `deadline` ends it at the latest."""

    how: Ends
    mains: tuple[Part, ...] = field(repr=False)
    keepers: tuple[Part, ...] = ()
    deadline: int | None = None


def ending_of(subject: Subject) -> Ending:
    """Return how a pod ends by itself."""
    mains, deadline = subject.of(Role.MAIN), deadline_of(subject)
    blocked = next((each.blocked_by for each in starts(subject) if each.blocked_by), "")
    if blocked:
        blockers = tuple(part for part in subject.parts if part.name == blocked)
        return Ending(how=Ends.NEVER, mains=mains, keepers=blockers, deadline=deadline)
    again = tuple(part for part in mains if all(subject.runs_again(part, code) for code in _EXIT_CODES))
    if again:
        all_always = len(again) == len(mains) and subject.spec.restart_policy == "Always"
        how = Ends.WHEN_DELETED if all_always else Ends.NEVER
        return Ending(how=how, mains=mains, keepers=() if all_always else again, deadline=deadline)
    if endless := tuple(part for part in mains if part.program.is_endless):
        return Ending(how=Ends.NEVER, mains=mains, keepers=endless, deadline=deadline)
    doubtful = tuple(part for part in mains if part.program.is_server or subject.runs_again(part, 0))
    how = Ends.IF_KEEPERS_END if doubtful else Ends.WITH_MAINS
    return Ending(how=how, mains=mains, keepers=doubtful, deadline=deadline)


def deadline_of(subject: Subject) -> int | None:
    """Return the seconds after which a pod, or its Job, is ended as failed; None without a deadline."""
    given = (subject.spec.active_deadline_seconds, None if subject.job is None else subject.job.active_deadline_seconds)
    return min((each for each in given if each is not None), default=None)


def keeps_running(subject: Subject) -> Iterator[Advice]:
    """Yield helpers among the mains that keep a pod from ending once its work is done (KE601)."""
    workers, keepers = _workers(subject), _keepers(subject)
    if not workers or not subject.is_to_end:
        return
    for part in keepers:
        rest, are = names_of(workers), verb(workers, "is", "are")
        who = "the Job completes" if subject.job is not None else "the pod ends"
        stays = "the Job doesn't complete" if subject.job is not None else "the pod stays Running"
        if part.program.is_endless:
            text = f"{part.name} never ends (`{short(part.program.text)}`): when {rest} {are} done {stays}"
        else:
            text = f"{part.name} is a server and doesn't end by itself: {who} only if it ends after {rest}, with code 0"
            if subject.restart_policy(part) == "OnFailure":
                text += "; with another code it is run again (OnFailure)"
        yield Advice(
            code="KE601",
            path=part.path,
            text=text,
            hint=f"make {part.name} a native sidecar: move it to initContainers, with restartPolicy: Always",
            change=as_native_sidecar(subject.loaded, subject.spec_path, subject.spec.containers.index(part.container)),
        )


def _workers(subject: Subject) -> tuple[Part, ...]:
    """Return the mains that may be expected to end."""
    mains = subject.of(Role.MAIN)
    return tuple(each for each in mains if not each.program.never_ends and subject.restart_policy(each) != "Always")


def _keepers(subject: Subject) -> tuple[Part, ...]:
    mains = subject.of(Role.MAIN)
    return tuple(each for each in mains if each.program.never_ends and subject.restart_policy(each) != "Always")


def always_again(subject: Subject) -> Iterator[Advice]:
    """Yield mains whose own restartPolicy: Always keeps a pod from ending that is to end (KE602)."""
    for part in subject.of(Role.MAIN):
        if not subject.is_to_end or part.container.restart_policy != "Always":
            continue
        if subject.restart_policy(part) != "Always":
            continue
        yield Advice(
            code="KE602",
            path=f"{part.path}.restartPolicy",
            text=f"restartPolicy: Always on the ordinary container {part.name} runs it again for ever: the pod "
            "never ends",
            hint="a sidecar stands in initContainers; before 1.35 this field is refused or dropped here",
        )


def counts_restarts(subject: Subject) -> Iterator[Advice]:
    """Yield Jobs with OnFailure whose limit is used up by restarts of helpers, too (KE603)."""
    job = subject.job
    if job is None or subject.spec.restart_policy != "OnFailure" or job.backoff_limit_per_index is not None:
        return
    sidecars = subject.of(Role.SIDECAR)
    helpers = (*sidecars, *(_keepers(subject) if _workers(subject) else ()))
    limit = 6 if job.backoff_limit is None else job.backoff_limit
    if helpers and limit < _LONGEST_COUNT - 1:
        workers = [part.name for part in subject.of(Role.MAIN) if part not in helpers]
        names = listed([*(part.name for part in helpers), *workers])
        yield Advice(
            code="KE603",
            path="restartPolicy",
            text=f"with OnFailure the restarts of {names} are added up: "
            f"the Job fails at {max(1, limit)} (backoffLimit {limit})",
            hint="restartPolicy: Never counts failed pods alone: a helper that is run again costs nothing",
        )


def work_never_ends(subject: Subject) -> Iterator[Advice]:
    """Yield Jobs whose whole work never ends (KE604)."""
    mains = subject.of(Role.MAIN)
    if subject.job is None or deadline_of(subject) is not None or not mains:
        return
    if all(each.program.is_endless and subject.restart_policy(each) != "Always" for each in mains):
        part = mains[0]
        yield Advice(
            code="KE604",
            path=f"{part.path}.{'args' if part.container.args else 'command'}",
            text=f"{part.name} never ends (`{short(part.program.text)}`): the Job never completes",
            hint="a Job is for work that ends: use a Deployment, or bound it with activeDeadlineSeconds",
        )


RULES = (
    Rule(code="KE601", title="a helper keeps the pod from ending", find=keeps_running),
    Rule(code="KE602", title="restartPolicy: Always on an ordinary container", find=always_again),
    Rule(code="KE603", title="restarts of helpers count against backoffLimit", find=counts_restarts),
    Rule(code="KE604", title="the work of a Job never ends", find=work_never_ends),
)
