"""One file to what it holds: recognised by its first bytes, then read by the reader of its format."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, assert_never

from kubelet_emu.lifecycle.log import SourceFormat
from kubelet_emu.lifecycle.reading.api_objects import APIObjectReader
from kubelet_emu.lifecycle.reading.found import Found, ReadError
from kubelet_emu.lifecycle.reading.json_objects import MOST_OBJECT_BYTES, JSONObjects
from kubelet_emu.lifecycle.reading.naming import name_of_file
from kubelet_emu.lifecycle.reading.our_formats import read_own_log, read_trace
from kubelet_emu.lifecycle.reading.recognising import FORMATS, recognise
from kubelet_emu.lifecycle.reading.runtime_logs import PieceJoiner
from kubelet_emu.lifecycle.reading.streams import MOST_LINE_BYTES, STDIN, head_of, lines_of, open_log
from kubelet_emu.lifecycle.reading.text_lines import read_prefixed_line

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from kubelet_emu.lifecycle.reading.naming import ContainerName, GivenName
    from kubelet_emu.lifecycle.reading.streams import Line

_BESIDE_LOGS = frozenset({".yaml", ".yml"})


class UnrecognisedError(ReadError):
    """A file is in none of the formats."""


def files_of(paths: Iterable[str | Path | BinaryIO]) -> Iterator[tuple[Path | BinaryIO, bool]]:
    """Yield what to read, and whether it is only one of a folder's files; manifests in a folder are left alone."""
    for path in paths:
        if not isinstance(path, str | Path):
            yield path, False
            continue
        place = Path(path)
        if not place.is_dir():
            yield place, False
            continue
        inside = sorted(each for each in place.rglob("*") if each.is_file() and each.suffix not in _BESIDE_LOGS)
        if not inside:
            raise ReadError(f"{place}: the folder holds no logs")
        for each in inside:
            yield each, True


def read_file(path: Path | BinaryIO, names: Iterable[GivenName]) -> Found:
    """Return what a file or stream holds; ReadError when it can't be opened or is in none of the formats."""
    file = name_of(path)
    with open_log(path) as stream:
        head = head_of(stream, file)
        source_format = recognise(head)
        if source_format is None:
            raise UnrecognisedError(_unrecognised(file, head))
        found = Found(file=file, format=source_format)
        is_json = source_format in {SourceFormat.EVENTS, SourceFormat.WATCH}
        lines = lines_of(stream, MOST_OBJECT_BYTES if is_json else MOST_LINE_BYTES)
        _read(found, _noted(found, lines), name_of_file(file, names))
    return found


def name_of(path: Path | BinaryIO) -> str:
    """Return what a file or stream is called in messages."""
    if isinstance(path, Path):
        return STDIN if str(path) == "-" else str(path)
    name = getattr(path, "name", None)
    return name if isinstance(name, str) else STDIN


def _noted(found: Found, lines: Iterable[Line]) -> Iterator[Line]:
    """Yield lines, each known as the one that is being read."""
    for line in lines:
        found.line = line.number
        yield line


def _read(found: Found, lines: Iterator[Line], name: ContainerName) -> None:
    match found.format:
        case SourceFormat.LIFECYCLE_LOG:
            read_own_log(found, lines)
        case SourceFormat.TRACE:
            read_trace(found, lines)
        case SourceFormat.EVENTS | SourceFormat.WATCH:
            _read_objects(found, lines)
        case SourceFormat.PREFIXED_LINES:
            for line in lines:
                read_prefixed_line(found, line, name)
        case SourceFormat.CRI_LOG:
            joiner = PieceJoiner(found, name)
            for line in lines:
                joiner.read_cri(line)
            joiner.close()
        case SourceFormat.DOCKER_LOG:
            joiner = PieceJoiner(found, name)
            for line in lines:
                joiner.read_docker(line)
            joiner.close()
        case _:
            assert_never(found.format)


def _read_objects(found: Found, lines: Iterator[Line]) -> None:
    objects, reader = JSONObjects(found.fault), APIObjectReader(found)
    for line, value in objects.read(lines):
        found.line = line
        reader.read(line, value)
    found.is_torn = objects.is_torn


def _unrecognised(file: str, head: bytes) -> str:
    if not head.strip():
        return f"{file}: the file is empty"
    first = next((line for line in head.splitlines() if line.strip()), b"")[:80]
    shown = first.decode("utf-8", "backslashreplace")
    return f"{file}: this is none of the logs that are read; it begins with {shown!r}\nwhat is read:\n{FORMATS}"
