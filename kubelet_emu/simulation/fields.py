"""The fields of simulate.yaml, each with its shape and its meaning: the reader and the JSON schema come from here."""

from __future__ import annotations

import math
import re
import shlex
from typing import TYPE_CHECKING, cast

from kubelet_emu.simulation import values
from kubelet_emu.simulation.composites import ListOf, Made, MapOf, Member, OneOf, Pair, Record, Variant
from kubelet_emu.simulation.shapes import Amount, Flag, Number, Text, Word

if TYPE_CHECKING:
    from kubelet_emu.simulation.shapes import Shape
    from kubelet_emu.simulation.values import Behaviour, Course, OutputLine

CALLS = (
    "RunPodSandbox",
    "StopPodSandbox",
    "RemovePodSandbox",
    "ListPodSandbox",
    "PodSandboxStatus",
    "CreateContainer",
    "StartContainer",
    "StopContainer",
    "RemoveContainer",
    "ListContainers",
    "ContainerStatus",
    "UpdateContainerResources",
    "ExecSync",
    "ImageStatus",
)
"""Calls of the CRI that can be made to fail."""

_SIGNAL = re.compile(r"(SIG)?([A-Z]{2,6}[0-9]?|RTM(IN|AX)([+-][0-9]+)?)")
_SIGNAL_KEY = rf"^(?!(SIG)?(KILL|STOP)$){_SIGNAL.pattern}$"
_NO_HANDLER = ("KILL", "STOP")

SECONDS = Number(words="a number of seconds")
CODE = Number(words="an exit code (0 to 255)", most=255, is_whole=True)
RATE = Number(words="a chance from 0 to 1", most=1)
_NEVER = Word({"never": math.inf})
_IGNORE = Word({"ignore": None})


def over_time(item: Shape) -> Shape:
    """Return the shape of what may change: one value, or a list of pairs of a time and a value."""
    once = Made(item, lambda value: ((0.0, value),))
    return OneOf((once, Made(ListOf(Pair(SECONDS, item), least=1), _in_order)))


def _in_order(pairs: object) -> object:
    return tuple(sorted(cast("tuple[tuple[float, object], ...]", pairs), key=lambda pair: pair[0]))


def _line_at(pair: object) -> OutputLine:
    at, text = cast("tuple[float, str]", pair)
    return values.OutputLine(at=at, text=text)


LINE = OneOf(
    (
        Made(Pair(SECONDS, Text()), _line_at),
        Record(
            "a line",
            {
                "at": Member("at", SECONDS, "When it is written, in seconds."),
                "text": Member("text", Text(), "The line.", is_required=True),
                "stream": Member("stream", Word({"stdout": "stdout", "stderr": "stderr"}), "stdout or stderr."),
            },
            values.OutputLine,
        ),
        Made(Text(words="a line of text"), lambda text: values.OutputLine(text=cast("str", text))),
    )
)
LINES = Made(ListOf(LINE), lambda lines: tuple(sorted(cast("tuple[OutputLine, ...]", lines), key=lambda each: each.at)))

REACTION = OneOf(
    (
        Made(_IGNORE, lambda _: None),
        Made(CODE, lambda code: values.Reaction(exit=cast("int", code))),
        Record(
            "a reaction",
            {
                "exit": Member("exit", OneOf((CODE, Word({"never": None}))), "The exit code; never goes on living."),
                "after": Member("after", SECONDS, "Seconds from the signal to the exit."),
                "lines": Member("lines", LINES, "Lines, each at its time after the signal."),
            },
            values.Reaction,
        ),
    )
)

_TAKES = Member("takes", OneOf((SECONDS, _NEVER)), "Seconds until the answer, or never.")
_STATUS = Number(words="an HTTP status (200 to 599)", least=200, most=599, is_whole=True)
RESPONSE = OneOf(
    (
        Made(
            _STATUS,
            lambda status: values.Response(status=cast("int", status)),
        ),
        Record(
            "an HTTP answer",
            {
                "status": Member(
                    "status", Number(words="an HTTP status", least=100, most=599, is_whole=True), "Status."
                ),
                "body": Member("body", Text(), "The body."),
                "takes": _TAKES,
            },
            values.Response,
        ),
    )
)
RESULT = OneOf(
    (
        Made(CODE, lambda code: values.Result(exit=cast("int", code))),
        Record(
            "a command's outcome",
            {
                "exit": Member("exit", CODE, "The exit code."),
                "output": Member("output", Text(), "What it prints."),
                "takes": _TAKES,
            },
            values.Result,
        ),
    )
)


def read_signal(text: str) -> str:
    """Return SIGTERM for TERM; ValueError for what is no signal, or none that can be handled."""
    if not _SIGNAL.fullmatch(text):
        raise ValueError(f"{text!r} is no signal: write TERM, HUP, USR1, ...")
    name = text.removeprefix("SIG")
    if name in _NO_HANDLER:
        raise ValueError(f"no program can handle {text}")
    return f"SIG{name}"


def read_port(text: str) -> int:
    """Return a port; ValueError."""
    if not text.isdecimal() or not 0 < int(text) < 1 << 16:
        raise ValueError(f"{text!r} is no port (1 to 65535)")
    return int(text)


def read_path(text: str) -> str:
    """Return an absolute path; ValueError."""
    if not text.startswith("/"):
        raise ValueError(f"{text!r} is no absolute path")
    return text


def read_command(text: str) -> str:
    """Return a command line or a program's name; ValueError for quotes that don't end."""
    if not shlex.split(text):
        raise ValueError("a command is needed")
    return text


_COURSE_MEMBERS = {
    "lines": Member("lines", LINES, "Lines of its log: text, [seconds, text], or {at, text, stream}."),
    "seconds": Member("seconds", OneOf((SECONDS, _NEVER)), "How long it runs, or never (it runs until it is stopped)."),
    "exit": Member("exit", CODE, "The exit code when it ends by itself."),
    "startError": Member("start_error", Text(), "It can't be started: the runtime's message."),
    "onTerm": Member("on_term", REACTION, "What it does on SIGTERM: an exit code, ignore, or {exit, after, lines}."),
    "onSignal": Member(
        "on_signal",
        MapOf(REACTION, read_signal, _SIGNAL_KEY),
        "The same for any signal by name.",
    ),
    "http": Member(
        "http", MapOf(over_time(RESPONSE)), 'Answers by path, "*" for all others: a status or {status, body, takes}.'
    ),
    "grpc": Member(
        "grpc",
        MapOf(over_time(Word({each.value: each for each in values.Health}))),
        'Health by service name, "*" for all others.',
    ),
    "ports": Member(
        "ports",
        MapOf(over_time(Word({"open": True, "closed": False})), read_port, r"^[1-9][0-9]{0,4}$"),
        "Whether a port is open or closed.",
    ),
    "commands": Member(
        "commands",
        MapOf(over_time(RESULT), read_command),
        'Outcomes of commands run in it: a whole command line, one program\'s name, or "*": an exit code or '
        "{exit, output, takes}.",
    ),
    "memory": Member("memory", over_time(Amount()), "What it uses; over its limit it is killed."),
}


def make_course(**given: object) -> Course:
    """Return a course; `onTerm: ignore` is None."""
    ignores = "on_term" in given and given["on_term"] is None
    return values.Course(**given, ignores_term=ignores)  # type: ignore[arg-type]  # each was read by its shape


COURSE = Record("a run", _COURSE_MEMBERS, make_course)


def _make_behaviour(runs: tuple[dict[str, object], ...] = (), **given: object) -> Behaviour:
    """Return the courses of all runs: what a run leaves out is as given for all."""
    courses = tuple(make_course(**{**given, **run}) for run in runs) or (make_course(**given),)
    return values.Behaviour(courses=courses)


BEHAVIOUR = Record(
    "a container",
    {
        **_COURSE_MEMBERS,
        "runs": Member(
            "runs",
            ListOf(Record("a run", _COURSE_MEMBERS, dict), least=1),
            "The first run, the second, ...; the last repeats. What a run leaves out is as given beside runs.",
        ),
    },
    _make_behaviour,
)

_PULL = Word({each.value: each for each in values.PullEnd})
IMAGE = Record(
    "an image",
    {
        "size": Member("size", Amount(), "Its size."),
        "speed": Member("speed", Amount(words="an amount a second such as 20Mi"), "What a pull gets in a second."),
        "pulls": Member(
            "pulls",
            OneOf((ListOf(_PULL, least=1), Made(_PULL, lambda end: (end,)))),
            "How the first pull ends, the second, ...; the last repeats.",
        ),
        "present": Member("present", Flag(), "Whether it is on the node from the start."),
        "shell": Member("shell", Flag(), "Whether it has a shell and its words, so that scripts and commands are run."),
        "user": Member(
            "user",
            OneOf((Number(words="a user id", is_whole=True), Text(words="a user's name"))),
            "The user that its programs run as, by number or by name.",
        ),
        "credentials": Member("credentials", Text(), "USER:PASSWORD, which a pull has to bring; none if not given."),
        "files": Member("files", MapOf(Text(), read_path, "^/"), "Files in it, by absolute path."),
        "program": Member("program", BEHAVIOUR, "What a container of it does, unless an entry of containers says."),
    },
    values.ImageEntry,
)


_AT = Member("at", SECONDS, "When it begins, in seconds since the start.")
_LASTS = Member("seconds", SECONDS, "How long it lasts; for ever if not given.")
_RATE = Member("rate", RATE, "The chance that it happens, 1 if not given.")
FAULT = Variant(
    "do",
    {
        "engineRestart": Record(
            "engineRestart",
            {"at": _AT, "seconds": Member("seconds", SECONDS, "How long the runtime does not answer.")},
            values.EngineRestart,
        ),
        "slowStops": Record(
            "slowStops",
            {
                "delay": Member("delay", SECONDS, "Seconds that a stop takes longer.", is_required=True),
                "rate": _RATE,
                "at": _AT,
                "seconds": _LASTS,
            },
            values.SlowStops,
        ),
        "loseEvents": Record("loseEvents", {"rate": _RATE, "at": _AT, "seconds": _LASTS}, values.LoseEvents),
        "failCalls": Record(
            "failCalls",
            {
                "call": Member("call", Word({each: each for each in CALLS}), "The call.", is_required=True),
                "error": Member("error", Text(), "The runtime's message."),
                "times": Member("times", Number(words="a number of times", is_whole=True), "How often at most."),
                "rate": _RATE,
                "at": _AT,
                "seconds": _LASTS,
            },
            values.FailCalls,
        ),
    },
)

NODE = Record(
    "the node",
    {
        "appArmor": Member(
            "app_armor",
            OneOf((ListOf(Text(words="the name of a profile")), Flag())),
            "Whether it has AppArmor, or the profiles that are loaded; without it a pod that names one is refused.",
        ),
        "supplementalGroupsPolicy": Member(
            "supplemental_groups_policy", Flag(), "Whether its runtime knows supplementalGroupsPolicy: Strict."
        ),
    },
    values.NodeEntry,
)

DOCUMENT = Record(
    "simulate.yaml",
    {
        "containers": Member(
            "containers", MapOf(BEHAVIOUR), "What containers do, by CONTAINER or POD/CONTAINER; both may have *."
        ),
        "images": Member("images", MapOf(IMAGE), "What images are, by name; * stands for any text."),
        "faults": Member("faults", ListOf(FAULT), "What goes wrong with the runtime."),
        "node": Member("node", NODE, "What the node can do."),
    },
    values.Simulation,
)


def json_schema() -> dict[str, object]:
    """Return the JSON schema of simulate.yaml."""
    head = {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "simulate.yaml"}
    return {**head, **DOCUMENT.schema()}
