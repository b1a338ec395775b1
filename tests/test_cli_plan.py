"""`kubelet-emu plan`, and the advice and formats of `kubelet-emu validate`, as their users see them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from sarif_kit.validate import validation_errors

from kubelet_emu.cli.main import main
from kubelet_emu.manifests import load_text

ROOT = Path(__file__).parent.parent
PLANS = ROOT / "fixtures" / "plans"
DEAF = "{name: a, image: busybox, command: [sleep, '600']}"
POD = "apiVersion: v1\nkind: Pod\nmetadata: {name: p%s}\nspec:\n  containers: [%s]\n"


def call(*args: str) -> Result:
    """Run a command."""
    return CliRunner().invoke(main, args)


@pytest.fixture(autouse=True)
def _in_the_project(monkeypatch: pytest.MonkeyPatch) -> None:
    """Call the program where the names of the examples are relative to."""
    monkeypatch.chdir(ROOT)


@pytest.fixture
def deaf(tmp_path: Path) -> str:
    """Return the file of a pod that doesn't react to SIGTERM."""
    path = tmp_path / "pod.yaml"
    path.write_text(POD % ("", DEAF))
    return str(path)


@pytest.mark.parametrize("name", sorted(path.stem for path in PLANS.glob("*.yaml")))
def test_a_plan_reads_like_this(name: str) -> None:
    done = call("plan", f"fixtures/plans/{name}.yaml")
    assert (done.exit_code, done.output) == (0, (PLANS / f"{name}.txt").read_text())


def test_the_readme_shows_it() -> None:
    text = (ROOT / "README.md").read_text()
    shown = text.partition("$ kubelet-emu plan fixtures/plans/nightly.yaml\n")[2].partition("```")[0]
    parts = shown.split("…\n")
    assert len(parts) == 3
    rest = (PLANS / "nightly.txt").read_text()
    for part in filter(None, parts):
        assert part in rest
        rest = rest.partition(part)[2]


def test_a_diff_of_a_plan_can_be_applied() -> None:
    pods = json.loads(call("plan", "-o", "json", "--no-confirm", "fixtures/plans/nightly.yaml").output)["pods"]
    change = next(each["change"] for each in pods[0]["advice"] if each["code"] == "KE601")
    lines = (PLANS / "nightly.yaml").read_text().splitlines()
    assert load_text("\n".join(patched(lines, change))).objects[0].object == moved_by_hand()


def patched(lines: list[str], diff: str) -> list[str]:
    """Return lines with a unified diff applied."""
    result, at = [], 0
    for line in diff.splitlines()[2:]:
        if line.startswith("@@"):
            start = int(line.split()[1].lstrip("-").split(",")[0]) - 1
            result += lines[at:start]
            at = start
        elif line.startswith("+"):
            result.append(line[1:])
        else:
            assert lines[at] == line[1:]
            result += [] if line.startswith("-") else [lines[at]]
            at += 1
    return result + lines[at:]


def moved_by_hand() -> object:
    """Return the example with its proxy moved to initContainers."""
    text = (PLANS / "nightly.yaml").read_text()
    head, _, proxy = text.partition("        - name: proxy\n")
    before, _, mains = head.partition("      containers:\n")
    sidecar = f"        - name: proxy\n          restartPolicy: Always\n{proxy}"
    return load_text(f"{before}{sidecar}      containers:\n{mains}").objects[0].object


def test_a_plan_for_programs() -> None:
    done = call("plan", "-o", "json", "--solve", "grace", "fixtures/plans/nightly.yaml", "fixtures/plans/shop.yaml")
    plans = json.loads(done.output)
    nightly, shop = plans["pods"]
    assert (done.exit_code, plans["schema"]) == (0, 1)
    assert (nightly["kind"], nightly["name"], nightly["line"], shop["name"], shop["line"]) == (
        "Job",
        "nightly",
        1,
        "shop",
        8,
    )
    assert [(step["container"], step["role"], step["gate"], step["after"]) for step in nightly["start"]] == [
        ("log", "sidecar", "first", None),
        ("report", "main", "started", "log"),
        ("proxy", "main", "started", "report"),
    ]
    assert [(stop["container"], stop["termAt"], stop["killAt"], stop["ignoresTerm"]) for stop in nightly["stop"]] == [
        ("report", 5, 30, False),
        ("proxy", 0, 30, False),
        ("log", None, 30, True),
    ]
    assert nightly["end"] == {
        "how": "ifKeepersEnd",
        "mains": ["report", "proxy"],
        "keptBy": ["proxy"],
        "deadlineSeconds": None,
    }
    assert [each["outcome"] for each in nightly["confirmed"]] == ["confirmed", "confirmed"]
    assert nightly["grace"]["alwaysKilled"] == ["log"]
    assert shop["resources"] == {
        "qosClass": "Burstable",
        "requests": {"cpu": "350m", "memory": "1Gi"},
        "limits": {"memory": "512Mi"},
        "oomScoreAdj": {"migrate": 875, "mesh": 993, "cache": 999, "web": 969, "worker": 999},
        "nodeMemoryBytes": 8 << 30,
    }
    assert shop["needs"] == [
        {"kind": "ConfigMap", "name": "shop", "key": "colour"},
        {"kind": "Secret", "name": "shop-token", "key": ""},
    ]
    assert shop["restarts"][1] == {
        "container": "web",
        "probe": "liveness",
        "earliest": 39,
        "latest": 51,
        "from": "start",
        "startedAgain": True,
    }
    assert shop["grace"]["seconds"] == 20


def test_a_simulate_yaml_beside_the_manifest_is_heard(tmp_path: Path) -> None:
    manifest = tmp_path / "pod.yaml"
    manifest.write_text(POD % ("", "{name: app, image: app:1}"))
    (tmp_path / "simulate.yaml").write_text("containers:\n  app:\n    onTerm: {exit: 0, after: 9}\n")
    done = call("plan", "--solve", "grace", str(manifest))
    assert "grace  9 s is the least with no SIGKILL; with 8 s app would need SIGKILL (now 30 s)" in done.output
    (tmp_path / "simulate.yaml").write_text("containers:\n  app:\n    onTrem: {exit: 0}\n")
    assert (call("plan", str(manifest)).exit_code) == 2


def test_advice_is_switched_off(deaf: str, tmp_path: Path) -> None:
    assert "KE701" in call("plan", "--no-confirm", deaf).output
    for off in (("--ignore", "ke701"), ("--ignore", "KE701,KE702", "--ignore", "KE703")):
        assert "KE701" not in call("plan", "--no-confirm", *off, deaf).output
        assert "KE701" not in call("validate", *off, deaf).output
    noted = tmp_path / "noted.yaml"
    noted.write_text(POD % (", annotations: {advice.kubelet-emu/ignore: KE701}", DEAF))
    assert "KE701" not in call("plan", "--no-confirm", str(noted)).output
    assert call("validate", str(noted)).output == "0 errors, 0 warnings\n"
    noted.write_text(POD % (", annotations: {advice.kubelet-emu/ignore: KE799}", DEAF))
    assert "names KE799, which is no code of advice" in call("validate", str(noted)).output
    assert "KE701" not in call("validate", "--no-advice", deaf).output


BAD = [
    (("--ignore", "KE1"), "KE1: no code of advice; there are KE501"),
    (("--node-memory", "0"), "--node-memory: '0' is no size"),
    (("--node-memory", "much"), "much"),
    (("--kubernetes", "2.0"), "--kubernetes"),
]


@pytest.mark.parametrize(("options", "said"), BAD, ids=[" ".join(row[0]) for row in BAD])
def test_an_option_that_cant_be_used(options: tuple[str, ...], said: str, deaf: str) -> None:
    done = call("plan", *options, deaf)
    assert (done.exit_code, said in done.output) == (2, True)


def test_a_manifest_that_cant_be_planned(tmp_path: Path) -> None:
    bad, none = tmp_path / "bad.yaml", tmp_path / "none.yaml"
    bad.write_text(POD % ("", "{name: a, imag: b}"))
    none.write_text("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\n")
    done = call("plan", str(bad))
    assert (done.exit_code, "did you mean 'image'?" in done.output) == (2, True)
    done = call("plan", str(none))
    assert (done.exit_code, "nothing to plan" in done.output) == (2, True)
    assert call("plan", str(tmp_path / "absent.yaml")).exit_code == 2


# -- validate


def test_validate_tells_advice_at_its_line_with_a_caret(deaf: str) -> None:
    done = call("validate", deaf)
    lines = done.output.splitlines()
    assert done.exit_code == 0
    assert lines[0].startswith(f"{deaf}:5:42: warning: spec.containers[0].command: KE701: a doesn't react to SIGTERM")
    assert lines[1] == "  5 |   containers: [{name: a, image: busybox, command: [sleep, '600']}]"
    assert lines[2].index("^") == lines[1].index("command")
    assert lines[-1] == "0 errors, 1 warning"


def test_validate_for_programs(deaf: str) -> None:
    (problem,) = json.loads(call("validate", "-o", "json", deaf).output)
    assert list(problem) == ["file", "line", "column", "path", "type", "text", "severity", "hint"]
    assert (problem["type"], problem["line"], problem["column"], problem["severity"]) == ("KE701", 5, 42, "warning")


def test_validates_exit_status(tmp_path: Path, deaf: str) -> None:
    bad = tmp_path / "bad.yaml"
    bad.write_text("a: b: c\n")
    status = [call("validate", *names).exit_code for names in ([deaf], [deaf, str(bad)], [str(tmp_path / "absent")])]
    assert [*status, call("validate", "--ignore", "x", deaf).exit_code] == [0, 1, 2, 2]


def test_validate_as_sarif(tmp_path: Path, deaf: str) -> None:
    bad = tmp_path / "a bad one.yaml"
    bad.write_text(POD % ("", "{name: a, imag: b, image: c}"))
    done = call("validate", "-o", "sarif", deaf, str(bad))
    log = json.loads(done.output)
    check_sarif(log)
    (run,) = log["runs"]
    assert done.exit_code == 1
    assert [(each["ruleId"], each["level"]) for each in run["results"]] == [
        ("unknown-field", "error"),
        ("KE701", "warning"),
    ]
    place = run["results"][0]["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"].endswith("/a%20bad%20one.yaml")
    assert place["region"] == {"startLine": 5, "startColumn": 26}
    assert run["results"][0]["message"]["text"].endswith("(did you mean 'image'?)")


def test_sarif_of_every_manifest_is_right() -> None:
    for folder in sorted((ROOT / "fixtures" / "manifests").iterdir()):
        (path,) = folder.glob("manifest.*")
        check_sarif(json.loads(call("validate", "-o", "sarif", str(path)).output))


def check_sarif(log: dict[str, Any]) -> None:
    """Hold a log to the schema of SARIF 2.1.0, and each result to its rule."""
    assert validation_errors(log) == []
    for run in log["runs"]:
        ids = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
        assert [ids[each["ruleIndex"]] for each in run["results"]] == [each["ruleId"] for each in run["results"]]
