"""simulate.yaml as it is read: values, faults with their places, which entry a container follows, the JSON schema."""

from __future__ import annotations

import json
import math
from importlib.resources import files
from typing import TYPE_CHECKING

import pytest
from jsonschema import Draft202012Validator
from pod_makers import a_container, a_pod

from kubelet_emu.manifests import load_text
from kubelet_emu.manifests.loading import load
from kubelet_emu.manifests.plain import read_plain
from kubelet_emu.simulation.fields import json_schema
from kubelet_emu.simulation.matching import Target, behaviour_of, image_of, targets_of, unused_entries
from kubelet_emu.simulation.reading import check_annotations, files_beside, read_annotation, read_bytes, read_file
from kubelet_emu.simulation.values import (
    Course,
    EngineRestart,
    FailCalls,
    Health,
    LoseEvents,
    OutputLine,
    PullEnd,
    Reaction,
    Response,
    Result,
    SlowStops,
)

if TYPE_CHECKING:
    from pathlib import Path

    from kubelet_emu.simulation.values import Simulation


def read(text: str) -> Simulation:
    """Return what a text says; it has no fault."""
    file = read_bytes("s.yaml", text.encode())
    assert file.problems == ()
    return file.value


def course(text: str, attempt: int = 0) -> Course:
    """Return what container c does on a run."""
    return read(f"containers: {{c: {text}}}").containers["c"].course(attempt)


COURSES = [
    ("a line at once", "{lines: [up]}", Course(lines=(OutputLine(text="up"),))),
    ("a line at a time", "{lines: [[0.5, up]]}", Course(lines=(OutputLine(text="up", at=0.5),))),
    (
        "a line on stderr",
        "{lines: [{at: 1, text: oh, stream: stderr}]}",
        Course(lines=(OutputLine(text="oh", at=1, stream="stderr"),)),
    ),
    (
        "lines in order of time",
        "{lines: [[2, b], [1, a]]}",
        Course(lines=(OutputLine(text="a", at=1), OutputLine(text="b", at=2))),
    ),
    ("an end", "{seconds: 3, exit: 1}", Course(seconds=3.0, exit=1)),
    ("no end", "{seconds: never}", Course(seconds=math.inf)),
    ("a start that fails", "{startError: no such file}", Course(start_error="no such file")),
    ("an exit code on TERM", "{onTerm: 143}", Course(on_term=Reaction(exit=143))),
    ("an ignored TERM", "{onTerm: ignore}", Course(ignores_term=True)),
    (
        "a slow end on TERM",
        "{onTerm: {exit: 0, after: 2, lines: [[1, bye]]}}",
        Course(on_term=Reaction(exit=0, after=2, lines=(OutputLine(text="bye", at=1),))),
    ),
    (
        "another signal",
        "{onSignal: {HUP: {exit: never, lines: [again]}}}",
        Course(on_signal={"SIGHUP": Reaction(exit=None, lines=(OutputLine(text="again"),))}),
    ),
    ("an ignored signal", "{onSignal: {SIGINT: ignore}}", Course(on_signal={"SIGINT": None})),
    ("an HTTP status", "{http: {/ready: 503}}", Course(http={"/ready": ((0.0, Response(status=503)),)})),
    (
        "HTTP over time, sorted",
        '{http: {"*": [[5, 200], [0, {status: 500, body: n, takes: 1}]]}}',
        Course(http={"*": ((0.0, Response(status=500, body="n", takes=1)), (5.0, Response(status=200)))}),
    ),
    (
        "gRPC health",
        '{grpc: {"": SERVING, live: [[0, NOT_SERVING]]}}',
        Course(grpc={"": ((0.0, Health.SERVING),), "live": ((0.0, Health.NOT_SERVING),)}),
    ),
    ("a port", "{ports: {8080: [[2, open], [9, closed]]}}", Course(ports={8080: ((2.0, True), (9.0, False))})),
    (
        "commands",
        '{commands: {check: [[0, 1], [4, 0]], "a b": {exit: 2, output: x, takes: never}}}',
        Course(
            commands={
                "check": ((0.0, Result(exit=1)), (4.0, Result(exit=0))),
                "a b": ((0.0, Result(exit=2, output="x", takes=math.inf)),),
            }
        ),
    ),
    ("memory", "{memory: [[0, 10Mi], [5, 1Gi]]}", Course(memory=((0.0, 10 << 20), (5.0, 1 << 30)))),
]


@pytest.mark.parametrize(("why", "text", "expected"), COURSES, ids=[row[0] for row in COURSES])
def test_a_run_is_read(why: str, text: str, expected: Course) -> None:
    assert course(text) == expected


def test_runs_take_what_they_leave_out_from_the_container() -> None:
    text = "{exit: 2, runs: [{seconds: 1}, {seconds: 2, exit: 0}]}"
    assert [course(text, n) for n in range(3)] == [
        Course(seconds=1, exit=2),
        Course(seconds=2, exit=0),
        Course(seconds=2, exit=0),
    ]


def test_images_are_read() -> None:
    image = read(
        "images: {a: {size: 70Mi, speed: 20Mi, pulls: [unavailable, ok], present: true, shell: true, user: 7, "
        "files: {/etc/x: y}, program: {exit: 3}}}"
    ).images["a"]
    assert (image.size, image.speed, image.pulls) == (70 << 20, 20 << 20, (PullEnd.UNAVAILABLE, PullEnd.OK))
    assert (image.present, image.shell, image.user, image.files) == (True, True, 7, {"/etc/x": "y"})
    assert image.program is not None
    assert image.program.course(0) == Course(exit=3)


def test_faults_of_the_runtime_are_read() -> None:
    text = (
        "faults: [{do: engineRestart, at: 30, seconds: 5}, {do: slowStops, delay: 3, rate: 0.5}, {do: loseEvents}, "
        "{do: failCalls, call: StartContainer, times: 2, error: e}]"
    )
    assert read(text).faults == (
        EngineRestart(at=30, seconds=5),
        SlowStops(delay=3, rate=0.5),
        LoseEvents(),
        FailCalls(call="StartContainer", times=2, error="e"),
    )


FAULTS = [
    ("an unknown section", "container: {}", "1:1 container: simulate.yaml has no field 'container'", "'containers'"),
    (
        "an unknown field",
        "containers:\n  c: {onterm: 0}",
        "2:7 containers[c].onterm: a container has no field 'onterm'",
        "'onTerm'",
    ),
    ("a code that is none", "containers: {c: {exit: 256}}", "256 is not an exit code (0 to 255)", ""),
    ("half a code", "containers: {c: {exit: 1.5}}", "1.5 is not an exit code", ""),
    ("seconds with a unit", "containers: {c: {seconds: 3s}}", "'3s' is not a number of seconds, or never", "write 3"),
    ("less than no time", "containers: {c: {seconds: -1}}", "-1 is not a number of seconds", ""),
    ("a word that is none", "containers: {c: {onTerm: ignroe}}", "'ignroe' is not ignore, or an exit", "'ignore'"),
    (
        "a line without its text",
        "containers: {c: {lines: [{at: 1}]}}",
        "containers[c].lines[0]: text is missing",
        "write text: ...",
    ),
    ("a number as a line", "containers: {c: {lines: [7]}}", "containers[c].lines[0]: 7 is not", "quote it"),
    ("a list of three", "containers: {c: {lines: [[1, a, b]]}}", "is not a pair [a number of seconds, text]", ""),
    ("a time that is none", "containers: {c: {memory: [[x, 1Mi]]}}", "containers[c].memory[0][0]: 'x' is not", ""),
    ("memory that is none", "containers: {c: {memory: lots}}", "'lots' is not an amount such as 70Mi", ""),
    ("a signal that is none", "containers: {c: {onSignal: {term: 0}}}", "'term' is no signal", ""),
    ("a signal nobody handles", "containers: {c: {onSignal: {KILL: 0}}}", "no program can handle KILL", ""),
    ("a port that is none", "containers: {c: {ports: {http: open}}}", "'http' is no port (1 to 65535)", ""),
    (
        "a port neither open nor closed",
        "containers: {c: {ports: {80: shut}}}",
        "'shut' is not open or closed, or a list",
        "",
    ),
    ("an open quote", 'containers: {c: {commands: {"sh -c \'x": 0}}}', "No closing quotation", ""),
    ("no command", 'containers: {c: {commands: {"": 0}}}', "a command is needed", ""),
    ("no runs", "containers: {c: {runs: []}}", "[] is not a list, each item", ""),
    ("a run in a run", "containers: {c: {runs: [{runs: []}]}}", "a run has no field 'runs'", "a run has lines"),
    ("a container that is none", "containers: {c: 7}", "7 is not a mapping with lines, seconds", ""),
    ("containers that are none", "containers: [c]", "is not a mapping, each value", ""),
    ("a pull that is none", "images: {i: {pulls: never}}", "'never' is not", ""),
    ("a file without a place", "images: {i: {files: {x: y}}}", "'x' is no absolute path", ""),
    ("presence in words", "images: {i: {present: maybe}}", "'maybe' is not true or false", ""),
    ("a fault that is none", "faults: [{do: explode}]", "'explode' is not engineRestart or", ""),
    ("a fault without a name", "faults: [{at: 3}]", "do is missing", "engineRestart"),
    ("a fault as a word", "faults: [engineRestart]", "is not a mapping with do: engineRestart or", ""),
    ("a fault's own field", "faults: [{do: engineRestart, rate: 1}]", "engineRestart has no field 'rate'", "at, sec"),
    ("a call that is none", "faults: [{do: failCalls, call: Start}]", "'Start' is not RunPodSandbox", ""),
    ("two documents", "images: {}\n---\nimages: {}", "a simulate.yaml has one document", ""),
    ("broken YAML", "containers: {c: [", "1:", ""),
    ("a list as a file", "[a]", "is not a mapping with containers, images, faults", ""),
]


@pytest.mark.parametrize(("why", "text", "expected", "hint"), FAULTS, ids=[row[0] for row in FAULTS])
def test_a_fault_is_told_with_its_place_and_its_fix(why: str, text: str, expected: str, hint: str) -> None:
    problems = read_bytes("s.yaml", text.encode()).problems
    assert len(problems) == 1
    problem = problems[0]
    assert expected in f"{problem.line}:{problem.column} {problem.path}: {problem.text}"
    assert hint in problem.hint


def test_all_faults_are_told_at_once() -> None:
    text = "containers: {c: {exit: 300, seconds: x}, d: {memory: -1}}\nfaults: [{do: slowStops}]"
    paths = [problem.path for problem in read_bytes("s.yaml", text.encode()).problems]
    assert paths == ["containers[c].exit", "containers[c].seconds", "containers[d].memory", "faults[0]"]


def test_a_file_that_cannot_be_read_is_a_fault(tmp_path: Path) -> None:
    assert [problem.type for problem in read_file(tmp_path / "gone.yaml").problems] == ["Unreadable"]


def test_an_empty_file_and_an_empty_entry_say_nothing() -> None:
    assert read("# nothing\n").containers == {}
    assert read("containers: {c: }").containers["c"].course(0) == Course()


def test_the_files_beside_a_manifest(tmp_path: Path) -> None:
    names = ["simulate.yaml", "pod.yaml", "pod.simulate.yaml", "other.yaml", "other.simulate.yml"]
    for name in names:
        (tmp_path / name).write_text("")
    found = [path.name for path in files_beside([str(tmp_path / "pod.yaml"), str(tmp_path / "other.yaml")])]
    assert found == ["pod.simulate.yaml", "other.simulate.yml", "simulate.yaml"]


def test_a_folder_of_manifests_leaves_them_out(tmp_path: Path) -> None:
    for name in ("simulate.yaml", "pod.simulate.yaml"):
        (tmp_path / name).write_text("containers: {}")
    (tmp_path / "pod.yaml").write_text("apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {containers: []}")
    assert list(load([str(tmp_path)]).sources) == [str(tmp_path / "pod.yaml")]


def test_an_earlier_file_decides() -> None:
    one, two = read("containers: {a: {exit: 1}}"), read("containers: {a: {exit: 2}, b: {exit: 3}}")
    both = (one + two).containers
    assert [both[name].course(0).exit for name in ("a", "b")] == [1, 3]


WEB = Target(pods=frozenset({"shop-7d-x2x7k", "shop"}), container="web", image="nginx:1.27")
MATCHES = [
    ("POD/CONTAINER before CONTAINER", "{web: {exit: 1}, shop/web: {exit: 2}}", 2),
    ("a pod's pattern", "{'shop-*/web': {exit: 2}, web: {exit: 1}}", 2),
    ("a name before a pattern of pods", "{'*/web': {exit: 1}, shop/web: {exit: 2}}", 2),
    ("a name before a pattern", "{'w*': {exit: 1}, web: {exit: 2}}", 2),
    ("another pod", "{other/web: {exit: 1}}", None),
    ("another container", "{api: {exit: 1}}", None),
    ("the first of two patterns", "{'w*': {exit: 1}, '*b': {exit: 2}}", 1),
]


@pytest.mark.parametrize(("why", "text", "expected"), MATCHES, ids=[row[0] for row in MATCHES])
def test_the_most_exact_entry_decides(why: str, text: str, expected: int | None) -> None:
    behaviour = behaviour_of(read(f"containers: {text}"), WEB, {})
    assert (None if behaviour is None else behaviour.course(0).exit) == expected


def test_the_annotation_comes_first_and_the_image_last() -> None:
    simulation = read("{containers: {web: {exit: 1}}, images: {'nginx:*': {program: {exit: 2}}}}")
    annotated = behaviour_of(simulation, WEB, {"simulate.kubelet-emu/web": "exit: 3"})
    assert annotated is not None
    assert annotated.course(0).exit == 3
    of_image = behaviour_of(simulation, Target(pods=WEB.pods, container="x", image=WEB.image), {})
    assert of_image is not None
    assert of_image.course(0).exit == 2


@pytest.mark.parametrize("key", ["nginx:1.27", "docker.io/library/nginx:1.27", "nginx:*", "*/nginx:*"])
def test_an_image_goes_by_its_short_and_its_full_name(key: str) -> None:
    assert image_of(read(f"images: {{'{key}': {{user: 7}}}}"), "nginx:1.27") is not None


def test_an_image_of_another_tag_is_another() -> None:
    assert image_of(read("images: {nginx: {}}"), "nginx:1.27") is None
    assert image_of(read("images: {NGINX: {}}"), "NGINX") is not None


def test_entries_without_a_container_are_found() -> None:
    simulation = read("{containers: {web: {}, wbe: {}, shop/web: {}}, images: {nginx:1.27: {}, redis: {}}}")
    assert unused_entries(simulation, [WEB]) == (("containers", "wbe"), ("images", "redis"))


def test_a_pod_goes_by_its_name() -> None:
    assert [target.container for target in targets_of(a_pod(a_container("c")))] == ["c"]


def test_an_annotation_has_faults_of_its_own() -> None:
    behaviour, faults = read_annotation("exit: 999")
    assert behaviour is None
    assert [fault.path for fault in faults] == ["exit"]
    assert "line 1" in read_annotation("a: [")[1][0].text


def test_annotations_are_checked_where_they_stand() -> None:
    text = (
        "apiVersion: v1\nkind: Pod\nmetadata:\n  name: p\n  annotations:\n"
        '    simulate.kubelet-emu/c: "exit: 999"\n    simulate.kubelet-emu/d: "exit: 0"\n    other: x\n'
        "spec: {containers: [{name: c, image: i}]}\n"
    )
    loaded = load_text(text).objects[0]
    problems = check_annotations(loaded, loaded.object.metadata.annotations, "metadata", ["c"])
    assert [(p.line, p.severity, p.path.partition("]")[2], p.text) for p in problems] == [
        (6, "error", ": exit", "999 is not an exit code (0 to 255)"),
        (7, "warning", "", "no container 'd'"),
    ]


def test_the_schema_in_the_package_is_made_of_the_fields() -> None:
    packaged = json.loads((files("kubelet_emu.simulation") / "simulate.schema.json").read_text())
    assert packaged == json_schema()


@pytest.mark.parametrize(("why", "text", "expected"), COURSES, ids=[row[0] for row in COURSES])
def test_the_schema_takes_what_is_read(why: str, text: str, expected: Course) -> None:
    value = read_plain("s.yaml", f"containers: {{c: {text}}}".encode())[0][0].value
    assert list(Draft202012Validator(json_schema()).iter_errors(value)) == []


REFUSED_BY_SCHEMA = [row for row in FAULTS if not row[0].startswith(("broken", "two doc", "an open q", "no command"))]


@pytest.mark.parametrize(
    ("why", "text", "expected", "hint"), REFUSED_BY_SCHEMA, ids=[row[0] for row in REFUSED_BY_SCHEMA]
)
def test_the_schema_refuses_what_is_faulty(why: str, text: str, expected: str, hint: str) -> None:
    value = read_plain("s.yaml", text.encode())[0][0].value
    assert list(Draft202012Validator(json_schema()).iter_errors(value)) != []
