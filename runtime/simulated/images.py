"""Images of the simulated node and registries: what is present, what a pull takes and how it fails."""

from __future__ import annotations

import enum
import fnmatch
import math
from typing import TYPE_CHECKING

import trio
from attrs import define, evolve, field, frozen

from runtime.api import (
    Image,
    ImageID,
    ImageNotFoundError,
    ImagePullError,
    PullProgress,
    RegistryUnavailableError,
    SignatureValidationError,
    pull_texts,
)
from runtime.api.references import full_name, split_name
from runtime.simulated.faults import PullFault
from runtime.simulated.identity import make_id

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from runtime.api import AuthConfig
    from runtime.simulated.faults import Faults
    from runtime.simulated.turns import Turn

DEFAULT_SIZE_BYTES = 5 << 20
PROGRESS_STEPS = 4
SILENCE_SECONDS = 300.0  # containerd's image_pull_progress_timeout


class ImageKind(enum.Enum):
    """What an image has in it: busybox's words, or a program that the simulation does not know."""

    BUSYBOX = "busybox"
    UNKNOWN = "unknown"
    GRPC_HEALTH = "grpc health"


@frozen(kw_only=True)
class SimulatedImage:
    """One row of the table of images.

    `is_present` is on the node when the run begins; `fault` is how each pull ends; `bytes_per_second` math.inf pulls
    in no time. `content` is an id shared by names of the same image. `credentials` is the only user and password that
    may pull it.
    """

    is_present: bool = False
    size_bytes: int = DEFAULT_SIZE_BYTES
    bytes_per_second: float = math.inf
    fault: PullFault | None = None
    content: str | None = None
    credentials: tuple[str, str] | None = None
    kind: ImageKind | None = None
    entrypoint: tuple[str, ...] = ()
    cmd: tuple[str, ...] = ()
    env: Mapping[str, str] = field(factory=dict)
    uid: int | None = None
    username: str = ""
    stop_signal: str = ""
    files: Mapping[str, bytes] = field(factory=dict)


_SHELL_IMAGES = ("busybox", "alpine", "debian", "ubuntu", "bash", "wolfi-base")


def kind_of(name: str, image: SimulatedImage) -> ImageKind:
    """Return what is in an image: as its row says, else by the last part of its name."""
    if image.kind is not None:
        return image.kind
    last = split_name(name)[0].rsplit("/", 1)[-1]
    if last in _SHELL_IMAGES:
        return ImageKind.BUSYBOX
    return ImageKind.GRPC_HEALTH if split_name(name)[0].endswith("/kemu/grpc") else ImageKind.UNKNOWN


@define(eq=False)
class ImageStore:
    """The node's images and the registries behind them.

    `table` maps names, or patterns with "*", to rows; what it doesn't name is like `default`.
    """

    table: Mapping[str, SimulatedImage]
    default: SimulatedImage
    seed: int
    faults: Faults
    turn: Turn
    _present: dict[str, Image] = field(factory=dict, init=False)
    _rows: dict[str, SimulatedImage] = field(factory=dict, init=False)

    def __attrs_post_init__(self) -> None:
        """Put onto the node what is there from the start."""
        for name, row in self.table.items():
            if row.is_present and "*" not in name:
                self._present[full_name(name)] = self._image(full_name(name), row)

    def row(self, name: str) -> SimulatedImage:
        """Return the table's row for a name: its own, else the first pattern that fits, else the default."""
        full = full_name(name)
        if full not in self._rows:
            self._rows[full] = self._search(name, full)
        return self._rows[full]

    def _search(self, name: str, full: str) -> SimulatedImage:
        for key, row in self.table.items():
            if "*" not in key and full_name(key) == full:
                return row
        for pattern, row in self.table.items():
            if "*" in pattern and (fnmatch.fnmatchcase(name, pattern) or fnmatch.fnmatchcase(full, pattern)):
                return row
        return self.default

    def _image(self, full: str, row: SimulatedImage) -> Image:
        repository, tag, digest = split_name(full)
        content = row.content or full
        return Image(
            id=ImageID(f"sha256:{make_id(self.seed, 'image', content)}"),
            repo_tags=(f"{repository}:{tag}",) if tag else (),
            repo_digests=(f"{repository}@{digest or 'sha256:' + make_id(self.seed, 'digest', content)}",),
            size_bytes=row.size_bytes,
            uid=row.uid,
            username=row.username,
            entrypoint=row.entrypoint,
            cmd=row.cmd,
            env=row.env,
            stop_signal=row.stop_signal,
        )

    def get(self, name: str) -> Image | None:
        """Return the image on the node with this name, digest or id."""
        full = full_name(name)
        if full in self._present:
            return self._present[full]
        for key in sorted(self._present):
            image = self._present[key]
            if image.id in {name, f"sha256:{name}"} or name in image.repo_digests or full in image.repo_digests:
                return image
        row = self.row(name)
        if row.is_present and full not in self._present and not name.startswith("sha256:"):
            self._present[full] = self._image(full, row)
            return self._present[full]
        return None

    def name_of(self, image: ImageID) -> str:
        """Return a name of an image by its id, the id itself when it has none."""
        for key in sorted(self._present):
            if self._present[key].id == image:
                return key
        return image

    def all(self) -> tuple[Image, ...]:
        """Return the images on the node, each once with all its names."""
        merged: dict[str, Image] = {}
        for key in sorted(self._present):
            image = self._present[key]
            known = merged.get(image.id)
            merged[image.id] = image if known is None else _join(known, image)
        return tuple(merged.values())

    def remove(self, name: str) -> None:
        """Forget a name, or all names of an id."""
        image = self.get(name)
        if image is None:
            return
        full = full_name(name)
        gone = [full] if full in self._present else [key for key, each in self._present.items() if each.id == image.id]
        for key in gone:
            del self._present[key]
        self._rows.update((key, evolve(self.row(key), is_present=False)) for key in gone)

    async def pull(
        self, name: str, auth: AuthConfig | None, progress: Callable[[PullProgress], None] | None
    ) -> ImageID:
        """Pull by the table's row; ImagePullError and its kinds. Cancellation leaves nothing behind."""
        full, row = full_name(name), self.row(name)
        delay, fault = self.faults.pull(full)
        if delay:
            await self.turn(f"pull {full}", trio.current_time() + delay)
        if row.credentials is not None and (auth is None or (auth.username, auth.password) != row.credentials):
            fault = fault or PullFault.UNAUTHORIZED
        fault = fault or row.fault
        if fault is not None:
            await self._transfer(full, row, progress, fault)
            raise pull_error(fault, full)
        await self._transfer(full, row, progress)
        image = self._image(full, row)
        self._present[full] = image
        return image.id

    async def _transfer(
        self,
        name: str,
        row: SimulatedImage,
        progress: Callable[[PullProgress], None] | None,
        fault: PullFault | None = None,
    ) -> None:
        """Let the time of a transfer pass: half of it for one that breaks off or comes no further, else none."""
        if fault not in {None, PullFault.HANGS, PullFault.BREAKS_OFF}:
            return
        seconds = row.size_bytes / row.bytes_per_second
        started = trio.current_time()
        for step in range(1, (PROGRESS_STEPS if fault is None else PROGRESS_STEPS // 2) + 1):
            if seconds:
                await self.turn(f"pull {name}", started + seconds * step / PROGRESS_STEPS)
            if progress is not None:
                progress(PullProgress(done_bytes=row.size_bytes * step // PROGRESS_STEPS, total_bytes=row.size_bytes))
        if fault is PullFault.HANGS:
            await self.turn(f"pull {name}", trio.current_time() + SILENCE_SECONDS)


def pull_error(fault: PullFault, name: str) -> ImagePullError:
    """Return the error of a failed pull with containerd's text."""
    match fault:
        case PullFault.NOT_FOUND:
            return ImageNotFoundError(pull_texts.not_found(name))
        case PullFault.UNAVAILABLE:
            registry = split_name(name)[0].partition("/")[0]
            reason = f"dial tcp {registry}: connect: connection refused"
            return RegistryUnavailableError(pull_texts.no_answer(name, reason))
        case PullFault.UNAUTHORIZED:
            return ImagePullError(pull_texts.denied(name, "no basic auth credentials"))
        case PullFault.SIGNATURE:
            return SignatureValidationError(f"SignatureValidationFailed: {name}: no valid signature")
        case PullFault.HANGS:
            return ImagePullError(pull_texts.no_progress(name, "5m0s"))
        case PullFault.BREAKS_OFF:
            return RegistryUnavailableError(pull_texts.uncopied(name, "unexpected EOF"))


def _join(one: Image, other: Image) -> Image:
    tags = tuple(sorted({*one.repo_tags, *other.repo_tags}))
    return evolve(one, repo_tags=tags, repo_digests=tuple(sorted({*one.repo_digests, *other.repo_digests})))
