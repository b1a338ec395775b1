"""Names of the shell's options."""

from __future__ import annotations

from types import MappingProxyType

LONG_OPTIONS = MappingProxyType(
    {
        "errexit": "e",
        "noglob": "f",
        "ignoreeof": "I",
        "monitor": "m",
        "noexec": "n",
        "xtrace": "x",
        "verbose": "v",
        "noclobber": "C",
        "allexport": "a",
        "notify": "b",
        "nounset": "u",
        "errtrace": "E",
        "vi": "V",
        "pipefail": "pipefail",
    }
)
"""Options of `set -o` and their letters, in the order in which it lists them; pipefail has none."""
OPTION_LETTERS = "EubaCvxcsnmiIfe"
"""Letters that `set` knows, in the order in which `$-` has them."""
