"""Where images come from: the options of every command that pulls, and the mirrors that they mean."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import click

from kubelet_emu.cli.parameter_types import Word, with_parameters

if TYPE_CHECKING:
    from collections.abc import Callable

    from kubelet_emu.images.mirrors import Mirror

    Decorated = TypeVar("Decorated", bound=Callable[..., object])


def _read_mirror(text: str) -> Mirror:
    from kubelet_emu.images.mirrors import Mirror

    return Mirror.parse(text)


MIRROR_PARAMETERS: tuple[click.Option, ...] = (
    click.Option(
        ["--registry-mirror", "registry_mirrors"],
        type=Word("mirror", _read_mirror),
        multiple=True,
        metavar="HOST=HOST2[/PREFIX]",
        help="Pull images of HOST from HOST2 instead; repeatable.",
    ),
    click.Option(
        ["--registry-hosts"],
        type=click.Path(path_type=Path, exists=True),
        metavar="PATH",
        help="Mirrors as containerd has them: a folder with HOST/hosts.toml, or one such file.",
    ),
)


def mirror_parameters(command: Decorated) -> Decorated:
    """Give a command function both options, as `registry_mirrors` and `registry_hosts`."""
    return with_parameters(MIRROR_PARAMETERS, command)


def mirrors_of(mirrors: tuple[Mirror, ...], hosts: Path | None, tell: Callable[[str], None]) -> tuple[Mirror, ...]:
    """Return the mirrors of both options, those of files last; InputError for a file that can't be followed.

    `tell` hears a warning for each word of a file that has no effect.
    """
    if hosts is None:
        return mirrors
    from kubelet_emu.cli.failures import InputError
    from kubelet_emu.images.hosts_files import read_registry_hosts
    from kubelet_emu.images.mirrors import MirrorError

    try:
        found = read_registry_hosts(hosts)
    except MirrorError as error:
        raise InputError(f"--registry-hosts: {error}") from error
    for warning in found.warnings:
        tell(f"warning: {warning}")
    return (*mirrors, *found.mirrors)
