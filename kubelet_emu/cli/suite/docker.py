"""Scenarios on a Docker engine."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from kubelet_emu.cli.failures import InputError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from kubelet_emu.cli.suite.options import SuiteOptions
    from kubelet_emu.cli.suite.places import RunScenario


@asynccontextmanager
async def open_docker_world(options: SuiteOptions) -> AsyncIterator[RunScenario]:
    """Give what runs one scenario on the engine; what scenarios share is opened once and closed at the end."""
    raise InputError(f"scenarios do not run on {options.runtime} yet")
    yield
