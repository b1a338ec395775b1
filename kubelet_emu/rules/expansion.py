"""$(VAR) in commands, arguments and values of environment variables.

`$(NAME)` becomes the value of NAME, `$$` one `$`; what is not known, or not closed, stays as it is written. What comes
out is not looked at again. Source: kubernetes v1.36 third_party/forked/golang/expansion.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

# A `$` with what follows it: another `$`, a closed name of any characters, or nothing of the two.
_REFERENCE = r"\$(?:(?P<escaped>\$)|\((?P<name>[^)]*)\))"


def expand(text: str, *layers: Mapping[str, str]) -> str:
    """Return `text` with its variables replaced; names are looked up in the layers in order (Expand)."""

    def replacement(found: re.Match[str]) -> str:
        if found["escaped"]:
            return "$"
        return next((layer[found["name"]] for layer in layers if found["name"] in layer), found[0])

    return re.sub(_REFERENCE, replacement, text)
