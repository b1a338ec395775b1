"""XML that is written: what is made of texts that XML cannot hold, and the counts of a suite."""

from __future__ import annotations

from xml.etree import ElementTree as ET

import pytest
from attrs import evolve

from kubelet_emu.drill import machine
from kubelet_emu.drill.driving import Drill
from kubelet_emu.drill.outcome import Shutdown
from kubelet_emu.lifecycle.verification import machine_formats
from kubelet_emu.lifecycle.verification.catalogue import RULES
from kubelet_emu.lifecycle.verification.report import Finding, Report
from kubelet_emu.lifecycle.verification.verdicts import Outcome, Verdict
from kubelet_emu.markup.junit import Case, Remark, as_suite, as_xml
from kubelet_emu.markup.text import xml_safe
from kubelet_emu.scenarios.results import Check, Result
from kubelet_emu.scenarios.results_junit import as_junit

ODD = "line \x1b[31m\0"
ESCAPED = "line \\x1b[31m\\x00"
VERDICT = Verdict(outcome=Outcome.VIOLATION, pod="p", subject="", text=ODD)
WRITTEN = {
    "of a drill": machine.as_junit(Drill(pod="p", shutdowns=(Shutdown(phase="when ready", error=ODD),))),
    "of scenarios": as_junit(
        (Result(name="s", file="f", checks=(Check(expectation="a < b", line=1, holds=False, because=ODD),)),), 1.0
    ),
    "of a verified log": machine_formats.as_junit(
        Report(findings=(Finding(rule=RULES[0], verdicts=(VERDICT,)),), facts=(), minor=36), ["a.log"]
    ),
}


def test_what_xml_cant_hold_is_escaped() -> None:
    assert xml_safe("a\x1b[0m\0\ud800\ufffe\tb\U0001f600") == "a\\x1b[0m\\x00\\xd800\\xfffe\tb\U0001f600"


@pytest.mark.parametrize("which", WRITTEN)
def test_every_report_is_xml_whatever_a_container_says(which: str) -> None:
    failure = ET.fromstring(WRITTEN[which]).find(".//testcase/failure")  # noqa: S314 - our own
    assert failure is not None
    assert ESCAPED in (failure.text or "")


def test_a_suite_counts_its_cases() -> None:
    passed = Case(name="a", classname="c", seconds=0.5)
    tags = ("failure", "failure", "error", "skipped")
    cases = [passed, *(evolve(passed, seconds=None, remark=Remark(tag=tag, message="m")) for tag in tags)]
    suite = ET.fromstring(as_xml(as_suite("s", cases)))  # noqa: S314 - our own
    assert suite.attrib == {"name": "s", "tests": "5", "failures": "2", "errors": "1", "skipped": "1"}
    assert [case.get("time") for case in suite] == ["0.500", None, None, None, None]
