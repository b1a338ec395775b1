"""Finding the program that a word means, and saying so when there is none."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from runtime.simulated.process import Main, Process
    from runtime.simulated.shell.interpreter import Shell

NOT_FOUND, NOT_EXECUTABLE = 127, 126


class ProgramMissing(Exception):  # noqa: N818 - control flow or an outcome, not an error of ours
    """There is no such program; the text is the shell's, the status 127 or 126."""

    def __init__(self, text: str, status: int) -> None:
        """Keep the status."""
        super().__init__(text)
        self.status = status

    @property
    def reason(self) -> str:
        """Return what the kernel says of it."""
        return "No such file or directory" if self.status == NOT_FOUND else str(self)


async def find_main(shell: Shell, process: Process, argv: tuple[str, ...], prefix: str = "") -> tuple[Main | None, int]:
    """Return what a word runs, or None and the status after a message on the process's standard error."""
    try:
        return process.container.commands.resolve(process, argv), 0
    except ProgramMissing as missing:
        text = f"{shell.name}: {prefix or shell.place}{argv[0]}: {missing}"
        if missing.status == NOT_FOUND and argv[0]:
            text += (
                f" (line {shell.process.line}: the simulation has no such program: say in simulate.yaml what it does)"
            )
        await try_write(process, 2, f"{text}\n".encode())
        return None, missing.status


def resolve_child(child: Process, argv: tuple[str, ...]) -> Main:
    """Return what a child runs; ProgramMissing, and then the child is gone."""
    try:
        return child.container.commands.resolve(child, argv)
    except ProgramMissing:
        drop(child)
        raise


async def try_write(process: Process, fd: int, data: bytes) -> None:
    """Write, and forget about it when the descriptor can't be written."""
    try:
        await process.write(fd, data)
    except OSError:
        return


def drop(process: Process) -> None:
    """Forget a process that was made but never ran."""
    for file in process.fds.values():
        file.release()
    process.fds.clear()
    process.exit_code = NOT_FOUND
    process.container.forget(process)
