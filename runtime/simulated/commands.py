"""What a container runs: which program its image and command mean, and what a command inside it means."""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import define

from runtime.api import NotFoundError
from runtime.simulated.images import ImageKind, kind_of
from runtime.simulated.program import ScriptedProgram, StartFailure, default_program
from runtime.simulated.rootfs import build_tree

if TYPE_CHECKING:
    from collections.abc import Callable

    from runtime.api import ContainerConfig, Image
    from runtime.simulated.container import Container
    from runtime.simulated.images import ImageStore
    from runtime.simulated.process import Main
    from runtime.simulated.program import Program
    from runtime.simulated.tree import Tree
    from runtime.simulated.volumes import VolumeStore

_START = (
    "failed to create containerd task: failed to create shim task: OCI runtime create failed: runc create failed: "
    "unable to start container process: "
)
_EXEC = 'failed to start exec "{id}": OCI runtime exec failed: exec failed: unable to start container process: '


@define(eq=False)
class Commands:
    """Knows images and programs; one for all containers of a runtime."""

    images: ImageStore
    volumes: VolumeStore
    programs: Callable[[ContainerConfig], Program | None] | None
    exit_code_on_term: int | None

    def image_of(self, config: ContainerConfig) -> Image:
        """Return the image that a container is made from; NotFoundError when the node has none."""
        image = self.images.get(config.image) or self.images.get(config.image_name)
        if image is None:
            raise NotFoundError(f'failed to get image from containerd "{config.image}": not found')
        return image

    def kind_of(self, config: ContainerConfig) -> ImageKind:
        """Return what is in a container's image."""
        return kind_of(config.image_name, self.images.row(config.image_name))

    def argv_of(self, config: ContainerConfig, image: Image) -> tuple[str, ...]:
        """Return the argument vector: command replaces the image's entrypoint and, unless args are given, its cmd."""
        if config.command is not None:
            return config.command + (config.args or ())
        return image.entrypoint + (image.cmd if config.args is None else config.args)

    def program_of(self, config: ContainerConfig, image: Image) -> Program:
        """Return the program of a container."""
        given = self.programs(config) if self.programs is not None else None
        if given is not None:
            return given
        name = self.argv_of(config, image)[0] if self.argv_of(config, image) else config.image_name
        return default_program(name, config.metadata.attempt, exit_code_on_term=self.exit_code_on_term)

    def make_tree(self, container: Container) -> Tree:
        """Return a new tree of files for a container."""
        row = self.images.row(container.config.image_name)
        return build_tree(container, self.volumes, frozenset(), row.files)

    def first_main(self, container: Container) -> Main:
        """Return what the first process does; StartFailure with runc's text when it can't start."""
        program = container.program
        if isinstance(program, ScriptedProgram) and program.run.start_error is not None:
            raise StartFailure(program.run.start_error)
        return program.main

    def exec_main(self, container: Container, argv: tuple[str, ...]) -> Main:
        """Return what a command inside the container does; StartFailure with runc's text when there is no such."""
        answer = container.program.find(argv)
        if answer is not None:
            return answer
        raise missing_command(argv[0], _EXEC.format(id=container.id))


def missing_command(word: str, prefix: str = _START) -> StartFailure:
    """Return runc's complaint about a program that isn't there."""
    if "/" in word:
        return StartFailure(f'{prefix}exec: "{word}": stat {word}: no such file or directory')
    return StartFailure(f'{prefix}exec: "{word}": executable file not found in $PATH')
