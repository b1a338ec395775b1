"""What an awk program reads and writes beside its input: files and commands, each open until it is closed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import define, field

from runtime.simulated import access
from runtime.simulated.shell.applets.base import Lines
from runtime.simulated.shell.launch import resolve_child
from runtime.simulated.streams import Buffer, NullFile, Text

if TYPE_CHECKING:
    from runtime.simulated.process import Process
    from runtime.simulated.streams import OpenFile


@define
class Streams:
    """Files and commands by name."""

    process: Process
    written: dict[str, OpenFile] = field(factory=dict)
    commands: dict[str, bytearray] = field(factory=dict)
    read: dict[tuple[str, str], Lines] = field(factory=dict)

    async def write(self, data: str, redirect: str, name: str) -> None:
        """Write to standard output, a file or the input of a command; OSError."""
        raw = data.encode(errors="surrogateescape")
        if not redirect:
            await self.process.write(1, raw)
        elif redirect == "|":
            self.commands.setdefault(name, bytearray()).extend(raw)
        else:
            if name not in self.written:
                self.written[name] = await access.open_file(self.process, name, "w" if redirect == ">" else "a")
            await self.written[name].write(raw)

    async def lines(self, kind: str, name: str) -> Lines | None:
        """Return the lines of a file (<), or of a command's output (|); None for a file that can't be read."""
        if (kind, name) not in self.read:
            try:
                file = Text(await self.output(name)) if kind == "|" else await access.open_file(self.process, name, "r")
            except OSError:
                return None
            self.read[kind, name] = Lines(self.process, file)
        return self.read[kind, name]

    async def output(self, command: str) -> bytes:
        """Run a command and return what it prints."""
        buffer = Buffer()
        await self.run(command, NullFile(), buffer)
        return bytes(buffer.data)

    async def run(self, command: str, source: OpenFile | None = None, target: OpenFile | None = None) -> int:
        """Run a command in a shell."""
        argv = ("sh", "-c", command)
        child = self.process.child(argv, self.process.env)
        for fd, file in ((0, source), (1, target)):
            if file is not None:
                child.replace(fd, file)
        return await child.run(resolve_child(child, argv))

    async def close(self, name: str) -> int:
        """Close a file or end a command: -1 when nothing of the name is open."""
        status = -1
        if (file := self.written.pop(name, None)) is not None:
            file.release()
            status = 0
        if (data := self.commands.pop(name, None)) is not None:
            status = await self.run(name, Text(bytes(data)))
        for kind in "<|":
            if self.read.pop((kind, name), None) is not None:
                status = 0
        return status

    async def close_all(self) -> None:
        """Close everything, in the order in which it was opened."""
        for name in [*self.written, *self.commands]:
            await self.close(name)
