"""Which pull policy an image gets when the manifest has none.

Source: kubernetes v1.36 SetDefaults_Container with ParseImageName.
"""

from __future__ import annotations

import re

_NAME = r"[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*"
_HOST = r"(?:[a-zA-Z0-9]|[a-zA-Z0-9][a-zA-Z0-9-]*[a-zA-Z0-9])"
_REFERENCE = re.compile(
    rf"(?:(?:(?:{_HOST}\.)*{_HOST}|\[[0-9a-fA-F:]+\])(?::[0-9]+)?/)?{_NAME}(?:/{_NAME})*"
    r"(?::(?P<tag>[\w][\w.-]{0,127}))?(?P<digest>@[A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*:[0-9a-fA-F]{32,})?",
    re.ASCII,
)


def default_pull_policy(image: str) -> str:
    """Return Always for the tag latest, also an implied one, else IfNotPresent; also for a name that can't be read."""
    found = _REFERENCE.fullmatch(image)
    if found is None:
        return "IfNotPresent"
    is_latest = found["tag"] == "latest" or not (found["tag"] or found["digest"])
    return "Always" if is_latest else "IfNotPresent"
