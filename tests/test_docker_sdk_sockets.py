"""A socket that nobody listens at leaves nothing open."""

from __future__ import annotations

import os
import socket
from typing import TYPE_CHECKING

import pytest

from runtime.api import RuntimeUnavailableError
from runtime.docker.bridge import Bridge
from runtime.docker.endpoint import find_endpoint

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("is_there", [False, True], ids=["no socket", "a socket of nobody"])
async def test_an_engine_that_is_away_costs_no_file(tmp_path: Path, *, is_there: bool) -> None:
    if is_there:
        with socket.socket(socket.AF_UNIX) as left:
            left.bind(str(tmp_path / "s"))
    bridge = Bridge(find_endpoint(f"unix://{tmp_path}/s"))
    before = len(os.listdir("/proc/self/fd"))  # noqa: PTH208 - a list of files that are open now
    errors = []
    for _ in range(5):
        with pytest.raises(RuntimeUnavailableError, match="does not answer") as raised:
            await bridge.read(lambda client: client.version())
        errors.append(raised)  # what failed is kept, and no socket with it
    assert len(os.listdir("/proc/self/fd")) == before  # noqa: PTH208 - the same
    bridge.close()
