"""Pull credentials: reading pull secrets, matching them against an image.

Values of `AuthConfig` never appear in an error text. Pure.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import re
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from attrs import frozen

from runtime.api import AuthConfig

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kubelet_emu.api.v1 import Secret

DOCKER_HUB_KEY = "index.docker.io"
_SECRET_KEYS = {"kubernetes.io/dockerconfigjson": ".dockerconfigjson", "kubernetes.io/dockercfg": ".dockercfg"}


class PullSecretError(ValueError):
    """A pull secret is malformed; the text says where, never what it holds."""


@frozen(kw_only=True)
class SecretCoordinates:
    """Which secret a credential came from."""

    uid: str
    namespace: str
    name: str


@frozen(kw_only=True)
class Credential:
    """One entry of a keyring; `secret` is None for the node's own."""

    auth: AuthConfig
    secret: SecretCoordinates | None = None

    @property
    def hash(self) -> str:
        """Return a digest that tells credentials apart without showing them."""
        text = json.dumps([self.auth.username, self.auth.password])
        return hashlib.sha256(text.encode()).hexdigest()


@frozen
class Keyring:
    """Credentials by registry key, keys in reverse lexical order (kubelet v1.36 BasicDockerKeyring)."""

    entries: tuple[tuple[str, Credential], ...] = ()

    @classmethod
    def of(cls, entries: Mapping[str, Credential]) -> Keyring:
        """Make a keyring from entries as a Docker config writes their keys."""
        normal = [(registry_key(key), credential) for key, credential in entries.items()]
        return cls(tuple(sorted(normal, key=lambda entry: entry[0], reverse=True)))

    def lookup(self, repository: str) -> tuple[Credential, ...]:
        """Return the credentials that fit a fully qualified repository, in the order to try them.

        Source: kubelet v1.36 credentialprovider BasicDockerKeyring.Lookup; an image of Docker Hub falls back to the
        key `index.docker.io`.
        """
        found = tuple(credential for key, credential in self.entries if matches(key, repository))
        if found or not repository.startswith("docker.io/"):
            return found
        return tuple(credential for key, credential in self.entries if key == DOCKER_HUB_KEY)


def keyring_of_secrets(secrets: tuple[Secret, ...]) -> tuple[Keyring, ...]:
    """Return a keyring for each secret that is a pull secret; PullSecretError when its content is malformed.

    Source: kubelet v1.36 credentialprovider/secrets MakeDockerKeyring: type and key must fit, else it is ignored.
    """
    keyrings = []
    for secret in secrets:
        key = _SECRET_KEYS.get(secret.type or "")
        if key is not None and secret.data.get(key):
            keyrings.append(_keyring_of_secret(secret, secret.data[key], is_json=key == ".dockerconfigjson"))
    return tuple(keyrings)


def parse_docker_auths(auths: object, secret: SecretCoordinates | None = None) -> Keyring:
    """Make a keyring from a Docker config's `auths`; PullSecretError.

    `auth` (base64 of USER:PASSWORD) wins over `username` and `password` (kubelet v1.36 DockerConfigEntry).
    """
    if not isinstance(auths, dict) or not all(isinstance(entry, dict) for entry in auths.values()):
        raise PullSecretError("json: cannot unmarshal into DockerConfig")
    return Keyring.of({key: Credential(auth=_auth(entry), secret=secret) for key, entry in auths.items()})


def registry_key(text: str) -> str:
    """Return a Docker config's key as `host[:port][/path]`, without scheme and without a leading /v1/ or /v2/."""
    parts = urlsplit(text if text.startswith(("https://", "http://")) else f"https://{text}")
    path = parts.path
    if path.startswith(("/v1/", "/v2/")):
        path = path[3:]
    return parts.netloc + (path if path != "/" else "")


def matches(key: str, repository: str) -> bool:
    """Tell whether a key's host globs, port and path prefix fit a repository (kubelet v1.36 URLsMatch)."""
    key_host, key_port, key_path = _split(key)
    host, port, path = _split(repository)
    return (
        key_port == port
        and len(key_host) == len(host)
        and path.startswith(key_path)
        and all(_glob_matches(glob, part) for glob, part in zip(key_host, host, strict=True))
    )


def _glob_matches(glob: str, text: str) -> bool:
    return fnmatchcase(text, re.sub(r"\[\^", "[!", glob))


def _split(text: str) -> tuple[list[str], str, str]:
    host_and_port, slash, path = text.partition("/")
    host, _, port = host_and_port.partition(":")
    return host.split("."), port, slash + path


def _keyring_of_secret(secret: Secret, content: bytes, *, is_json: bool) -> Keyring:
    meta = secret.metadata
    coordinates = SecretCoordinates(uid=meta.uid or "", namespace=meta.namespace or "", name=meta.name or "")
    try:
        config = json.loads(content)
    except ValueError as error:
        # The parser's own text would quote what it read.
        raise PullSecretError("invalid character in pull secret: not JSON") from error
    if is_json:
        config = config.get("auths") or {} if isinstance(config, dict) else config
    return parse_docker_auths(config, coordinates)


def _auth(entry: Mapping[str, object]) -> AuthConfig:
    encoded = entry.get("auth")
    if not encoded:
        return AuthConfig(username=str(entry.get("username") or ""), password=str(entry.get("password") or ""))
    try:
        decoded = base64.b64decode(str(encoded)).decode()
    except (binascii.Error, UnicodeDecodeError) as error:
        raise PullSecretError("illegal base64 data in field auth") from error
    username, colon, password = decoded.partition(":")
    if not colon:
        raise PullSecretError("unable to parse auth field, must be formatted as base64(username:password)")
    return AuthConfig(username=username, password=password)
