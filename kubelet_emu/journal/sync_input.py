"""What a sync decided from, as far as no other record of the log says it: written down, and read back.

The pod's spec is in its manifest, what the runtime showed in the `observed` records, the status before in the last
`status` record. Probe results and failed starts are written only by the sync that finds them changed; a reader goes
through the syncs of a pod in their order.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import TYPE_CHECKING, cast

from attrs import field, frozen

from kubelet_emu.api import reasons
from kubelet_emu.api.v1 import ResourceRequirements
from kubelet_emu.journal.values import encode
from kubelet_emu.rules.observed import ProbeKind, ProbeResult, ProbeResults, StartFailure

if TYPE_CHECKING:
    from kubelet_emu.api.quantity import Quantity
    from kubelet_emu.api.v1_status import PodStatus
    from kubelet_emu.rules.observed import ObservedPod, SyncInput

Results = Mapping[str, Mapping[str, str]]


@frozen(kw_only=True)
class SyncFacts:
    """The `input` of one sync record.

    `behind` is how many `observed` records of the pod stand between the one that it decided from and its own record.
    `probes` (by container, then probe) and `start_failures` are None where they are as at the sync before.
    `actuated` has the containers that don't have the size that they should have.
    """

    now: datetime
    behind: int = 0
    generation: int = 1
    is_deleting: bool = False
    is_restarting_all: bool = False
    is_static: bool = False
    probes: Results | None = None
    start_failures: Mapping[str, StartFailure] | None = None
    actuated: Mapping[str, ResourceRequirements] = field(factory=dict)


def describe_input(sync: SyncInput, before: SyncInput | None, behind: int) -> dict[str, object]:
    """Return the `input` of a sync's record; `before` is what the pod's sync before decided from."""
    pod = sync.pod
    facts: dict[str, object] = {"now": encode(sync.now)}
    optional = {
        "behind": behind,
        "generation": pod.metadata.generation if (pod.metadata.generation or 1) > 1 else 0,
        "deleting": pod.metadata.deletion_timestamp is not None,
        "restartingAll": says_restarting_all(sync.previous_status),
        "static": sync.is_static,
    }
    facts |= {key: value for key, value in optional.items() if value}
    probes = _results_by_name(sync)
    if probes != (_results_by_name(before) if before is not None else {}):
        facts["probes"] = probes
    if sync.start_failures != (before.start_failures if before is not None else {}):
        facts["startFailures"] = encode(sync.start_failures)
    if resized := _other_sizes(sync):
        facts["actuated"] = resized
    return facts


def _other_sizes(sync: SyncInput) -> dict[str, object]:
    """Return what was last applied to the containers that should have another size."""
    wanted = {each.name: each.resources for each in (*sync.pod.spec.init_containers, *sync.pod.spec.containers)}
    return {
        name: {"limits": dict(size.limits), "requests": dict(size.requests)}
        for name, size in sync.actuated.items()
        if name in wanted and (wanted[name] or ResourceRequirements()) != size
    }


def says_restarting_all(status: PodStatus) -> bool:
    """Tell whether a status says that all containers are being restarted (KEP-5532)."""
    return any(c.type == reasons.ALL_CONTAINERS_RESTARTING and c.status == "True" for c in status.conditions)


def read_input(data: Mapping[str, object]) -> SyncFacts:
    """Return what a record's `input` says; ValueError when it can't be read, as in an older log that has none."""
    if not data:
        raise ValueError("the log was written by a version that didn't record what syncs decided from")
    try:
        return SyncFacts(
            now=datetime.fromisoformat(str(data["now"])),
            behind=int(cast("int", data.get("behind", 0))),
            generation=int(cast("int", data.get("generation", 1))),
            is_deleting=bool(data.get("deleting")),
            is_restarting_all=bool(data.get("restartingAll")),
            is_static=bool(data.get("static")),
            probes=cast("Results | None", data.get("probes")),
            start_failures=_failures(data.get("startFailures")),
            actuated=_sizes(data.get("actuated", {})),
        )
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"no input of a sync: {error!r}") from error


def probe_results(results: Results, observed: ObservedPod) -> ProbeResults:
    """Return stored results by the ids that containers have in what was observed."""
    found: dict[ProbeKind, dict[str, ProbeResult]] = {kind: {} for kind in ProbeKind}
    for name, by_kind in results.items():
        status = observed.find(name)
        if status is not None:
            for kind, result in by_kind.items():
                found[ProbeKind(kind)][status.id] = ProbeResult(result)
    return ProbeResults(
        liveness=found[ProbeKind.LIVENESS],  # type: ignore[arg-type]  # ids are text on the wire
        readiness=found[ProbeKind.READINESS],  # type: ignore[arg-type]
        startup=found[ProbeKind.STARTUP],  # type: ignore[arg-type]
    )


def _results_by_name(sync: SyncInput) -> dict[str, dict[str, str]]:
    """Return the stored results of the newest instance of each container, by its name."""
    probes = sync.probes
    found: dict[str, dict[str, str]] = {}
    for status in reversed(sync.observed.containers):
        by_kind = {
            kind.value: result.value
            for kind, results in (
                (ProbeKind.LIVENESS, probes.liveness),
                (ProbeKind.READINESS, probes.readiness),
                (ProbeKind.STARTUP, probes.startup),
            )
            if (result := results.get(status.id)) is not None
        }
        found.pop(status.metadata.name, None)
        if by_kind:
            found[status.metadata.name] = by_kind
    return found


def _sizes(data: object) -> Mapping[str, ResourceRequirements]:
    found = cast("Mapping[str, Mapping[str, Mapping[str, Quantity]]]", data)
    return {
        name: ResourceRequirements(limits=dict(size["limits"]), requests=dict(size["requests"]))
        for name, size in found.items()
    }


def _failures(data: object) -> Mapping[str, StartFailure] | None:
    if data is None:
        return None
    found = cast("Mapping[str, Mapping[str, str]]", data)
    return {name: StartFailure(reason=each["reason"], message=each["message"]) for name, each in found.items()}
