"""What a container runs: which program its image and command mean, and what a command inside it means."""

from __future__ import annotations

import errno
from typing import TYPE_CHECKING

import trio
from attrs import define

from runtime.api import NotFoundError
from runtime.api.accounts import GROUP, PASSWD
from runtime.api.references import split_name
from runtime.simulated import access, starts
from runtime.simulated.ids import read_lists
from runtime.simulated.images import ImageKind, kind_of
from runtime.simulated.known import AppletProgram, UnknownProgram, grpc_program
from runtime.simulated.process import in_turn
from runtime.simulated.program import AnsweredProgram, ScriptedProgram, StartFailure
from runtime.simulated.rootfs import BASE_GROUP, BASE_PASSWD, BUSYBOX, PROGRAM_MAGIC, build_tree
from runtime.simulated.shell.applets.base import applet_main
from runtime.simulated.shell.applets.system import no_applet
from runtime.simulated.shell.launch import NOT_EXECUTABLE, NOT_FOUND, ProgramMissing
from runtime.simulated.shell.registry import APPLETS, COMMON_WORDS, WORDS
from runtime.simulated.shell.run import script_main
from runtime.simulated.tree import File

if TYPE_CHECKING:
    from collections.abc import Callable

    from runtime.api import ContainerConfig, Image
    from runtime.api.accounts import Accounts
    from runtime.simulated.container import Container
    from runtime.simulated.images import ImageStore
    from runtime.simulated.process import Main, Process
    from runtime.simulated.program import Program
    from runtime.simulated.tree import Tree
    from runtime.simulated.volumes import VolumeStore

    Adapt = Callable[[ContainerConfig, Program, frozenset[str]], Program]
    """Return the program that a container runs instead of the one that its image and command mean."""

_READERS = """awk base64 cat cmp cp diff du egrep fgrep find grep head hexdump ln ls md5sum mv od readlink realpath sed
    sha1sum sha256sum sha512sum stat wc xxd"""
READERS = frozenset(_READERS.split())
"""Words that need the files of an image: where those aren't known, their outcome isn't either."""
_LINE_BYTES = 256
_PROGRAM_FOLDERS = frozenset({"/bin", "/usr/bin", "/sbin", "/usr/sbin", "/usr/local/bin"})


@define(eq=False)
class Commands:
    """Knows images and programs; one for all containers of a runtime."""

    images: ImageStore
    volumes: VolumeStore
    programs: Callable[[ContainerConfig], Program | None] | None
    exit_code_on_term: int | None
    adapt: Adapt | None = None

    def image_of(self, config: ContainerConfig) -> Image:
        """Return the image that a container is made from; NotFoundError when the node has none."""
        image = self.images.get(config.image) or self.images.get(config.image_name)
        if image is None:
            raise NotFoundError(f'failed to get image from containerd "{config.image}": not found')
        return image

    def kind_of(self, config: ContainerConfig) -> ImageKind:
        """Return what is in a container's image."""
        return kind_of(config.image_name, self.images.row(config.image_name))

    def words_of(self, config: ContainerConfig) -> frozenset[str]:
        """Return the words that a container's image has."""
        match self.kind_of(config):
            case ImageKind.BUSYBOX:
                return WORDS
            case ImageKind.UNKNOWN:
                return COMMON_WORDS
            case ImageKind.GRPC_HEALTH:
                return frozenset()

    def argv_of(self, config: ContainerConfig, image: Image) -> tuple[str, ...]:
        """Return the argument vector: command replaces the image's entrypoint and, unless args are given, its cmd."""
        if config.command:
            return config.command + (config.args or ())
        return image.entrypoint + (config.args or image.cmd)

    def program_of(self, config: ContainerConfig, image: Image) -> Program:
        """Return the program of a container."""
        given = self.programs(config) if self.programs is not None else None
        if given is not None:
            return given
        program = self._known_program(config, image)
        return program if self.adapt is None else self.adapt(config, program, self.words_of(config))

    def _known_program(self, config: ContainerConfig, image: Image) -> Program:
        kind = self.kind_of(config)
        argv = self.argv_of(config, image)
        if kind is ImageKind.GRPC_HEALTH:
            return grpc_program(config.metadata.attempt)
        if kind is ImageKind.BUSYBOX:
            return AppletProgram(argv or ("sh",))
        words = self.words_of(config) - READERS
        if argv and program_name(argv[0]) in words:
            return AppletProgram(argv)
        start = config.command or image.entrypoint
        name = start[0] if start else split_name(config.image_name)[0].rpartition("/")[2]
        return UnknownProgram(name, words, self.exit_code_on_term, stop_signal=config.stop_signal or image.stop_signal)

    def accounts_of(self, config: ContainerConfig) -> Accounts:
        """Return the users and groups of a container's image."""
        files = self.images.row(config.image_name).files
        return read_lists(files.get(PASSWD, BASE_PASSWD), files.get(GROUP, BASE_GROUP))

    def make_tree(self, container: Container) -> Tree:
        """Return a new tree of files for a container."""
        row = self.images.row(container.config.image_name)
        return build_tree(container, self.volumes, container.words, row.files)

    def resolve(self, process: Process, argv: tuple[str, ...]) -> Main:
        """Return what an argument vector runs inside a container; ProgramMissing."""
        container = process.container
        answer = container.program.find(argv)
        if answer is not None:
            return answer
        if not argv[0]:
            raise ProgramMissing("Permission denied", NOT_FOUND)
        name = program_name(argv[0])
        if name in container.words:
            return applet_main(APPLETS[name], argv)
        if "/" in argv[0]:
            return _script(process, argv[0], argv)
        for folder in process.env.get("PATH", "").split(":"):
            node = container.tree.get(f"{folder}/{argv[0]}") if folder else None
            if isinstance(node, File) and node.mode & 0o111:
                return _script(process, f"{folder}/{argv[0]}", argv)
        raise ProgramMissing("not found", NOT_FOUND)

    def first_main(self, process: Process, at: float) -> Main:
        """Return what the first process does from `at` on; StartFailure with runc's text when it can't start."""
        if not process.cwd.startswith("/"):
            raise StartFailure(f"{starts.CREATE}Cwd must be an absolute path")
        _ = process.container.tree  # its mounts are made before anything runs
        program = process.container.program
        if isinstance(program, AnsweredProgram):
            main = program.around(self._first_main(process, program.base))
        else:
            main = self._first_main(process, program)
        return in_turn(main, at) if at > trio.current_time() else main

    def _first_main(self, process: Process, program: Program) -> Main:
        if isinstance(program, ScriptedProgram) and program.run.start_error is not None:
            raise StartFailure(program.run.start_error)
        if not isinstance(program, AppletProgram):
            return program.main
        return in_turn(self._started(process, program.argv, starts.START))

    def exec_main(self, process: Process) -> Main:
        """Return what a command inside the container does; StartFailure with runc's text when there is no such."""
        return in_turn(self._started(process, process.argv, starts.EXEC.format(id=process.container.id)))

    def _started(self, process: Process, argv: tuple[str, ...], prefix: str) -> Main:
        """Return what runc makes of an argument vector; StartFailure."""
        answer = process.container.program.find(argv)
        if answer is not None:
            return answer
        name, words = program_name(argv[0]), process.container.words
        if name in words and ("/" in argv[0] or _PROGRAM_FOLDERS.intersection(process.env.get("PATH", "").split(":"))):
            path, main = f"/bin/{name}", applet_main(APPLETS[name], argv)
        else:
            path = starts.look_path(process, argv[0], prefix)
            main = _executed(process, path, argv)
        number = starts.words_fault(process)
        return starts.not_executed(path, number) if number else main


def program_name(word: str) -> str:
    """Return the name of a program given by name or by its path in one of the usual folders, else the path."""
    folder, _, name = word.rpartition("/")
    return name if not folder or folder in _PROGRAM_FOLDERS else word


def _script(process: Process, path: str, argv: tuple[str, ...]) -> Main:
    """Return a file of the container as a program, as a shell takes it; ProgramMissing."""
    node = access.get(process, path)
    if node is None:
        raise ProgramMissing("not found", NOT_FOUND)
    if not isinstance(node, File) or not node.mode & 0o111:
        raise ProgramMissing("Permission denied", NOT_EXECUTABLE)
    program = _loaded(process, path, argv)
    if program == errno.ENOEXEC:
        return script_main(path, argv)
    if isinstance(program, int):
        raise ProgramMissing("not found", NOT_FOUND)
    return program


def _executed(process: Process, path: str, argv: tuple[str, ...]) -> Main:
    """Return a file of the container as a program, as the kernel takes it: it says in the log what it can't be."""
    program = _loaded(process, path, argv)
    return starts.not_executed(path, program) if isinstance(program, int) else program


def _loaded(process: Process, path: str, argv: tuple[str, ...]) -> Main | int:
    """Return what an executable file is to the kernel: a program, or why it is none (execve(2))."""
    node = access.get(process, path)
    line = bytes(node.data[:_LINE_BYTES]) if isinstance(node, File) else b""
    if line.startswith(PROGRAM_MAGIC):
        name = line.removeprefix(PROGRAM_MAGIC).decode(errors="replace")
        if name == BUSYBOX:
            name = argv[0].rpartition("/")[2]
        return applet_main(APPLETS.get(name, no_applet), argv)
    interpreter = _interpreter(line)
    if not interpreter:
        return errno.ENOEXEC
    name = program_name(interpreter[0])
    if name not in process.container.words:
        return errno.ENOENT
    return applet_main(APPLETS[name], (*interpreter, path, *argv[1:]))


def _interpreter(data: bytes) -> tuple[str, ...]:
    """Return the words of a script's first line that say what runs it: a program and at most one argument."""
    if not data.startswith(b"#!"):
        return ()
    line = data[2:].partition(b"\n")[0].decode(errors="replace").strip(" \t")
    program, _, argument = line.replace("\t", " ").partition(" ")
    return tuple(word for word in (program, argument.strip()) if word)
