"""Whatever stands in a manifest, there is an answer: no traceback, no hang.

A part of the inputs is run here, all hundred thousand by `make fuzz`.
"""

from __future__ import annotations

import os
import random
import signal
import zlib
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from odd_manifests import damaged, made

from kubelet_emu import manifests
from kubelet_emu.advice.advising import problems_of
from kubelet_emu.advice.subjects import subjects_of
from kubelet_emu.api.codec import encode
from kubelet_emu.config.features import FeatureGates
from kubelet_emu.manifests.admission import admit
from kubelet_emu.manifests.safety import SafetyPolicy

if TYPE_CHECKING:
    from collections.abc import Callable

FIXTURES = Path(__file__).parent.parent / "fixtures" / "manifests"
GIVEN = [path.read_text("utf-8-sig") for path in sorted(FIXTURES.glob("*/manifest.*"))]
MAKERS: dict[str, Callable[[random.Random], str]] = {"damaged": lambda rng: damaged(GIVEN, rng), "made": made}
PARTS = 25
COUNT = int(os.environ.get("KUBELET_EMU_FUZZ", "1000")) // PARTS // len(MAKERS)
LONGEST = 60
GATES = FeatureGates()


def hang(_number: int, _frame: object) -> None:
    raise TimeoutError("the answer doesn't come")


def answer(text: str) -> None:
    """Do with a text what `validate` and `run` do before anything starts."""
    result = manifests.load_text(text)
    read = admit(result, GATES, random.Random(0), SafetyPolicy())  # noqa: S311 - names, not secrets
    advised = problems_of(subjects_of(result.objects, GATES), frozenset())
    for problem in (*read.problems, *read.missing, *read.refusals, *advised):
        assert manifests.format_problem(problem, text)
        assert problem.line >= 1
    for loaded in result.objects:
        encode(loaded.object)


@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.parametrize("maker", MAKERS)
def test_any_manifest_has_an_answer(maker: str, part: int) -> None:
    before = signal.signal(signal.SIGALRM, hang)
    try:
        for number in range(COUNT):
            seed = zlib.crc32(f"{maker} {part} {number}".encode())
            text = MAKERS[maker](random.Random(seed))  # noqa: S311 - the same inputs each time
            signal.alarm(LONGEST)
            try:
                answer(text)
            except BaseException as error:
                error.add_note(f"{maker} {part} {number}:\n{text}")
                raise
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
