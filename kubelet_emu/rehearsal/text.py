"""What came of a plan in virtual time, for people."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubelet_emu.advice.advices import listed
from kubelet_emu.journal.text import harmless
from kubelet_emu.rehearsal.confirming import Outcome
from kubelet_emu.rehearsal.grace import MOST_SECONDS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from kubelet_emu.rehearsal.confirming import Claim
    from kubelet_emu.rehearsal.grace import Solution

_WORDS = {
    Outcome.CONFIRMED: ("confirmed", "green"),
    Outcome.NOT_REACHED: ("not confirmed", "yellow"),
    Outcome.CONTRADICTED: ("contradicted", "red"),
}


def claim_lines(claims: Iterable[Claim], style: Callable[[str, str], str]) -> Iterator[str]:
    """Yield a line for each outcome, with the claims that had it."""
    given = tuple(claims)
    if given:
        yield ""
    for outcome, (word, colour) in _WORDS.items():
        mine = [claim for claim in given if claim.outcome is outcome]
        if mine:
            said = "; ".join(f"{claim.text}: {claim.because}" if claim.because else claim.text for claim in mine)
            yield f"{style(word, colour)} in virtual time: {harmless(said)}"


def solution_lines(solution: Solution | None, grace: int) -> Iterator[str]:
    """Yield what grace a pod needs, beside the one that it has."""
    if solution is None:
        return
    yield ""
    who = harmless(listed(solution.killed))
    if solution.unreached:
        yield f"grace  can't be found: {harmless(solution.unreached)}"
    elif solution.seconds is None:
        yield f"grace  no terminationGracePeriodSeconds is enough: {who} would need SIGKILL even after {MOST_SECONDS} s"
    else:
        with_less = f"; with {solution.seconds - 1} s {who} would need SIGKILL" if who else ""
        yield f"grace  {solution.seconds} s is the least with no SIGKILL{with_less} (now {grace} s)"
    if solution.unknown:
        names = harmless(listed(solution.unknown))
        yield f"       taken to end as soon as they are told: {names} (simulate.yaml can say otherwise)"
