"""Small files of the state folder that are there whole or not at all."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


def write_whole(path: Path, text: str) -> None:
    """Put a file in place, mode 0600; OSError, which names the file.

    A process that is killed leaves the old file or the new one. A machine that loses its power may leave an empty one:
    who reads these files takes that for none, so that no start waits for the disk.
    """
    written = path.with_name(f"{path.name}.new")
    try:
        written.touch(mode=0o600)
        written.write_text(text, encoding="utf-8")
        written.replace(path)
    except OSError as error:
        with suppress(OSError):
            written.unlink(missing_ok=True)
        raise OSError(error.errno, error.strerror, str(path)) from error  # a write that fails names no file
