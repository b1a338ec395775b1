"""The keys that detach a terminal from a container and leave that running. Pure.

Source: kubectl v1.36 pkg/util/term NewDetachableReader (--detach-keys).
"""

from __future__ import annotations

from attrs import define, field

DEFAULT_KEYS = "ctrl-p,ctrl-q"
_CONTROLS = {f"ctrl-{chr(code + 0x60)}": code for code in range(1, 27)} | {
    f"ctrl-{sign}": code for sign, code in (("@", 0), ("[", 27), ("\\", 28), ("]", 29), ("^", 30), ("_", 31))
}


@define(eq=False)
class DetachKeys:
    """Looks for a sequence of keys in what is typed; its beginning is held back until it can't be it."""

    _keys: bytes
    _seen: int = field(default=0, init=False)

    @classmethod
    def parse(cls, text: str) -> DetachKeys:
        """Read keys with commas between: a sign, DEL, or `ctrl-` with a letter or one of five signs; ValueError."""
        return cls(bytes(map(_code, (text or DEFAULT_KEYS).split(","))))

    def feed(self, data: bytes) -> tuple[bytes, bool]:
        """Take in what was typed; return what of it the process gets now, and whether it is time to detach."""
        passed = bytearray()
        for key in data:
            if key != self._keys[self._seen]:
                passed += self._keys[: self._seen]
                self._seen = 0
            if key != self._keys[self._seen]:
                passed.append(key)
                continue
            self._seen += 1
            if self._seen == len(self._keys):
                return bytes(passed), True
        return bytes(passed), False


def _code(word: str) -> int:
    if len(word) == 1 and word.isascii():
        return ord(word)
    code = 0x7F if word == "DEL" else _CONTROLS.get(word.lower())
    if code is None:
        raise ValueError(f"could not bind detach keys: unknown character: {word!r}")
    return code
