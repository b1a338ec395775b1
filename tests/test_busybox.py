"""The simulated shell against busybox itself: the same scripts, the same output, exit codes and files.

Where busybox is installed it runs the scripts too, so a recording that no longer is what busybox does fails here.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
from shell_rows import ATTEMPTS, comparable, recorded, scripts, topics
from two_shells import BUSYBOX_PROGRAM, default_signals, run_busybox, simulate

ROWS = [pytest.param(topic, script, id=f"{topic}: {script[:60]}") for topic in topics() for script in scripts(topic)]
RECORDED = {topic: recorded(topic) for topic in topics()}
AT_A_TIME = 8
"""Most scripts wait most of the time; no two listen on the same port."""


@pytest.mark.parametrize(("topic", "script"), ROWS)
def test_a_script_does_what_busybox_does(topic: str, script: str) -> None:
    assert comparable(*simulate(script)) == RECORDED[topic][script]


@pytest.mark.skipif(BUSYBOX_PROGRAM is None, reason="busybox is not installed")
@pytest.mark.parametrize("topic", topics())
def test_the_recordings_are_what_busybox_does(topic: str) -> None:
    def is_as_recorded(script: str) -> bool:
        return comparable(run_busybox(script)) == RECORDED[topic][script]

    with default_signals(), ThreadPoolExecutor(AT_A_TIME) as pool:
        outcomes = pool.map(is_as_recorded, scripts(topic))
        differing = [script for script, is_same in zip(scripts(topic), outcomes, strict=True) if not is_same]
    late = [script for script in differing if not any(is_as_recorded(script) for _ in range(1, ATTEMPTS))]
    assert not late, "the recordings are out of date"


def test_every_recording_has_its_script() -> None:
    assert {topic: set(rows) for topic, rows in RECORDED.items()} == {topic: set(scripts(topic)) for topic in topics()}
