"""Names of the shell's options."""

from __future__ import annotations

from types import MappingProxyType

LONG_OPTIONS = MappingProxyType(
    {
        "allexport": "a",
        "errexit": "e",
        "ignoreeof": "I",
        "monitor": "m",
        "noclobber": "C",
        "noexec": "n",
        "noglob": "f",
        "notify": "b",
        "nounset": "u",
        "pipefail": "pipefail",
        "verbose": "v",
        "xtrace": "x",
    }
)
"""Options of `set -o` and their letters; pipefail has none."""
