"""What a simulate.yaml says, as values. Times are seconds since a run's start, sizes are bytes."""

from __future__ import annotations

import enum
import math
from typing import TYPE_CHECKING, TypeVar

from attrs import field, frozen

if TYPE_CHECKING:
    from collections.abc import Mapping

T = TypeVar("T")
OverTime = tuple[tuple[float, T], ...]
"""What holds from times on, earliest first."""


class Health(enum.Enum):
    """What a gRPC health check is told."""

    UNKNOWN = "UNKNOWN"
    SERVING = "SERVING"
    NOT_SERVING = "NOT_SERVING"
    SERVICE_UNKNOWN = "SERVICE_UNKNOWN"


class PullEnd(enum.Enum):
    """How a pull ends."""

    OK = "ok"
    NOT_FOUND = "notFound"
    UNAVAILABLE = "unavailable"
    DENIED = "denied"
    BAD_SIGNATURE = "badSignature"
    HANGS = "hangs"
    BREAKS_OFF = "breaksOff"


@frozen(kw_only=True)
class OutputLine:
    """A line that a program writes."""

    text: str
    at: float = 0.0
    stream: str = "stdout"


@frozen(kw_only=True)
class Reaction:
    """What a program does about a signal: `exit` None goes on living."""

    exit: int | None = 0
    after: float = 0.0
    lines: tuple[OutputLine, ...] = ()


@frozen(kw_only=True)
class Response:
    """An answer to an HTTP request; `takes` math.inf never comes."""

    status: int = 200
    body: str = "ok\n"
    takes: float = 0.0


@frozen(kw_only=True)
class Result:
    """The outcome of a command; `takes` math.inf never ends."""

    exit: int = 0
    output: str = ""
    takes: float = 0.0


@frozen(kw_only=True)
class Course:
    """One run of a container. None, and an empty collection, leave a matter to the default.

    `on_signal` maps signals to reactions, None ignores the signal. `ports` says when a port is open.
    """

    lines: tuple[OutputLine, ...] | None = None
    seconds: float | None = None
    exit: int | None = None
    start_error: str | None = None
    on_term: Reaction | None = None
    ignores_term: bool = False
    on_signal: Mapping[str, Reaction | None] = field(factory=dict)
    http: Mapping[str, OverTime[Response]] = field(factory=dict)
    grpc: Mapping[str, OverTime[Health]] = field(factory=dict)
    ports: Mapping[int, OverTime[bool]] = field(factory=dict)
    commands: Mapping[str, OverTime[Result]] = field(factory=dict)
    memory: OverTime[int] = ()

    @property
    def replaces_program(self) -> bool:
        """Tell whether it says what the first process does, not only what is answered beside it."""
        given = (self.lines, self.seconds, self.exit, self.start_error, self.on_term)
        return any(each is not None for each in given) or bool(self.ignores_term or self.on_signal or self.memory)


@frozen(kw_only=True)
class Behaviour:
    """What a container does on each of its runs; the last one repeats."""

    courses: tuple[Course, ...] = (Course(),)

    @property
    def replaces_program(self) -> bool:
        """Tell whether a program of its own takes the place of the container's."""
        return any(course.replaces_program for course in self.courses)

    def course(self, attempt: int) -> Course:
        """Return what the run after `attempt` restarts does."""
        return self.courses[min(attempt, len(self.courses) - 1)]


@frozen(kw_only=True)
class ImageEntry:
    """What is known of an image; None leaves a matter to the default.

    `speed` is in bytes a second, `user` may be a name.
    """

    size: int | None = None
    speed: float | None = None
    pulls: tuple[PullEnd, ...] = ()
    present: bool | None = None
    shell: bool | None = None
    user: int | str | None = None
    credentials: str = field(default="", repr=False)
    files: Mapping[str, str] = field(factory=dict)
    program: Behaviour | None = None


@frozen(kw_only=True)
class NodeEntry:
    """What the node can do; None leaves a matter to the default.

    `app_armor` may be the names of the profiles that are loaded.
    """

    app_armor: bool | tuple[str, ...] | None = None
    supplemental_groups_policy: bool | None = None

    def __add__(self, other: NodeEntry) -> NodeEntry:
        """Return both together."""
        own = self.supplemental_groups_policy
        return NodeEntry(
            app_armor=other.app_armor if self.app_armor is None else self.app_armor,
            supplemental_groups_policy=other.supplemental_groups_policy if own is None else own,
        )


@frozen(kw_only=True)
class EngineRestart:
    """The engine doesn't answer from a time on; containers live on."""

    at: float = 0.0
    seconds: float = 1.0


@frozen(kw_only=True)
class SlowStops:
    """Stops take longer by `delay`."""

    delay: float
    rate: float = 1.0
    at: float = 0.0
    seconds: float = math.inf


@frozen(kw_only=True)
class LoseEvents:
    """Events of the runtime are never delivered."""

    rate: float = 1.0
    at: float = 0.0
    seconds: float = math.inf


@frozen(kw_only=True)
class FailCalls:
    """Calls of the runtime fail."""

    call: str
    error: str = "the simulated runtime refuses the call"
    rate: float = 1.0
    times: float = math.inf
    at: float = 0.0
    seconds: float = math.inf


Fault = EngineRestart | SlowStops | LoseEvents | FailCalls


@frozen(kw_only=True)
class Simulation:
    """One file, or several together: the first that says something of a container, an image or the node decides."""

    containers: Mapping[str, Behaviour] = field(factory=dict)
    images: Mapping[str, ImageEntry] = field(factory=dict)
    faults: tuple[Fault, ...] = ()
    node: NodeEntry = field(factory=NodeEntry)

    def __add__(self, other: Simulation) -> Simulation:
        """Return both together."""
        return Simulation(
            containers={**self.containers, **_rest(other.containers, self.containers)},
            images={**self.images, **_rest(other.images, self.images)},
            faults=(*self.faults, *other.faults),
            node=self.node + other.node,
        )


def _rest(other: Mapping[str, T], own: Mapping[str, T]) -> Mapping[str, T]:
    return {key: value for key, value in other.items() if key not in own}
