"""Pulls of whole runs in virtual time: the bound, its rounds, credentials, and who may use what is there."""

from __future__ import annotations

import base64
import json
import math
from typing import TYPE_CHECKING

import pytest
from test_cli_programs import simulate

if TYPE_CHECKING:
    from pathlib import Path

CANARY = "canary-77aa-password"
SECONDS = 4
SIMULATION = f"images: {{'r.io/*': {{size: {SECONDS}Mi, speed: 1Mi, program: {{exit: 0}}}}}}"
HEAD = "apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\nserializeImagePulls: false\n"


def a_pod(name: str, image: str, *, secrets: tuple[str, ...] = (), more: str = "") -> str:
    names = json.dumps([{"name": secret} for secret in secrets])
    return (
        f"---\napiVersion: v1\nkind: Pod\nmetadata: {{name: {name}}}\n"
        f"spec: {{restartPolicy: Never, imagePullSecrets: {names}, containers: [{{name: c, image: {image}{more}}}]}}\n"
    )


def a_secret(name: str, password: str, *, host: str = "r.io") -> str:
    content = json.dumps({"auths": {host: {"auth": base64.b64encode(f"u:{password}".encode()).decode()}}})
    return (
        f"---\napiVersion: v1\nkind: Secret\nmetadata: {{name: {name}}}\ntype: kubernetes.io/dockerconfigjson\n"
        f"stringData: {{.dockerconfigjson: '{content}'}}\n"
    )


@pytest.mark.parametrize(("count", "bound"), [(5, 1), (5, 2), (7, 3), (6, 3), (4, None)])
def test_n_pulls_take_n_over_the_bound_rounds(tmp_path: Path, count: int, bound: int | None) -> None:
    (tmp_path / "k.yaml").write_text(HEAD if bound is None else f"{HEAD}maxParallelImagePulls: {bound}\n")
    manifest = "".join(a_pod(f"p{number}", f"r.io/x{number}:1") for number in range(count))
    seen = simulate(tmp_path, manifest, SIMULATION, "--config", str(tmp_path / "k.yaml"))
    times = {
        reason: [float(str(record["t"])) for record in seen.records if record.get("reason") == reason]
        for reason in ("Pulling", "Pulled")
    }
    rounds = math.ceil(count / (bound or count))
    assert len(times["Pulled"]) == count
    assert max(times["Pulled"]) - min(times["Pulling"]) == pytest.approx(rounds * SECONDS, rel=0.15)
    assert max(times["Pulling"]) < min(times["Pulled"]), "Pulling is told before the queue"


def test_a_pod_deleted_during_its_pull_starts_before_it_stops(tmp_path: Path) -> None:
    simulation = "images: {'r.io/*': {size: 32Mi, speed: 1Mi, program: {onTerm: {after: 2}}}}"
    seen = simulate(tmp_path, a_pod("p", "r.io/x:1"), simulation, "--delete-when", "5", "--grace-period", "3")
    told = [r["reason"] for r in seen.records if r["kind"] == "event"]
    assert told == ["Scheduled", "Pulling", "Pulled", "Created", "Started", "Killing"]
    [(_, began, _), (_, ended, _)] = seen.runs("c")
    assert began > 32
    assert ended - began >= 2
    assert "p waiting" not in seen.err
    assert "p for the pull of c's image before it stops, as on a node" in seen.err


def test_credentials_are_tried_until_one_works_and_never_shown(tmp_path: Path) -> None:
    simulation = f"images: {{r.io/x:1: {{credentials: 'u:{CANARY}', program: {{exit: 0}}}}}}"
    manifest = (
        a_secret("bad", "wrong-canary") + a_secret("good", CANARY) + a_pod("p", "r.io/x:1", secrets=("bad", "good"))
    )
    log = tmp_path / "run.log"
    seen = simulate(tmp_path, manifest, simulation, "--log", str(log), "--log-values")
    assert seen.codes("c") == [0]
    written = seen.err + log.read_text() + json.dumps(seen.records)
    canaries = (CANARY, "wrong-canary", base64.b64encode(f"u:{CANARY}".encode()).decode())
    assert [canary for canary in canaries if canary in written] == []


ALLOWLIST = """\
imagePullCredentialsVerificationPolicy: NeverVerifyAllowlistedImages
preloadedImagesVerificationAllowlist: [r.io/*]
"""
POLICIES = [
    ("by default a stranger has to pull", "", "", "ErrImagePull"),
    ("policy Never hides what is there", "", ", imagePullPolicy: Never", "ErrImageNeverPull"),
    ("never verified", "imagePullCredentialsVerificationPolicy: NeverVerify\n", "", ""),
    ("an allowlist opens it", ALLOWLIST, "", ""),
]


@pytest.mark.parametrize(("why", "configuration", "more", "reason"), POLICIES, ids=[row[0] for row in POLICIES])
def test_the_policy_says_who_may_use_what_is_there(
    tmp_path: Path, why: str, configuration: str, more: str, reason: str
) -> None:
    simulation = f"images: {{r.io/x:1: {{credentials: 'u:{CANARY}', program: {{exit: 0}}}}}}"
    (tmp_path / "k.yaml").write_text(HEAD.replace("serializeImagePulls: false\n", "") + configuration)
    waiting = "initContainers: [{name: first, image: busybox:1, command: [sleep, '20']}], containers"
    stranger = a_pod("stranger", "r.io/x:1", more=more).replace("containers", waiting)
    manifest = a_secret("s", CANARY) + a_pod("owner", "r.io/x:1", secrets=("s",)) + stranger
    seen = simulate(tmp_path, manifest, simulation, "--config", str(tmp_path / "k.yaml"), "--until", "30")
    failed = [str(r["message"]) for r in seen.records if r.get("reason") == "Failed" and r["pod"] == "stranger"]
    assert (f"Error: {reason}" in failed) == bool(reason), why
    assert seen.codes("c") == ([0] if reason else [0, 0])
