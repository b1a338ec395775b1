"""Turns what the engine says of a failed pull into the kinds of `runtime.api`, in containerd's words.

The engine speaks plain HTTP to loopback and asks `/v2/` first; a node names the manifest's URL. The registry's own
reason is kept.
"""

from __future__ import annotations

import re

from runtime.api import ImageNotFoundError, ImagePullError, RegistryUnavailableError, pull_texts

MOST_CHARACTERS = 2000

_NOT_FOUND = ("manifest unknown", "name unknown", "manifest invalid: not found")
_DENIED = ("no basic auth credentials", "unauthorized", "denied:", "authentication required", "forbidden")
_UNREACHABLE = (
    "connection refused",
    "connection reset",
    "connection broken",
    "no such host",
    "server misbehaving",
    "i/o timeout",
    "tls handshake timeout",
    "network is unreachable",
    "no route to host",
    "client.timeout exceeded",
    "toomanyrequests",
    "too many requests",
    "502 bad gateway",
    "503 service unavailable",
    "504 gateway timeout",
    "unexpected eof",
    "context deadline exceeded",
)
_REQUEST = re.compile(r'(?:Get|Head) "?https?://[^\s"]+"?: (?P<reason>.*)', re.DOTALL)
_STATUS = re.compile(r"received unexpected HTTP status: (?P<status>\d{3} .*)", re.DOTALL)
_DENIED_BY_ENGINE = re.compile(
    r"pull access denied for \S+, repository does not exist or may require 'docker login'(: )?"
)


def of_resolving(image: str, text: str) -> ImagePullError:
    """Return the error of a pull that ended before its manifest was there."""
    text = _tidy(text)
    lowered = text.lower()
    if any(sign in lowered for sign in _NOT_FOUND) or lowered.endswith("not found"):
        return ImageNotFoundError(pull_texts.not_found(image))
    request, status = _REQUEST.fullmatch(text), _STATUS.fullmatch(text)
    reason = request["reason"] if request else text
    if any(sign in lowered for sign in _DENIED) or _DENIED_BY_ENGINE.match(text):
        return ImagePullError(pull_texts.denied(image, _DENIED_BY_ENGINE.sub("", reason) or "no such repository"))
    if status:
        said = pull_texts.bad_status(image, status["status"])
    elif request:
        said = pull_texts.no_answer(image, reason)
    else:
        said = pull_texts.unresolved(image, text)
    return RegistryUnavailableError(said) if _is_unreachable(lowered) else ImagePullError(said)


def of_copying(image: str, text: str) -> ImagePullError:
    """Return the error of a pull that ended while its content was fetched."""
    text = _tidy(text)
    said = pull_texts.uncopied(image, text)
    return RegistryUnavailableError(said) if _is_unreachable(text.lower()) else ImagePullError(said)


def _is_unreachable(lowered: str) -> bool:
    return lowered.endswith(": eof") or lowered == "eof" or any(sign in lowered for sign in _UNREACHABLE)


def _tidy(text: str) -> str:
    """Return the engine's text without what only says that it is the engine's, cut where a registry sent a lot."""
    text = text.removeprefix("Error response from daemon: ").strip()
    return text if len(text) <= MOST_CHARACTERS else text[:MOST_CHARACTERS] + pull_texts.CUT
