"""All rules of advice with their codes.

A code never gets another meaning; those from KE101 to KE499 are the rules of `verify`. Each has a section in
docs/ADVICE.md.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubelet_emu.advice import ending, needs, probing, starting, stopping

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kubelet_emu.advice.advices import Rule

RULES: tuple[Rule, ...] = (*starting.RULES, *ending.RULES, *stopping.RULES, *probing.RULES, *needs.RULES)
CODES = frozenset(rule.code for rule in RULES)


def read_codes(texts: Iterable[str]) -> frozenset[str]:
    """Return the codes of texts such as `KE701,KE702`; ValueError for one that is none."""
    codes = frozenset(code for text in texts for code in codes_of(text))
    if strange := sorted(codes - CODES):
        raise ValueError(f"{', '.join(strange)}: no code of advice; there are {', '.join(sorted(CODES))}")
    return codes


def codes_of(text: str) -> frozenset[str]:
    """Return the words of a list such as `KE701, ke702`, in capitals, whether they are codes or not."""
    return frozenset(text.upper().replace(",", " ").split())
