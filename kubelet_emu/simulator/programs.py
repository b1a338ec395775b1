"""What the containers of a simulated run do: defaults by their part in the pod, and what simulate.yaml says.

A container of an image that isn't known runs for ever; a plain init container and a main container of a Job end after a
second, for else nothing would come after them.
"""

from __future__ import annotations

import math
import shlex
from collections import Counter
from functools import partial
from typing import TYPE_CHECKING, cast

from attrs import define, evolve, field, frozen

from kubelet_emu.api.labels import parse_container_labels
from kubelet_emu.apiserver.watches import WatchEventType
from kubelet_emu.journal.records import NoteRecord, ObjectRef
from kubelet_emu.simulation.matching import Target, behaviour_of, pod_names
from kubelet_emu.simulation.values import Simulation
from runtime.simulated import (
    ANY_PORT,
    ANY_SERVICE,
    AnsweredProgram,
    AppletProgram,
    Exec,
    ExecAnswer,
    GrpcAnswer,
    HttpAnswer,
    Line,
    OnSignal,
    Port,
    Run,
    ScriptedProgram,
    UnknownProgram,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from kubelet_emu.api.v1 import Container, Pod
    from kubelet_emu.apiserver.watches import WatchEvent
    from kubelet_emu.cluster.cluster import Cluster
    from kubelet_emu.journal.records import Record
    from kubelet_emu.simulation.values import (
        Behaviour,
        Course,
        Health,
        OutputLine,
        OverTime,
        Reaction,
        Response,
    )
    from runtime.api import ContainerConfig
    from runtime.simulated import Program

ENDS_AFTER_SECONDS = 1.0
SETTLE_SECONDS = 1.0
_JOB_INDEX = "batch.kubernetes.io/job-completion-index"
_FULL_SHELL = "busybox"


@frozen(kw_only=True)
class Part:
    """A container's part in its pod: the ports that are its own and its siblings', and whether it is to end."""

    ports: tuple[int, ...] = ()
    others: frozenset[int] = frozenset()
    is_ending: bool = False


@define(eq=False, kw_only=True)
class Programs:
    """Chooses the program of each container that is created; see `runtime.simulated.commands.Adapt`.

    Runs are counted by container, over all pods of a Job: a Job's second pod goes on where its first one ended.
    """

    simulation: Simulation = field(factory=Simulation)
    exit_code_on_term: int | None = 0
    find_pod: Callable[[str, str], Pod | None] = field(default=lambda _namespace, _name: None, init=False)
    emit: Callable[[Record], None] = field(default=lambda _: None, init=False)
    _starts: dict[str, Counter[tuple[str, str]]] = field(factory=dict, init=False)
    _told: dict[str, set[str]] = field(factory=dict, init=False)

    def furnish(self, cluster: Cluster) -> None:
        """Look for pods in a cluster from now on, and tell its journal what is worth knowing."""
        self.find_pod = partial(cluster.api.get, "Pod")
        self.emit = cluster.emit
        cluster.api.subscribe(self._forget)

    def _forget(self, event: WatchEvent) -> None:
        """Drop what is kept of a pod or a Job that is gone."""
        if event.type is WatchEventType.DELETED:
            for kept in (self._starts, self._told):
                kept.pop(event.object.metadata.uid or "", None)

    def __call__(self, config: ContainerConfig, program: Program, words: frozenset[str]) -> Program:
        """Return what a container runs."""
        identity = parse_container_labels(config.labels)
        pod = self.find_pod(identity.pod_namespace, identity.pod_name)
        if pod is None:
            return program
        container = _find(pod, identity.container_name)
        part = Part() if container is None else part_of(pod, container)
        target = Target(pods=pod_names(pod), container=identity.container_name, image=config.image_name)
        behaviour = behaviour_of(self.simulation, target, pod.metadata.annotations)
        if isinstance(program, UnknownProgram):
            seconds = ENDS_AFTER_SECONDS if part.is_ending else math.inf
            program = evolve(program, seconds=seconds, ports=part.ports, refuses=part.others)
        elif isinstance(program, AppletProgram) and behaviour is None and _FULL_SHELL not in words:
            self._tell(pod, config)
        return program if behaviour is None else self._scripted(pod, config, program, (behaviour, part, words))

    def _scripted(
        self, pod: Pod, config: ContainerConfig, program: Program, given: tuple[Behaviour, Part, frozenset[str]]
    ) -> Program:
        behaviour, part, words = given
        course = behaviour.course(self._attempt(pod, config))
        if not behaviour.replaces_program and not isinstance(program, UnknownProgram):
            return AnsweredProgram(program, Run(ports=_given_ports(course, part), execs=_given_execs(course, words)))
        default = program if isinstance(program, UnknownProgram) else self._default(config, part, words)
        return ScriptedProgram((make_run(course, default, part),))

    def _default(self, config: ContainerConfig, part: Part, words: frozenset[str]) -> UnknownProgram:
        return UnknownProgram(
            config.metadata.name,
            words,
            self.exit_code_on_term,
            stop_signal=config.stop_signal or "",
            seconds=ENDS_AFTER_SECONDS if part.is_ending else math.inf,
            ports=part.ports,
            refuses=part.others,
        )

    def _attempt(self, pod: Pod, config: ContainerConfig) -> int:
        """Return how many runs of a container came before this one."""
        owner = next((each for each in pod.metadata.owner_references if each.kind == "Job"), None)
        if owner is None:
            return config.metadata.attempt
        starts = self._starts.setdefault(owner.uid, Counter())
        key = (pod.metadata.annotations.get(_JOB_INDEX, ""), config.metadata.name)
        starts[key] += 1
        return starts[key] - 1

    def _tell(self, pod: Pod, config: ContainerConfig) -> None:
        """Say once of a container that its script runs without its image's files and programs."""
        told = self._told.setdefault(pod.metadata.uid or "", set())
        if config.metadata.name not in told:
            told.add(config.metadata.name)
            text = (
                f"{config.metadata.name}: of image {config.image_name} only common shell words are simulated; "
                "simulate.yaml can say what else is in it, or what the container does"
            )
            self.emit(NoteRecord(ref=ObjectRef.of(pod.metadata), text=text))


def _find(pod: Pod, name: str) -> Container | None:
    return next((each for each in (*pod.spec.init_containers, *pod.spec.containers) if each.name == name), None)


def part_of(pod: Pod, container: Container) -> Part:
    """Return the part that a container plays."""
    containers = (*pod.spec.init_containers, *pod.spec.containers)
    own = tuple(sorted(set(_ports(container))))
    others = frozenset(port for each in containers if each.name != container.name for port in _ports(each))
    is_init = container in pod.spec.init_containers
    is_of_job = any(owner.kind == "Job" and owner.controller for owner in pod.metadata.owner_references)
    is_ending = container.restart_policy != "Always" if is_init else is_of_job
    return Part(ports=own, others=others - set(own), is_ending=is_ending)


def _ports(container: Container) -> Iterator[int]:
    """Yield the ports that a container declares, or is probed or called at."""
    named = {port.name: port.container_port for port in container.ports if port.name}
    yield from (port.container_port for port in container.ports if port.protocol in {None, "", "TCP"})
    hooks = container.lifecycle
    handlers: tuple[object, ...] = (container.startup_probe, container.readiness_probe, container.liveness_probe)
    handlers += () if hooks is None else (hooks.post_start, hooks.pre_stop)
    for handler in handlers:
        for action in ("http_get", "tcp_socket", "grpc"):
            port = getattr(getattr(handler, action, None), "port", None)
            number = named.get(port, port) if isinstance(port, str) else port
            if isinstance(number, int) or str(number).isdecimal():
                yield int(cast("int", number))


# -- from simulate.yaml to programs


def make_run(course: Course, default: UnknownProgram, part: Part) -> Run:
    """Return a run of its own: what the course leaves out is as by default."""
    lines = default.run.lines if course.lines is None else _lines(course.lines)
    return Run(
        lines=lines,
        duration=_duration(course, default, lines),
        exit_code=course.exit or 0,
        on_signal=_signals(course, default),
        ports=_own_ports(course, part),
        execs=(*_given_execs(course, default.words), *default.run.execs),
        memory=course.memory,
        start_error=course.start_error,
    )


def _duration(course: Course, default: UnknownProgram, lines: tuple[Line, ...]) -> float:
    if course.seconds is not None:
        return course.seconds
    if course.exit is None and default.seconds == math.inf:
        return math.inf
    return max(ENDS_AFTER_SECONDS, *(line.at for line in lines), 0.0)


def _lines(lines: tuple[OutputLine, ...]) -> tuple[Line, ...]:
    return tuple(Line(line.at, line.text, line.stream) for line in lines)


def _signals(course: Course, default: UnknownProgram) -> Mapping[str, OnSignal]:
    signals = dict(default.run.on_signal)
    stops = {"SIGTERM", *(name for name in (default.stop_signal,) if name)}
    if course.ignores_term:
        for name in stops:
            signals.pop(name, None)
    elif course.on_term is not None:
        signals.update((name, _reaction(course.on_term)) for name in stops)
    for name, reaction in course.on_signal.items():
        if reaction is None:
            signals.pop(name, None)
        else:
            signals[name] = _reaction(reaction)
    return signals


def _reaction(reaction: Reaction) -> OnSignal:
    return OnSignal(reaction.exit, reaction.after, _lines(reaction.lines))


def _own_ports(course: Course, part: Part) -> tuple[Port, ...]:
    """Return the ports of a program of its own: those that are given, its declared ones, and all that nobody has."""
    given = _given_ports(course, part)
    taken = {port.number for port in given} | set(course.ports)
    rest = [_port(number, course) for number in part.ports if number not in taken]
    any_port = evolve(_port(ANY_PORT, course), refuses=part.others | taken)
    return (*given, *rest, any_port)


def _given_ports(course: Course, part: Part) -> tuple[Port, ...]:
    """Return the ports that a course opens by name; with answers alone, the container's declared ports."""
    ports = []
    for number, states in course.ports.items():
        for index, (at, is_open) in enumerate(states):
            until = states[index + 1][0] if index + 1 < len(states) else math.inf
            if is_open:
                ports.append(evolve(_port(number, course), opens_at=at, closes_at=until))
    if course.http or course.grpc:
        ports += [_port(number, course) for number in part.ports if number not in course.ports]
    return tuple(ports)


def _port(number: int, course: Course) -> Port:
    """Return a port with the course's answers; what it doesn't answer succeeds once the program has settled."""
    http = {("" if path == "*" else path): _http(answers) for path, answers in course.http.items()}
    grpc = {service: _grpc(answers) for service, answers in course.grpc.items()}
    firsts = [answers[0][0] for answers in (*course.http.values(), *course.grpc.values())]
    return Port(
        number,
        opens_at=min([SETTLE_SECONDS, *firsts]),
        http={"": ((SETTLE_SECONDS, HttpAnswer()),), **http},
        grpc={ANY_SERVICE: ((SETTLE_SECONDS, GrpcAnswer.SERVING),), **grpc},
    )


def _http(answers: OverTime[Response]) -> tuple[tuple[float, HttpAnswer], ...]:
    return tuple((at, HttpAnswer(each.status, each.body.encode(), (), each.takes)) for at, each in answers)


def _grpc(answers: OverTime[Health]) -> tuple[tuple[float, GrpcAnswer], ...]:
    return tuple((at, GrpcAnswer[each.value]) for at, each in answers)


def _given_execs(course: Course, words: frozenset[str]) -> tuple[Exec, ...]:
    """Return the outcomes of commands, the most exact first."""
    execs = []
    for text, results in course.commands.items():
        argv = None if text == "*" else tuple(shlex.split(text))
        answers = tuple((at, ExecAnswer(each.exit, each.output, each.takes)) for at, each in results)
        execs.append(Exec(argv, answers, words if argv is None else frozenset()))
    return tuple(sorted(execs, key=lambda each: -len(each.command or ())))
