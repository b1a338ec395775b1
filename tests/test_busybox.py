"""The simulated shell against busybox itself: the same scripts, the same output, exit codes and files.

Where busybox is installed it runs each script too, so a recording that no longer is what busybox does fails here.
"""

from __future__ import annotations

import pytest
from shell_rows import ATTEMPTS, comparable, recorded, scripts, topics
from two_shells import BUSYBOX_PROGRAM, run_busybox, simulate

ROWS = [pytest.param(topic, script, id=f"{topic}: {script[:60]}") for topic in topics() for script in scripts(topic)]
RECORDED = {topic: recorded(topic) for topic in topics()}


@pytest.mark.parametrize(("topic", "script"), ROWS)
def test_a_script_does_what_busybox_does(topic: str, script: str) -> None:
    expected = RECORDED[topic][script]
    if BUSYBOX_PROGRAM is not None:
        assert expected in (comparable(run_busybox(script)) for _ in range(ATTEMPTS)), "the recording is out of date"
    assert comparable(*simulate(script)) == expected


def test_every_recording_has_its_script() -> None:
    assert {topic: set(rows) for topic, rows in RECORDED.items()} == {topic: set(scripts(topic)) for topic in topics()}
