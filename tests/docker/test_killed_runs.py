"""A run is killed at one of its records, as `kill -9` does; another process goes on with it, or removes what is left.

The moments are spread over the records of a run that is left in peace, and lie within what takes a while; every third
process that goes on is killed, too. `tests/test_crashes.py` looks at every record, in virtual time.
"""

from __future__ import annotations

import itertools
import secrets
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import images
import pytest
from attrs import define
from kept import nothing_else_kept
from killed_runs import Killed, Point, left, watched
from killed_shapes import SHAPES, manifest_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from docker import APIClient
    from killed_runs import Records, Watch
    from killed_shapes import Shape
    from registry import SlowProxy

pytestmark = pytest.mark.docker

AT_ONCE = 3
SPREAD = 3
AMID = 0.3
"""Seconds after a record within which what it tells of has not ended."""


@define(eq=False)
class Case:
    """A shape on an engine; `pulled` is the image that its pods pull."""

    engine: APIClient
    shape: Shape
    folder: Path
    pulled: str

    def killed(self, name: str) -> Killed:
        """Return the shape's manifest, to be run in a folder of its own."""
        return Killed(self.folder / name, manifest_of(self.shape, self.pulled))

    def gone_on_with(self, whole: Records, status: int, *points: Point) -> Iterator[str]:
        """Yield what is wrong when processes are killed at these points, and one more goes on to the end."""
        case = self.killed("-".join(f"{point.record}+{point.seconds}" for point in points))
        with watched(case.root) as watch:
            for point in points:
                if not case.killed(point):
                    break
            done = case.whole()
        for text in (*broken(whole, case.records(), watch), *self.left(case, watch)):
            yield f"killed at {points}: {text}"
        if (done.returncode, "goes on with the run" in done.stderr) != (status, True):
            yield f"killed at {points}: the status was {done.returncode}: {done.stderr}"

    def pruned(self, point: Point) -> Iterator[str]:
        """Yield what is wrong when a process is killed at a point, and what it left is pruned."""
        case = self.killed("pruned")
        with watched(case.root) as watch:
            assert case.killed(point)
            with nothing_else_kept():
                done = case.prune()
        if (done.returncode, done.stdout.startswith("removed what run ")) != (0, True):
            yield f"prune: {done.returncode} {done.stdout} {done.stderr}"
        for text in self.left(case, watch):
            yield f"pruned at {point}: {text}"

    def left(self, case: Killed, watch: Watch) -> Iterator[str]:
        """Yield what is left of a case."""
        for each in left(self.engine, case.root, set(itertools.chain(*watch.uids.values()))):
            yield f"left behind: {each}"


def broken(whole: Records, records: Records, watch: Watch) -> Iterator[str]:
    """Yield what doesn't hold of a run whose process was killed, compared with one that was not."""
    if several := {name: uids for name, uids in watch.uids.items() if len(uids) > 1}:
        yield f"a pod was made anew: {several}"
    if twice := [instance for instance, count in watch.starts.items() if count > 1]:
        yield f"started twice: {twice}"
    if watch.most_at_once > 1:
        yield f"{watch.most_at_once} instances of a container ran at once"
    last: dict[tuple[str, str], int] = {}
    for uid, container, attempt in watch.starts:
        last[uid, container] = max(last.get((uid, container), 0), attempt)
    restarts, more = records.restarts(), watch.never_started()
    if wrong := {key: told for key, told in restarts.items() if told != last.get(key, 0)}:
        yield f"restartCount is {wrong}, but the last instances are {last}"
    counts = sorted(told - more[key] for key, told in restarts.items())
    ends, expected = (
        (records.phases(), records.jobs(), counts),
        (whole.phases(), whole.jobs(), sorted(whole.restarts().values())),
    )
    if ends != expected:
        yield f"it ended as {ends}, not {expected}"


@pytest.fixture
def case(request: pytest.FixtureRequest, engine: APIClient, tmp_path: Path) -> Iterator[Case]:
    """Give a shape; what it pulls is in a slow registry, and goes from the engine."""
    shape = SHAPES[request.param]
    if "PULLED" not in shape.text:
        yield Case(engine, shape, tmp_path, "")
        return
    slow: SlowProxy = request.getfixturevalue("slow_registry")
    name = f"kemu/killed-{secrets.token_hex(4)}:1"
    made = f"{images.REPOSITORY}/{name}"
    images.make_big_image(engine, made, 1)
    try:
        images.push_as(engine, made, f"127.0.0.1:{slow.upstream_port}/{name}")
    finally:
        engine.remove_image(made)
    pulled = f"{slow.address}/{name}"
    yield Case(engine, shape, tmp_path, pulled)
    if engine.images(name=pulled):
        engine.remove_image(pulled, force=True)


QUICK = "a crash loop"


@pytest.mark.parametrize(
    ("case", "count"),
    [(QUICK, 1), *(pytest.param(name, SPREAD, marks=pytest.mark.long) for name in SHAPES)],
    indirect=["case"],
    ids=lambda value: f"{value} of its records" if isinstance(value, int) else value,
)
def test_a_run_goes_on_wherever_it_was_killed(case: Case, count: int) -> None:
    undisturbed = case.killed("undisturbed")
    status = undisturbed.whole().returncode
    whole = undisturbed.records()
    last = whole.index('"kind":"end"') - 1
    spread = [Point(1 + round((n + 0.5) / count * (last - 1))) for n in range(count)]
    moments = case.shape.moments if count == SPREAD else ()
    points = [*spread, *(Point(whole.index(text), AMID) for text in moments)]
    with ThreadPoolExecutor(AT_ONCE) as threads:
        pruned = threads.submit(lambda: list(case.pruned(spread[count // 2])))
        kills = [(each, Point(1 + each.record % 17)) if n % 3 == 2 else (each,) for n, each in enumerate(points)]
        found = list(threads.map(lambda each: list(case.gone_on_with(whole, status, *each)), kills))
    assert list(itertools.chain(*found, pruned.result())) == []


@pytest.mark.long
@pytest.mark.parametrize("case", ["init containers"], indirect=True)
def test_what_a_run_leaves_that_was_killed_once_all_had_ended_is_removed_by_the_next(case: Case) -> None:
    undisturbed = case.killed("undisturbed")
    undisturbed.whole()
    killed = case.killed("killed")
    with watched(killed.root) as watch:
        assert killed.killed(Point(undisturbed.records().index('"kind":"end"')))
        done = killed.whole()
    assert "removed what the dead run" in done.stderr
    assert len(watch.uids["init"]) == 2, "the second process begins anew"
    assert list(case.left(killed, watch)) == []
