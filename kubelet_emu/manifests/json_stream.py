"""JSON values that follow each other in one text, as `jq` and `kubectl get -o json` in a loop write them."""

from __future__ import annotations

_BLANKS = " \t\r\n"


def further_values(text: str) -> tuple[int, ...]:
    """Return where the second value of a text begins, the third and so on; nothing for text that isn't JSON.

    What can't be read after a value counts as one. Source: kubectl's YAMLOrJSONDecoder, which streams JSON.
    """
    import json  # noqa: PLC0415 - few manifests are JSON, and start-up is felt first

    decoder = json.JSONDecoder()
    starts: list[int] = []
    at = _next(text, 0)
    while at < len(text):
        try:
            _value, end = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            break
        at = _next(text, end)
        if at < len(text):
            starts.append(at)
    return tuple(starts)


def _next(text: str, at: int) -> int:
    rest = len(text) - at - len(text[at:].lstrip(_BLANKS))
    return at + rest
