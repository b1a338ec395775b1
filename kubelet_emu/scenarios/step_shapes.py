"""What the steps of a scenario take: which words, and which of them are needed. Values only."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING

from attrs import frozen

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

KUBELET_WORDS = ("stop", "start", "restart", "kill")


@frozen(kw_only=True)
class Shape:
    """The parameters of one action; one of `choice` is needed where there is one. `is_open` takes any others."""

    needed: tuple[str, ...] = ()
    known: tuple[str, ...] = ()
    choice: tuple[str, ...] = ()
    is_open: bool = False
    example: str = ""


SHAPES = {
    "delete": Shape(known=("pod", "kind", "name", "gracePeriodSeconds", "propagation")),
    "exec": Shape(
        needed=("container", "command"), known=("pod",), example='{container: c, command: ["sh", "-c", "…"]}'
    ),
    "patch": Shape(
        needed=("body",), known=("pod", "kind", "name", "type", "subresource"), example="{body: {spec: {…}}}"
    ),
    "ephemeral": Shape(needed=("container",), known=("pod",), example="{container: {name: debug, image: …}}"),
    "condition": Shape(needed=("type", "status"), known=("pod", "name"), example='{type: my/gate, status: "True"}'),
    "evict": Shape(known=("pod", "name")),
    "create": Shape(needed=("apiVersion", "kind", "metadata"), is_open=True, example="{apiVersion: v1, kind: Pod, …}"),
    "kill": Shape(needed=("container",), known=("pod", "signal"), example="{container: c, signal: SIGTERM}"),
    "sh": Shape(needed=("command",), example='{command: "touch /tmp/ready"}'),
    "wait": Shape(),
    "kubelet": Shape(),
    "static": Shape(choice=("write", "remove"), example="{write: static.yaml}"),
    "runtime": Shape(known=("pod",), choice=("stop-sandbox", "remove"), example="{stop-sandbox: true}"),
    "node": Shape(choice=("shutdown", "label"), example="{shutdown: true}"),
}
ACTIONS = tuple(SHAPES)


def action_faults(action: str, argument: object) -> Iterator[tuple[str, str]]:
    """Yield what is wrong with an action: the path below `do`, and why."""
    shape = SHAPES.get(action)
    if shape is None:
        yield action, f"no such action{proposal(action, ACTIONS)}"
    elif action == "kubelet":
        if argument not in KUBELET_WORDS:
            yield action, f"one of {', '.join(KUBELET_WORDS)} is needed, not {argument!r}"
    elif not isinstance(argument, dict | None):
        yield action, f"a mapping is needed, as in {{{action}: {shape.example or '{}'}}}"
    else:
        yield from ((f"{action}.{at}".rstrip("."), why) for at, why in _parameter_faults(shape, action, argument or {}))


def _parameter_faults(shape: Shape, action: str, given: Iterable[str]) -> Iterator[tuple[str, str]]:
    known = (*shape.needed, *shape.choice, *shape.known)
    for key in given:
        if key not in known and not shape.is_open:
            yield key, f"{action} takes no {key!r}{proposal(key, known) if known else ''}"
    missing = [key for key in shape.needed if key not in given]
    if missing:
        yield "", f"{' and '.join(missing)} must be given, as in {{{action}: {shape.example}}}"
    if shape.choice and sum(key in given for key in shape.choice) != 1:
        yield "", f"one of {' and '.join(shape.choice)} must be given, as in {{{action}: {shape.example}}}"


def proposal(word: str, known: Iterable[str]) -> str:
    """Return what was likely meant, else what there is."""
    near = difflib.get_close_matches(word, tuple(known), n=1)
    return f"; did you mean {near[0]!r}?" if near else f"; there are {', '.join(known)}"
