"""The numbers of a probe with their defaults.

Source: kubernetes v1.36 SetDefaults_Probe.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import frozen

if TYPE_CHECKING:
    from kubelet_emu.api.v1_handlers import Probe


@frozen(kw_only=True)
class ProbeTimes:
    """A probe's numbers with their defaults (kubelet v1.36 SetDefaults_Probe)."""

    initial_delay: int
    period: int
    timeout: int
    success_threshold: int
    failure_threshold: int


def probe_times(probe: Probe) -> ProbeTimes:
    """Return a probe's numbers; 0 and absent both mean the default (kubelet v1.36 SetDefaults_Probe)."""
    return ProbeTimes(
        initial_delay=probe.initial_delay_seconds or 0,
        period=probe.period_seconds or 10,
        timeout=probe.timeout_seconds or 1,
        success_threshold=probe.success_threshold or 1,
        failure_threshold=probe.failure_threshold or 3,
    )
