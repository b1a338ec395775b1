"""Programs of images: words of a shell image, the gRPC health server, and what is not known."""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import field, frozen

from runtime.simulated.network import ANY_PORT
from runtime.simulated.program import Exec, ExecAnswer, Line, OnSignal, Port, Run, ScriptedProgram
from runtime.simulated.servers import GrpcAnswer, HttpAnswer

if TYPE_CHECKING:
    from runtime.simulated.process import Main, Process

GRPC_PORT = 9000
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

    On SIGTERM it exits with `exit_code_on_term`, None ignores it. A command inside it that is no word of a shell
    succeeds once the second is over.
    """

    name: str
    attempt: int
    words: frozenset[str]
    exit_code_on_term: int | None = 0
    settle_seconds: float = SETTLE_SECONDS
    _script: ScriptedProgram = field(init=False)

    @_script.default
    def _make_script(self) -> ScriptedProgram:
        settled = self.settle_seconds
        http = {"": ((settled, HttpAnswer()),)}
        grpc = {"": ((settled, GrpcAnswer.SERVING),)}
        run = Run(
            lines=(Line(0.0, f"{self.name} started (simulated)"),),
            on_signal={} if self.exit_code_on_term is None else {"SIGTERM": OnSignal(self.exit_code_on_term)},
            ports=(Port(ANY_PORT, opens_at=settled, http=http, grpc=grpc),),
            execs=(Exec(None, ((0.0, ExecAnswer(1)), (settled, ExecAnswer(0)))),),
        )
        return ScriptedProgram((run,), self.attempt)

    async def main(self, process: Process) -> int:
        """Run for ever."""
        return await self._script.main(process)

    def find(self, argv: tuple[str, ...]) -> Main | None:
        """Answer what is no word of a shell."""
        return None if argv[0].rsplit("/", 1)[-1] in self.words else self._script.find(argv)


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
