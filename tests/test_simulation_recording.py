"""Recording a run: what is gathered from the records, what is retold of it, and how it is written."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner
from hypothesis import example, given
from hypothesis import strategies as st

from kubelet_emu.cli.execution import execute
from kubelet_emu.cli.main import main
from kubelet_emu.cli.options import RunOptions
from kubelet_emu.cli.outputs import Streams
from kubelet_emu.cli.record import default_file, write
from kubelet_emu.cli.simulation import open_simulated
from kubelet_emu.cli.triggers import Trigger
from kubelet_emu.manifests.plain import read_plain
from kubelet_emu.simulation.recording import RunRecording
from kubelet_emu.simulation.retelling import retell
from kubelet_emu.simulation.writing import to_text

if TYPE_CHECKING:
    from kubelet_emu.simulation.retelling import Plain

APP = "image: example.com/app:1"


def record(folder: Path, manifest: str, simulation: str = "", when: str = "") -> tuple[Plain, list[str]]:
    """Run a manifest in virtual time and return what a recording retells, and the run's starts, ends and signals."""
    (folder / "m.yaml").write_text(manifest)
    (folder / "simulate.yaml").write_text(simulation or "# nothing")
    recording, trace = RunRecording(), folder / "trace.jsonl"
    options = RunOptions(
        manifests=(str(folder / "m.yaml"),),
        runtime="simulated",
        seed=1,
        trace=trace,
        until=120.0,
        delete_when=Trigger.parse(when) if when else None,
    )
    err = io.StringIO()
    status = execute(options, Streams(out=io.StringIO(), err=err, listeners=(recording,)), open_simulated)
    assert status in {0, 1}, err.getvalue()
    assert recording.has_ended
    records = [json.loads(line) for line in trace.read_text().splitlines()]
    moments = [
        f"{r['container']}#{r['run']} {r.get('signal') or r['what']} {r.get('code')}"
        for r in records
        if r["kind"] == "run" or (r["kind"] == "cri" and r["what"] == "signal")
    ]
    return retell(recording), moments


def pod(spec: str) -> str:
    return f"apiVersion: v1\nkind: Pod\nmetadata: {{name: p}}\nspec: {{{spec}}}\n"


def job(spec: str, more: str = "") -> str:
    return (
        f"apiVersion: batch/v1\nkind: Job\nmetadata: {{name: j}}\nspec: {{{more}template: "
        f"{{spec: {{restartPolicy: Never, {spec}}}}}}}\n"
    )


ONCE = pod(f"restartPolicy: Never, containers: [{{name: c, {APP}}}]")
ENDLESS = pod(f"terminationGracePeriodSeconds: 5, containers: [{{name: c, {APP}}}]")
PROBED = "containers: [{name: c, image: 'example.com/app:1', ports: [{name: web, containerPort: 80}], %s}]"
RETOLD = [
    ("an end", ONCE, "{lines: [[1, a], {at: 2, text: b, stream: stderr}], seconds: 3, exit: 4}", "",
     {"lines": [[1.002, "a"], {"at": 2.002, "text": "b", "stream": "stderr"}], "seconds": 3.002, "exit": 4}),
    ("a reaction to TERM", ENDLESS, "{lines: [], onTerm: {exit: 3, after: 2, lines: [[1, bye]]}}", "10",
     {"lines": [], "onTerm": {"exit": 3, "after": 2.0, "lines": [[1.0, "bye"]]}}),
    ("an ignored TERM", ENDLESS, "{lines: [], onTerm: ignore}", "10", {"lines": [], "onTerm": "ignore"}),
    ("a TERM that is answered with words", ENDLESS, "{lines: [], onTerm: {exit: never, lines: [so]}}", "10",
     {"lines": [], "onTerm": {"exit": "never", "lines": [[0.0, "so"]]}}),
    ("too much memory", ONCE.replace("app:1", "app:1, resources: {limits: {memory: 1Mi}}"),
     "{lines: [], memory: [[2, 2Mi]]}", "", {"lines": [], "memory": [[2.002, 2 << 20]]}),
    ("no start", ONCE, "{startError: gone}", "", {"startError": "gone"}),
    ("a main of a Job that waits for its end", job(f"containers: [{{name: c, {APP}}}]"),
     "{lines: [], seconds: never}", "10", {"lines": [], "seconds": "never", "onTerm": {"exit": 0, "after": 0.0}}),
    ("runs of a pod", pod(f"restartPolicy: OnFailure, containers: [{{name: c, {APP}}}]"),
     "{lines: [], runs: [{seconds: 1, exit: 1}, {seconds: 2, exit: 0}]}", "",
     {"runs": [{"lines": [], "seconds": 1.002, "exit": 1}, {"lines": [], "seconds": 2.002, "exit": 0}]}),
    ("runs of a Job's pods", job(f"containers: [{{name: c, {APP}}}]"),
     "{lines: [], runs: [{seconds: 1, exit: 1}, {seconds: 2, exit: 0}]}", "",
     {"runs": [{"lines": [], "seconds": 1.002, "exit": 1}, {"lines": [], "seconds": 2.002, "exit": 0}]}),
]  # fmt: skip


@pytest.mark.parametrize(("why", "manifest", "text", "when", "expected"), RETOLD, ids=[row[0] for row in RETOLD])
def test_a_run_is_retold(tmp_path: Path, why: str, manifest: str, text: str, when: str, expected: Plain) -> None:
    document, moments = record(tmp_path, manifest, f"containers: {{c: {text}}}", when)
    assert document["containers"] == {"c": expected}
    again, repeated = record(tmp_path, manifest, to_text(document, "again"), when)
    assert repeated == moments
    assert list(again) == list(document)


PROBES = [
    ("http", "httpGet: {port: web, path: '/r?x=1'}", "{http: {/r: [[0, 503], [5, 200]]}}",
     {"http": {"/r": [[0, 503], [5, 200]]}, "ports": {"80": "open"}}),
    ("http that is late", "httpGet: {port: 80}", "{http: {/: [[0, {takes: never}], [5, 200]]}}",
     {"http": {"/": [[0, {"takes": "never"}], [5, 200]]}, "ports": {"80": "open"}}),
    ("a port", "tcpSocket: {port: 80}", "{ports: {80: [[5, open]]}}", {"ports": {"80": [[0, "closed"], [5, "open"]]}}),
    ("a port behind http", "httpGet: {port: 80}", "{ports: {80: [[5, open]]}}",
     {"http": {"/": 200}, "ports": {"80": [[0, "closed"], [5, "open"]]}}),
    ("grpc", "grpc: {port: 80, service: s}", "{grpc: {s: [[0, NOT_SERVING], [5, SERVING]]}}",
     {"grpc": {"s": [[0, "NOT_SERVING"], [5, "SERVING"]]}, "ports": {"80": "open"}}),
    ("a command", "exec: {command: [a, b c]}", '{commands: {a: [[0, {exit: 1, output: "x"}], [5, 0]]}}',
     {"commands": {"a 'b c'": [[0, {"exit": 1, "output": "x"}], [5, 0]]}}),
    ("a command that is late", "exec: {command: [a]}", "{commands: {a: [[0, {takes: never}], [5, 0]]}}",
     {"commands": {"a": [[0, {"takes": "never"}], [5, 0]]}}),
    ("a slow command", "timeoutSeconds: 4, exec: {command: [a]}", "{commands: {a: {takes: 2}}}",
     {"commands": {"a": {"exit": 0, "takes": 2.0}}}),
    ("a slow command that fails", "timeoutSeconds: 4, exec: {command: [a]}", "{commands: {a: {takes: 1, exit: 1}}}",
     {"commands": {"a": {"exit": 1, "takes": 1.0}}}),
    ("a slow server", "timeoutSeconds: 4, httpGet: {port: 80}", "{http: {/: {status: 503, takes: 1.5}}}",
     {"http": {"/": {"status": 503, "takes": 1.5}}, "ports": {"80": "open"}}),
]  # fmt: skip


def rounded(value: object) -> object:
    """Return answers with times to 3 s, since a probe sees a change up to a second later."""
    if isinstance(value, dict):
        return {key: rounded(each) for key, each in value.items()}
    if isinstance(value, list):
        return [[3 * round(float(at) / 3), answer] for at, answer in value]
    return value


@pytest.mark.parametrize(("why", "handler", "text", "expected"), PROBES, ids=[row[0] for row in PROBES])
def test_answers_to_probes_are_retold(tmp_path: Path, why: str, handler: str, text: str, expected: Plain) -> None:
    manifest = pod(PROBED % f"readinessProbe: {{periodSeconds: 1, failureThreshold: 1, {handler}}}")
    document, moments = record(tmp_path, manifest, f"containers: {{c: {text}}}", "12")
    entry = document["containers"]["c"]  # type: ignore[index]
    kept = {key: value for key, value in entry.items() if key not in {"lines", "onTerm"}}
    assert rounded(kept) == rounded(expected)
    assert record(tmp_path, manifest, to_text(document, "again"), "12")[1] == moments


HOOKS = [
    ("a command", "exec: {command: [a, b]}", "{commands: {a: {takes: 2}}}",
     {"commands": {"a b": {"exit": 0, "takes": 2.04}}}),
    ("a command that fails", "exec: {command: [a]}", "{commands: {a: {takes: 2, exit: 3}}}",
     {"commands": {"a": {"exit": 1, "takes": 2.04}}}),
    ("a command without an end", "exec: {command: [a]}", "{commands: {a: {takes: never}}}",
     {"commands": {"a": {"exit": 1, "takes": "never"}}}),
    ("a request", "httpGet: {port: 80, path: /x}", "{http: {/x: {takes: 2}}}",
     {"http": {"/x": {"status": 200, "takes": 2.01}}}),
    ("a request that nobody answers", "httpGet: {port: 80, path: /x}", "{ports: {80: closed}}", {}),
    ("a sleep", "sleep: {seconds: 1}", "{}", {}),
]  # fmt: skip


@pytest.mark.parametrize(("why", "handler", "text", "expected"), HOOKS, ids=[row[0] for row in HOOKS])
def test_hooks_are_retold(tmp_path: Path, why: str, handler: str, text: str, expected: Plain) -> None:
    manifest = pod("terminationGracePeriodSeconds: 8, " + PROBED % f"lifecycle: {{preStop: {{{handler}}}}}")
    document, moments = record(tmp_path, manifest, f"containers: {{c: {text}}}", "5")
    entry = document["containers"]["c"]  # type: ignore[index]
    assert {key: value for key, value in entry.items() if key not in {"lines", "onTerm"}} == expected
    assert record(tmp_path, manifest, to_text(document, "again"), "5")[1] == moments


PULLS = [
    ("a pull that takes its time", "{size: 60Mi, speed: 20Mi}", {"size": 60 << 20, "speed": 20 << 20}),
    ("pulls that fail", "{pulls: [notFound, denied, badSignature, unavailable]}",
     {"pulls": ["notFound", "denied", "badSignature", "unavailable"]}),
    ("pulls that come to nothing", "{pulls: [breaksOff, hangs]}", {"pulls": ["breaksOff", "hangs"]}),
    ("an image that is there", "{present: true}", {"present": True}),
]  # fmt: skip


@pytest.mark.parametrize(("why", "text", "expected"), PULLS, ids=[row[0] for row in PULLS])
def test_pulls_are_retold(tmp_path: Path, why: str, text: str, expected: Plain) -> None:
    document, _ = record(tmp_path, ENDLESS, f"images: {{example.com/app:1: {text}}}")
    image = document["images"]["example.com/app:1"]  # type: ignore[index]
    assert {key: image[key] for key in expected} | {"pulls": image.get("pulls", [])[:4]} == {"pulls": [], **expected}


def test_containers_of_one_name_are_told_apart_by_their_workload(tmp_path: Path) -> None:
    deployment = (
        "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: d}\nspec: {selector: {matchLabels: {a: b}}, "
        f"template: {{metadata: {{labels: {{a: b}}}}, spec: {{containers: [{{name: c, {APP}}}]}}}}}}\n"
    )
    manifests = "---\n".join([ENDLESS, deployment, job(f"containers: [{{name: x, {APP}}}]")])
    document, _ = record(tmp_path, manifests, "", "5")
    assert sorted(document["containers"]) == ["d/c", "p/c", "x"]  # type: ignore[call-overload]


NON_ROOT = pod(f"restartPolicy: Never, containers: [{{name: c, {APP}, securityContext: {{runAsNonRoot: true}}}}]")


@pytest.mark.parametrize("user", [0, "nginx", 2**31])
def test_a_user_that_may_not_run_a_container_is_retold(tmp_path: Path, user: int | str) -> None:
    told, moments = record(tmp_path, NON_ROOT, f"images: {{example.com/app:1: {{user: {user}}}}}")
    assert moments == []
    assert told["images"] == {"example.com/app:1": {"size": 5 << 20, "speed": 20 << 20, "user": user}}


ARMOUR = "appArmorProfile: {type: Localhost, localhostProfile: p}"


FREE = "appArmorProfile: {type: Unconfined}"
ANNOTATED = "name: p, annotations: {container.apparmor.security.beta.kubernetes.io/c: %s}"
ARMOURED = [
    ("of the pod", pod(f"securityContext: {{{ARMOUR}}}, containers: [{{name: c, {APP}}}]"), True),
    ("of a container", pod(f"containers: [{{name: c, {APP}, securityContext: {{{ARMOUR}}}}}]"), True),
    ("by an annotation", ONCE.replace("name: p", ANNOTATED % "localhost/p", 1), True),
    ("an annotation for none", ONCE.replace("name: p", ANNOTATED % "unconfined", 1), False),
    ("a field for none", pod(f"securityContext: {{{FREE}}}, containers: [{{name: c, {APP}}}]"), False),
]


@pytest.mark.parametrize(("why", "manifest", "is_told"), ARMOURED, ids=[row[0] for row in ARMOURED])
def test_app_armor_is_retold_of_a_node_that_needed_it(
    tmp_path: Path, why: str, manifest: str, *, is_told: bool
) -> None:
    told, moments = record(tmp_path, manifest, "node: {appArmor: true}")
    assert moments[0] == "c#1 start None"
    assert told.get("node") == ({"appArmor": True} if is_told else None)


def test_a_pod_that_was_refused_says_nothing_of_the_node(tmp_path: Path) -> None:
    armoured = pod(f"restartPolicy: Never, securityContext: {{{ARMOUR}}}, containers: [{{name: c, {APP}}}]")
    assert record(tmp_path, armoured) == ({}, [])


def test_nothing_that_ran_is_nothing_to_tell() -> None:
    assert to_text(retell(RunRecording()), "Recorded.") == "# Recorded.\n# Fields: docs/SIMULATE.md\n"


plain = st.recursive(
    st.one_of(st.text(st.characters(exclude_categories=["Cs"])), st.integers(0, 10**6), st.booleans()),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.text("abc/. *:#-", min_size=1), inner)),
    max_leaves=12,
)


@given(st.dictionaries(st.sampled_from(["containers", "images"]), st.dictionaries(st.text(min_size=1), plain)))
@example({"containers": {"999999999": [], "20000000000000000000": []}})
def test_what_is_written_reads_back(document: dict[str, object]) -> None:
    documents, problems = read_plain("s.yaml", to_text(document, "Written.").encode())
    assert problems == ()
    assert [each.value for each in documents] == [document] if document else documents == ()


PLACES = [
    ("beside a manifest", ("a/x.yaml",), "a/x.simulate.yaml"),
    ("for manifests of one folder", ("a/x.yaml", "a/y.yaml"), "a/simulate.yaml"),
    ("nowhere for standard input", ("-",), None),
    ("nowhere for two folders", ("a/x.yaml", "b/y.yaml"), None),
]


@pytest.mark.parametrize(("why", "manifests", "expected"), PLACES, ids=[row[0] for row in PLACES])
def test_where_a_recording_goes(why: str, manifests: tuple[str, ...], expected: str | None) -> None:
    assert default_file(manifests) == (None if expected is None else Path(expected))


def test_a_folders_recording_goes_into_it(tmp_path: Path) -> None:
    assert default_file((str(tmp_path),)) == tmp_path / "simulate.yaml"


@pytest.mark.parametrize(
    ("words", "text"),
    [
        pytest.param(("m.yaml",), "exists already: --force overwrites it", id="a file that exists"),
        pytest.param(("-",), "name one with -o FILE", id="no place"),
    ],
)
def test_a_recording_that_has_no_place_runs_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], text: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("m.simulate.yaml").write_text("mine")
    result = CliRunner().invoke(main, ["record", *words])
    assert (result.exit_code, text in result.stderr, Path("m.simulate.yaml").read_text()) == (2, True, "mine")


def test_a_recording_is_written_where_it_is_asked_for(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(RunRecording(), tmp_path / "s.yaml", ("m.yaml",))
    assert (tmp_path / "s.yaml").read_text().startswith("# Recorded on Docker from m.yaml.\n")
    write(RunRecording(), Path("-"), ("m.yaml",))
    printed = capsys.readouterr()
    assert printed.out == (tmp_path / "s.yaml").read_text()
    assert printed.err == f"written: {tmp_path / 's.yaml'}\n"


def test_a_recording_that_cannot_be_written_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        write(RunRecording(), tmp_path / "gone" / "s.yaml", ("m.yaml",))
    assert "s.yaml: No such file or directory" in capsys.readouterr().err


def test_without_an_engine_there_is_nothing_to_record(tmp_path: Path) -> None:
    (tmp_path / "m.yaml").write_text(ENDLESS)
    words = ["record", "--root-dir", str(tmp_path / "root"), str(tmp_path / "m.yaml")]
    nowhere = {"DOCKER_HOST": f"unix://{tmp_path}/none.sock"}
    result = CliRunner(env=nowhere).invoke(main, words)
    assert (result.exit_code, (tmp_path / "m.simulate.yaml").exists()) == (3, False)
