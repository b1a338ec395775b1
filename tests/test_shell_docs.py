"""docs/SIMULATED-SHELL.md lists the words that there are."""

from __future__ import annotations

import shell_docs


def test_the_page_lists_the_words_of_the_code() -> None:
    assert shell_docs.PAGE.read_text() == shell_docs.page(), "run python tests/shell_docs.py"
