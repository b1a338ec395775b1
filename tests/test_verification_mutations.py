"""Faults done to recorded traces are found, each by its own rule.

A sample by default; KUBELET_EMU_ALL_MUTATIONS=1 (`make mutations`) takes all and prints the figures.
"""

from __future__ import annotations

import os
import sys

import pytest
from lifecycle_logs import TRACES, recorded
from lifecycle_mutations import MUTATIONS, Mutation
from lifecycle_recordings import Recording
from verification_makers import terms_of

from kubelet_emu.lifecycle.verification import RULES, Outcome, verify

TAKES_ALL = os.environ.get("KUBELET_EMU_ALL_MUTATIONS") == "1"
SAMPLE = 8
AT_LEAST = 0.95


def mutants(mutation: Mutation) -> list[Recording]:
    """Return the mutants of a kind: all, or as many as a sample has, from traces spread over the alphabet."""
    found: list[Recording] = []
    for path in TRACES if TAKES_ALL else sorted(TRACES, key=lambda path: hash_of(path.parent.name)):
        if len(found) >= SAMPLE and not TAKES_ALL:
            break
        found += mutation.make(Recording.read(path))
    return found


def hash_of(name: str) -> int:
    """Return a number that spreads names the same way each time."""
    return sum(ord(letter) * 31**index for index, letter in enumerate(name)) % 9973


def is_found(mutation: Mutation, mutant: Recording) -> bool:
    report = verify(recorded(mutant.path, mutant.records), terms_of(mutant.path))
    return mutation.code in {finding.rule.code for finding in report.of(Outcome.VIOLATION)}


@pytest.mark.parametrize("mutation", MUTATIONS, ids=[mutation.name for mutation in MUTATIONS])
def test_a_mutation_is_found_by_its_rule(mutation: Mutation) -> None:
    made = mutants(mutation)
    missed = [mutant.name for mutant in made if not is_found(mutation, mutant)]
    sys.stdout.write(f"\n{mutation.code} {mutation.name}: {len(made) - len(missed)} of {len(made)} found")
    assert len(made) >= 2
    assert len(missed) <= (1 - AT_LEAST) * len(made), missed


def test_every_rule_has_a_mutation() -> None:
    assert {mutation.code for mutation in MUTATIONS} == {rule.code for rule in RULES}
