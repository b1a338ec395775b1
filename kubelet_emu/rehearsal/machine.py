"""What came of a plan in virtual time, for machines (docs/ADVICE.md)."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kubelet_emu.rehearsal.confirming import Claim
    from kubelet_emu.rehearsal.grace import Solution


def claims_as_objects(claims: Iterable[Claim]) -> list[dict[str, object]]:
    """Return claims as JSON objects."""
    return [
        {"claim": claim.kind.value, "outcome": claim.outcome.value, "text": claim.text, "because": claim.because}
        for claim in claims
    ]


def solution_as_object(solution: Solution | None) -> dict[str, object] | None:
    """Return a solution as a JSON object, None without one."""
    if solution is None:
        return None
    return {
        "seconds": solution.seconds,
        "killedBelow": list(solution.killed) if solution.seconds is not None else [],
        "alwaysKilled": list(solution.killed) if solution.seconds is None else [],
        "unknownPrograms": list(solution.unknown),
        "unreached": solution.unreached,
    }
