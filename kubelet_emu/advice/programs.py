"""What a container's first process is known to do: whether it ends, and whether it hears SIGTERM."""

from __future__ import annotations

import enum
from typing import TYPE_CHECKING

from attrs import field, frozen

if TYPE_CHECKING:
    from kubelet_emu.advice.scripts import Script


class Deafness(enum.Enum):
    """Why a first process doesn't end at SIGTERM.

    It has no handler; its trap waits for a command to end, or doesn't end it; or it asks for that: `trap '' TERM`.
    """

    NO_HANDLER = enum.auto()
    NO_TRAP = enum.auto()
    TRAP_WAITS = enum.auto()
    TRAP_GOES_ON = enum.auto()
    ASKED_FOR = enum.auto()


@frozen(kw_only=True)
class Program:
    """What is known of a program; nothing is known of the default.

    `is_endless`: it is certain that it never ends. `is_server`: it is known as one. `deaf_seconds`: for how long, at
    least, it goes on without a reaction to SIGTERM where it is process 1, because of `deafness`; `blocker` is the
    command in the foreground that takes `longest`.
    """

    words: tuple[str, ...] = ()
    script: Script | None = None
    lasts: float = 0.0
    is_endless: bool = False
    is_server: bool = False
    deaf_seconds: float = 0.0
    deafness: Deafness | None = None
    longest: float = 0.0
    blocker: str = field(default="", repr=False)

    @property
    def text(self) -> str:
        """Return the command line, or the script of a shell."""
        return self.words[-1] if self.script is not None else " ".join(self.words)

    @property
    def never_ends(self) -> bool:
        """Tell whether nobody expects it to end by itself."""
        return self.is_endless or self.is_server
