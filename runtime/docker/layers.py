"""Files of an image read from its layers on the engine's own machine: far cheaper than asking the engine for them.

No link is followed: one that an image has would lead into the machine's files. Source: the kernel's overlayfs.
"""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

INIT_LAYER = "-init/diff"
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_OPAQUE = "trusted.overlay.opaque"


def image_layers(inspected: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the folders of a container's image, the uppermost first; none for an engine that has no such layers."""
    driver = inspected.get("GraphDriver") or {}
    lower = (driver.get("Data") or {}).get("LowerDir") or ""
    return tuple(each for each in lower.split(":") if each and not each.endswith(INIT_LAYER))


def read_files(layers: Sequence[str], folder: str, names: Sequence[str], most_bytes: int) -> tuple[bytes, ...] | None:
    """Return files of one folder of an image, empty where there is none; None where the layers can't tell."""
    found: dict[str, bytes] = {}
    if not layers:
        return None
    try:
        for descriptor, is_last in _folders(layers, folder):
            for name in names:
                if name not in found and (data := _read(descriptor, name, most_bytes)) is not None:
                    found[name] = data
            if is_last:
                break
    except OSError:
        return None
    return tuple(found.get(name, b"") for name in names)


def _folders(layers: Sequence[str], folder: str) -> Iterator[tuple[int, bool]]:
    """Yield the folder in each layer that has it, open, and whether it hides those below; OSError."""
    for layer in layers:
        root = os.open(layer, _FOLDER)
        try:
            with suppress(FileNotFoundError):
                descriptor = os.open(folder, _FOLDER, dir_fd=root)
                try:
                    yield descriptor, _is_opaque(descriptor)
                finally:
                    os.close(descriptor)
        finally:
            os.close(root)


def _is_opaque(descriptor: int) -> bool:
    try:
        return os.getxattr(descriptor, _OPAQUE) == b"y"
    except OSError:
        return False


def _read(folder: int, name: str, most_bytes: int) -> bytes | None:
    """Return a file of a layer, None where it has none, b"" for one that the layer removes; OSError for a link."""
    try:
        descriptor = os.open(name, _FILE, dir_fd=folder)
    except FileNotFoundError:
        return None
    except OSError:
        return _removed(folder, name)
    with os.fdopen(descriptor, "rb") as file:
        return file.read(most_bytes) if stat.S_ISREG(os.fstat(descriptor).st_mode) else _removed(folder, name)


def _removed(folder: int, name: str) -> bytes:
    """Return nothing for what marks a file as removed; OSError for any other thing that is no file."""
    found = os.stat(name, dir_fd=folder, follow_symlinks=False)
    if stat.S_ISCHR(found.st_mode) and found.st_rdev == 0:
        return b""
    raise OSError(f"{name} is no file")
