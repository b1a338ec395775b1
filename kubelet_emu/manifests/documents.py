"""The bytes of one file to the root nodes of its documents; faults become problems."""

from __future__ import annotations

from typing import TYPE_CHECKING

import yaml

from kubelet_emu.manifests.nodes import Document, Node, ScalarNode, split_documents, take_letters_as_text
from kubelet_emu.manifests.problems import Problem
from kubelet_emu.manifests.syntax import explain_syntax, unicode_fault

if TYPE_CHECKING:
    from collections.abc import Sequence

MOST_BYTES = 64 * 1024 * 1024
_MOST_DOCUMENTS = 20_000


def read_roots(
    file: str, data: bytes, problems: list[Problem], *, letters_are_text: bool = False
) -> Sequence[tuple[Document, Node]]:
    """Return the documents that could be read, each with its root node; documents of nothing are left out.

    `letters_are_text` leaves an unquoted y or n a letter, as most readers but Kubernetes' own do.
    """
    if len(data) > MOST_BYTES:
        problems.append(file_fault(file, "Too much", f"the file is larger than {MOST_BYTES // 1024 // 1024} MiB"))
        return ()
    if (fault := unicode_fault(file, data)) is not None:
        problems.append(fault)
        return ()
    roots: list[tuple[Document, Node]] = []
    for document in split_documents(file, data.decode("utf-8-sig")):
        if document.number > _MOST_DOCUMENTS:
            problems.append(file_fault(file, "Too much", f"the file has more than {_MOST_DOCUMENTS} documents"))
            break
        root = _compose(document, problems)
        if root is not None:
            if letters_are_text:
                take_letters_as_text(root)
            roots.append((document, root))
    return roots


def _compose(document: Document, problems: list[Problem]) -> Node | None:
    try:
        root = document.compose()
    except (yaml.YAMLError, RecursionError) as error:
        problems.append(explain_syntax(document, error))
        return None
    return None if isinstance(root, ScalarNode) and not root.value else root


def file_fault(file: str, type_: str, text: str) -> Problem:
    """Return a problem of a file as a whole."""
    return Problem(file=file, line=1, column=1, path="", type=type_, text=text)
