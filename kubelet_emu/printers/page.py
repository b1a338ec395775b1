"""A page of `describe` on its way: lines with their level, aligned at the end.

What comes from a manifest or a container may hold control characters; none of them reaches a terminal but the newlines
and tabs that kubectl passes on too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import define, field

from kubelet_emu.journal.text import harmless
from kubelet_emu.printers.tabwriter import align

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

MOST_OF_ANNOTATION = 140
LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"


@define
class Page:
    """Lines of text; a level is two blanks. Source: kubectl v1.36 describe PrefixWriter."""

    _done: list[str] = field(factory=list, init=False)
    _lines: list[str] = field(factory=list, init=False)

    def line(self, level: int, text: str) -> None:
        """Add a line."""
        self._lines.append("  " * level + "\n".join(_visible(each) for each in text.split("\n")))

    def lines(self, level: int, texts: Iterable[str]) -> None:
        """Add some lines."""
        for text in texts:
            self.line(level, text)

    def flush(self) -> None:
        """Begin new columns."""
        self._done += [align("\n".join(self._lines))] if self._lines else []
        self._lines.clear()

    def text(self) -> str:
        """Return the page, with a newline at its end."""
        self.flush()
        return "".join(f"{part}\n" for part in self._done)

    def listed(self, title: str, texts: Iterable[str], inner: str = "\t") -> None:
        """Add a title with the first of some texts beside it and the others below."""
        head = f"{title}:"
        for text in list(texts) or ["<none>"]:
            self.line(0, f"{head}{inner}{text}")
            head = ""

    def labels(self, title: str, labels: Mapping[str, str], inner: str = "\t") -> None:
        """Add labels in the order of their names (printLabelsMultiline)."""
        self.listed(title, (f"{key}={labels[key]}" for key in sorted(labels)), inner)

    def annotations(self, title: str, annotations: Mapping[str, str], inner: str = "\t") -> None:
        """Add annotations; long ones and those of several lines stand below their names, cut."""
        kept = sorted(key for key in annotations if key != LAST_APPLIED)
        texts = [text for key in kept for text in _annotation(key, annotations[key].removesuffix("\n"))]
        self.listed(title, texts, inner)


def _visible(text: str) -> str:
    return harmless(text.replace("\x1b", "^["), limit=len(text) + text.count("\x1b"))


def _annotation(key: str, value: str) -> list[str]:
    if len(f"{key}{value}".encode()) + 2 <= MOST_OF_ANNOTATION and "\n" not in value:
        return [f"{key}: {value}"]
    most = MOST_OF_ANNOTATION - 2
    return [f"{key}:", *(f"  {_cut(each, most)}" for each in value.split("\n"))]


def _cut(text: str, most: int) -> str:
    """Cut after so many bytes, as Go slices a string; a character that was cut through goes."""
    whole = text.encode()
    return text if len(whole) <= most else f"{whole[:most].decode(errors='ignore')}..."


def go_bool(value: bool | None) -> str:  # noqa: FBT001 - the value itself
    """Return a boolean as Go prints it; one that is absent is false."""
    return "true" if value else "false"
