"""What a real node did breaks no rule, and every rule has something to say of it; the slides' logs are as they are."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import pytest
from lifecycle_logs import FIXTURES, TRACES, recorded, slide
from verification_makers import terms_of

from kubelet_emu.config.features import gates_for
from kubelet_emu.lifecycle.reading import read_logs
from kubelet_emu.lifecycle.verification import RULES, Outcome, Report, Terms, verify
from kubelet_emu.manifests.loading import load

if TYPE_CHECKING:
    from pathlib import Path

RULE_CODES = [rule.code for rule in RULES]


@pytest.mark.parametrize("path", TRACES, ids=[f"{path.parent.name}/{path.stem}" for path in TRACES])
def test_a_real_node_breaks_no_rule(path: Path) -> None:
    report = verify(recorded(path), terms_of(path))
    broken = [(f.rule.code, v.text) for f in report.findings for v in f.of(Outcome.VIOLATION)]
    assert broken == []


def test_every_rule_is_kept_somewhere_and_unknown_seldom() -> None:
    said = Counter(
        (finding.rule.code, verdict.outcome)
        for path in TRACES
        for finding in verify(recorded(path), terms_of(path)).findings
        for verdict in finding.verdicts
    )
    kept = {code: said[code, Outcome.OK] for code in RULE_CODES}
    assert {code for code, count in kept.items() if count < 5} == set()
    unknown = sum(said[code, Outcome.UNKNOWN] for code in RULE_CODES)
    assert unknown / sum(said.values()) < 0.02


def judged(number: int, manifest: str, version: str) -> Report:
    return verify(slide(number, manifest), Terms(minor=int(version[2:]), gates=gates_for(version)))


def codes(report: Report, outcome: Outcome) -> list[str]:
    return [finding.rule.code for finding in report.of(outcome)]


CLUSTER = sorted((FIXTURES / "cluster").iterdir())
VIEWS = [("pod.json",), ("logs.txt",), ("events.json", "logs.txt"), ("pod.json", "events.json", "logs.txt")]


@pytest.mark.parametrize("with_manifest", [True, False], ids=["with manifest", "without"])
@pytest.mark.parametrize("view", VIEWS, ids=" ".join)
@pytest.mark.parametrize("folder", CLUSTER, ids=[folder.name for folder in CLUSTER])
def test_what_kubectl_printed_breaks_no_rule(folder: Path, view: tuple[str, ...], *, with_manifest: bool) -> None:
    manifests = [loaded.object for loaded in load([str(folder / "manifest.yaml")]).objects] if with_manifest else []
    report = verify(read_logs([folder / name for name in view], manifests=manifests))
    assert codes(report, Outcome.VIOLATION) == []


SLIDES = [
    (16, "slide-15-pod.yaml", "1.36", ["KE205"]),
    (16, "slide-15-pod.yaml", "1.29", ["KE205"]),
    (16, "slide-15-pod.yaml", "1.28", []),
    (18, "slide-17-pod.yaml", "1.36", ["KE205"]),
    (18, "slide-17-pod.yaml", "1.28", []),
    (20, "slide-19-job.yaml", "1.36", []),
    (20, "slide-19-job.yaml", "1.28", []),
]


@pytest.mark.parametrize(("number", "manifest", "version", "broken"), SLIDES)
def test_a_slide_by_a_version(number: int, manifest: str, version: str, broken: list[str]) -> None:
    assert codes(judged(number, manifest, version), Outcome.VIOLATION) == broken


def test_slide_16_says_which_and_by_how_much() -> None:
    finding = judged(16, "slide-15-pod.yaml", "1.36").of(Outcome.VIOLATION)[0]
    (verdict,) = finding.of(Outcome.VIOLATION)
    assert verdict.text == "sidecar-2 TERM at 27.180, 0.003 s before regular-1 exited at 27.182"
    assert verdict.rule == "sidecar-2 is stopped after regular-1 has ended while grace is left"
    assert verdict.margin == pytest.approx(-0.002547, abs=1e-6)


def test_slide_20_is_known_to_be_right() -> None:
    report = judged(20, "slide-19-job.yaml", "1.36")
    assert codes(report, Outcome.UNKNOWN) == []
    assert {"KE101", "KE102", "KE105", "KE207"} <= set(codes(report, Outcome.OK))


@pytest.mark.parametrize("number", [16, 18, 20])
def test_without_a_manifest_what_needs_kinds_is_unknown(number: int) -> None:
    report = judged(number, "", "1.36")
    assert report.is_clean
    assert codes(report, Outcome.UNKNOWN) == [rule.code for rule in RULES if rule.needs_kinds]
