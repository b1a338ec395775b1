"""Results of scenarios as JUnit's XML, which most CI systems read: one test case a scenario."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

from kubelet_emu.scenarios.results import Status
from kubelet_emu.scenarios.results_text import as_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kubelet_emu.scenarios.results import Result

_TAGS = {
    Status.FAILED: "failure",
    Status.UNEXPECTED: "failure",
    Status.INVALID: "error",
    Status.EXCLUDED: "skipped",
    Status.SKIPPED: "skipped",
}
_COUNTS = {"failures": "failure", "errors": "error", "skipped": "skipped"}
_NO_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def as_junit(results: Sequence[Result], seconds: float) -> str:
    """Return the XML; what XML can't hold is written as an escape."""
    counts = {name: str(sum(_TAGS.get(result.status) == tag for result in results)) for name, tag in _COUNTS.items()}
    root = ET.Element("testsuites")
    about = {"name": "kubelet-emu", "tests": str(len(results)), **counts, "time": f"{seconds:.3f}"}
    suite = ET.SubElement(root, "testsuite", about)
    for result in results:
        _add(suite, result)
    ET.indent(root)
    return ET.tostring(root, encoding="unicode", xml_declaration=True)


def _add(suite: ET.Element, result: Result) -> None:
    about = {"classname": "scenarios", "name": xml_safe(result.name), "time": f"{result.seconds:.3f}"}
    case = ET.SubElement(suite, "testcase", about)
    tag = _TAGS.get(result.status)
    if tag is None:
        return
    line, *more = map(xml_safe, as_text(result))
    if tag == "skipped":
        ET.SubElement(case, tag, message=line)
        return
    first = next((each.strip() for each in more), line)
    ET.SubElement(case, tag, message=first, type=result.status.value).text = "\n".join([line, *more])


def xml_safe(text: str) -> str:
    r"""Return text with \xNN for each character that XML 1.0 doesn't allow."""
    return _NO_XML.sub(lambda found: f"\\x{ord(found[0]):02x}", text)
