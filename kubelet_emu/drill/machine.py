"""A drill for machines: JSON and JUnit's XML."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

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
    bad = sum(bool(shutdown.faults) for shutdown in drill.shutdowns)
    suite = ET.Element("testsuite", name=f"drill of {drill.pod}", tests=str(len(drill.shutdowns)), failures=str(bad))
    for shutdown in drill.shutdowns:
        used = 0.0 if shutdown.used is None else shutdown.used
        case = ET.SubElement(suite, "testcase", classname=drill.pod, name=shutdown.phase, time=f"{used:.3f}")
        if shutdown.unreached:
            ET.SubElement(case, "skipped", message=shutdown.unreached)
        if shutdown.faults:
            ET.SubElement(case, "failure", message=shutdown.faults[0]).text = "\n".join(shutdown.faults)
    ET.indent(suite)
    return ET.tostring(suite, encoding="unicode", xml_declaration=True)
