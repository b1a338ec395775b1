"""Programs of images: words of a shell image, the gRPC health server, and what is not known."""

from __future__ import annotations

import math
from functools import cached_property
from typing import TYPE_CHECKING

from attrs import frozen

from runtime.simulated.network import ANY_PORT
from runtime.simulated.program import Exec, ExecAnswer, Line, OnSignal, Port, Run, ScriptedProgram
from runtime.simulated.servers import ANY_SERVICE, GrpcAnswer, HttpAnswer

if TYPE_CHECKING:
    from collections.abc import Mapping

    from runtime.simulated.process import Main, Process
from runtime.simulated.signals import signal_name, signal_number

GRPC_PORT = 9000
_END_SIGNALS = ("SIGTERM", "SIGINT", "SIGQUIT")
SETTLE_SECONDS = 1.0


@frozen
class AppletProgram:
    """A container whose argument vector the simulation understands: a shell, a word, a script of a volume."""

    argv: tuple[str, ...]

    async def main(self, process: Process) -> int:
        """Run the argument vector; ProgramMissing."""
        return await process.container.commands.resolve(process, self.argv)(process)

    def find(self, argv: tuple[str, ...]) -> Main | None:  # noqa: ARG002 - the protocol has it
        """Leave every command to the image."""
        return None


@frozen
class UnknownProgram:
    """A container of an image that is not known: runs for ever, answers every probe after a second.

    It ends by itself after `seconds` with 0. On its stop signal, SIGTERM, SIGINT and SIGQUIT it exits with
    `exit_code_on_term`, None ignores them. A command inside it that is none of `words` succeeds once `settle_seconds`
    are over. It listens on `ports`, and on every other port that is not one of `refuses`.
    """

    name: str
    words: frozenset[str]
    exit_code_on_term: int | None = 0
    stop_signal: str = ""
    settle_seconds: float = SETTLE_SECONDS
    seconds: float = math.inf
    ports: tuple[int, ...] = ()
    refuses: frozenset[int] = frozenset()

    @cached_property
    def run(self) -> Run:
        """The course of each of its runs."""
        return Run(
            lines=(Line(0.0, f"{self.name} started (simulated)"),),
            duration=self.seconds,
            on_signal=end_signals(self.exit_code_on_term, self.stop_signal),
            ports=(*(self._port(number) for number in self.ports), self._port(ANY_PORT)),
            execs=(Exec(None, ((0.0, ExecAnswer(1)), (self.settle_seconds, ExecAnswer(0))), self.words),),
        )

    def _port(self, number: int) -> Port:
        http = {"": ((self.settle_seconds, HttpAnswer()),)}
        grpc = {ANY_SERVICE: ((self.settle_seconds, GrpcAnswer.SERVING),)}
        refuses = self.refuses if number == ANY_PORT else frozenset[int]()
        return Port(number, opens_at=self.settle_seconds, http=http, grpc=grpc, refuses=refuses)

    async def main(self, process: Process) -> int:
        """Run for ever, or to its end."""
        return await ScriptedProgram((self.run,)).main(process)

    def find(self, argv: tuple[str, ...]) -> Main | None:
        """Answer what is no word of a shell."""
        return ScriptedProgram((self.run,)).find(argv)


def end_signals(exit_code: int | None, stop_signal: str = "") -> Mapping[str, OnSignal]:
    """Return the reaction to every signal that asks a program to end; none with `exit_code` None."""
    if exit_code is None:
        return {}
    names = (*_END_SIGNALS, *([signal_name(signal_number(stop_signal))] if stop_signal else ()))
    return {name: OnSignal(exit_code) for name in names}


def grpc_program(attempt: int) -> ScriptedProgram:
    """Return the health server of kemu/grpc: "" serves after 4 s, "live" for the first 10 s."""
    run = Run(
        lines=(Line(0.0, "Started"), Line(4.0, "Serving"), Line(10.0, "Not live")),
        on_signal={"SIGTERM": OnSignal(0, lines=("Terminated",))},
        ports=(
            Port(
                GRPC_PORT,
                grpc={
                    "": ((0.0, GrpcAnswer.NOT_SERVING), (4.0, GrpcAnswer.SERVING)),
                    "live": ((0.0, GrpcAnswer.SERVING), (10.0, GrpcAnswer.NOT_SERVING)),
                },
            ),
        ),
    )
    return ScriptedProgram((run,), attempt)
