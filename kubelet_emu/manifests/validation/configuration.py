"""ConfigMaps and Secrets: keys, sizes, and what a Secret's type asks for.

Source: kubernetes v1.36 ValidateConfigMap, ValidateSecret.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from kubelet_emu.manifests.validation.faults import Fault, invalid, required, too_long
from kubelet_emu.manifests.validation.metadata import validate_metadata
from kubelet_emu.manifests.validation.names import config_key_errors

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kubelet_emu.api.v1 import ConfigMap, Secret

_MOST_BYTES = 1024 * 1024
_ACCOUNT_NAME = "kubernetes.io/service-account.name"
REDACTED = "<secret contents redacted>"
_DOCKER_KEYS = {"kubernetes.io/dockercfg": ".dockercfg", "kubernetes.io/dockerconfigjson": ".dockerconfigjson"}
_NEEDED_KEYS = {"kubernetes.io/tls": ("tls.crt", "tls.key"), "kubernetes.io/ssh-auth": ("ssh-privatekey",)}
_GO_KINDS = {list: "array", str: "string", int: "number", float: "number", bool: "bool"}
_GO_REASONS = (
    ("Expecting property name", "looking for beginning of object key string"),
    ("Expecting ':'", "after object key"),
    ("Expecting ','", "after object key:value pair"),
    ("Extra data", "after top-level value"),
)


def validate_config_map(config_map: ConfigMap) -> Iterator[Fault]:
    """Check a ConfigMap."""
    yield from validate_metadata(config_map.metadata)
    for key in config_map.data:
        yield from _key_faults("data", key)
        if key in config_map.binary_data:
            yield invalid(f"data[{key}]", key, "duplicate of key present in binaryData")
    for key in config_map.binary_data:
        yield from _key_faults("binaryData", key)
    texts = sum(len(text.encode()) for text in config_map.data.values())
    if texts + sum(map(len, config_map.binary_data.values())) > _MOST_BYTES:
        yield too_long("[]", _MOST_BYTES, at="data")


def validate_secret(stored: Secret, written: Secret) -> Iterator[Fault]:
    """Check a Secret as it is stored, `stringData` merged into `data`; `written` says where a key stands."""
    yield from validate_metadata(stored.metadata)
    for key in stored.data:
        yield from _key_faults("data", key, at=_written(key, written))
    if sum(map(len, stored.data.values())) > _MOST_BYTES:
        yield too_long("data", _MOST_BYTES)
    yield from _type_faults(stored, written)


def _key_faults(path: str, key: str, at: str = "") -> Iterator[Fault]:
    for text in config_key_errors(key):
        yield invalid(f"{path}[{key}]", key, text, at=at)


def _written(key: str, secret: Secret) -> str:
    return f"stringData[{key}]" if key in secret.string_data else f"data[{key}]"


def _type_faults(secret: Secret, written: Secret) -> Iterator[Fault]:
    """Check what a type of Secret must have."""
    kind = secret.type or ""
    if kind == "kubernetes.io/service-account-token" and not secret.metadata.annotations.get(_ACCOUNT_NAME):
        yield required(f"metadata.annotations[{_ACCOUNT_NAME}]")
    if (docker_key := _DOCKER_KEYS.get(kind)) is not None:
        yield from _docker_faults(secret, docker_key, _written(docker_key, written))
    if kind == "kubernetes.io/basic-auth" and not {"username", "password"} & secret.data.keys():
        yield required("data[username]")
        yield required("data[password]")
    for key in _NEEDED_KEYS.get(kind, ()):
        if key not in secret.data or (kind == "kubernetes.io/ssh-auth" and not secret.data[key]):
            yield required(f"data[{key}]", at=_written(key, written))


def _docker_faults(secret: Secret, key: str, at: str) -> Iterator[Fault]:
    if key not in secret.data:
        yield required(f"data[{key}]")
        return
    if error := _object_error(secret.data[key]):
        yield invalid(f"data[{key}]", REDACTED, error, at=at)


def _object_error(data: bytes) -> str:
    """Return why bytes are no JSON object, in the words of Go's encoding/json; empty for one."""
    text = data.decode(errors="replace")
    try:
        value = json.loads(text, parse_int=float)
    except RecursionError:
        return "exceeded max depth"
    except json.JSONDecodeError as error:
        if error.pos >= len(text) or error.msg.startswith("Unterminated"):
            return "unexpected end of JSON input"
        told = (words for start, words in _GO_REASONS if error.msg.startswith(start))
        return f"invalid character {text[error.pos]!r} {next(told, 'looking for beginning of value')}"
    if value is None or isinstance(value, dict):
        return ""
    return f"json: cannot unmarshal {_GO_KINDS[type(value)]} into Go value of type map[string]interface {{}}"
