"""Takes the decisions of a log's syncs again, by today's rules, and says where they would be others.

Compared are the actions of each sync, whether the pod was over, and what the status shows of phase and containers.
Times and addresses aren't, for they are facts and no decisions.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from attrs import field, frozen

from kubelet_emu.journal.trace import state_word
from kubelet_emu.lifecycle.replaying.explaining import because
from kubelet_emu.lifecycle.replaying.fold import RecordedSync, recorded_syncs
from kubelet_emu.lifecycle.replaying.wording import in_words
from kubelet_emu.rules.actions import compute_pod_actions
from kubelet_emu.rules.phase import is_phase_terminal
from kubelet_emu.rules.status_merge import check_container_state_transition
from kubelet_emu.rules.statuses import generate_api_pod_status

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from kubelet_emu.api.v1_status import PodStatus
    from kubelet_emu.journal.encode import Entry
    from kubelet_emu.rules.observed import SyncInput

Decision = Mapping[str, object]

_DECIDING = frozenset({"sync", "terminal"})


@frozen(kw_only=True)
class Difference:
    """A sync that today's rules would decide otherwise; only the parts that differ are in the two decisions.

    `was` and `now` are the two in words.
    """

    pod: str
    sync: int
    at: datetime
    recorded: Decision
    today: Decision
    was: str = ""
    now: str = ""
    because: tuple[str, ...] = ()


@frozen(kw_only=True)
class Skipped:
    """A sync that can't be taken again, and why."""

    pod: str
    sync: int
    at: datetime
    why: str


@frozen(kw_only=True)
class Replay:
    """What came of a replay; `syncs` counts the decisions that were taken again."""

    syncs: int = 0
    differences: tuple[Difference, ...] = ()
    skipped: tuple[Skipped, ...] = field(default=())


def replay(entries: Iterable[Entry]) -> Replay:
    """Take every sync of a log again; ValueError for a log of a Kubernetes version whose rules aren't known."""
    count = 0
    differences: list[Difference] = []
    skipped: list[Skipped] = []
    for each in recorded_syncs(entries):
        if each.record.step not in _DECIDING:
            continue
        if each.sync is None:
            skipped.append(Skipped(pod=_name(each), sync=each.record.n, at=each.at, why=each.missing))
            continue
        count += 1
        found = _compare(each, each.sync)
        if found is not None:
            differences.append(found)
    return Replay(syncs=count, differences=tuple(differences), skipped=tuple(skipped))


def _compare(each: RecordedSync, sync: SyncInput) -> Difference | None:
    """Return what is different about a sync; None when today's rules decide as they did."""
    status = generate_api_pod_status(sync, pod_is_terminal=False)
    today: dict[str, object] = {"podIsOver": is_phase_terminal(status.phase)}
    recorded: dict[str, object] = {"podIsOver": each.record.step == "terminal"}
    if not today["podIsOver"]:
        today |= compute_pod_actions(sync).describe()
    recorded |= each.record.actions
    today_view, shown = _view(_kept(status, sync)), [_view(other) for other in each.statuses]
    if not any(_shows(view, today_view) for view in shown):
        recorded["status"], today["status"] = _unlike(shown[-1], today_view)
    keys = [key for key in {**recorded, **today} if recorded.get(key) != today.get(key)]
    if not keys:
        return None
    was = {key: recorded[key] for key in keys if key in recorded}
    now = {key: today[key] for key in keys if key in today}
    return Difference(
        pod=_name(each),
        sync=each.record.n,
        at=each.at,
        recorded=was,
        today=now,
        was=in_words(sync.pod, was),
        now=in_words(sync.pod, now),
        because=because(sync, was, now),
    )


def _kept(status: PodStatus, sync: SyncInput) -> PodStatus:
    """Return what the status manager has after a sync: the status before where it refuses the new one.

    Source: kubelet v1.36 updateStatusInternal.
    """
    before = sync.previous_status
    return before if check_container_state_transition(before, status, sync.pod, sync.features) else status


def _name(each: RecordedSync) -> str:
    return f"{each.record.ref.namespace}/{each.record.ref.name}"


View = dict[str, object]


def _view(status: PodStatus) -> View:
    """Return what a status shows of a pod's life: its phase, and each container's state."""
    view: View = {"phase": status.phase or ""}
    containers = (*status.init_container_statuses, *status.container_statuses, *status.ephemeral_container_statuses)
    for container in containers:
        started = " started" if container.started else ""
        ready = " ready" if container.ready else ""
        view[container.name] = f"{state_word(container.state)}{started}{ready} restarts={container.restart_count}"
    return view


def _shows(recorded: View, today: View) -> bool:
    """Tell whether a status that reached the API is today's; a terminal phase reaches it only later."""
    phases = (recorded["phase"], today["phase"])
    is_withheld = is_phase_terminal(str(phases[1])) and not is_phase_terminal(str(phases[0]))
    return {**recorded, "phase": phases[1] if is_withheld else phases[0]} == today


def _unlike(recorded: View, today: View) -> tuple[View, View]:
    keys = [key for key in {**recorded, **today} if recorded.get(key) != today.get(key)]
    return {key: recorded.get(key, "none") for key in keys}, {key: today.get(key, "none") for key in keys}
