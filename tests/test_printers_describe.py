"""`describe` against what kubectl printed of pods and Jobs of a real node: fixtures/describe."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from kubelet_emu.api.batch_v1 import Job
from kubelet_emu.api.codec import decode_mapping
from kubelet_emu.api.v1 import Pod
from kubelet_emu.printers.describe import describe_pod
from kubelet_emu.printers.describe_job import describe_job
from kubelet_emu.printers.durations import age, human_duration
from kubelet_emu.printers.tabwriter import align

NOW = datetime(2026, 1, 1, tzinfo=UTC)
GIVEN = sorted((Path(__file__).parent.parent / "fixtures" / "describe").glob("*/*.json"))

DURATIONS = [
    ("a time in the future is invalid", -2, "<invalid>"),
    ("a second ahead is now", -1, "0s"),
    ("seconds up to two minutes", 119, "119s"),
    ("a second unit of zero is left out", 120, "2m"),
    ("minutes and seconds", 599, "9m59s"),
    ("minutes alone", 179 * 60, "179m"),
    ("hours and minutes", 8 * 3600 - 1, "7h59m"),
    ("hours alone", 48 * 3600 - 1, "47h"),
    ("days and hours", 192 * 3600 - 1, "7d23h"),
    ("days alone", 730 * 86400 - 1, "729d"),
    ("years and days", 2920 * 86400 - 1, "7y364d"),
    ("years alone", 2920 * 86400, "8y"),
]


@pytest.mark.parametrize("given", GIVEN, ids=[f"{path.parent.name}-{path.stem}" for path in GIVEN])
def test_a_page_is_what_kubectl_printed(given: Path) -> None:
    case = json.loads(given.read_text())
    now = datetime.fromisoformat(case["now"])
    if given.stem == "job":
        page = describe_job(decode_mapping(Job, case["object"]), case["events"], now)
    else:
        page = describe_pod(decode_mapping(Pod, case["object"], ignore_unknown=True), case["events"], now)

    assert page == given.with_suffix(".txt").read_text()


@pytest.mark.parametrize(("why", "seconds", "expected"), DURATIONS, ids=[row[0] for row in DURATIONS])
def test_a_duration_has_one_or_two_units(why: str, seconds: int, expected: str) -> None:
    assert human_duration(seconds) == expected


def test_an_age_without_a_time_is_unknown() -> None:
    assert age(None, NOW) == "<unknown>"
    assert age(NOW - timedelta(seconds=5), NOW) == "5s"


def test_a_line_without_a_tab_ends_the_columns() -> None:
    assert align("a\tb\nlong:\tc\n\nx\ty") == "a      b\nlong:  c\n\nx  y"


def test_no_control_character_of_a_pod_reaches_the_terminal() -> None:
    pod = decode_mapping(Pod, {"metadata": {"name": "p", "annotations": {"a": "\x1b[2J\rgone"}}, "spec": {}})

    page = describe_pod(pod, None, NOW)

    assert "\x1b" not in page
    assert "\r" not in page
    assert "Events" not in page
