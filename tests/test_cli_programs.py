"""What containers do in a simulated run: by default, as simulate.yaml says, and what goes wrong on purpose."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from attrs import frozen
from click.testing import CliRunner

from kubelet_emu.cli.failures import InputError
from kubelet_emu.cli.main import main
from kubelet_emu.cli.worlds import SimulatedWorld, run_simulated
from kubelet_emu.scenarios.scenario_file import load_scenario

if TYPE_CHECKING:
    from pathlib import Path

POD = "apiVersion: v1\nkind: Pod\nmetadata: {name: p%s}\nspec: {%s}\n"
JOB = (
    "apiVersion: batch/v1\nkind: Job\nmetadata: {name: j}\n"
    "spec: {backoffLimit: 3, template: {spec: {restartPolicy: %s, containers: [%s]%s}}}\n"
)
APP = "image: example.com/app:1"


@frozen(kw_only=True)
class Seen:
    """What a run showed."""

    status: int
    err: str
    records: tuple[dict[str, object], ...]

    def runs(self, container: str) -> list[tuple[str, float, object]]:
        """Return starts and exits of a container: what, when, exit code."""
        mine = [r for r in self.records if r["kind"] == "run" and r["container"] == container]
        return [(str(r["what"]), round(float(str(r["t"])), 1), r.get("code")) for r in mine]

    def codes(self, container: str) -> list[object]:
        """Return its exit codes."""
        return [code for what, _, code in self.runs(container) if what == "exit"]

    def length(self, container: str, n: int = 0) -> float:
        """Return how long its n-th run took."""
        times = [at for _, at, _ in self.runs(container)]
        return round(times[2 * n + 1] - times[2 * n], 1)

    def lines(self, container: str) -> list[object]:
        """Return what it printed."""
        return [r["line"] for r in self.records if r["kind"] == "log" and r["container"] == container]

    def events(self, reason: str) -> list[str]:
        """Return the messages of a reason."""
        return [str(r["message"]) for r in self.records if r["kind"] == "event" and r["reason"] == reason]

    def ready_at(self) -> list[float]:
        """Return when the pod became ready."""
        found = [(r["t"], r["conditions"].get("Ready")) for r in self.records if r["kind"] == "status"]  # type: ignore[attr-defined]
        changes = [now for before, now in zip([(0, "False"), *found], found, strict=False) if before[1] != now[1]]
        return [float(str(at)) for at, value in changes if value == "True"]


def simulate(folder: Path, manifest: str, simulation: str = "", *options: str) -> Seen:
    """Run a manifest in virtual time beside a simulate.yaml."""
    (folder / "m.yaml").write_text(manifest)
    if simulation:
        (folder / "simulate.yaml").write_text(simulation)
    trace = folder / "trace.jsonl"
    words = ["run", "--runtime", "simulated", "--seed", "1", "--trace", str(trace), *options, str(folder / "m.yaml")]
    result = CliRunner().invoke(main, words)
    records = [json.loads(line) for line in trace.read_text().splitlines()] if trace.exists() else []
    return Seen(status=result.exit_code, err=result.stderr, records=tuple(records))


def pod(spec: str, annotations: str = "") -> str:
    return POD % (f", annotations: {{{annotations}}}" if annotations else "", spec)


def job(containers: str, rest: str = "", policy: str = "Never") -> str:
    return JOB % (policy, containers, rest)


# -- defaults


def test_a_program_that_is_not_known_runs_for_ever_and_ends_on_term(tmp_path: Path) -> None:
    seen = simulate(tmp_path, pod(f"containers: [{{name: c, {APP}}}]"), "", "--until", "50")
    assert seen.lines("c") == ["app started (simulated)"]
    assert seen.codes("c") == [0]
    assert seen.length("c") > 45


def test_a_main_container_of_a_job_ends_after_a_second(tmp_path: Path) -> None:
    side = f", initContainers: [{{name: side, restartPolicy: Always, {APP}}}]"
    seen = simulate(tmp_path, job(f"{{name: c, {APP}}}", side))
    assert (seen.status, seen.codes("c"), seen.length("c")) == (0, [0], 1.0)
    assert seen.length("side") > 1


def test_a_plain_init_container_ends_after_a_second(tmp_path: Path) -> None:
    seen = simulate(
        tmp_path,
        pod(f"initContainers: [{{name: i, {APP}, command: [cp, /x, /y]}}], containers: [{{name: c, {APP}}}]"),
        "",
        "--delete-when",
        "ready+1",
    )
    assert (seen.length("i"), seen.codes("i"), seen.codes("c")) == (1.0, [0], [0])


HANDLERS = [
    ("http", "httpGet: {port: 8080}"),
    ("http by a port's name", "httpGet: {port: web, path: /x}"),
    ("https", "httpGet: {port: 8443, scheme: HTTPS}"),
    ("tcp", "tcpSocket: {port: 8080}"),
    ("grpc", "grpc: {port: 9000}"),
    ("grpc of a service", "grpc: {port: 9000, service: live}"),
    ("a program of the image", "exec: {command: [pg_isready, -U, x]}"),
    ("a program in a shell", "exec: {command: [sh, -c, 'pg_isready -U x || exit 1']}"),
    ("a file of the image", "exec: {command: [cat, /tmp/healthy]}"),
]


@pytest.mark.parametrize(("why", "handler"), HANDLERS, ids=[row[0] for row in HANDLERS])
def test_every_probe_is_answered_after_a_second(tmp_path: Path, why: str, handler: str) -> None:
    probe = f"{{periodSeconds: 1, failureThreshold: 5, {handler}}}"
    container = (
        f"{{name: c, {APP}, ports: [{{name: web, containerPort: 80}}], startupProbe: {probe}, "
        f"readinessProbe: {probe}, livenessProbe: {probe}}}"
    )
    seen = simulate(tmp_path, pod(f"containers: [{container}]"), "", "--until", "30")
    assert [1 < at < 4 for at in seen.ready_at()] == [True]
    assert seen.codes("c") == [0]


@pytest.mark.parametrize("handler", ["exec: {command: [/app/drain, now]}", "httpGet: {port: 8080, path: /drain}"])
def test_hooks_of_a_program_that_is_not_known_succeed(tmp_path: Path, handler: str) -> None:
    hooks = f"lifecycle: {{preStop: {{{handler}}}}}"
    spec = f"containers: [{{name: c, {APP}, {hooks}, readinessProbe: {{tcpSocket: {{port: 8080}}}}}}]"
    seen = simulate(tmp_path, pod(spec), "", "--delete-when", "ready+1")
    assert (seen.codes("c"), seen.events("FailedPreStopHook"), seen.events("FailedPostStartHook")) == ([0], [], [])


def test_a_container_answers_at_its_own_ports_only(tmp_path: Path) -> None:
    spec = (
        f"containers: [{{name: a, {APP}, ports: [{{containerPort: 80}}]}}, "
        f"{{name: b, {APP}, readinessProbe: {{httpGet: {{port: 81, path: /r}}, periodSeconds: 1}}}}]"
    )
    seen = simulate(tmp_path, pod(spec), "containers: {b: {http: {/r: [[0, 500], [9, 200]]}}}", "--until", "30")
    assert [9 < at < 12 for at in seen.ready_at()] == [True]


def test_two_programs_on_one_port_are_told(tmp_path: Path) -> None:
    port = "ports: [{containerPort: 80}]"
    seen = simulate(
        tmp_path, pod(f"containers: [{{name: a, {APP}, {port}}}, {{name: b, {APP}, {port}}}]"), "", "--until", "9"
    )
    assert seen.lines("b")[1:] == ["b: can't listen on port 80: address already in use"]


def test_the_manifest_is_believed_that_an_image_has_a_user(tmp_path: Path) -> None:
    spec = f"securityContext: {{runAsNonRoot: true}}, containers: [{{name: c, {APP}}}, {{name: d, image: busybox}}]"
    seen = simulate(tmp_path, pod(spec), "", "--until", "5")
    assert [r[0] for r in seen.runs("c")] == ["start", "exit"]
    assert seen.runs("d") == []


def test_a_stop_signal_of_its_own_ends_it(tmp_path: Path) -> None:
    spec = f"os: {{name: linux}}, containers: [{{name: c, {APP}, lifecycle: {{stopSignal: SIGUSR1}}}}]"
    assert simulate(tmp_path, pod(spec), "", "--until", "5").codes("c") == [0]


def test_a_script_in_an_image_that_is_not_known_is_told_of(tmp_path: Path) -> None:
    spec = f"restartPolicy: Never, containers: [{{name: c, {APP}, command: [sh, -c, 'node x']}}]"
    seen = simulate(tmp_path, pod(spec))
    assert "c: of image example.com/app:1 only common shell words are simulated" in seen.err
    assert seen.codes("c") == [127]


# -- simulate.yaml

ENDLESS = pod(f"containers: [{{name: c, {APP}}}]")
ONCE = pod(f"restartPolicy: Never, containers: [{{name: c, {APP}}}]")
COURSES = [
    ("an end", ONCE, "{seconds: 3, exit: 4}", [4], 3.0),
    ("an exit code alone ends after a second", ONCE, "{exit: 4}", [4], 1.0),
    ("but not before its last line", ONCE, "{exit: 4, lines: [[7, x]]}", [4], 7.0),
    ("too much memory", ONCE.replace("app:1", "app:1, resources: {limits: {memory: 64Mi}}"),
     "{memory: [[2, 10Mi], [6, 65Mi]]}", [137], 6.0),
]  # fmt: skip


@pytest.mark.parametrize(("why", "manifest", "text", "codes", "seconds"), COURSES, ids=[row[0] for row in COURSES])
def test_a_run_goes_as_written(
    tmp_path: Path, why: str, manifest: str, text: str, codes: list[int], seconds: float
) -> None:
    seen = simulate(tmp_path, manifest, f"containers: {{c: {text}}}")
    assert (seen.codes("c"), seen.length("c")) == (codes, seconds)


STOPS = [
    ("an exit code", "{onTerm: 143}", "30", [143], 0.0, []),
    ("a slow end", "{onTerm: {after: 4, lines: [now, [3, bye]]}}", "30", [0], 4.0, ["now", "bye"]),
    ("ignored", "{onTerm: ignore}", "5", [137], 5.0, []),
    ("lives on", "{onTerm: {exit: never, lines: [still]}}", "5", [137], 5.0, ["still"]),
    ("by the signal's name", "{onSignal: {SIGTERM: {exit: 7, after: 1}}}", "30", [7], 1.0, []),
    ("ignored by name", "{onSignal: {TERM: ignore}}", "5", [137], 5.0, []),
]


@pytest.mark.parametrize(("why", "text", "grace", "codes", "seconds", "lines"), STOPS, ids=[row[0] for row in STOPS])
def test_a_stop_goes_as_written(  # noqa: PLR0913, PLR0917 - a row of the table
    tmp_path: Path, why: str, text: str, grace: str, codes: list[int], seconds: float, lines: list[str]
) -> None:
    options = ("--delete-when", "10", "--grace-period", grace)
    seen = simulate(tmp_path, ENDLESS, f"containers: {{c: {text}}}", *options)
    sent = next(r["t"] for r in seen.records if r["kind"] == "cri" and r["what"] == "signal")
    ended = next(r["t"] for r in seen.records if r["kind"] == "run" and r["what"] == "exit")
    assert seen.codes("c") == codes
    assert round(float(str(ended)) - float(str(sent)), 1) == seconds
    assert seen.lines("c")[1:] == lines


def test_each_run_has_its_own_end_and_the_last_repeats(tmp_path: Path) -> None:
    text = "containers: {c: {runs: [{seconds: 3, exit: 1}, {seconds: 2, exit: 2, lines: [two]}]}}"
    seen = simulate(tmp_path, ENDLESS, text, "--until", "45")
    assert seen.codes("c") == [1, 2, 2]
    assert [seen.length("c", n) for n in range(3)] == [3, 2, 2]
    assert seen.lines("c") == ["app started (simulated)", "two", "two"]


def test_the_pods_of_a_job_go_on_where_the_last_one_ended(tmp_path: Path) -> None:
    text = "containers: {j/c: {runs: [{exit: 1}, {exit: 2}, {exit: 0}]}}"
    seen = simulate(tmp_path, job(f"{{name: c, {APP}}}"), text)
    assert (seen.codes("c"), seen.status) == ([1, 2, 0], 0)


def test_a_start_that_fails(tmp_path: Path) -> None:
    seen = simulate(tmp_path, ONCE, "containers: {c: {startError: no such file}}")
    assert seen.events("Failed") == ["Error: no such file"]


PROBED = "containers: [{name: c, %s, %sreadinessProbe: {periodSeconds: 1, failureThreshold: 1, %s}}]"
ANSWERS = [
    ("http", "httpGet: {port: 80, path: /r}", "{http: {/r: [[0, 503], [5, 200], [9, 500], [12, 200]]}}", [5, 12]),
    ("http for every path", "httpGet: {port: 80, path: /r}", '{http: {"*": [[0, 503], [5, 200]]}}', [5]),
    ("a slow answer", "httpGet: {port: 80, path: /r}", "{http: {/r: [[0, {takes: never}], [5, 204]]}}", [5]),
    ("grpc", "grpc: {port: 80}", '{grpc: {"": [[0, NOT_SERVING], [5, SERVING], [9, SERVICE_UNKNOWN]]}}', [5]),
    ("a port", "tcpSocket: {port: 80}", "{ports: {80: [[5, open], [9, closed], [12, open]]}}", [5, 12]),
    ("a command line", "exec: {command: [a, b c]}", "{commands: {\"a 'b c'\": [[0, 1], [5, 0]], a: 1}}", [5]),
    ("a program's name", "exec: {command: [/x/a, b]}", "{commands: {a: [[0, 1], [5, 0]]}}", [5]),
    ("any command", "exec: {command: [x]}", '{commands: {"*": [[0, 1], [5, 0]]}}', [5]),
    ("a word of a script", "exec: {command: [sh, -c, 'a && b']}", "{commands: {b: [[0, 1], [5, 0]]}}", [5]),
]  # fmt: skip


@pytest.mark.parametrize("shell", [False, True], ids=["its own program", "a script beside it"])
@pytest.mark.parametrize(("why", "handler", "text", "times"), ANSWERS, ids=[row[0] for row in ANSWERS])
def test_probes_are_answered_as_written(
    tmp_path: Path, why: str, handler: str, text: str, times: list[int], *, shell: bool
) -> None:
    if shell and why in {"any command", "a word of a script"}:
        text = text.replace("commands: {", "commands: {a: 0, ")
    image = "image: busybox, command: [sleep, '99']" if shell else APP
    seen = simulate(tmp_path, pod(PROBED % (image, "", handler)), f"containers: {{c: {text}}}", "--until", "20")
    assert [
        at - expected for at, expected in zip(seen.ready_at(), times, strict=True) if not 0 <= at - expected < 3
    ] == []


def test_a_script_finds_the_programs_that_are_written(tmp_path: Path) -> None:
    spec = f"restartPolicy: Never, containers: [{{name: c, {APP}, command: [sh, -c, 'echo a; node x; echo $?']}}]"
    text = 'containers: {c: {commands: {node: {exit: 3, takes: 5, output: "hi\\n"}}}}'
    seen = simulate(tmp_path, pod(spec), text)
    assert (seen.lines("c"), seen.length("c")) == (["a", "hi", "3"], 5.0)


def test_files_of_an_image_are_there(tmp_path: Path) -> None:
    spec = f"restartPolicy: Never, containers: [{{name: c, {APP}, command: [sh, -c, 'cat /etc/x']}}]"
    seen = simulate(tmp_path, pod(spec), 'images: {example.com/app:1: {files: {/etc/x: "y\\n"}}}')
    assert seen.lines("c") == ["y"]


def test_an_image_may_have_a_shell(tmp_path: Path) -> None:
    spec = f"restartPolicy: Never, containers: [{{name: c, {APP}, command: [nc, -z, localhost, '1']}}]"
    seen = simulate(tmp_path, pod(spec), "images: {example.com/app:1: {shell: true, present: true}}")
    assert (seen.codes("c"), seen.events("Pulling")) == ([1], [])


def test_an_image_may_have_a_program(tmp_path: Path) -> None:
    seen = simulate(tmp_path, ONCE, "images: {'example.com/*': {program: {exit: 5}}}")
    assert seen.codes("c") == [5]


def test_a_pull_takes_its_time(tmp_path: Path) -> None:
    seen = simulate(tmp_path, ONCE, "images: {example.com/app:1: {size: 60Mi, speed: 20Mi, program: {exit: 0}}}")
    assert ["in 3s (3s including waiting)" in text for text in seen.events("Pulled")] == [True]


PULLS = [
    ("at first", "[unavailable, notFound, ok]", 2, True),
    ("always", "denied", 4, False),
    ("an image that goes", "[ok, notFound]", 0, True),
]


@pytest.mark.parametrize(("why", "pulls", "failures", "starts"), PULLS, ids=[row[0] for row in PULLS])
def test_pulls_end_as_written(tmp_path: Path, why: str, pulls: str, failures: int, *, starts: bool) -> None:
    seen = simulate(tmp_path, ENDLESS, f"images: {{example.com/app:1: {{pulls: {pulls}}}}}", "--until", "110")
    failed = [text for text in seen.events("Failed") if text.startswith("Failed to pull")]
    assert (len(failed), bool(seen.runs("c"))) == (failures, starts)


def test_an_annotation_says_it_too(tmp_path: Path) -> None:
    manifest = pod(f"restartPolicy: Never, containers: [{{name: c, {APP}}}]", "simulate.kubelet-emu/c: 'exit: 6'")
    assert simulate(tmp_path, manifest).codes("c") == [6]


def test_an_annotation_of_a_template_is_checked(tmp_path: Path) -> None:
    manifest = job(f"{{name: c, {APP}}}").replace(
        "template: {", "template: {metadata: {annotations: {simulate.kubelet-emu/c: 'exit: x'}}, "
    )
    seen = simulate(tmp_path, manifest)
    assert seen.status == 2
    assert "spec.template.metadata.annotations[simulate.kubelet-emu/c]: exit: Invalid value: 'x' is not" in seen.err


# -- faults, and what is wrong with the file


def test_the_engine_goes_away_and_comes_back(tmp_path: Path) -> None:
    text = "containers: {c: {seconds: 5, exit: 0}}\nfaults: [{do: engineRestart, at: 2, seconds: 20}]"
    seen = simulate(tmp_path, ONCE, text)
    ended = [float(str(r["t"])) for r in seen.records if r["kind"] == "status" and r["phase"] == "Succeeded"]
    assert seen.codes("c") == [0]
    assert ended[0] > 22


def test_stops_are_slow(tmp_path: Path) -> None:
    text = "faults: [{do: slowStops, delay: 3}]"
    seen = simulate(tmp_path, ENDLESS, text, "--delete-when", "5", "--grace-period", "30")
    assert next(at for what, at, _ in seen.runs("c") if what == "exit") == 8.0


def test_calls_fail_as_often_as_written(tmp_path: Path) -> None:
    text = "faults: [{do: failCalls, call: CreateContainer, times: 2, error: disk full}]"
    seen = simulate(tmp_path, ENDLESS, text, "--until", "60")
    assert len([text for text in seen.events("Failed") if "disk full" in text]) == 2
    assert seen.runs("c") != []


def test_lost_events_change_nothing_but_time(tmp_path: Path) -> None:
    text = "containers: {c: {seconds: 2, exit: 0}}\nfaults: [{do: loseEvents}]"
    seen = simulate(tmp_path, ONCE, text, "--timing", "fast")
    assert (seen.codes("c"), seen.status) == ([0], 0)


def test_a_faulty_file_runs_nothing(tmp_path: Path) -> None:
    seen = simulate(tmp_path, ENDLESS, "containers:\n  c: {exti: 1}\n")
    assert (seen.status, seen.records) == (2, ())
    assert "simulate.yaml:2:7: error: containers[c].exti: Unknown field" in seen.err
    assert "hint: did you mean 'exit'?" in seen.err


def test_the_file_that_is_followed_is_named(tmp_path: Path) -> None:
    seen = simulate(tmp_path, ONCE, "containers: {c: {exit: 0}}")
    assert seen.err.startswith(f"containers do what {tmp_path / 'simulate.yaml'} says\n")


def test_an_entry_about_no_container_is_a_warning(tmp_path: Path) -> None:
    seen = simulate(tmp_path, ENDLESS, "containers: {d: {exit: 1}}\nimages: {redis: {}}", "--until", "5")
    assert "warning: containers[d]: Not used: no container of this run has the name 'd'" in seen.err
    assert "warning: images[redis]: Not used: no container of this run has the image 'redis'" in seen.err


def test_another_file_is_named(tmp_path: Path) -> None:
    other = tmp_path / "other.yaml"
    other.write_text("containers: {c: {exit: 9}}")
    assert simulate(tmp_path, ONCE, "containers: {c: {exit: 1}}", "--simulate", str(other)).codes("c") == [9]


# -- the same in scenarios and inside programs

SCENARIO = """
manifest: m.yaml
end: {seconds: 5}
expect:
- some c exited(5)
- some c line:"hi"
"""


def test_a_scenario_follows_the_file_beside_it(tmp_path: Path) -> None:
    (tmp_path / "m.yaml").write_text(ONCE)
    (tmp_path / "s.scenario.yaml").write_text(SCENARIO)
    (tmp_path / "m.simulate.yaml").write_text("containers: {c: {exit: 5, lines: [hi]}}")
    outcome = run_simulated(load_scenario(tmp_path / "s.scenario.yaml"), SimulatedWorld())
    assert (outcome.passed, outcome.error) == (True, "")


def test_a_faulty_file_beside_a_scenario_is_told(tmp_path: Path) -> None:
    (tmp_path / "m.yaml").write_text(ONCE)
    (tmp_path / "s.scenario.yaml").write_text(SCENARIO)
    (tmp_path / "simulate.yaml").write_text("containers: {c: {exit: x}}")
    with pytest.raises(InputError, match="'x' is not an exit code"):
        run_simulated(load_scenario(tmp_path / "s.scenario.yaml"), SimulatedWorld())
