"""Shows a change to a manifest as a diff: a main container becomes a native sidecar."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from attrs import frozen

if TYPE_CHECKING:
    from kubelet_emu.manifests.loading import Loaded
    from kubelet_emu.manifests.nodes import Node
    from kubelet_emu.manifests.positions import Positions

_CONTEXT_LINES = 1
_SIDECAR_LINE = "restartPolicy: Always"


@frozen(kw_only=True)
class _Item:
    """The lines of one entry of a block list: from its `-` to the line before what follows; columns count from 0."""

    first: int
    end: int
    dash: int


def as_native_sidecar(loaded: Loaded, spec_path: str, index: int) -> str:
    """Return the diff that moves `containers[index]` to initContainers; an example where its lines can't be moved."""
    document = loaded.positions.document
    changed = moved(loaded, spec_path, index)
    if changed is None:
        return _example(loaded, spec_path, index)
    import difflib  # noqa: PLC0415 - few manifests have a change proposed, and start-up is felt first

    above = [""] * document.first_line
    before, after = [*above, *document.text.splitlines()], [*above, *changed.splitlines()]
    return "\n".join(difflib.unified_diff(before, after, document.file, document.file, lineterm="", n=_CONTEXT_LINES))


def moved(loaded: Loaded, spec_path: str, index: int) -> str | None:
    """Return the manifest with the container moved, None where its lines are not its own."""
    positions, lines = loaded.positions, loaded.positions.document.text.splitlines(keepends=True)
    item = _item(positions, lines, f"{spec_path}.containers[{index}]")
    key = _line_of(positions, f"{spec_path}.containers")
    if item is None or key is None or positions.value_node(f"{spec_path}.containers[1]") is None:
        return None
    taken = _with_policy(lines[item.first : item.end])
    if taken is None:
        return None
    if not taken[-1].endswith("\n"):
        taken[-1] += "\n"
    last = _last_init(positions, lines, spec_path)
    if last is None:
        if positions.has(f"{spec_path}.initContainers"):
            return None
        indent = re.match(r" *", lines[key])
        taken.insert(0, f"{'' if indent is None else indent[0]}initContainers:\n")
        at = key
    else:
        shift = last.dash - item.dash
        taken, at = [_shifted(line, shift) for line in taken], last.end
    if item.first < at < item.end:
        return None
    kept = [line for number, line in enumerate(lines) if not item.first <= number < item.end]
    position = at if at <= item.first else at - (item.end - item.first)
    if kept and position and not kept[position - 1].endswith("\n"):
        kept[position - 1] += "\n"
    return "".join((*kept[:position], *taken, *kept[position:]))


def _last_init(positions: Positions, lines: list[str], spec_path: str) -> _Item | None:
    path, count = f"{spec_path}.initContainers", 0
    while positions.value_node(f"{path}[{count}]") is not None:
        count += 1
    return _item(positions, lines, f"{path}[{count - 1}]") if count else None


def _item(positions: Positions, lines: list[str], path: str) -> _Item | None:
    """Return the lines of an entry of a block list, None for one that shares them with something else."""
    node = positions.value_node(path)
    if node is None:
        return None
    start = node.start_mark
    head = lines[start.line][: start.column]
    if not re.fullmatch(r" *- +", head):
        return None
    dash = len(head) - len(head.lstrip(" "))
    return _Item(first=start.line, end=_end(node, lines, dash), dash=dash)


def _end(node: Node, lines: list[str], dash: int) -> int:
    """Return the line after an entry: the first that isn't indented below its dash."""
    number = node.start_mark.line + 1
    while number < len(lines):
        line = lines[number]
        stripped = line.strip()
        if stripped and len(line) - len(line.lstrip(" ")) <= dash:
            break
        number += 1
    while number > node.start_mark.line + 1 and not lines[number - 1].strip():
        number -= 1
    return number


def _line_of(positions: Positions, path: str) -> int | None:
    if positions.value_node(path) is None:
        return None
    return positions.find(path)[0] - 1 - positions.document.first_line


def _with_policy(lines: list[str]) -> list[str] | None:
    """Return the lines of a container with restartPolicy: Always after its first line or in its braces."""
    first = lines[0].rstrip("\r\n")
    if found := re.fullmatch(r"( *- +\{)(.*\}\s*)", first):
        return [f"{found[1]}{_SIDECAR_LINE}, {found[2].rstrip()}\n", *lines[1:]] if len(lines) == 1 else None
    head = re.match(r" *- +", first)
    if head is None or first[head.end() : head.end() + 1] in {"{", "&", "*", "!", ""}:
        return None
    is_one_line = re.search(r"name: +\S+\s*$", first) is not None
    policy = f"{' ' * head.end()}{_SIDECAR_LINE}\n"
    if is_one_line:
        return [lines[0] if lines[0].endswith("\n") else lines[0] + "\n", policy, *lines[1:]]
    return [*(line if line.endswith("\n") else line + "\n" for line in lines), policy]


def _shifted(line: str, shift: int) -> str:
    if not line.strip() or not shift:
        return line
    return " " * shift + line if shift > 0 else line[min(-shift, len(line) - len(line.lstrip(" "))) :]


def _example(loaded: Loaded, spec_path: str, index: int) -> str:
    node = loaded.positions.value_node(f"{spec_path}.containers[{index}].name")
    name = getattr(node, "value", "")
    return "\n".join(
        (
            f"-  containers:      {name} no longer stands here",
            "+  initContainers:",
            f"+    - name: {name}",
            f"+      {_SIDECAR_LINE}",
            "+      ...          the rest of it, as it is",
        )
    )
