"""Where the fields of an object stand in their file."""

from __future__ import annotations

import re

from attrs import frozen

from kubelet_emu.manifests.nodes import Document, MappingNode, Node, ScalarNode, SequenceNode, entries

_STEP = re.compile(r"\[([^\]]*)\]|([^.\[\]]+)")


@frozen
class Positions:
    """Answers where a field path stands; nothing is computed before it is asked."""

    document: Document
    root: Node

    def find(self, path: str) -> tuple[int, int]:
        """Return line and column (from 1) of a field; of the nearest field above it if it isn't written.

        Takes the API server's paths (`spec.containers[0].ports[1].hostPort`, `resources.limits[cpu]`).
        """
        return self.document.place(self._walk(path)[0])

    def value_node(self, path: str) -> Node | None:
        """Return the node of a field's value, None if it isn't written."""
        return self._walk(path)[1]

    def inside(self, path: str, index: int) -> tuple[int, int] | None:
        """Return line and column of a character of a text, from 0; None for text that goes over several lines."""
        node = self.value_node(path)
        if not isinstance(node, ScalarNode) or node.start_mark.line != node.end_mark.line:
            return None
        line = self.document.text.split("\n", node.start_mark.line + 1)[node.start_mark.line]
        written = line[node.start_mark.column : node.end_mark.column]
        first_line, column = self.document.place(node)
        return first_line, column + _written_index(written, index)

    def _walk(self, path: str) -> tuple[Node, Node | None]:
        """Return where a field stands (its key, or the nearest field above) and its value's node."""
        node, at = self.root, self.root
        for index, word in _STEP.findall(path):
            step = index or word
            if isinstance(node, SequenceNode):
                if not step.isdecimal() or int(step) >= len(node.value):
                    return at, None
                node = at = node.value[int(step)]
            elif isinstance(node, MappingNode) and (entry := self._entry(node, step)) is not None:
                at, node = entry
            else:
                return at, None
        return at, node

    def _entry(self, node: MappingNode, step: str) -> tuple[Node, Node] | None:
        found = entries(node).by_key.get(step)
        return (found.key_node, found.value) if found else None

    def has(self, path: str) -> bool:
        """Tell whether a field is written in the manifest with a value."""
        node = self.value_node(path)
        return node is not None and (not isinstance(node, ScalarNode) or bool(node.value))


def _written_index(written: str, index: int) -> int:
    """Return where a character of a text stands in how it is written, quotes and escapes counted."""
    if not written.startswith(("'", '"')):
        return index
    escape = "\\" if written[0] == '"' else "'"
    at = 1
    for _ in range(index):
        at += 2 if written[at : at + 1] == escape else 1
    return at
