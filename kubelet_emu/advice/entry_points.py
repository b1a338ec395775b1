"""What a container runs first: its command, or the entry point of an image that is known."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubelet_emu.advice.known_servers import has_no_entry_point, is_server_image
from kubelet_emu.advice.programs import Program
from kubelet_emu.rules.expansion import expand

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kubelet_emu.api.v1 import Container


def program_of(container: Container) -> Program:
    """Return what is known of the program that a container runs."""
    words = tuple(expanded(container, (*container.command, *container.args)))
    if not container.command and not has_no_entry_point(container.image or ""):
        return Program(is_server=is_server_image(container.image or "", words))
    from kubelet_emu.advice.command_lines import program_of_words

    return program_of_words(words)


def expanded(container: Container, words: Sequence[str]) -> list[str]:
    """Return words of a command with the variables that are literal in the manifest replaced."""
    known = {each.name: each.value for each in container.env if each.value is not None and "$(" not in each.value}
    return [expand(word, known) for word in words]
