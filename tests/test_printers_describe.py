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
    (-2, "<invalid>"),
    (-1.5, "0s"),
    (0, "0s"),
    (119.9, "119s"),
    (120, "2m"),
    (121, "2m1s"),
    (599, "9m59s"),
    (600, "10m"),
    (10799, "179m"),
    (10800, "3h"),
    (28799, "7h59m"),
    (28800, "8h"),
    (172799, "47h"),
    (172800, "2d"),
    (691199, "7d23h"),
    (691200, "8d"),
    (63071999, "729d"),
    (63072000, "2y"),
    (252287999, "7y364d"),
    (252288000, "8y"),
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


@pytest.mark.parametrize(("seconds", "text"), DURATIONS, ids=[f"{row[0]} s" for row in DURATIONS])
def test_durations_are_cut_and_not_rounded(seconds: float, text: str) -> None:
    assert human_duration(seconds) == text


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
