"""What is learned of an engine's rights, and how often it is tried."""

from __future__ import annotations

import pytest
import trio

from runtime.docker.rights import OOMScores

SCORE = -998
PODS = 5


async def start_pods(scores: OOMScores, *, is_allowed: bool) -> list[int | None]:
    """Start many sandboxes at once, each until it is taken; return the scores of all tries in their order."""
    tries: list[int | None] = []

    async def run_sandbox() -> None:
        while True:
            async with scores.of_sandboxes() as score:
                tries.append(score)
                await trio.sleep(1)
                if score is None or is_allowed:
                    scores.learn(score)
                    return
                scores.refuse()

    async with trio.open_nursery() as nursery:
        for _ in range(PODS):
            nursery.start_soon(run_sandbox)
    return tries


ENGINES = [
    ("one that refuses is asked once", False, [SCORE] + PODS * [None], 2.0),
    ("one that allows is asked by the first, then by all at once", True, PODS * [SCORE], 2.0),
]


@pytest.mark.parametrize(("why", "is_allowed", "expected", "seconds"), ENGINES, ids=[row[0] for row in ENGINES])
async def test_many_sandboxes_find_out_once(
    why: str,
    is_allowed: bool,  # noqa: FBT001 - a table's column
    expected: list[int | None],
    seconds: float,
    autojump_clock: trio.abc.Clock,
) -> None:
    notes: list[str] = []
    began = trio.current_time()
    assert await start_pods(OOMScores(notes.append), is_allowed=is_allowed) == expected
    assert trio.current_time() - began == seconds
    assert len(notes) == (not is_allowed)


async def test_a_start_that_says_nothing_of_the_score_leaves_the_next_one_to_find_out() -> None:
    scores = OOMScores(lambda _: None)
    with pytest.raises(ValueError, match="disk full"):
        async with scores.of_sandboxes():
            raise ValueError("disk full")
    assert not scores.is_known
    async with scores.of_sandboxes() as score:
        assert score == SCORE


SANDBOXES = [
    ("with the score it is allowed", SCORE, True),
    ("with the engine's own it is not", 0, False),
    ("where the engine names none it is not", None, False),
]


@pytest.mark.parametrize(("why", "has", "may_be_lowered"), SANDBOXES, ids=[row[0] for row in SANDBOXES])
def test_a_sandbox_of_a_process_before_tells(
    why: str,
    has: int | None,
    may_be_lowered: bool,  # noqa: FBT001 - a table's column
) -> None:
    scores = OOMScores(lambda _: None)
    scores.learn(has)
    assert (scores.is_known, scores.may_be_lowered) == (True, may_be_lowered)
