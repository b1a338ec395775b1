"""Takes values that may be secret out of a manifest before it is recorded.

The data of a Secret never goes into a record. Plain environment values, the data of a ConfigMap and HTTP header values
are replaced by a keyed digest, so that equal values can still be told from different ones within a run; the user may
ask for those as they are.
"""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import blake2b

from attrs import frozen

LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"

_DATA_KEYS = frozenset({"data", "stringData", "binaryData"})
_NAMED_VALUES = frozenset({"env", "httpHeaders"})


@frozen(kw_only=True)
class Redactor:
    """Makes digests; `key` is the run's own, so that short values can't be guessed from another run's digests."""

    key: bytes = b""
    log_values: bool = False

    def redact(self, manifest: Mapping[str, object]) -> dict[str, object]:
        """Return a copy of an encoded object without values that may be secret."""
        kind = manifest.get("kind")
        if kind in {"Secret", "ConfigMap"} and (kind == "Secret" or not self.log_values):
            manifest = {k: self._all(v) if k in _DATA_KEYS else v for k, v in manifest.items()}
        return {key: self._walk(key, value) for key, value in manifest.items()}

    def digest(self, value: object) -> str:
        """Return what stands for a value."""
        return "digest:" + blake2b(str(value).encode(errors="replace"), key=self.key, digest_size=8).hexdigest()

    def _all(self, data: object) -> object:
        return {k: self.digest(v) for k, v in data.items()} if isinstance(data, Mapping) else data

    def _walk(self, key: str, value: object) -> object:
        if key == "annotations" and isinstance(value, Mapping):
            return {k: self.digest(v) if k == LAST_APPLIED else v for k, v in value.items()}
        if isinstance(value, Mapping):
            return {k: self._walk(k, v) for k, v in value.items()}
        if isinstance(value, list | tuple):
            return [self._item(key, item) for item in value]
        return value

    def _item(self, key: str, item: object) -> object:
        if key in _NAMED_VALUES and not self.log_values and isinstance(item, Mapping) and "value" in item:
            return {**item, "value": self.digest(item["value"])}
        return self._walk("", item)
