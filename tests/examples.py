"""How many examples Hypothesis makes: the same ones in each run of the suite, and many new ones for `make fuzz`."""

from __future__ import annotations

import os

from hypothesis import HealthCheck, settings

FUZZ = "KUBELET_EMU_FUZZ" in os.environ
FACTOR = 20

# A busy machine makes no test slow enough to fail, and a large example is as good as a small one.
settings.register_profile(
    "kubelet-emu", derandomize=not FUZZ, deadline=None, suppress_health_check=list(HealthCheck), print_blob=True
)


def load_profile() -> None:
    """Let tests without settings of their own go by these."""
    settings.load_profile("kubelet-emu")


def examples(count: int) -> settings:
    """Return the settings of a test that tries `count` examples in the suite."""
    return settings(settings.get_profile("kubelet-emu"), max_examples=count * (FACTOR if FUZZ else 1))
