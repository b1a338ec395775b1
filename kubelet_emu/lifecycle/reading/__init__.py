"""Reads logs of any origin into one LifecycleLog."""

from kubelet_emu.lifecycle.reading.found import ReadError
from kubelet_emu.lifecycle.reading.logs import read_logs
from kubelet_emu.lifecycle.reading.moments import MomentRule, MomentWords, read_moments_file
from kubelet_emu.lifecycle.reading.naming import GivenName

__all__ = ["GivenName", "MomentRule", "MomentWords", "ReadError", "read_logs", "read_moments_file"]
