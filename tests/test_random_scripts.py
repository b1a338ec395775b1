"""Scripts at random: the simulated shell ends them, always the same way, and as busybox does where it is installed.

The recorded sample is `random.txt` of fixtures/shell; this looks at others.
"""

from __future__ import annotations

from random import Random

from attrs import evolve
from examples import examples
from hypothesis import given
from hypothesis import strategies as st
from random_scripts import SAMPLE, random_script, sample
from shell_rows import ATTEMPTS, FOLDER, comparable
from two_shells import BUSYBOX_PROGRAM, Shown, run_busybox, simulate

SCRIPTS = st.integers(SAMPLE, 1 << 32).map(lambda seed: random_script(Random(seed)))  # noqa: S311 - no secrets


@examples(40)
@given(SCRIPTS)
def test_a_random_script_has_one_outcome(script: str) -> None:
    run = (lambda each: simulate(each)[0]) if BUSYBOX_PROGRAM is None else run_busybox
    assert unordered(simulate(script)[0]) in (unordered(run(script)) for _ in range(ATTEMPTS))


def unordered(shown: Shown) -> Shown:
    """Return an outcome in which it doesn't count which stage of a pipeline complained first."""
    plain = comparable(shown)
    return evolve(plain, stderr="\n".join(sorted(plain.stderr.split("\n"))))


def test_the_sample_is_what_the_generator_writes() -> None:
    assert (FOLDER / "random.txt").read_text() == sample(SAMPLE)
