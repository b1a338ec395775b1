"""What a delete request does to a pod in the API, and what grace kubectl asks for."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from attrs import evolve
from table_rows import TableError

from kubelet_emu.api.meta import ObjectMeta
from kubelet_emu.api.v1 import Pod, PodSpec
from kubelet_emu.api.v1_status import PodStatus
from kubelet_emu.apiserver.deletion import DeletionOutcome, delete_pod, kubectl_grace_period_seconds
from kubelet_emu.rules.termination import ContainerStop, plan_stop_call

if TYPE_CHECKING:
    from collections.abc import Mapping

    from table_rows import Fields

FIRST_AT = datetime(2026, 1, 1, tzinfo=UTC)
PHASES = {phase: phase for phase in ("Pending", "Running", "Succeeded", "Failed", "Unknown")}


def check(row: Fields, shared: Mapping[str, Any]) -> None:
    given, out = row.part("in"), row.part("out")
    if "kubectl" in given:
        out.check({"request_grace": _kubectl(given.take("kubectl"))})
        return
    pod = Pod(
        metadata=ObjectMeta(name="pod", finalizers=_finalizers(given.take("finalizers", [])), generation=1),
        spec=PodSpec(
            termination_grace_period_seconds=given.take("tgps", 30),
            node_name="node1" if given.flag("scheduled", default=True) else None,
        ),
        status=PodStatus(phase=given.choice("phase", PHASES, "Running")),
    )
    now = FIRST_AT
    if "dgps" in given:
        pod = _marked(pod, given.take("dgps"))
    if "first" in given:
        outcome = delete_pod(pod, given.part("first").take("grace"), now)
        pod = _marked(pod, outcome.deletion_grace_period_seconds or 0)
    if "second" in given:
        second = given.part("second")
        now += timedelta(seconds=second.take("now", 0))
        outcome = delete_pod(pod, second.take("grace"), now)
    out.check(_outcome(given, out, outcome, now, pod))


def _finalizers(given: object) -> tuple[str, ...]:
    if isinstance(given, bool):
        return ("a/hold",) if given else ()
    if not isinstance(given, list):
        raise TableError(f"unknown finalizers {given!r}")
    return tuple(given)


def _marked(pod: Pod, grace: int) -> Pod:
    at = FIRST_AT + timedelta(seconds=grace)
    metadata = evolve(pod.metadata, deletion_timestamp=at, deletion_grace_period_seconds=grace)
    return evolve(pod, metadata=metadata)


def _outcome(given: Fields, out: Fields, outcome: DeletionOutcome, now: datetime, pod: Pod) -> dict[str, object]:
    at = outcome.deletion_timestamp
    assert at is not None
    after_now, after_first = int((at - now).total_seconds()), int((at - FIRST_AT).total_seconds())
    spellings = {f"now+{after_now}", f"first+{after_first}", f"old+{after_first}", after_first}
    if pod.metadata.deletion_timestamp is not None:
        spellings.add(f"old{int((at - pod.metadata.deletion_timestamp).total_seconds()):+d}")
    if after_now == 0:
        spellings.add("now")
    if at == pod.metadata.deletion_timestamp and "second" in given:
        spellings |= {"unchanged", "old"}
    wanted = out.values.get("deletionTimestamp")
    running = given.choice("kill_round", {None: None, "running": True}, None)
    # A round of stops that runs keeps the grace it began with (pod worker: detached context); only a retry reads DGPS.
    stops = plan_stop_call(given.values.get("dgps", 0), ContainerStop(name="main")).timeout
    return {
        "dgps": _grace(out, outcome),
        "deletionTimestamp": wanted if wanted in spellings else sorted(map(str, spellings)),
        "removed": outcome.removed,
        "changed": outcome.changed,
        "change": outcome.changed,
        "unchanged": not outcome.changed,
        "generation_bumped": outcome.generation_bumped,
        "node_round_shortened": False,
        "running_stop_calls": f"unchanged ({stops})" if running else None,
    }


def _grace(out: Fields, outcome: DeletionOutcome) -> object:
    is_unchanged = out.values.get("dgps") == "unchanged" and not outcome.changed
    return "unchanged" if is_unchanged else outcome.deletion_grace_period_seconds


def _kubectl(flags: str) -> int | None:
    grace, now, force = None, False, False
    for flag in flags.removeprefix("delete ").replace("--grace-period ", "--grace-period=").split():
        if flag == "--now":
            now = True
        elif flag == "--force":
            force = True
        elif flag.startswith("--grace-period="):
            grace = int(flag.partition("=")[2])
        else:
            raise TableError(f"unknown flag {flag!r}")
    return kubectl_grace_period_seconds(grace, now=now, force=force)
