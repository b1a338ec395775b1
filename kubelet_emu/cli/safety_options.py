"""What a manifest may do to the machine: the options of every command that runs one on an engine."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar, cast

import click

from kubelet_emu.cli.parameter_types import Word, with_parameters
from kubelet_emu.manifests.safety import HostPathRule, SafetyPolicy

if TYPE_CHECKING:
    from collections.abc import Callable, MutableMapping

    Decorated = TypeVar("Decorated", bound=Callable[..., object])

SAFETY_PARAMETERS: tuple[click.Option, ...] = (
    click.Option(
        ["--allow-host-path"],
        type=Word("path", HostPathRule.parse),
        multiple=True,
        metavar="PREFIX[:rw]",
        help="Let pods mount host paths below PREFIX; repeatable.",
    ),
    click.Option(
        ["--allow-privileged"], is_flag=True, help="Let containers be privileged, or have capabilities like SYS_ADMIN."
    ),
    click.Option(["--allow-host-namespaces"], is_flag=True, help="Let pods use hostNetwork, hostPID and hostIPC."),
)


def safety_parameters(command: Decorated) -> Decorated:
    """Give a command function these options."""
    return with_parameters(SAFETY_PARAMETERS, command)


def safety_of(given: MutableMapping[str, object]) -> SafetyPolicy:
    """Take what click parsed of these options, and return what it allows."""
    return SafetyPolicy(
        host_paths=cast("tuple[HostPathRule, ...]", given.pop("allow_host_path")),
        allow_privileged=bool(given.pop("allow_privileged")),
        allow_host_namespaces=bool(given.pop("allow_host_namespaces")),
    )
