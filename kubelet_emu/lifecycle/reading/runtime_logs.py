"""Logs as container runtimes keep them: the CRI's lines and Docker's json-file.

Both cut long lines into pieces, which are put together again; a line's time is that of its first piece.
Source: kubelet v1.36 kuberuntime/logs parseCRILog, parseDockerJSONLog.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, NamedTuple, cast

from attrs import define, field

from kubelet_emu.lifecycle.reading.times import TIME, WallTime, parse_wall_time, time_of_match

if TYPE_CHECKING:
    from kubelet_emu.lifecycle.reading.found import Found
    from kubelet_emu.lifecycle.reading.naming import ContainerName
    from kubelet_emu.lifecycle.reading.streams import Line

MOST_TEXT = 4 * 1024 * 1024
_CRI_LINE = re.compile(rf"{TIME} (?P<stream>stdout|stderr) (?P<tag>[FP])(?::[FP])*(?: (?P<text>.*))?$", re.DOTALL)
_POD_LABEL, _CONTAINER_LABEL = "io.kubernetes.pod.name", "io.kubernetes.container.name"


class _Piece(NamedTuple):
    at: WallTime
    stream: str
    text: str
    is_last: bool


def is_cri_line(data: bytes) -> bool:
    """Tell whether a line is one of a CRI runtime's container log."""
    return _CRI_LINE.match(data.decode("utf-8", "replace")) is not None


def is_docker_line(value: dict[str, object]) -> bool:
    """Tell whether a JSON object is one line of Docker's json-file."""
    return {"log", "stream", "time"} <= value.keys()


@define(eq=False)
class PieceJoiner:
    """Puts the pieces of long lines together, stream by stream, and adds a record for each whole line."""

    found: Found
    name: ContainerName
    _open: dict[str, tuple[WallTime, list[str]]] = field(factory=dict, init=False)

    def read_cri(self, line: Line) -> None:
        """Take one line of a CRI log."""
        if not line.data.strip():
            return
        parts = _CRI_LINE.match(line.data.decode("utf-8", "backslashreplace"))
        if parts is None:
            self._fault(line, "no TIME STREAM F|P LINE")
            return
        try:
            at = time_of_match(parts)
        except ValueError as error:
            self._fault(line, str(error))
            return
        self._take(_Piece(at, parts["stream"], parts["text"] or "", parts["tag"] == "F"))

    def read_docker(self, line: Line) -> None:
        """Take one line of a json-file; its labels name the container, where the engine was told to keep them."""
        if not line.data.strip():
            return
        try:
            value = json.loads(line.data.decode("utf-8", "replace"))
            at = parse_wall_time(str(value["time"]))
            text, stream = str(value["log"]), str(value["stream"])
        except (ValueError, KeyError, TypeError):
            self._fault(line, 'no {"log", "stream", "time"}')
            return
        self._read_labels(value.get("attrs"))
        self._take(_Piece(at, stream, text.removesuffix("\n").removesuffix("\r"), text.endswith("\n")))

    def close(self) -> None:
        """Add what was left open at the end."""
        for stream in tuple(self._open):
            self._emit(stream)

    def _fault(self, line: Line, text: str) -> None:
        if line.is_complete:
            self.found.fault(line.number, text)
        else:
            self.found.is_torn = True

    def _read_labels(self, attributes: object) -> None:
        if not isinstance(attributes, dict) or self.name.pod:
            return
        labels = cast("dict[str, str]", attributes)
        if _POD_LABEL in labels and _CONTAINER_LABEL in labels:
            self.name = type(self.name)(labels[_POD_LABEL], labels[_CONTAINER_LABEL], self.name.run)

    def _take(self, piece: _Piece) -> None:
        _at, texts = self._open.setdefault(piece.stream, (piece.at, []))
        texts.append(piece.text)
        if piece.is_last or sum(map(len, texts)) > MOST_TEXT:
            self._emit(piece.stream)

    def _emit(self, stream: str) -> None:
        at, texts = self._open.pop(stream)
        record: dict[str, object] = {"kind": "log", "container": self.name.container, "line": "".join(texts)}
        if self.name.pod:
            record["pod"] = self.name.pod
        if self.name.run:
            record["run"] = self.name.run
        if stream != "stdout":
            record["stream"] = stream
        self.found.add(at, record)
