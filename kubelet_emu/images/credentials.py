"""Pull credentials: reading pull secrets, matching them against an image.

Values of `AuthConfig` never appear in an error text. Pure. Source: kubelet v1.36 pkg/credentialprovider.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from typing import TYPE_CHECKING

from attrs import field, frozen

from kubelet_emu.images.registry_keys import matches, registry_key
from runtime.api import AuthConfig

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from kubelet_emu.api.v1 import Secret

DOCKER_HUB_KEY = "index.docker.io"
_DOCKER_JSON = ".dockerconfigjson"
_SECRET_KEYS = {"kubernetes.io/dockerconfigjson": _DOCKER_JSON, "kubernetes.io/dockercfg": ".dockercfg"}
_GO_KINDS = {bool: "bool", dict: "object", float: "number", int: "number", list: "array", str: "string"}
_GO_ENTRY = "dockerConfigEntryWithAuth"
_BASE64 = re.compile(r"[A-Za-z0-9+/]*")


class PullSecretError(ValueError):
    """A pull secret is malformed; the text says where, never what it holds, and `secret` which one it is, if known."""

    secret: str = ""


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

    entries: tuple[tuple[str, Credential], ...] = field(
        default=(), repr=lambda entries: str([key for key, _ in entries])
    )

    @classmethod
    def of(cls, entries: Iterable[tuple[str, Credential]]) -> Keyring:
        """Make a keyring of entries whose keys are as a Docker config writes them; a key that is none is left out."""
        normal = [(key, credential) for text, credential in entries if (key := registry_key(text)) is not None]
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


def keyring_of_secrets(secrets: tuple[Secret, ...]) -> Keyring:
    """Return one keyring of all secrets that are pull secrets; PullSecretError when the content of one is malformed.

    Over all secrets the longer key comes first; entries of one key come in the order of their secrets. Type and key of
    a secret must fit, else it is ignored. Source: kubelet v1.36 credentialprovider/secrets MakeDockerKeyring.
    """
    entries: list[tuple[str, Credential]] = []
    for secret in secrets:
        key = _SECRET_KEYS.get(secret.type or "")
        if key is not None and secret.data.get(key):
            try:
                entries += _entries_of_secret(secret, secret.data[key], is_json=key == _DOCKER_JSON)
            except PullSecretError as error:
                error.secret = secret.metadata.name or ""
                raise
    return Keyring.of(entries)


def read_json(content: str | bytes, what: str) -> object:
    """Read JSON; PullSecretError, which doesn't quote what was read as the parser's own text would."""
    try:
        return json.loads(content, parse_constant=_no_constant)
    except (ValueError, RecursionError):
        raise PullSecretError(f"invalid character in {what}: not JSON") from None


def read_auths(auths: object, go_type: str, secret: SecretCoordinates | None = None) -> list[tuple[str, Credential]]:
    """Return the entries of a Docker config's `auths`; PullSecretError."""
    if auths is not None and not isinstance(auths, dict):
        raise PullSecretError(f"json: cannot unmarshal {_kind(auths)} into Go {go_type}")
    return [(key, Credential(auth=_auth(entry), secret=secret)) for key, entry in (auths or {}).items()]


def text_field(entry: Mapping[str, object], name: str) -> str:
    """Return a text of an entry, empty where it has none; PullSecretError. Go's JSON doesn't look at a name's case."""
    value = member(entry, name)
    if value is not None and not isinstance(value, str):
        raise PullSecretError(
            f"json: cannot unmarshal {_kind(value)} into Go struct field {_GO_ENTRY}.{name} of type string"
        )
    return value or ""


def member(value: Mapping[str, object], name: str) -> object:
    """Return what a mapping has under a name in any case, the exact one first; None where it has nothing."""
    return value.get(name, next((each for key, each in value.items() if key.lower() == name.lower()), None))


def _no_constant(name: str) -> object:
    raise ValueError(name)


def _kind(value: object) -> str:
    return _GO_KINDS.get(type(value), "value")


def _entries_of_secret(secret: Secret, content: bytes, *, is_json: bool) -> list[tuple[str, Credential]]:
    meta = secret.metadata
    coordinates = SecretCoordinates(uid=meta.uid or "", namespace=meta.namespace or "", name=meta.name or "")
    config = read_json(content, "pull secret")
    if not is_json:
        return read_auths(config, "value of type credentialprovider.DockerConfig", coordinates)
    if config is not None and not isinstance(config, dict):
        raise PullSecretError(
            f"json: cannot unmarshal {_kind(config)} into Go value of type credentialprovider.DockerConfigJSON"
        )
    field_type = "struct field DockerConfigJSON.auths of type credentialprovider.DockerConfig"
    return read_auths(member(config or {}, "auths"), field_type, coordinates)


def _auth(entry: object) -> AuthConfig:
    """Return user and password: `auth`, base64 of USER:PASSWORD, wins when it isn't empty (DockerConfigEntry)."""
    if entry is not None and not isinstance(entry, dict):
        raise PullSecretError(
            f"json: cannot unmarshal {_kind(entry)} into Go value of type credentialprovider.{_GO_ENTRY}"
        )
    fields: Mapping[str, object] = entry or {}
    username, password, encoded = (text_field(fields, name) for name in ("username", "password", "auth"))
    if not encoded:
        return AuthConfig(username=username, password=password)
    username, colon, password = _decoded(encoded).partition(":")
    if not colon:
        raise PullSecretError("unable to parse auth field, must be formatted as base64(username:password)")
    return AuthConfig(username=username, password=password)


def _decoded(encoded: str) -> str:
    """Decode base64 with or without its padding, as Go does; PullSecretError names the place, not the text."""
    text = re.sub(r"[\r\n]", "", encoded)
    body = text.rstrip("=")
    good = _BASE64.match(body)
    end = good.end() if good else 0
    is_padded = text.endswith("=")
    if end < len(body) or (is_padded and len(text) % 4) or len(body) % 4 == 1:
        raise PullSecretError(f"illegal base64 data at input byte {end if end < len(body) else len(body) // 4 * 4}")
    return base64.b64decode(body + "=" * (-len(body) % 4)).decode(errors="replace")
