"""Reads files out of containers by the engine's archive calls, as streams: a container chooses how much that is."""

from __future__ import annotations

import tarfile
from contextlib import closing, contextmanager
from typing import IO, TYPE_CHECKING, Any, cast

from attrs import define, field

from runtime.api import CRIError

if TYPE_CHECKING:
    from collections.abc import Iterator

_PIECE_BYTES = 1 << 16


@define(eq=False)
class _Chunks:
    """A file to be read once, from the chunks of an answer."""

    chunks: Iterator[bytes]
    _rest: bytes = field(default=b"", init=False)

    def read(self, size: int) -> bytes:
        """Return exactly so many bytes, fewer at the end."""
        pieces, missing = [], size
        while missing and (piece := self._rest or next(self.chunks, b"")):
            pieces.append(piece[:missing])
            self._rest = piece[missing:]
            missing -= len(pieces[-1])
        return b"".join(pieces)


@contextmanager
def _opened(
    client: Any,  # noqa: ANN401 - the SDK's client
    name: str,
    path: str,
    *,
    follow: bool = False,
) -> Iterator[tarfile.TarFile]:
    chunks, found = client.get_archive(name, path)
    if follow and found["linkTarget"]:
        chunks.close()
        chunks, _ = client.get_archive(name, found["linkTarget"])
    try:
        with closing(chunks), tarfile.open(fileobj=cast("IO[bytes]", _Chunks(chunks)), mode="r|") as archive:
            yield archive
    except tarfile.TarError as error:
        raise CRIError(f"the engine's archive of {path} can't be read: {error}") from error


def read_end(
    client: Any,  # noqa: ANN401 - the SDK's client
    name: str,
    path: str,
    last_bytes: int,
    *,
    follow: bool = False,
) -> bytes:
    """Return the end of a regular file of a container; empty for everything else. `follow` reads what a link leads to.

    It takes as much memory as is asked for, however long the file is. CRIError when the archive breaks off, and what
    the SDK raises.
    """
    with _opened(client, name, path, follow=follow) as archive:
        entry = archive.next()
        stream = archive.extractfile(entry) if entry is not None and entry.isreg() else None
        end = b""
        while stream is not None and (piece := stream.read(_PIECE_BYTES)):
            end += piece
            end = end[max(0, len(end) - last_bytes) :]
        return end


def content_of(client: Any, name: str, path: str) -> list[str]:  # noqa: ANN401 - the SDK's client
    """Return the names of a path of a container and of all that is below it, parents first."""
    with _opened(client, name, path) as archive:
        return [entry.name.rstrip("/") for entry in _forgetting(archive)]


def _forgetting(archive: tarfile.TarFile) -> Iterator[tarfile.TarInfo]:
    """Yield the members; the archive itself keeps none."""
    while (entry := archive.next()) is not None:
        yield entry
        archive.members = []  # type: ignore[attr-defined]
