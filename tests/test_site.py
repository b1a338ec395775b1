"""The site of the documents: made without a warning, which is what a broken link is."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make the site once."""
    folder = tmp_path_factory.mktemp("site")
    done = make(folder, ROOT)
    assert (done.returncode, done.stdout + done.stderr) == (0, "")
    return folder


def make(folder: Path, source: Path) -> subprocess.CompletedProcess[str]:
    """Run Sphinx as `make docs` does."""
    command = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-d", str(folder / "doctrees")]
    return subprocess.run(
        [*command, "-c", str(ROOT / "docs"), str(source), str(folder / "html")],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"PYTHONWARNINGS": "ignore"},  # of the builder's own parts; the documents' are in its output
    )


def test_the_site_begins_with_the_readme(site: Path) -> None:
    assert "url=README.html" in (site / "html" / "index.html").read_text()


def test_every_document_is_in_the_menu_of_the_home_page(site: Path) -> None:
    home = (site / "html" / "README.html").read_text()
    pages = [path.relative_to(ROOT).with_suffix(".html") for path in (ROOT / "docs").rglob("*.md")]
    assert [page for page in pages if f'href="{page}"' not in home] == []


def test_a_broken_link_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text("# Home\n\n[gone](docs/GONE.md)\n")
    (tmp_path / "CHANGELOG.md").write_text("# Changes\n")
    done = make(tmp_path, tmp_path)
    assert done.returncode == 1
    assert "README.md:3: WARNING: 'myst' cross-reference target not found: 'docs/GONE.md'" in done.stderr
