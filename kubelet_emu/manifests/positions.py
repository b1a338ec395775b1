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
        node, at = self.root, self.root
        for index, word in _STEP.findall(path):
            step = index or word
            if isinstance(node, SequenceNode):
                if not step.isdecimal() or int(step) >= len(node.value):
                    break
                node = at = node.value[int(step)]
            elif isinstance(node, MappingNode) and (entry := self._entry(node, step)) is not None:
                at, node = entry
            else:
                break
        return self.document.place(at)

    def _entry(self, node: MappingNode, step: str) -> tuple[Node, Node] | None:
        found = entries(node).by_key.get(step)
        return (found.key_node, found.value) if found else None

    def has(self, path: str) -> bool:
        """Tell whether a field is written in the manifest with a value."""
        node: Node = self.root
        for index, word in _STEP.findall(path):
            step = index or word
            if isinstance(node, SequenceNode) and step.isdecimal() and int(step) < len(node.value):
                node = node.value[int(step)]
            elif isinstance(node, MappingNode) and (entry := self._entry(node, step)) is not None:
                node = entry[1]
            else:
                return False
        return not isinstance(node, ScalarNode) or bool(node.value)
