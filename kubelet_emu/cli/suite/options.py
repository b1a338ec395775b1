"""What the user asked of `test`, as one value."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from attrs import frozen

from kubelet_emu.kubelet.timing import FAST, KUBELET

if TYPE_CHECKING:
    from pathlib import Path

    from kubelet_emu.images.mirrors import Mirror
    from kubelet_emu.kubelet.timing import Timing


@frozen(kw_only=True)
class SuiteOptions:
    """The options of `test`."""

    paths: tuple[str, ...]
    runtime: Literal["simulated", "docker"] = "simulated"
    jobs: int = 1
    trace_dir: Path | None = None
    wanted: str = ""
    output: Literal["text", "json", "junit"] = "text"
    compare: bool = False
    seed: int = 1
    timing_name: Literal["fast", "kubelet"] | None = None
    registry_mirrors: tuple[Mirror, ...] = ()
    root_dir: Path | None = None
    seccomp_profile_root: Path | None = None

    @property
    def is_simulated(self) -> bool:
        """Tell whether scenarios run in virtual time."""
        return self.runtime == "simulated"

    @property
    def timing(self) -> Timing:
        """Return the kubelet's own delays, or what is left of them where that was asked for.

        What a scenario expects was seen on a real node, and may count on the least time that something takes there.
        """
        return FAST if self.timing_name == "fast" and not self.compare else KUBELET
