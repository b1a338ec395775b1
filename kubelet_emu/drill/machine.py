"""A drill for machines: JSON and JUnit's XML."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from kubelet_emu.markup.junit import Case, Remark, as_suite, as_xml

if TYPE_CHECKING:
    from kubelet_emu.drill.driving import Drill
    from kubelet_emu.drill.outcome import Shutdown


def as_json(drill: Drill) -> str:
    """Return a drill as one JSON object; times are seconds."""
    body = {"pod": drill.pod, "shutdowns": [_fields(shutdown) for shutdown in drill.shutdowns]}
    return json.dumps(body | ({"waitsFor": drill.waits_for} if drill.waits_for else {}), indent=2)


def _fields(shutdown: Shutdown) -> dict[str, object]:
    return {
        "phase": shutdown.phase,
        "deletedAt": None if shutdown.deleted_at is None else round(shutdown.deleted_at, 3),
        "gracePeriodSeconds": shutdown.grace,
        "usedSeconds": None if shutdown.used is None else round(shutdown.used, 3),
        "killed": list(shutdown.killed),
        "hooksCutShort": list(shutdown.cut_short),
        "isInOrder": shutdown.is_in_order,
        "exitCodes": dict(shutdown.codes),
        "killedByDrill": list(shutdown.by_drill),
        "unreached": shutdown.unreached,
        "faults": list(shutdown.faults),
    }


def as_junit(drill: Drill) -> str:
    """Return a drill as JUnit's XML: a test case a phase."""
    cases = [
        Case(name=shutdown.phase, classname=drill.pod, seconds=shutdown.used or 0.0, remark=_remark(shutdown))
        for shutdown in drill.shutdowns
    ]
    return as_xml(as_suite(f"drill of {drill.pod}", cases))


def _remark(shutdown: Shutdown) -> Remark | None:
    if shutdown.unreached:
        return Remark(tag="skipped", message=shutdown.unreached)
    if shutdown.faults:
        return Remark(tag="failure", message=shutdown.faults[0], text="\n".join(shutdown.faults))
    return None
