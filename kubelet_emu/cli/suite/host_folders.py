"""Folders of this machine that a scenario needs empty (`needs: [empty /tmp/kemu-NAME]`)."""

from __future__ import annotations

import re
import shutil
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from kubelet_emu.scenarios.steps import StepError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kubelet_emu.scenarios.scenario_file import Scenario

_EMPTY = "empty "
_ALLOWED = re.compile(r"/tmp/kemu-[\w.-]+")  # noqa: S108 - the only folders that may be emptied


def empty_folders(scenario: Scenario) -> tuple[str, ...]:
    """Return the folders that a scenario needs empty."""
    return tuple(need.removeprefix(_EMPTY).strip() for need in scenario.needs if need.startswith(_EMPTY))


@contextmanager
def emptied(scenario: Scenario) -> Iterator[None]:
    """Remove the folders that a scenario needs empty, before and after it; StepError for any other than /tmp/kemu-*."""
    folders = empty_folders(scenario)
    for folder in folders:
        if _ALLOWED.fullmatch(folder) is None:
            raise StepError(f"needs: {folder!r} is not emptied: only folders /tmp/kemu-NAME are")
    _remove(folders)
    try:
        yield
    finally:
        _remove(folders)


def _remove(folders: tuple[str, ...]) -> None:
    for folder in folders:
        path = Path(folder)
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path, ignore_errors=True)
