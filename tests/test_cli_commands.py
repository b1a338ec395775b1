"""The commands as a user calls them."""

from __future__ import annotations

import hashlib
import io
import json
import os
import subprocess
import sys
import tarfile
from pathlib import Path
from typing import TYPE_CHECKING

import click
import pytest
from click.testing import CliRunner
from journal_makers import EPOCH, accepted, container, end, entries, start

from kubelet_emu.cli.busybox_image import APPLETS, archive_of, find_shell
from kubelet_emu.cli.examples import EXAMPLES
from kubelet_emu.cli.failures import InputError, explain
from kubelet_emu.cli.main import COMMANDS, GROUPS, LazyGroup, main
from kubelet_emu.cli.options import NodeCapacity, RunOptions
from kubelet_emu.cli.parameter_types import NON_NEGATIVE
from kubelet_emu.images.mirrors import Mirror
from kubelet_emu.images.outcome import PullOverride
from kubelet_emu.journal.encode import to_line
from kubelet_emu.journal.records import HeaderRecord
from kubelet_emu.manifests.safety import HostPathRule
from runtime.api import CRIError, RuntimeUnavailableError

if TYPE_CHECKING:
    from kubelet_emu.cli.outputs import Streams

ROOT = Path(__file__).resolve().parent.parent
POD = "apiVersion: v1\nkind: Pod\nmetadata: {name: web}\nspec: {containers: [{name: main, image: a}]}\n"


def call(*words: str, **environ: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "kubelet_emu", *words]
    return subprocess.run(command, capture_output=True, text=True, check=False, env={**os.environ, **environ})


def test_help_and_version_import_nothing_heavy() -> None:
    script = (
        "import sys\n"
        "from click.testing import CliRunner\n"
        "from kubelet_emu.cli.main import main\n"
        "for words in (['--help'], ['--version'], ['nonsense']):\n"
        "    CliRunner().invoke(main, words)\n"
        "heavy = {'yaml', 'attrs', 'attr', 'trio', 'docker', 'structlog', 'rich', 'lark'} & set(sys.modules)\n"
        "print(sorted(heavy))\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_validate_loads_what_its_manifest_needs(tmp_path: Path) -> None:
    pod = tmp_path / "pod.yaml"
    pod.write_text("apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {containers: [{name: c, image: 'b:1'}]}\n")
    script = (
        "import sys\n"
        "from click.testing import CliRunner\n"
        "from kubelet_emu.cli.main import main\n"
        f"assert CliRunner().invoke(main, ['validate', {str(pod)!r}]).exit_code == 0\n"
        "slow = ('trio', 'docker', 'structlog', 'rich', 'lark', 'json', 'difflib', 'ipaddress')\n"
        "print(sorted(name for name in sys.modules if name in slow\n"
        "    or name.startswith(('runtime.', 'kubelet_emu.advice.', 'kubelet_emu.api.v1', 'kubelet_emu.api.b'))))\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    advice = ("advising", "entry_points", "known_servers", "programs", "subjects")
    needed = [*(f"advice.{name}" for name in advice), "api.v1", "api.v1_pod_status"]
    assert done.stdout == str([f"kubelet_emu.{name}" for name in needed]) + "\n"


def test_the_program_runs_as_a_module() -> None:
    done = call("--version")
    assert done.returncode == 0
    assert done.stdout.startswith("kubelet-emu ")
    assert call("nonsense").returncode == 2


def test_help_names_every_command() -> None:
    result = CliRunner().invoke(main, ["--help"])
    assert result.exit_code == 0
    for name, text in COMMANDS.items():
        assert f"  {name}" in result.output
        assert text in " ".join(result.output.split())
    assert [line for line in result.output.splitlines() if line.endswith(":")][1:] == [f"{title}:" for title in GROUPS]
    assert all(len(line) <= 80 for line in result.output.splitlines())


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help(name: str) -> None:
    result = CliRunner().invoke(main, [name, "--help"])
    assert result.exit_code == 0
    assert result.output.startswith(f"Usage: main {name} ")
    assert "Exit status" in " ".join(result.output.split())


@pytest.mark.parametrize("name", [name for name in COMMANDS if name != "run"])
def test_the_exit_statuses_of_a_command_stand_in_the_documents(name: str) -> None:
    words = " ".join(CliRunner().invoke(main, [name, "--help"]).output.partition("Options:")[0].split())
    told = words.partition("Exit status: ")[2].removesuffix(".").replace("`", "")
    assert told
    assert f"| `{name}` | {told} |" in (ROOT / "docs" / "RUN.md").read_text().replace("`run`", "run")


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_examples_with_options_that_it_has(name: str) -> None:
    command = LazyGroup().get_command(click.Context(main), name)
    assert command is not None
    known = {opt for parameter in command.params for opt in parameter.opts}
    told = CliRunner().invoke(main, [name, "--help"]).output
    for line in EXAMPLES[name]:
        assert f"  {line}\n" in told
        words = line.replace('"$(', "").partition(" -- ")[0].split()
        assert words[words.index("kubelet-emu") + 1] == name
        used = [word for word in words if word.startswith("-")]
        long = {f"-{letter}" for word in used if not word.startswith("--") for letter in word[1:]}
        assert (long | {word for word in used if word.startswith("--")}) <= known, line


def test_validate_says_everything_at_once(tmp_path: Path) -> None:
    (tmp_path / "bad.yaml").write_text(POD.replace("image: a", "image: a, nam: b, comand: []"))
    done = call("validate", str(tmp_path / "bad.yaml"))
    assert done.returncode == 1
    assert done.stdout.count(": error: ") == 2
    assert done.stderr == "2 errors, 0 warnings\n"


def test_validate_accepts_a_good_manifest(tmp_path: Path) -> None:
    (tmp_path / "pod.yaml").write_text(POD)
    result = CliRunner().invoke(main, ["validate", str(tmp_path / "pod.yaml"), "-o", "json"])
    assert (result.exit_code, json.loads(result.output)) == (0, [])


def test_an_address_that_is_none_ends_with_three(tmp_path: Path) -> None:
    (tmp_path / "pod.yaml").write_text(POD)
    root = ("--root-dir", str(tmp_path / "root"))
    for words in (("run", str(tmp_path / "pod.yaml"), *root), ("prune", *root)):
        done = call(*words, DOCKER_HOST="far:2375")
        assert done.returncode == 3
        assert done.stderr.splitlines() == [
            "error: no container engine: DOCKER_HOST says 'far:2375': it does not begin with unix://, tcp:// or ssh://",
            "valid are unix:///var/run/docker.sock, tcp://HOST:PORT and ssh://USER@HOST",
        ]


REFUSED = {
    "a host path": ("spec: {", "spec: {volumes: [{name: v, hostPath: {path: /etc}}], ", "--allow-host-path /etc"),
    "a host namespace": ("spec: {", "spec: {hostNetwork: true, ", "--allow-host-namespaces"),
    "privileges": ("image: a", "image: a, securityContext: {privileged: true}", "--allow-privileged"),
}


@pytest.mark.parametrize(("old", "new", "flag"), REFUSED.values(), ids=REFUSED.keys())
def test_validate_warns_of_what_run_refuses(old: str, new: str, flag: str, tmp_path: Path) -> None:
    (tmp_path / "pod.yaml").write_text(POD.replace(old, new))
    result = CliRunner().invoke(main, ["validate", str(tmp_path / "pod.yaml"), "-o", "json"])
    assert result.exit_code == 0
    refused = [each for each in json.loads(result.stdout) if each["type"] == "Refused by run"]
    assert [(each["severity"], each["line"], each["hint"]) for each in refused] == [("warning", 4, f"{flag} allows it")]


def test_validate_gives_problems_as_json(tmp_path: Path) -> None:
    (tmp_path / "bad.yaml").write_text(POD.replace("image: a", "imag: a"))
    result = CliRunner().invoke(main, ["validate", str(tmp_path / "bad.yaml"), "-o", "json"])
    assert result.exit_code == 1
    problem = json.loads(result.output)[0]
    assert problem["severity"] == "error"
    assert sorted(problem) == sorted(["file", "line", "column", "path", "type", "text", "severity", "hint"])


def log_lines() -> list[str]:
    records = (
        HeaderRecord(at=EPOCH, epoch=EPOCH),
        accepted(containers=[container("main")]),
        start(1, "main"),
        end(2, "main"),
    )
    return [to_line(entry, EPOCH) for entry in entries(records)]


def test_trace_converts_a_log(tmp_path: Path) -> None:
    (tmp_path / "log").write_text("".join(log_lines()) + '{"t": 3, "po')
    result = CliRunner().invoke(main, ["trace", str(tmp_path / "log")])
    assert result.exit_code == 0
    assert [json.loads(line)["what"] for line in result.stdout.splitlines()] == ["start", "exit"]
    assert result.stderr == f"{tmp_path}/log: the last line was cut off\n"


def test_trace_names_what_it_cant_read(tmp_path: Path) -> None:
    (tmp_path / "log").write_text(log_lines()[0] + "nonsense\n")
    result = CliRunner().invoke(main, ["trace", str(tmp_path / "log")])
    assert result.exit_code == 1
    assert result.stderr == f"{tmp_path}/log:2: no JSON: Expecting value at column 1\n"
    (tmp_path / "log").write_text("nonsense\n")
    assert CliRunner().invoke(main, ["trace", str(tmp_path / "log")]).exit_code == 2


def test_prune_needs_an_engine(tmp_path: Path) -> None:
    done = call("prune", "--root-dir", str(tmp_path), DOCKER_HOST=f"unix://{tmp_path}/none.sock")
    assert done.returncode == 3
    assert done.stderr.startswith("error: no container engine: ")


def parsed(monkeypatch: pytest.MonkeyPatch, *words: str) -> RunOptions:
    """Return the options that `run` hands over."""
    seen: list[RunOptions] = []

    def take(options: RunOptions, _streams: Streams, _open: object) -> int:
        seen.append(options)
        return 0

    monkeypatch.setattr("kubelet_emu.cli.execution.execute", take)
    result = CliRunner().invoke(main, ["run", *words])
    assert result.exit_code == 0, result.output
    return seen[0]


def test_run_without_options_has_the_defaults(monkeypatch: pytest.MonkeyPatch) -> None:
    assert parsed(monkeypatch, "a.yaml", "b") == RunOptions(manifests=("a.yaml", "b"))


def test_run_reads_every_option(monkeypatch: pytest.MonkeyPatch) -> None:
    options = parsed(
        monkeypatch,
        *("a.yaml", "--timeout", "5", "--grace-period", "3", "--delete-when", "main started+2", "--pull", "missing"),
        *("--registry-mirror", "cgr.dev=127.0.0.1:5000/kemu", "--fail-on", "killed,warning", "-o", "json", "--keep"),
        *("--node-name", "node1", "--node-capacity", "cpu=2,pods=5", "--node-label", "zone=a", "--node-label", "b=c"),
        *("--allow-host-path", "/srv:rw", "--allow-privileged", "--publish-address", "192.0.2.1", "--seed", "7"),
    )
    assert (options.timeout, options.grace_period, options.output, options.keep, options.seed) == (
        5,
        3,
        "json",
        True,
        7,
    )
    assert options.delete_when is not None
    assert (options.delete_when.name, options.delete_when.plus) == ("main", 2)
    assert options.pull is PullOverride.MISSING
    assert options.registry_mirrors == (Mirror(host="cgr.dev", target="127.0.0.1:5000", prefix="kemu"),)
    assert {kind.value for kind in options.fail_on} == {"killed", "warning"}
    assert (options.node_name, options.node_labels) == ("node1", {"zone": "a", "b": "c"})
    assert options.node_capacity == NodeCapacity(milli_cpu=2000, max_pods=5)
    assert options.safety.host_paths == (HostPathRule(prefix="/srv", is_writable=True),)
    assert options.safety.allow_privileged
    assert not options.safety.allow_host_namespaces
    assert options.publish_address == "192.0.2.1"


WRONG = {
    "no manifest": ((), "Missing argument"),
    "an unknown option": (("a.yaml", "--tiemout", "3"), "No such option"),
    "a bad moment": (("a.yaml", "--delete-when", "soon"), "'soon' is no moment"),
    "a bad mirror": (("a.yaml", "--registry-mirror", "cgr.dev"), "expected HOST=HOST2"),
    "a negative grace": (("a.yaml", "--grace-period", "-1"), "Invalid value for '--grace-period'"),
    "another runtime": (("a.yaml", "--runtime", "podman"), "Invalid value for '--runtime'"),
}


@pytest.mark.parametrize(("words", "text"), WRONG.values(), ids=WRONG.keys())
def test_a_bad_option_exits_with_two(words: tuple[str, ...], text: str) -> None:
    result = CliRunner().invoke(main, ["run", *words])
    assert result.exit_code == 2
    assert text in result.output


@pytest.mark.parametrize("command", ["run", "record", "demo", "test", "drill"])
def test_every_command_that_pulls_takes_mirrors(tmp_path: Path, command: str) -> None:
    files = tmp_path / "a.yaml", tmp_path / "hosts.toml"
    files[0].write_text(POD)
    files[1].write_text('[host."https://m.io"]\n')
    words = [command] if command == "demo" else [command, str(files[0])]
    hosts = CliRunner().invoke(main, [*words, "--registry-hosts", str(files[1])])
    assert hosts.exit_code == 2
    assert f'--registry-hosts: {files[1]}: add server = "https://HOST"' in hosts.stderr
    mirror = CliRunner().invoke(main, [*words, "--registry-mirror", "cgr.dev"])
    assert mirror.exit_code == 2
    assert "expected HOST=HOST2" in mirror.stderr


def test_the_demo_shows_its_manifest() -> None:
    result = CliRunner().invoke(main, ["demo", "--show"])
    assert result.exit_code == 0
    assert "kind: Job" in result.output


def test_the_demo_needs_no_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCKER_HOST", "unix:///nonexistent.sock")
    result = CliRunner().invoke(main, ["demo"])
    assert result.exit_code == 0
    assert "Simulated: 10 s of pod life in" in result.stderr
    assert "make engine" in result.stderr


def members(archive: bytes) -> dict[str, bytes]:
    with tarfile.open(fileobj=io.BytesIO(archive)) as opened:
        files = {entry.name: opened.extractfile(entry) if entry.isfile() else None for entry in opened.getmembers()}
        return {name: b"" if file is None else file.read() for name, file in files.items()}


def test_the_simulated_demo_writes_the_records_that_were_asked_for(tmp_path: Path) -> None:
    log, trace = tmp_path / "demo.log", tmp_path / "demo.trace"
    result = CliRunner().invoke(main, ["demo", "--runtime", "simulated", "--log", str(log), "--trace", str(trace)])
    assert result.exit_code == 0
    assert '"kind":"header"' in log.read_text()
    assert '"kind": "end"' in trace.read_text()
    bad = CliRunner().invoke(main, ["demo", "--runtime", "simulated", "--log", str(tmp_path / "none" / "x.log")])
    assert bad.exit_code == 2


def test_a_recording_needs_a_folder_to_go_to(tmp_path: Path) -> None:
    result = CliRunner().invoke(main, ["record", "pod.yaml", "-o", str(tmp_path / "none" / "x.yaml")])
    assert result.exit_code == 2
    assert "there is no folder" in result.output


def test_the_demo_image_is_one_layer_of_busybox() -> None:
    outer = members(archive_of(b"program", "demo:1"))
    manifest = json.loads(outer["manifest.json"])[0]
    assert manifest["RepoTags"] == ["demo:1"]
    config = json.loads(outer[manifest["Config"]])
    assert config["rootfs"]["diff_ids"] == ["sha256:" + hashlib.sha256(outer["layer.tar"]).hexdigest()]
    inner = members(outer["layer.tar"])
    assert inner["bin/busybox"] == b"program"
    assert {f"bin/{applet}" for applet in APPLETS} <= set(inner)


def test_the_demo_needs_a_busybox_without_libraries(tmp_path: Path) -> None:
    (tmp_path / "dynamic").write_bytes(b"\x7fELF /lib64/ld-linux-x86-64.so.2")
    (tmp_path / "static").write_bytes(b"\x7fELF")
    assert find_shell((tmp_path / "absent", tmp_path / "dynamic", tmp_path / "static")) == tmp_path / "static"
    with pytest.raises(InputError, match="needs a static busybox"):
        find_shell((tmp_path / "dynamic",))


ERRORS: dict[str, tuple[BaseException, int, str]] = {
    "an interrupt": (KeyboardInterrupt(), 130, "interrupted"),
    "an error of the user's": (InputError("no such file"), 2, "error: no such file"),
    "a group of one kind": (
        BaseExceptionGroup("x", [ExceptionGroup("y", [RuntimeUnavailableError("refused")]), KeyboardInterrupt()]),
        3,
        "error: no container engine: refused",
    ),
    "an engine's error": (CRIError("disk full"), 1, "error: disk full"),
}


@pytest.mark.parametrize(("error", "code", "text"), ERRORS.values(), ids=ERRORS.keys())
def test_expected_errors_are_one_line(error: BaseException, code: int, text: str) -> None:
    failure = explain(error)
    assert failure.status == code
    assert failure.text.splitlines()[0] == text


def test_a_bug_among_expected_errors_is_shown_alone() -> None:
    failure = explain(ExceptionGroup("x", [CRIError("disk full"), ZeroDivisionError("oops")]))
    assert failure.status == 1
    assert "ZeroDivisionError: oops" in failure.text
    assert "disk full" not in failure.text
    assert "ExceptionGroup" not in failure.text


def test_version_and_unknown_commands() -> None:
    result = CliRunner().invoke(main, ["--version"])
    assert (result.exit_code, result.output.split()[0]) == (0, "kubelet-emu")
    assert CliRunner().invoke(main, ["nonsense"]).exit_code == 2
    assert list(COMMANDS) == main.list_commands(main.make_context("main", ["run"]))  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("text", "seconds"), [("40", 40.0), ("1.5", 1.5), ("40s", 40.0), ("1m30s", 90.0), ("1h", 3600.0), ("1e2", 100.0)]
)
def test_seconds_are_a_number_or_a_duration(text: str, seconds: float) -> None:
    assert NON_NEGATIVE.convert(text, None, None) == seconds


@pytest.mark.parametrize("text", ["", "4x", "1m5", "-3s", "nan", "-1", "2000000000s", "s"])
def test_other_words_are_no_seconds(text: str) -> None:
    with pytest.raises(click.BadParameter):
        NON_NEGATIVE.convert(text, None, None)


@pytest.mark.parametrize(
    "words", [("--until", "5"), ("--speed", "2"), ("--sim-on-term", "0"), ("--simulate", "s.yaml")]
)
def test_what_says_nothing_to_an_engine_is_refused(words: tuple[str, ...]) -> None:
    result = CliRunner().invoke(main, ["run", "pod.yaml", *words])
    assert result.exit_code == 2
    assert f"{words[0]} is for --runtime simulated" in result.stderr


def test_two_objects_of_one_name_are_named_with_their_places(tmp_path: Path) -> None:
    pod = "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {containers: [{name: m, image: app}]}\n"
    (tmp_path / "a.yaml").write_text(pod)
    (tmp_path / "b.yaml").write_text(f"{pod}---\n{pod.replace('name: p}', 'name: p, namespace: other}')}")
    names = [str(tmp_path / name) for name in ("a.yaml", "b.yaml")]
    for command in (["validate"], ["run", "--runtime", "simulated"]):
        result = CliRunner().invoke(main, [*command, *names])
        text = f"{names[1]}:3:12: error: metadata.name: Duplicate value: Pod 'p' is also in {names[0]}:3"
        assert text in result.output
        assert result.output.count("Duplicate value") == 1
        assert result.exit_code == (1 if command == ["validate"] else 2)
    assert "1 error, 0 warnings" in CliRunner().invoke(main, ["validate", *names]).stderr


def test_what_has_no_line_to_show_shows_none(tmp_path: Path) -> None:
    (tmp_path / "empty.yaml").write_text("")
    for name in ("none.yaml", "empty.yaml"):
        result = CliRunner().invoke(main, ["validate", str(tmp_path / name)])
        assert result.stdout.startswith(f"{tmp_path / name}:1:1: error: ")
        assert len(result.stdout.splitlines()) == 1


def test_a_name_that_a_terminal_would_act_upon_is_escaped(tmp_path: Path) -> None:
    result = CliRunner().invoke(main, ["validate", str(tmp_path / "a\x1b[31m.yaml")], color=True)
    assert "a\\x1b[31m.yaml:1:1: error: Unreadable" in result.stdout
