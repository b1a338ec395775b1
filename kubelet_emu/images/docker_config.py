"""The user's own Docker credentials: config.json of `docker login`, helpers included.

Differs: a kubelet reads config.json of its own folders, asks credential plugins of its node, and no helpers. Here the
user's file is read and its helpers are asked, each when a pull of its registry first needs it.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import trio
from attrs import define, evolve, field, frozen

from kubelet_emu.images import credential_helper
from kubelet_emu.images.credentials import (
    Credential,
    Keyring,
    PullSecretError,
    member,
    read_auths,
    read_json,
    text_field,
)
from runtime.api import AuthConfig

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

CACHE_SECONDS = 300.0
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


def docker_config_path(environ: Mapping[str, str]) -> Path:
    """Return where the docker command keeps its config.json."""
    folder = environ.get("DOCKER_CONFIG")
    return (Path(folder) if folder else Path(environ.get("HOME") or "/") / ".docker") / "config.json"


def parse_docker_config(text: str | bytes) -> DockerConfig:
    """Read a config.json; PullSecretError, which shows nothing of its content."""
    content = read_json(text, "Docker config")
    if not isinstance(content, dict):
        raise PullSecretError("json: cannot unmarshal into DockerConfigFile")
    helpers = member(content, "credHelpers") or {}
    if not isinstance(helpers, dict):
        raise PullSecretError("json: cannot unmarshal into DockerConfigFile.credHelpers")
    auths = member(content, "auths")
    return DockerConfig(
        keyring=Keyring.of(_entries(auths)),
        helpers={host: name for host, name in helpers.items() if isinstance(name, str)},
        store=text_field(content, "credsStore"),
    )


def _entries(auths: object) -> list[tuple[str, Credential]]:
    """Return the entries that hold something: with a store theirs are empty, as it has the credentials."""
    entries = read_auths(auths, "struct field DockerConfigFile.auths")
    written = auths if isinstance(auths, dict) else {}
    full = [(key, _with_tokens(credential, written[key] or {})) for key, credential in entries]
    return [(key, credential) for key, credential in full if credential.auth != AuthConfig()]


def _with_tokens(credential: Credential, entry: Mapping[str, object]) -> Credential:
    identity, registry = text_field(entry, "identitytoken"), text_field(entry, "registrytoken")
    return evolve(credential, auth=evolve(credential.auth, identity_token=identity, registry_token=registry))


@frozen
class _Answer:
    """What is known of a registry, and until when."""

    credentials: tuple[tuple[str, Credential], ...]
    until: float


@define(eq=False, kw_only=True)
class DockerCredentials:
    """The user's credentials by repository; a file or a helper that doesn't work is told by `warn`, once.

    What a helper said, and the file, hold for five minutes, as a kubelet's own file does.
    """

    path: Path
    warn: Callable[[str], None]
    _config: tuple[DockerConfig, float] | None = field(default=None, init=False)
    _answers: dict[str, _Answer] = field(factory=dict, init=False)
    _asking: dict[str, trio.Event] = field(factory=dict, init=False)
    _warned: set[str] = field(factory=set, init=False)

    async def lookup(self, repository: str) -> tuple[Credential, ...]:
        """Return the credentials that fit a repository; cancellation ends the helper that runs."""
        host = repository.partition("/")[0]
        config = self._read()
        helper = config.helper_of(host)
        own = await self._asked(helper, host) if helper else ()
        return Keyring.of((*own, *config.keyring.entries)).lookup(repository)

    def _read(self) -> DockerConfig:
        now = trio.current_time()
        if self._config is None or self._config[1] <= now:
            self._config = self._read_now(), now + CACHE_SECONDS
        return self._config[0]

    def _read_now(self) -> DockerConfig:
        try:
            return parse_docker_config(self.path.read_bytes())
        except FileNotFoundError:
            return DockerConfig()
        except (OSError, PullSecretError) as error:
            reason = error.strerror if isinstance(error, OSError) else str(error)
            self._warn_once(f"{self.path}: {reason}: pulling without the credentials of this file")
            return DockerConfig()

    async def _asked(self, helper: str, host: str) -> tuple[tuple[str, Credential], ...]:
        """Return what a helper says of a registry; of several who want to know at once the first one asks."""
        while True:
            known = self._answers.get(host)
            if known is not None and known.until > trio.current_time():
                return known.credentials
            if (asking := self._asking.get(host)) is not None:
                await asking.wait()
                continue
            done = self._asking[host] = trio.Event()
            try:
                found = await self._ask(helper, host)
            finally:
                del self._asking[host]
                done.set()
            self._answers[host] = _Answer(found, trio.current_time() + CACHE_SECONDS)
            return found

    async def _ask(self, helper: str, host: str) -> tuple[tuple[str, Credential], ...]:
        try:
            auth = await credential_helper.ask_helper(helper, _server(host))
        except credential_helper.FAILURES as error:
            self._warn_once(f"credential helper docker-credential-{helper} for {host}: {credential_helper.why(error)}")
            return ()
        return () if auth is None else ((_server(host), Credential(auth=auth)),)

    def _warn_once(self, text: str) -> None:
        if text not in self._warned:
            self._warned.add(text)
            self.warn(text)


def _server(host: str) -> str:
    return _HUB_KEY if host == _HUB_HOST else host
