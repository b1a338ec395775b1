"""A YAML file that is no API object, as plain values with their places."""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import frozen

from kubelet_emu.manifests.decoder import Decoder, TooMuchError
from kubelet_emu.manifests.documents import read_roots
from kubelet_emu.manifests.positions import Positions

if TYPE_CHECKING:
    from kubelet_emu.manifests.problems import Problem


@frozen(kw_only=True)
class PlainDocument:
    """The content of one document, and where its fields stand."""

    file: str
    value: object
    positions: Positions


def read_plain(file: str, data: bytes) -> tuple[tuple[PlainDocument, ...], tuple[Problem, ...]]:
    """Return the documents of a file as dicts, lists and scalars, and what is wrong with its syntax.

    An unquoted y or n is a letter.
    """
    problems: list[Problem] = []
    documents = []
    for document, root in read_roots(file, data, problems, letters_are_text=True):
        decoder = Decoder(document, strict=True, problems=problems)
        try:
            value = decoder.plain(root, "")
        except TooMuchError as error:
            decoder.report(root, "", "Too much", str(error))
            continue
        documents.append(PlainDocument(file=file, value=value, positions=Positions(document, root)))
    return tuple(documents), tuple(problems)
