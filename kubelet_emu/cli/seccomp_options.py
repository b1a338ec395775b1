"""The option that says where the node's own seccomp profiles are, for every command that needs them."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

import click

from kubelet_emu.cli.parameter_types import Word, with_parameters

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Decorated = TypeVar("Decorated", bound=Callable[..., object])


def _read_folder(text: str) -> Path:
    """Read the name of a folder that there is; ValueError. pathlib takes 4 ms to load, and few ask for it."""
    from pathlib import Path

    if not Path(text).is_dir():
        raise ValueError(f"there is no folder {text!r}")
    return Path(text)


SECCOMP_PARAMETERS: tuple[click.Option, ...] = (
    click.Option(
        ["--seccomp-profile-root"],
        type=Word("folder", _read_folder),
        metavar="DIR",
        help="Where profiles of seccompProfile Localhost are; default: /var/lib/kubelet/seccomp.",
    ),
)


def seccomp_parameters(command: Decorated) -> Decorated:
    """Give a command function the option, as `seccomp_profile_root`."""
    return with_parameters(SECCOMP_PARAMETERS, command)
