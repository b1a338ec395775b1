"""The user's own Docker credentials: ~/.docker/config.json, helpers included.

Differs: a kubelet reads no helpers. They are asked once, for the registries that a run needs, before it starts.
"""

from __future__ import annotations

import json
import subprocess
from typing import TYPE_CHECKING

import trio
from attrs import field, frozen

from kubelet_emu.images.credentials import Credential, Keyring, PullSecretError, parse_docker_auths
from runtime.api import AuthConfig

if TYPE_CHECKING:
    from collections.abc import Mapping

HELPER_SECONDS = 30.0
TOKEN_USER = "<token>"  # noqa: S105 - what helpers put in the place of a user name
_HUB_HOST, _HUB_KEY = "docker.io", "https://index.docker.io/v1/"


@frozen(kw_only=True)
class DockerConfig:
    """What a config.json says of credentials: those it holds, and the helpers to ask by registry and for the rest."""

    keyring: Keyring = field(factory=Keyring)
    helpers: Mapping[str, str] = field(factory=dict)
    store: str = ""

    def helper_of(self, host: str) -> str:
        """Return the helper to ask about a registry, empty for none."""
        return self.helpers.get(_server(host)) or self.helpers.get(host) or self.store


def parse_docker_config(text: str) -> DockerConfig:
    """Read a config.json; PullSecretError, which shows nothing of its content."""
    try:
        content = json.loads(text)
    except ValueError as error:
        raise PullSecretError("invalid character in Docker config: not JSON") from error
    if not isinstance(content, dict) or not isinstance(content.get("credHelpers") or {}, dict):
        raise PullSecretError("json: cannot unmarshal into DockerConfigFile")
    # With a store the entries of auths are empty: the credentials are in the store.
    auths = {key: entry for key, entry in (content.get("auths") or {}).items() if entry}
    return DockerConfig(
        keyring=parse_docker_auths(auths),
        helpers=content.get("credHelpers") or {},
        store=content.get("credsStore") or "",
    )


async def load_keyring(config: DockerConfig, hosts: frozenset[str]) -> tuple[Keyring, tuple[str, ...]]:
    """Return the credentials for the registries of a run, and a warning for each helper that doesn't work.

    Cancellation kills the helper that runs.
    """
    entries = dict(config.keyring.entries)
    warnings: list[str] = []
    for host in sorted(hosts):
        helper = config.helper_of(host)
        if not helper:
            continue
        try:
            auth = await _ask(helper, _server(host))
        except (OSError, ValueError, subprocess.CalledProcessError, trio.TooSlowError) as error:
            warnings.append(f"credential helper {helper!r} for {host}: {type(error).__name__}")
        else:
            entries |= {_server(host): Credential(auth=auth)} if auth is not None else {}
    return Keyring.of(entries), tuple(warnings)


async def _ask(helper: str, server: str) -> AuthConfig | None:
    """Run `docker-credential-HELPER get`; None when it knows nothing of the server."""
    with trio.fail_after(HELPER_SECONDS):
        done = await trio.run_process(
            [f"docker-credential-{helper}", "get"],
            stdin=server.encode(),
            capture_stdout=True,
            capture_stderr=True,
            check=False,
        )
    if done.returncode:
        if b"not found" in done.stdout + done.stderr:
            return None
        raise subprocess.CalledProcessError(done.returncode, helper)
    answer = json.loads(done.stdout)
    username, secret = str(answer.get("Username", "")), str(answer.get("Secret", ""))
    if username == TOKEN_USER:
        return AuthConfig(identity_token=secret)
    return AuthConfig(username=username, password=secret)


def _server(host: str) -> str:
    return _HUB_KEY if host == _HUB_HOST else host
