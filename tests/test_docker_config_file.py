"""A config.json that the docker command would not write is one line, and no bug."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from runtime.api import RuntimeUnavailableError
from runtime.docker.bridge import Bridge
from runtime.docker.endpoint import Endpoint, find_endpoint

if TYPE_CHECKING:
    from pathlib import Path

    from docker import APIClient


def _nothing(client: APIClient) -> None:
    del client


@pytest.mark.parametrize(
    "text",
    ["[]", "5", '{"auths": 5}', '{"HttpHeaders": 5}', '{"proxies": 5}', '{"auths": {"x": 5}}', "[" * 100_000],
    ids=["a list", "a number", "auths", "headers", "proxies", "an entry", "too deep"],
)
async def test_a_config_that_makes_no_sense_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setenv("DOCKER_CONFIG", str(tmp_path))
    monkeypatch.delenv("DOCKER_HOST", raising=False)
    monkeypatch.delenv("DOCKER_CONTEXT", raising=False)
    (tmp_path / "config.json").write_text(text)
    assert find_endpoint().url == "unix:///var/run/docker.sock"
    bridge = Bridge(Endpoint(url=f"unix://{tmp_path}/nobody.sock"))
    with pytest.raises(RuntimeUnavailableError):
        await bridge.read(_nothing)


async def test_a_config_that_is_in_order_is_no_matter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCKER_CONFIG", str(tmp_path))
    (tmp_path / "config.json").write_text('{"HttpHeaders": {"X-Meta": "1"}, "auths": {}}')
    bridge = Bridge(Endpoint(url=f"unix://{tmp_path}/nobody.sock"))
    await bridge.read(_nothing)
    bridge.close()
