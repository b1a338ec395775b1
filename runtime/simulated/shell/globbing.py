"""File names from patterns, on a container's tree."""

from __future__ import annotations

from typing import TYPE_CHECKING

from runtime.simulated.shell import patterns
from runtime.simulated.tree import Directory

if TYPE_CHECKING:
    from runtime.simulated.tree import Tree


def glob(tree: Tree, cwd: str, pattern: str) -> list[str]:
    """Return the sorted paths that a pattern matches; names with a dot in front only for a pattern with one."""
    steps = pattern.split("/")
    found = [""]
    if pattern.startswith("/"):
        found, steps = ["/"], [step for step in steps if step]
    for number, step in enumerate(steps):
        is_last = number == len(steps) - 1
        found = [path for base in found for path in _step(tree, cwd, base, step, is_last=is_last)]
    return sorted(found)


def _step(tree: Tree, cwd: str, base: str, step: str, *, is_last: bool) -> list[str]:
    names: list[str]
    if patterns.is_pattern(step):
        directory = tree.get(base or ".", cwd)
        if not isinstance(directory, Directory):
            return []
        dots = [".", ".."] if step.startswith((".", "\\.")) else []
        names = [name for name in [*dots, *sorted(directory.children)] if _fits(step, name)]
    else:
        names = [patterns.unquote(step)]
    paths = [base + name for name in names if not name or tree.get(base + name, cwd, follow=False) is not None]
    return paths if is_last else [f"{path}/" for path in paths if isinstance(tree.get(path or "/", cwd), Directory)]


def _fits(pattern: str, name: str) -> bool:
    if name.startswith(".") and not pattern.startswith((".", "\\.")):
        return False
    return patterns.matches(pattern, name)
