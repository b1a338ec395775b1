"""docs/DIFFERENCES.md names every place in the code that is marked as a departure from the kubelet, and no other."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parent.parent
MARK = "Differs:"
ENTRY = re.compile(r"^- .*?(?=\n- |\n\n|\Z)", re.MULTILINE | re.DOTALL)
MODULE = re.compile(r"`([\w/]+\.py)`$")


def marks() -> Counter[str]:
    """Count the marks of each module."""
    files = [path for package in ("kubelet_emu", "runtime") for path in sorted((ROOT / package).rglob("*.py"))]
    return +Counter({str(path.relative_to(ROOT)): path.read_text().count(MARK) for path in files})


def entries() -> list[str]:
    """Return the entries of the document."""
    return ENTRY.findall((ROOT / "docs" / "DIFFERENCES.md").read_text())


def test_each_entry_ends_with_the_module_that_departs() -> None:
    assert [entry for entry in entries() if MODULE.search(entry.rstrip()) is None] == []


def test_entries_and_marks_are_equally_many_in_each_module() -> None:
    named = Counter(found[1] for entry in entries() if (found := MODULE.search(entry.rstrip())))
    in_code = marks()
    faults = [
        f"{module}: {in_code[module]} places marked {MARK!r}, {named[module]} entries in docs/DIFFERENCES.md"
        for module in sorted(named.keys() | in_code.keys())
        if named[module] != in_code[module]
    ]
    assert faults == []
