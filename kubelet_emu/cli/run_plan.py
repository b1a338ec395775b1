"""What is decided before a run begins, and what its emulator is given."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

from attrs import frozen

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from kubelet_emu.cli.going_on import DeadRun
    from kubelet_emu.cli.inputs import Inputs
    from kubelet_emu.cli.options import RunOptions
    from kubelet_emu.config.features import FeatureGates
    from kubelet_emu.config.kubelet_configuration import KubeletConfiguration
    from kubelet_emu.control.serving import Control
    from kubelet_emu.embedding.instances import Instance
    from kubelet_emu.images.mirrors import Mirror
    from kubelet_emu.images.outcome import PullUpdate
    from kubelet_emu.journal.records import Record
    from kubelet_emu.kubelet.timebase import Timebase


@frozen(kw_only=True)
class Plan:
    """Everything that is decided before the engine is touched; `dead` is the run that this one goes on with."""

    options: RunOptions
    inputs: Inputs
    configuration: KubeletConfiguration
    features: FeatureGates
    instance: Instance
    seed: int
    mirrors: tuple[Mirror, ...] = ()
    dead: DeadRun | None = None

    @property
    def starts(self) -> int:
        """Return how many processes this run has had, this one included."""
        return 1 if self.dead is None else self.dead.file.starts + 1

    @property
    def cluster_seed(self) -> int:
        """Return the seed of names, uids and waits: a process that goes on doesn't give them out again."""
        return self.seed if self.dead is None else random.Random(f"{self.seed}/{self.starts}").getrandbits(32)  # noqa: S311


@frozen(kw_only=True)
class Running:
    """What an emulator needs of the run it belongs to; `clean` takes the values of Secrets out of an object."""

    plan: Plan
    emit: Callable[[Record], None]
    timebase: Timebase
    on_pull: Callable[[PullUpdate], None] | None = None
    control: Control | None = None
    clean: Callable[[Mapping[str, object]], dict[str, object]] = dict
