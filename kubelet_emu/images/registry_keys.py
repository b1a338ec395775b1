"""The keys of a Docker config: which registries and paths an entry is for.

A key is `host[:port][/path]`; each part of the host may be a glob. Pure. Source: kubelet v1.36 pkg/credentialprovider
keyring.go (Add, URLsMatch), Go's path.Match and url.Parse as far as keys need them.
"""

from __future__ import annotations

import re
from functools import cache

_SCHEME = re.compile(r"https?://")
_API_PATH = re.compile(r"/v[12]/")
_BAD_IN_HOST = re.compile(r"[\x00-\x20\x7f\"<>\\^`{|}]")
_DIGITS = re.compile(r"[0-9]*")
_PORT = re.compile(r"(?P<host>\[[^\]]*\]|[^:]*):(?P<port>[^:]*)")
_CLASS_PART = re.compile(r"(?P<low>\\.|[^\\\]\-])(?:-(?P<high>\\.|[^\\\]\-]))?", re.DOTALL)


def registry_key(text: str) -> str | None:
    """Return a Docker config's key as `host[:port][/path]`, None for one that is no address and is ignored.

    Scheme, user and a leading /v1/ or /v2/ of the path are taken off.
    """
    rest = re.split(r"[?#]", _SCHEME.sub("", text, count=1), maxsplit=1)[0]
    authority, slash, path = rest.partition("/")
    host = authority.rpartition("@")[2]
    port = _split_port(host)[1]
    if _BAD_IN_HOST.search(host) or not _DIGITS.fullmatch(port) or not _is_bracketed_well(host):
        return None
    path = slash + path
    if _API_PATH.match(path):
        path = path[3:]
    return host + (path if path != "/" else "")


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


def _is_bracketed_well(host: str) -> bool:
    """Tell whether brackets hold an IPv6 address or a glob's letters, and are closed."""
    return host.count("[") == host.count("]")


def _split(text: str) -> tuple[list[str], str, str]:
    authority, slash, path = text.partition("/")
    host, port = _split_port(authority)
    return host.split("."), port, slash + path


def _split_port(authority: str) -> tuple[str, str]:
    """Return host and port of `host:port`; what has another form is all host (Go net.SplitHostPort)."""
    found = _PORT.fullmatch(authority)
    return (re.sub(r"\[(.*)\]", r"\1", found["host"]), found["port"]) if found else (authority, "")


def _glob_matches(glob: str, text: str) -> bool:
    pattern = _glob_pattern(glob)
    return pattern is not None and pattern.fullmatch(text) is not None


@cache
def _glob_pattern(glob: str) -> re.Pattern[str] | None:
    r"""Return what a shell glob matches (`*`, `?`, `[a-z]`, `[^a]`, `\x`), None for one that matches nothing."""
    pattern, rest = "", glob
    while rest:
        head, rest = rest[0], rest[1:]
        if head == "*":
            pattern += "[^/]*"
        elif head == "?":
            pattern += "[^/]"
        elif head == "[":
            letters, closed, rest = rest.partition("]")
            one = _class(letters)
            if not closed or one is None:
                return None
            pattern += one
        elif head == "\\" and rest:
            pattern, rest = pattern + re.escape(rest[0]), rest[1:]
        else:
            pattern += re.escape(head)
    return re.compile(pattern, re.DOTALL)


def _class(letters: str) -> str | None:
    """Return the letters between brackets as a regular expression has them, None for none or a range that is none."""
    is_negated, letters = letters.startswith("^"), letters.removeprefix("^")
    parts, end = "", 0
    for part in _CLASS_PART.finditer(letters):
        low, high = part["low"][-1], (part["high"] or part["low"])[-1]
        if part.start() != end or high < low:
            return None
        parts, end = parts + f"{re.escape(low)}-{re.escape(high)}", part.end()
    return f"[{'^' if is_negated else ''}{parts}]" if parts and end == len(letters) else None
