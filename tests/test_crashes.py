"""A run is killed at any of its records, and another one goes on with it: what must hold whenever that was.

The suite looks at a sample; `make crashes` looks at every record of every scenario, and at a second kill after every
fifth.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from crash_rig import lived
from scenario_files import given, has_no_steps

from kubelet_emu.scenarios.scenario_file import find_scenarios

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crash_rig import Story, Watch

    from kubelet_emu.scenarios.scenario_file import Scenario

FOLDER = Path(__file__).parent.parent / "fixtures" / "scenarios"
SCENARIOS = [path for path in find_scenarios(FOLDER) if has_no_steps(path)]
LOOKS_AT_ALL = "KUBELET_EMU_ALL_CRASHES" in os.environ
ALWAYS = frozenset({"host-port-of-jobs-is-waited-for"})
"""Pods that no node takes yet: the scheduler has to find them again."""
CHOSEN = [each for n, each in enumerate(SCENARIOS) if LOOKS_AT_ALL or n % 10 == 0 or each.parent.name in ALWAYS]
STEP, SECOND_STEP = (1, 5) if LOOKS_AT_ALL else (23, 1)
DELETE_AT = 40.0
"""Pods that still run then are deleted, so kills fall into their shutdown, too."""
ENDS_OTHERWISE = {
    "sidecar-poststart-fails": "a kubelet that is started again doesn't repeat a hook, so this one never fails",
}


def ends(story: Story) -> tuple[list[str], list[str]]:
    """Return how pods and Jobs ended; pods of a Job have other names each time."""
    return sorted(story.phases.values()), sorted(f"{name} {end}" for name, end in story.jobs.items())


def broken(scenario: Scenario, undisturbed: Story, story: Story, watch: Watch) -> Iterator[str]:
    """Yield what doesn't hold of a run whose process was killed, compared with one that was not."""
    if several := {name: uids for name, uids in story.uids.items() if len(uids) > 1}:
        yield f"a pod was made anew: {several}"
    if len(story.uids) != len(undisturbed.uids):
        yield f"there were other pods: {sorted(story.uids)}, not {sorted(undisturbed.uids)}"
    if twice := [instance for instance, count in watch.starts.items() if count > 1]:
        yield f"started twice: {twice}"
    if watch.most_at_once > 1:
        yield f"{watch.most_at_once} instances of a container ran at once"
    last: dict[tuple[str, str], int] = {}
    for uid, container, attempt in watch.starts:
        last[uid, container] = max(last.get((uid, container), 0), attempt)
    if wrong := {key: story.restarts.get(key) for key, attempt in last.items() if story.restarts.get(key) != attempt}:
        yield f"restartCount is {wrong}, but the last instances are {last}"
    if scenario.name not in ENDS_OTHERWISE and ends(story) != ends(undisturbed):
        yield f"it ended as {ends(story)}, not {ends(undisturbed)}"
    if story.left:
        yield f"left behind: {story.left}"


def kills(records: int) -> Iterator[tuple[int, ...]]:
    """Yield after how many records each process is killed; every few of them the one that goes on is killed, too."""
    for n, last in enumerate(range(1, records + 1, STEP)):
        yield (last,)
        if n % SECOND_STEP == 0:
            yield (last, 1 + last % 17)


@pytest.mark.parametrize("path", CHOSEN, ids=[path.parent.name for path in CHOSEN])
def test_a_run_goes_on_wherever_it_was_killed(path: Path, tmp_path: Path) -> None:
    scenario = given(path)
    assert scenario.objects
    undisturbed, _ = lived(scenario, tmp_path / "undisturbed", delete_at=DELETE_AT)
    found = []
    for at in kills(undisturbed.records):
        story, watch = lived(scenario, tmp_path / f"killed at {at}", *at, delete_at=DELETE_AT)
        found += [f"killed at record {at}: {text}" for text in broken(scenario, undisturbed, story, watch)]
    assert found == []


@pytest.mark.parametrize("name", ENDS_OTHERWISE)
def test_a_scenario_that_ends_otherwise_still_does(name: str, tmp_path: Path) -> None:
    (scenario,) = [given(path) for path in SCENARIOS if path.parent.name == name]
    undisturbed, _ = lived(scenario, tmp_path / "undisturbed", delete_at=DELETE_AT)
    assert any(
        ends(lived(scenario, tmp_path / str(last), last, delete_at=DELETE_AT)[0]) != ends(undisturbed)
        for last in range(1, undisturbed.records, 7)
    )
