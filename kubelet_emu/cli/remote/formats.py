"""`-o` of `get` and `ps`: its words, and objects in each of its forms but the table.

Source: kubectl v1.36 pkg/cmd/get customcolumn; cli-runtime pkg/genericclioptions and pkg/printers jsonpath.
"""

from __future__ import annotations

from pathlib import Path as File
from typing import TYPE_CHECKING

from attrs import frozen

from kubelet_emu.api.gotext import quote
from kubelet_emu.cli.remote.pod_cells import NONE
from kubelet_emu.cli.remote.words import Refusal
from kubelet_emu.cli.remote.yaml_text import to_yaml
from kubelet_emu.printers.go_json import to_json
from kubelet_emu.printers.jsonpath.finding import find, go_text, write
from kubelet_emu.printers.jsonpath.nodes import JSONPathError
from kubelet_emu.printers.jsonpath.reading import read_path, read_template

if TYPE_CHECKING:
    from kubelet_emu.cli.remote.views import Object
    from kubelet_emu.printers.jsonpath.nodes import Node, Path

PLAIN = ("wide", "json", "yaml", "name")
WITH_TEXT = ("jsonpath", "jsonpath-file", "custom-columns", "custom-columns-file")


@frozen
class Column:
    """A column of `custom-columns`."""

    header: str
    path: Path

    def cell(self, obj: Object) -> str:
        """Return what an object has in it; Refusal."""
        try:
            return ",".join(map(go_text, find(self.path, obj))) or NONE
        except JSONPathError as error:
            raise Refusal(f"column {self.header}: {error}") from error


@frozen
class Output:
    """How objects are shown: as a server's table (`name` empty or wide), as one text, or in columns of one's own."""

    name: str = ""
    template: tuple[Node, ...] = ()
    columns: tuple[Column, ...] = ()
    source: str = ""

    @property
    def is_table(self) -> bool:
        """Tell whether it is one of the tables that a server makes."""
        return self.name in {"", "wide"}

    @property
    def is_one_text(self) -> bool:
        """Tell whether several objects are shown as one list."""
        return self.name in {"json", "yaml", "jsonpath"}

    def text(self, obj: Object) -> str:
        """Return an object, or a list, where `is_one_text`; Refusal."""
        match self.name:
            case "yaml":
                return to_yaml(obj)
            case "json":
                return to_json(obj, indent=4) + "\n"
        try:
            return write(self.template, obj)
        except JSONPathError as error:
            raise Refusal(f"error executing jsonpath {quote(self.source)}: {error}") from error


TABLE = Output()


def read_output(text: str | None) -> Output:
    """Read what stands behind `-o`; Refusal."""
    name, equals, rest = (text or "").partition("=")
    if not text or (name in PLAIN and not equals):
        return Output(name)
    if name not in WITH_TEXT:
        known = ", ".join([*PLAIN, *(f"{each}=..." for each in WITH_TEXT)])
        raise Refusal(f"unable to match a printer suitable for the output format {quote(text)}, there are {known}")
    kind = name.removesuffix("-file")
    if not rest:
        what = "columns" if kind == "custom-columns" else "template"
        raise Refusal(f"{kind} format specified but no {kind.replace('-', ' ').removesuffix(' columns')} {what} given")
    source = rest if name == kind else _content(rest)
    try:
        if kind == "jsonpath":
            return Output(kind, template=read_template(source), source=source)
        return Output(kind, columns=_columns(source) if name == kind else _columns_of_file(source))
    except JSONPathError as error:
        raise Refusal(f"-o {kind}: {error}") from error


def _content(name: str) -> str:
    try:
        return File(name).read_text()
    except (OSError, ValueError) as error:
        raise Refusal(f"{name}: it can't be read: {getattr(error, 'strerror', None) or error}") from error


def _columns(source: str) -> tuple[Column, ...]:
    """Read `HEADER:PATH,...`."""
    found = []
    for word in source.split(","):
        header, colon, path = word.partition(":")
        if not colon:
            raise JSONPathError(f"unexpected custom-columns spec: {word}, expected <header>:<json-path-expr>")
        found.append(Column(header, read_path(path)))
    return tuple(found)


def _columns_of_file(source: str) -> tuple[Column, ...]:
    """Read a line of headers and a line of paths."""
    headers, paths = ([*map(str.split, source.splitlines()), [], []])[:2]
    if not headers or len(headers) != len(paths):
        text = f"number of headers ({len(headers)}) and field specifications ({len(paths)}) don't match"
        raise JSONPathError(text)
    return tuple(Column(header, read_path(path)) for header, path in zip(headers, paths, strict=True))
