"""Results of scenarios as JUnit's XML: one test case a scenario."""

from __future__ import annotations

from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

from kubelet_emu.markup.junit import Case, Remark, as_suite, as_xml
from kubelet_emu.scenarios.results import Status
from kubelet_emu.scenarios.results_text import as_text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from kubelet_emu.markup.junit import Tag
    from kubelet_emu.scenarios.results import Result

_TAGS: Mapping[Status, Tag] = {
    Status.FAILED: "failure",
    Status.UNEXPECTED: "failure",
    Status.INVALID: "error",
    Status.EXCLUDED: "skipped",
    Status.SKIPPED: "skipped",
}


def as_junit(results: Sequence[Result], seconds: float) -> str:
    """Return the XML."""
    cases = [
        Case(name=result.name, classname="scenarios", seconds=result.seconds, remark=_remark(result))
        for result in results
    ]
    root = ET.Element("testsuites")
    root.append(as_suite("kubelet-emu", cases, seconds))
    return as_xml(root)


def _remark(result: Result) -> Remark | None:
    tag = _TAGS.get(result.status)
    if tag is None:
        return None
    line, *more = as_text(result)
    if tag == "skipped":
        return Remark(tag=tag, message=line)
    first = next((each.strip() for each in more), line)
    return Remark(tag=tag, message=first, type=result.status.value, text="\n".join([line, *more]))
