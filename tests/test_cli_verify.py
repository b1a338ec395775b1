"""`kubelet-emu verify`: what it prints, in each format, and how it exits; docs/VERIFY.md says the same."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from click.testing import CliRunner, Result
from sarif_kit.validate import validation_errors

from kubelet_emu.cli.main import main
from kubelet_emu.lifecycle.verification import RULES, Outcome
from kubelet_emu.lifecycle.verification.text import rule_table

ROOT = Path(__file__).parent.parent
SLIDES = ROOT / "fixtures" / "slides"
SCENARIO = ROOT / "fixtures" / "scenarios" / "seed-slide-15-sidecar-prestop"
SLIDE_16 = (str(SLIDES / "slide-16.log"), "-f", str(SLIDES / "slide-15-pod.yaml"))
SINCE = ", times in seconds from 2023-07-19T01:35:26.225559Z"
CLEAN = (str(SCENARIO / "trace.jsonl"), "-f", str(SCENARIO / "manifest.yaml"))
DOCUMENT = (ROOT / "docs" / "VERIFY.md").read_text()


def verify(*words: str) -> Result:
    return CliRunner().invoke(main, ["verify", *words])


def test_the_document_shows_what_is_printed() -> None:
    command, _, shown = re.search(r"```console\n(.*?)```", DOCUMENT, re.DOTALL)[1].partition("\n")  # type: ignore[index]
    words = [str(ROOT / word) if word.startswith("fixtures") else word for word in command.split()[3:]]
    result = verify(*words)
    assert (result.output, result.exit_code) == (shown, 1)


def test_the_document_has_the_table_of_rules() -> None:
    assert f"<!-- rules -->\n{rule_table(RULES)}<!-- /rules -->" in DOCUMENT


def test_a_clean_log() -> None:
    result = verify(*CLEAN)
    assert result.exit_code == 0
    assert result.output == (
        "note    pod-with-sidecar stayed Ready for 6.11 s after its deletion, as it does on every node\n"
        "10 rules ok, 10 not applicable; by Kubernetes 1.36\n"
    )


def test_verbose_says_what_was_right() -> None:
    result = verify("-v", "--rules", "ke205", *CLEAN)
    assert result.output.splitlines()[0] == (
        "ok      KE205 pod-with-sidecar: sidecar-1 TERM at 23.302, 3.30 s after sidecar-2 exited(0) at 19.998"
    )


def test_an_older_kubelet_had_no_order() -> None:
    result = verify(*SLIDE_16, "--kubernetes", "1.28")
    assert (result.exit_code, result.output) == (0, f"4 rules ok, 16 not applicable; by Kubernetes 1.28{SINCE}\n")


def test_without_a_manifest_it_says_what_is_missing() -> None:
    result = verify(SLIDE_16[0])
    assert result.exit_code == 0
    assert result.output.startswith(
        "unknown KE101, KE102 and 10 more\n"
        "        pod-with-sidecar: nothing tells which containers are init containers, sidecars or mains: "
        "give the manifest (-f)\n0 rules ok, 12 unknown (KE101, "
    )


def test_the_list_of_rules() -> None:
    result = verify("--rules", "list")
    assert result.exit_code == 0
    assert [line.split()[0] for line in result.output.splitlines()] == [rule.code for rule in RULES]
    assert "since 1.29" in result.output


def test_codes_are_in_order_and_each_once() -> None:
    codes = [rule.code for rule in RULES]
    assert codes == sorted(set(codes))


def test_many_violations_are_cut_off(tmp_path: Path) -> None:
    manifest = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "p"},
        "spec": {"restartPolicy": "Never", "containers": [{"name": "a"}]},
    }
    runs = [
        {"t": n + at, "kind": "run", "pod": "p", "container": "a", "run": n + 1, "what": what, "code": code}
        for n in range(8)
        for at, what, code in ((0.0, "start", None), (0.5, "exit", 1))
    ]
    (tmp_path / "p.yaml").write_text(json.dumps(manifest))
    (tmp_path / "log").write_text("".join(json.dumps(run) + "\n" for run in runs))
    result = verify(str(tmp_path / "log"), "-f", str(tmp_path / "p.yaml"), "--rules", "KE301")
    assert result.exit_code == 1
    assert "        and 2 more (-o json has all)" in result.output


BAD = [
    ("no such log", ("nowhere.log",), "nowhere.log"),
    ("no such rule", (*SLIDE_16, "--rules", "KE999"), "'KE999' is no rule"),
    ("no rule at all", (*SLIDE_16, "--rules", ","), "is no rule"),
    ("a version that isn't known", (*SLIDE_16, "--kubernetes", "1.12"), "--kubernetes: version '1.12'"),
    ("a configuration that isn't there", (*SLIDE_16, "--config", "nowhere.yaml"), "--config: "),
    ("a manifest that isn't there", (SLIDE_16[0], "-f", "nowhere.yaml"), "nowhere.yaml"),
]


@pytest.mark.parametrize(("words", "text"), [row[1:] for row in BAD], ids=[row[0] for row in BAD])
def test_what_cant_be_read(words: tuple[str, ...], text: str) -> None:
    result = verify(*words)
    assert result.exit_code == 2
    assert text in result.output


def test_a_configuration_decides_how_many_pulls(tmp_path: Path) -> None:
    config = tmp_path / "kubelet.yaml"
    config.write_text(
        "apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\nserializeImagePulls: false\n"
    )
    folder = ROOT / "fixtures" / "scenarios" / "pull-parallel-unlimited"
    words = (str(folder / "trace.jsonl"), "-f", str(folder / "manifest.yaml"), "--rules", "KE305")
    assert "1 unknown (KE305)" in verify(*words).output
    assert "1 rule ok" in verify(*words, "--config", str(config)).output


def test_json_has_all() -> None:
    result = verify(*SLIDE_16, "-o", "json")
    report = json.loads(result.output)
    assert (result.exit_code, report["schema"], report["clean"]) == (1, 1, False)
    assert report["counts"] == {"ok": 4, "violation": 1, "unknown": 0, "not applicable": 15}
    assert set(report) == set(re.findall(r"^\| `(\w+)` \|", DOCUMENT.split("## JSON")[1], re.MULTILINE))
    broken = next(rule for rule in report["rules"] if rule["outcome"] == "violation")
    verdict = broken["verdicts"][0]
    assert (broken["code"], verdict["pod"], verdict["subject"]) == ("KE205", "pod-with-sidecar", "sidecar-2")
    assert verdict["marginSeconds"] == pytest.approx(-0.002547, abs=1e-6)
    assert verdict["moments"][1] == {
        "what": "sidecar-2 TERM",
        "earliest": pytest.approx(27.1796, abs=1e-3),
        "latest": pytest.approx(27.1796, abs=1e-3),
    }
    named = re.search(r"^\| `rules\[\]\.verdicts` \|(.*)\|$", DOCUMENT, re.MULTILINE)
    assert named is not None
    assert set(verdict) == {word for word in re.findall(r"`(\w+)`", named[1]) if word != "main"}


def test_json_of_an_older_kubelet_says_why_a_rule_is_left_out() -> None:
    report = json.loads(verify(*SLIDE_16, "-o", "json", "--kubernetes", "1.28").output)
    assert {rule["code"] for rule in report["rules"] if "why" in rule} == {"KE205", "KE206"}


def test_junit_has_a_case_for_each_rule() -> None:
    suite = ET.fromstring(verify(*SLIDE_16, "-o", "junit").output)  # noqa: S314 - our own output
    assert (suite.tag, suite.get("tests"), suite.get("failures"), suite.get("errors")) == ("testsuite", "20", "1", "0")
    assert suite.get("skipped") == str(len(suite.findall("testcase/skipped"))) == "15"
    (failure,) = suite.findall("testcase/failure")
    assert str(failure.get("message")).startswith("pod-with-sidecar: sidecar-2 TERM at 27.180")
    unknown = ET.fromstring(verify(SLIDE_16[0], "-o", "junit").output)  # noqa: S314 - our own output
    assert str(unknown.findall("testcase/skipped")[0].get("message")).startswith("unknown: ")


def test_sarif_is_what_its_standard_asks_for() -> None:
    log = json.loads(verify(*SLIDE_16, "-o", "sarif").output)
    assert validation_errors(log) == []
    assert (log["version"], log["$schema"].endswith("sarif-2.1.0.json"), len(log["runs"])) == ("2.1.0", True, 1)
    run = log["runs"][0]
    driver = run["tool"]["driver"]
    assert driver["name"] == "kubelet-emu"
    assert [rule["id"] for rule in driver["rules"]] == [rule.code for rule in RULES]
    assert all(
        set(rule) == {"id", "shortDescription", "fullDescription", "defaultConfiguration"} for rule in driver["rules"]
    )
    (result,) = run["results"]
    assert (result["ruleId"], result["level"], result["kind"]) == ("KE205", "error", "fail")
    assert driver["rules"][result["ruleIndex"]]["id"] == result["ruleId"]
    assert result["message"]["text"]
    place = result["locations"][0]
    assert place["physicalLocation"]["artifactLocation"]["uri"].endswith("slide-16.log")
    assert place["logicalLocations"] == [{"fullyQualifiedName": "pod-with-sidecar/sidecar-2"}]
    assert line_of(place) == ("sidecar-2 TERM", 11)
    assert [line_of(each) for each in result["relatedLocations"]] == [("regular-1 exited", 12)]


def line_of(location: dict[str, Any]) -> tuple[str, int]:
    return location["message"]["text"], location["physicalLocation"]["region"]["startLine"]


LATE_KILL = """\
apiVersion: v1
kind: Pod
metadata: {name: web}
spec:
  terminationGracePeriodSeconds: 5
  containers: [{name: main, image: "busybox:1", command: [sh, -c, "trap '' TERM; while :; do sleep 1; done"]}]
"""


@pytest.mark.parametrize("option", ["--log", "--trace"])
def test_sarif_names_the_line_of_our_own_record(tmp_path: Path, option: str) -> None:
    (tmp_path / "pod.yaml").write_text(LATE_KILL)
    log = tmp_path / "log"
    words = ["run", "--runtime", "simulated", "--delete-when", "ready", option, str(log), str(tmp_path / "pod.yaml")]
    assert CliRunner().invoke(main, words).exit_code == 0
    lines = log.read_text().splitlines()
    (index,) = (number for number, line in enumerate(lines) if "SIGKILL" in line and json.loads(line)["kind"] == "cri")
    record = json.loads(lines[index])
    lines[index] = json.dumps({**record, "t": record["t"] - 3})  # killed with three seconds of its grace left
    log.write_text("".join(f"{line}\n" for line in ("", *lines)))
    found = json.loads(verify(str(log), "-f", str(tmp_path / "pod.yaml"), "-o", "sarif").output)["runs"][0]["results"]
    (result,) = (each for each in found if each["kind"] == "fail")
    assert (result["ruleId"], line_of(result["locations"][0])) == ("KE202", ("main KILL", index + 2))


def test_sarif_asks_for_a_review_of_what_is_unknown() -> None:
    results = json.loads(verify(SLIDE_16[0], "-o", "sarif").output)["runs"][0]["results"]
    assert {(result["kind"], result["level"]) for result in results} == {("review", "none")}


def test_outcomes_have_stable_words() -> None:
    assert [outcome.value for outcome in Outcome] == ["ok", "violation", "unknown", "not applicable"]


def test_a_line_that_cant_be_read_is_named(tmp_path: Path) -> None:
    log = tmp_path / "trace.jsonl"
    log.write_text((SCENARIO / "trace.jsonl").read_text() + "{nonsense}\n")
    result = verify(str(log), "-f", CLEAN[2])
    assert result.exit_code == 0
    assert "trace.jsonl:77: " in result.output


def test_a_run_of_ours_is_judged_by_its_own_log(tmp_path: Path) -> None:
    log = tmp_path / "run.jsonl"
    words = [
        "--runtime",
        "simulated",
        "--delete-when",
        "ready+5",
        "--log",
        str(log),
        "--root-dir",
        str(tmp_path / "root"),
    ]
    ran = CliRunner().invoke(main, ["run", *words, str(SLIDES / "slide-15-pod.yaml")])
    assert ran.exit_code == 0, ran.output
    report = json.loads(verify(str(log), "-o", "json").output)
    outcomes = {rule["code"]: rule["outcome"] for rule in report["rules"]}
    assert report["clean"]
    assert {code for code, outcome in outcomes.items() if outcome == "unknown"} == set()
    assert {outcomes[code] for code in ("KE101", "KE102", "KE105", "KE201", "KE203", "KE204", "KE205", "KE208")} == {
        "ok"
    }


@pytest.mark.parametrize(("pulls", "outcome"), [("true", "1 unknown (KE305)"), ("false", "1 rule ok")])
def test_a_log_of_ours_tells_how_many_pulls_its_kubelet_makes(tmp_path: Path, pulls: str, outcome: str) -> None:
    config, manifest, log = tmp_path / "kubelet.yaml", tmp_path / "pods.yaml", tmp_path / "log"
    config.write_text(
        "apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\nserializeImagePulls: false\n"
    )
    spec = "spec: {restartPolicy: Never, containers: [{name: m, image: 'app:%d'}]}"
    pods = (f"apiVersion: v1\nkind: Pod\nmetadata: {{name: p{n}}}\n{spec % n}\n" for n in range(2))
    manifest.write_text("---\n".join(pods))
    words = ("run", "--runtime", "simulated", "--until", "9", "--config", str(config), "--log", str(log))
    CliRunner().invoke(main, [*words, str(manifest)])
    log.write_text(log.read_text().replace('"serializeImagePulls":false', f'"serializeImagePulls":{pulls}'))
    assert outcome in verify(str(log), "--rules", "KE305").output
