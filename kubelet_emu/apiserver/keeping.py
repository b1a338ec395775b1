"""The API's objects on disk, for a process that goes on where another one was killed.

Each object is a file of its own, renamed into place before anybody acts on what it says; so a process that is killed
leaves each as it was before a change or after it. A kubelet gets pods back from its API server after a restart; this
is what ours gives it back. ConfigMaps and Secrets are not kept: the manifests have them, and no secret lies here.
"""

from __future__ import annotations

import json
import os
import re
from contextlib import suppress
from typing import TYPE_CHECKING, cast

from attrs import define, field, frozen

from kubelet_emu.api.codec import decode_mapping, encode
from kubelet_emu.api.kinds import api_type
from kubelet_emu.apiserver.objects import ObjectKey, key_of
from kubelet_emu.apiserver.watches import WatchEventType

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from kubelet_emu.apiserver.objects import APIObject
    from kubelet_emu.apiserver.watches import WatchEvent

FROM_MANIFESTS = frozenset({"ConfigMap", "Secret"})
_FILE = re.compile(r"(\d{8})\.json")


class KeptStateError(Exception):
    """What a killed process kept can't be read; the text names the file and the fault."""


@frozen
class Kept:
    """What is left of a process: its objects in the order of their creation, and the files of all that it created."""

    objects: tuple[APIObject, ...] = ()
    files: Mapping[ObjectKey, Path] = field(factory=dict)


@define(eq=False)
class ObjectKeeper:
    """Writes each change of an object to `folder` (mode 0700, made here); `APIServer.subscribe` calls it.

    `files` are those of the process before, whose folder this one goes on with; `clean` takes the values of Secrets out
    of what is written.

    Of an object that is gone its key stays, so that it isn't created a second time; objects with an owner leave
    nothing, for nobody creates them by name. Where a file can't be written `on_failure` gets one line, once, and
    nothing is written any more: half a state is worse than none.
    """

    folder: Path
    on_failure: Callable[[str], None]
    files: dict[ObjectKey, Path] = field(factory=dict)
    clean: Callable[[Mapping[str, object]], dict[str, object]] = dict
    _count: int = field(init=False)
    _has_failed: bool = field(default=False, init=False)

    def __attrs_post_init__(self) -> None:
        """Count on from the last file that there is."""
        self._count = max((int(file.stem) for file in self.files.values()), default=0)

    def __call__(self, event: WatchEvent) -> None:
        """Keep one change."""
        if self._has_failed or event.object.kind in FROM_MANIFESTS:
            return
        try:
            self._keep(event)
        except OSError as error:
            self._has_failed = True
            self.on_failure(f"{self.folder}: {error.strerror or error}: a killed run can't be gone on with")
            remove_kept(self.folder)

    def _keep(self, event: WatchEvent) -> None:
        obj = event.object
        key = key_of(obj)
        file = self.files.get(key) or self._new_file(key)
        if event.type is not WatchEventType.DELETED:
            _write(file, {"key": key, "object": self.clean(encode(obj))})
        elif obj.metadata.owner_references:
            file.unlink(missing_ok=True)
            del self.files[key]
        else:
            _write(file, {"key": key})

    def _new_file(self, key: ObjectKey) -> Path:
        self.folder.mkdir(mode=0o700, exist_ok=True)
        self._count += 1
        file = self.files[key] = self.folder / f"{self._count:08}.json"
        return file


def read_kept(folder: Path) -> Kept:
    """Return what a keeper wrote; KeptStateError. A file that was never renamed into place is none."""
    objects: list[APIObject] = []
    files: dict[ObjectKey, Path] = {}
    for file in sorted(_files_in(folder)):
        try:
            key, obj = _read(file)
        except RecursionError as error:
            raise KeptStateError(f"{file}: nested too deeply") from error
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise KeptStateError(f"{file}: {error}") from error
        if key in files:
            raise KeptStateError(f"{file}: {files[key].name} has {'/'.join(key)}, too")
        files[key] = file
        objects += () if obj is None else (obj,)
    return Kept(tuple(objects), files)


def _read(file: Path) -> tuple[ObjectKey, APIObject | None]:
    """Return an object's key, and the object itself unless it is gone; any of a few errors says what is wrong."""
    content = json.loads(file.read_text(encoding="utf-8"))
    key = ObjectKey(*map(str, content["key"]))
    if "object" not in content:
        return key, None
    obj = cast("APIObject", decode_mapping(api_type(key.kind), content["object"]))
    if key_of(obj) != key:
        raise ValueError(f"has {'/'.join(key_of(obj))} where {'/'.join(key)} belongs")
    int(obj.metadata.resource_version or "")
    return key, obj


def remove_kept(folder: Path) -> None:
    """Remove what a keeper wrote; what can't be removed stays."""
    for file in tuple(_files_in(folder)):
        with suppress(OSError):
            file.unlink(missing_ok=True)
    with suppress(OSError):
        folder.rmdir()


def _files_in(folder: Path) -> Iterator[Path]:
    if folder.is_dir():
        yield from (file for file in folder.iterdir() if _FILE.fullmatch(file.name))


def _write(file: Path, content: dict[str, object]) -> None:
    """Put a file in place, readable by its owner alone."""
    written = file.with_suffix(".new")
    descriptor = os.open(written, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as out:
        json.dump(content, out)
    written.replace(file)
