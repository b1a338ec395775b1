"""The lists of words in docs/SIMULATED-SHELL.md, made from the code: `python tests/shell_docs.py` writes them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from runtime.simulated.shell.builtins import BUILTINS
from runtime.simulated.shell.registry import APPLETS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

PAGE = Path(__file__).parent.parent / "docs" / "SIMULATED-SHELL.md"


def rows(words: Mapping[str, Callable[..., object]]) -> str:
    """Return a table of words, those that do the same in one row, each with the first sentence of its docstring."""
    lines = ["| Word | |", "|---|---|"]
    for does in dict.fromkeys(words[name] for name in sorted(words)):
        names = " ".join(f"`{name}`" for name in sorted(words) if words[name] is does)
        sentence = re.split(r"(?<=\.)\s|\n", (does.__doc__ or "").strip())[0].rstrip(".:")
        lines.append(f"| {names} | {sentence.replace('|', chr(92) + '|')} |")
    return "\n".join(lines)


def page() -> str:
    """Return the page with its lists as the code has them."""
    text = PAGE.read_text()
    inside = " ".join(f"`{name}`" for name in sorted(BUILTINS))
    for name, made in (("words", rows(APPLETS)), ("builtins", inside)):
        block = f"<!-- {name} -->\n{made}\n<!-- end of {name} -->"
        begin, end = text.index(f"<!-- {name} -->"), text.index(f"<!-- end of {name} -->")
        text = text[:begin] + block + text[end + len(f"<!-- end of {name} -->") :]
    return text


if __name__ == "__main__":
    PAGE.write_text(page())
