"""The layout that makes a volume change as a whole.

A payload lies in a directory with a timestamp, `..data` is a link to it, and each top-level name is a link through
`..data`; an update writes a new directory and turns `..data`. Pure.
Source: kubelet v1.36 pkg/volume/util/atomic_writer.go.
"""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING

from attrs import frozen

from runtime.api import VolumeFile

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from kubelet_emu.volumes.content import Payload

DATA_DIRECTORY = "..data"
MAX_NAME = 255
MAX_PATH = 4096


class PayloadError(ValueError):
    """A path of a payload can't be written."""


@frozen(kw_only=True)
class WrittenPayload:
    """What a volume holds: its payload, owned by `gid` where set, in the directory of that name."""

    directory: str
    payload: Payload
    gid: int | None = None


@frozen(kw_only=True)
class Update:
    """Files to write in their order, and paths to remove afterwards."""

    tree: Mapping[str, VolumeFile]
    remove: tuple[str, ...]
    written: WrittenPayload


def plan_update(
    payload: Payload, now: datetime, old: WrittenPayload | None = None, *, gid: int | None = None
) -> Update | None:
    """Return what brings a volume to `payload`, None when it is there already; PayloadError.

    With a gid (fsGroup) files get the group and its read bit. Source: kubelet v1.36 AtomicWriter.Write,
    SetVolumeOwnership of a read-only volume.
    """
    payload = _cleaned(payload)
    if old is not None and old.payload == payload and old.gid == gid:
        return None
    directory = f"..{now:%Y_%m_%d_%H_%M_%S}.{now.microsecond * 1000:09d}"
    if old is not None and old.directory == directory:
        directory += "_1"
    read_bits = 0o440 if gid is not None else 0
    tree = {
        f"{directory}/{path}": VolumeFile(data=file.data, mode=file.mode | read_bits, uid=file.uid, gid=gid)
        for path, file in payload.items()
    } or {directory: VolumeFile(gid=gid, is_folder=True)}
    tree[DATA_DIRECTORY] = VolumeFile(target=directory, gid=gid)
    names = top_level(payload)
    tree |= {name: VolumeFile(target=f"{DATA_DIRECTORY}/{name}", gid=gid) for name in names}
    remove: tuple[str, ...] = ()
    if old is not None:
        remove = (*(name for name in top_level(old.payload) if name not in names), old.directory)
    return Update(tree=tree, remove=remove, written=WrittenPayload(directory=directory, payload=payload, gid=gid))


def top_level(payload: Payload) -> tuple[str, ...]:
    """Return the first parts of a payload's paths, each once."""
    return tuple(dict.fromkeys(path.partition("/")[0] for path in payload))


def _cleaned(payload: Payload) -> Payload:
    """Return a payload with the shortest form of each path, `./a//b/` is `a/b` (kubelet v1.36 validatePayload)."""
    for path in payload:
        _check(path)
    return {posixpath.normpath(path): file for path, file in payload.items()}


def _check(path: str) -> None:
    """Refuse a path that the writer can't keep inside its volume (kubelet v1.36 validatePath)."""
    if not path:
        raise PayloadError('invalid path: must not be empty: ""')
    if path.startswith("/"):
        raise PayloadError(f"invalid path: must be relative path: {path}")
    if len(path) > MAX_PATH:
        raise PayloadError(f"invalid path: must be less than or equal to {MAX_PATH} characters")
    parts = path.split("/")
    if ".." in parts:
        raise PayloadError(f"invalid path: must not contain '..': {path}")
    if any(len(part) > MAX_NAME for part in parts):
        raise PayloadError(f"invalid path: filenames must be less than or equal to {MAX_NAME} characters")
    if path.startswith(".."):
        raise PayloadError(f"invalid path: must not start with '..': {path}")
