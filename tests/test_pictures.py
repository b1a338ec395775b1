"""The picture of the live view in the README is what the view makes today."""

from __future__ import annotations

import html
import re
import sys
from pathlib import Path

FOLDER = Path(__file__).resolve().parent.parent / "docs" / "pictures"
sys.path.insert(0, str(FOLDER))

import make_live  # noqa: E402 - it lies beside its picture


def words(svg: str) -> list[str]:
    """Return the words of a picture in their order, whatever pieces of text they are in."""
    lines: dict[str, str] = {}
    for y, text in re.findall(r'<text [^>]*?y="([0-9.]+)"[^>]*>(.*?)</text>', svg):
        lines[y] = lines.get(y, "") + html.unescape(text).replace("\xa0", " ")
    return " ".join(lines.values()).split()


def test_the_picture_shows_what_the_view_makes_today() -> None:
    svg = make_live.PICTURE.read_text(encoding="utf-8")
    shown = make_live.scene().print().export_text()
    assert "".join(words(svg)).endswith("".join(shown.split())), "make pictures"
    for part in ("starts again in", "first readiness probe in", "█", "startup ✓"):
        assert part in shown


def test_the_picture_asks_for_nothing_from_elsewhere() -> None:
    svg = make_live.PICTURE.read_text(encoding="utf-8")
    assert re.findall(r'(?:href|src|url)\s*[=(]\s*["\']?http', svg) == []
