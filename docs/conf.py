"""How Sphinx makes the site of the documents: `make docs`. The README is its home page; a broken link is an error."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sphinx.application import Sphinx

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = (ROOT / "kubelet_emu" / "__init__.py").read_text()

project = "kubelet-emu"
[release] = re.findall(r'^__version__ = "(.+)"$', PACKAGE, re.MULTILINE)
extensions = ["myst_parser"]
root_doc = "README"
include_patterns = ["README.md", "CHANGELOG.md", "CONTRIBUTING.md", "docs/**.md", "tests/tables/README.md"]
myst_heading_anchors = 4
html_theme = "furo"
html_title = f"kubelet-emu {release}"
html_copy_source = False
suppress_warnings = ["misc.highlighting_failure"]  # what a program shows is in no language

SECTIONS = {
    "How to": "docs/how-to/*",
    "Reference": "docs/*",
    "Project": "CHANGELOG\nCONTRIBUTING\ntests/tables/README",
}
HOME = '<!doctype html><meta http-equiv="refresh" content="0; url=README.html"><title>kubelet-emu</title>\n'


def add_menu(_app: Sphinx, name: str, source: list[str]) -> None:
    """Give the home page the menu, which a reader of the README elsewhere would see as text."""
    if name == root_doc:
        for caption, pages in SECTIONS.items():
            source[0] += f"\n```{{toctree}}\n:glob:\n:hidden:\n:caption: {caption}\n\n{pages}\n```\n"


def add_home(app: Sphinx, error: Exception | None) -> None:
    """Lead from the site's root to the home page."""
    if error is None and app.builder.format == "html":
        (Path(app.outdir) / "index.html").write_text(HOME)


def setup(app: Sphinx) -> None:
    """Called by Sphinx."""
    app.connect("source-read", add_menu)
    app.connect("build-finished", add_home)
