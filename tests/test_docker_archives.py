"""What is read out of containers: whatever a container put there, it takes bounded memory."""

from __future__ import annotations

import io
import tarfile
import tracemalloc
from typing import TYPE_CHECKING

import pytest
from attrs import define, field

from runtime.api import CRIError
from runtime.docker.archives import content_of, read_end

if TYPE_CHECKING:
    from collections.abc import Iterator

MIB = 1 << 20


def archive_of(*entries: tuple[str, bytes | str | None]) -> bytes:
    """Return an archive: bytes are a file, a text the target of a link, None a folder."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        for name, content in entries:
            entry = tarfile.TarInfo(name)
            if content is None:
                entry.type = tarfile.DIRTYPE
            elif isinstance(content, str):
                entry.type, entry.linkname = tarfile.SYMTYPE, content
            else:
                entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content) if isinstance(content, bytes) else None)
    return out.getvalue()


@define
class Engine:
    """Answers one archive call with chunks of odd sizes, and knows whether the answer was closed."""

    chunks: Iterator[bytes]
    is_closed: bool = field(default=False, init=False)

    @classmethod
    def of(cls, data: bytes, size: int = 700) -> Engine:
        return cls(data[at : at + size] for at in range(0, len(data), size))

    def get_archive(self, name: str, path: str) -> tuple[Iterator[bytes], dict[str, object]]:
        assert (name, path) == ("web", "/log")
        return self._answer(), {}

    def _answer(self) -> Iterator[bytes]:
        try:
            yield from self.chunks
        finally:
            self.is_closed = True


@pytest.mark.parametrize(
    ("entry", "last_bytes", "expected"),
    [
        pytest.param(("log", b"abcdef"), 4, b"cdef", id="the end of a longer file"),
        pytest.param(("log", b"abc"), 4, b"abc", id="the whole of a shorter one"),
        pytest.param(("log", b"abc"), 0, b"", id="nothing is asked for"),
        pytest.param(("log", b"x" * 200_000 + b"end"), 5, b"xxend", id="an end that lies in two pieces"),
        pytest.param(("log", "/etc/shadow"), 100, b"", id="a link is not followed"),
        pytest.param(("log", None), 100, b"", id="a folder has no text"),
        pytest.param(("../../log", b"abc"), 100, b"abc", id="a name that leads out writes nothing anywhere"),
    ],
)
def test_the_end_of_a_file_is_read(entry: tuple[str, bytes | str | None], last_bytes: int, expected: bytes) -> None:
    engine = Engine.of(archive_of(entry))
    assert read_end(engine, "web", "/log", last_bytes) == expected
    assert engine.is_closed


def test_an_archive_that_breaks_off_is_an_error() -> None:
    engine = Engine.of(archive_of(("log", b"x" * 5000))[:2000])
    with pytest.raises(CRIError, match="archive of /log can't be read"):
        read_end(engine, "web", "/log", 10)
    assert engine.is_closed


def test_a_huge_file_takes_no_more_memory_than_its_end() -> None:
    head = tarfile.TarInfo("log")
    head.size = 64 * MIB
    engine = Engine(piece for piece in (head.tobuf(), *(b"x" * MIB for _ in range(64)), b"\0" * 10240))
    tracemalloc.start()
    try:
        assert read_end(engine, "web", "/log", 4096) == b"x" * 4096
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 8 * MIB


def test_the_content_of_a_folder_is_named_parents_first() -> None:
    engine = Engine.of(archive_of(("v", None), ("v/a", b"x" * 3000), ("v/b", None), ("v/b/../../c", "/etc")))
    assert content_of(engine, "web", "/log") == ["v", "v/a", "v/b", "v/b/../../c"]
    assert engine.is_closed


@define
class EngineWithALink:
    """Answers with a link at one path, and with a file at the path that it leads to."""

    def get_archive(self, name: str, path: str) -> tuple[Iterator[bytes], dict[str, object]]:
        assert name == "web"
        answers = {"/etc/passwd": ("/usr/passwd", "nowhere"), "/usr/passwd": ("", b"root")}
        target, content = answers[path]
        return (piece for piece in [archive_of(("passwd", content))]), {"linkTarget": target}


@pytest.mark.parametrize(("follow", "expected"), [(True, b"root"), (False, b"")])
def test_a_link_is_followed_when_that_is_asked_for(follow: bool, expected: bytes) -> None:  # noqa: FBT001 - a table
    assert read_end(EngineWithALink(), "web", "/etc/passwd", 100, follow=follow) == expected
