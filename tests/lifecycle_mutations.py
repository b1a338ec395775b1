"""What could go wrong on a node, done to recorded traces: each mutation breaks one rule and knows which.

Whether the result is against the rules is decided here, from the manifest and the numbers, without the verifier: what
may be legal is not made.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import lifecycle_mutations_restarts as restarts
import lifecycle_mutations_starts as starts
import lifecycle_mutations_stops as stops
from attrs import frozen

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from lifecycle_recordings import Recording


@frozen(kw_only=True)
class Mutation:
    """One kind of fault; `make` yields the changed recordings that surely break the rule of `code`."""

    name: str
    code: str
    make: Callable[[Recording], Iterator[Recording]]


MUTATIONS = (
    Mutation(name="init order swapped", code="KE101", make=starts.init_order_swapped),
    Mutation(name="main before init ends", code="KE105", make=starts.main_before_init_ends),
    Mutation(name="follower before sidecar", code="KE102", make=starts.follower_before_sidecar),
    Mutation(name="follower before startup probe", code="KE103", make=starts.follower_before_startup_probe),
    Mutation(name="next during postStart", code="KE104", make=starts.next_during_post_start),
    Mutation(name="preStop dropped", code="KE201", make=stops.pre_stop_dropped),
    Mutation(name="TERM during preStop", code="KE201", make=stops.term_during_pre_stop),
    Mutation(name="early KILL", code="KE202", make=stops.kill_early),
    Mutation(name="KILL a second early", code="KE202", make=stops.kill_a_second_early),
    Mutation(name="grace shortened", code="KE204", make=stops.grace_shortened),
    Mutation(name="late KILL", code="KE203", make=stops.kill_late),
    Mutation(name="no KILL", code="KE203", make=stops.kill_missing),
    Mutation(name="stops of two sidecars swapped", code="KE205", make=stops.stops_swapped),
    Mutation(name="sidecar stopped with the mains", code="KE205", make=stops.sidecar_with_the_mains),
    Mutation(name="sidecar stopped before the main ends", code="KE207", make=stops.sidecar_before_main_ends),
    Mutation(name="sidecar waits when grace is spent", code="KE206", make=stops.waits_when_spent),
    Mutation(name="restart after deletion", code="KE208", make=stops.restarted_after_deletion),
    Mutation(name="first start after deletion", code="KE208", make=stops.first_start_after_deletion),
    Mutation(name="restart although policy forbids", code="KE301", make=restarts.restarted_although_never),
    Mutation(name="back-off too short", code="KE302", make=restarts.back_off_too_short),
    Mutation(name="back-off too long", code="KE302", make=restarts.back_off_too_long),
    Mutation(name="overlapping runs", code="KE303", make=restarts.overlapping_runs),
    Mutation(name="restartCount falls", code="KE304", make=restarts.restart_count_falls),
    Mutation(name="too many pulls", code="KE305", make=restarts.too_many_pulls),
    Mutation(name="pod failed by its sidecar", code="KE401", make=restarts.pod_failed_by_sidecar),
    Mutation(name="pod succeeded in spite of its main", code="KE401", make=restarts.pod_succeeded_in_spite),
    Mutation(name="Job failed by a sidecar", code="KE402", make=restarts.job_failed_by_sidecar),
)
