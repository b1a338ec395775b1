"""JUnit's XML, which most CI systems read: a suite of test cases, with whatever texts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal
from xml.etree import ElementTree as ET

from attrs import frozen

from kubelet_emu.markup.text import xml_safe

if TYPE_CHECKING:
    from collections.abc import Sequence

Tag = Literal["failure", "error", "skipped"]
_COUNTS: tuple[tuple[str, Tag], ...] = (("failures", "failure"), ("errors", "error"), ("skipped", "skipped"))


@frozen(kw_only=True)
class Remark:
    """Why a case didn't pass: in one line, its kind, and in full."""

    tag: Tag
    message: str
    type: str = ""
    text: str = ""


@frozen(kw_only=True)
class Case:
    """One test case, which passed when there is no remark on it; `seconds` is how long it took, where that is known."""

    name: str
    classname: str
    seconds: float | None = None
    remark: Remark | None = None


def as_suite(name: str, cases: Sequence[Case], seconds: float | None = None) -> ET.Element:
    """Return the `testsuite` of some cases, with their counts."""
    tags = [case.remark.tag for case in cases if case.remark is not None]
    counts = {count: str(tags.count(tag)) for count, tag in _COUNTS}
    suite = _element("testsuite", {"name": name, "tests": str(len(cases)), **counts, **_time(seconds)})
    suite.extend(map(_case, cases))
    return suite


def _case(case: Case) -> ET.Element:
    about = {"classname": case.classname, "name": case.name, **_time(case.seconds)}
    element, remark = _element("testcase", about), case.remark
    if remark is not None:
        kind = {"type": remark.type} if remark.type else {}
        inner = _element(remark.tag, {"message": remark.message, **kind})
        inner.text = xml_safe(remark.text) or None
        element.append(inner)
    return element


def _time(seconds: float | None) -> dict[str, str]:
    return {} if seconds is None else {"time": f"{seconds:.3f}"}


def _element(tag: str, attributes: dict[str, str]) -> ET.Element:
    return ET.Element(tag, {name: xml_safe(value) for name, value in attributes.items()})


def as_xml(root: ET.Element) -> str:
    """Return an element as a document."""
    ET.indent(root)
    return ET.tostring(root, encoding="unicode", xml_declaration=True)
