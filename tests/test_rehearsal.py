"""What plans say of pods holds when these are run in virtual time."""

from __future__ import annotations

import random
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from advice_makers import DEPLOYMENT, GATES, JOB, POD, manifest, subject_of

from kubelet_emu.advice.ending import Ends
from kubelet_emu.advice.plan import plan_of
from kubelet_emu.advice.subjects import subjects_of
from kubelet_emu.manifests import load
from kubelet_emu.manifests.admission import admit
from kubelet_emu.manifests.safety import SafetyPolicy
from kubelet_emu.rehearsal.confirming import Outcome, Rehearsal, confirm, judge_end, judge_start
from kubelet_emu.rehearsal.grace import MOST_SECONDS, solve_grace
from kubelet_emu.rehearsal.text import claim_lines, solution_lines
from kubelet_emu.simulation.values import Behaviour, Course, Reaction, Simulation

if TYPE_CHECKING:
    from kubelet_emu.rehearsal.confirming import Claim

FIXTURES = Path(__file__).parent.parent / "fixtures"
SCENARIOS = sorted(path.name for path in (FIXTURES / "scenarios").iterdir() if path.is_dir())
MANIFESTS = sorted(path.name for path in (FIXTURES / "manifests").iterdir())

# What doesn't come as far as the plan says, and why: each is what its manifest is about.
NOT_REACHED = {
    "apparmor-refused": "main did not start",
    "case-41-delete-while-sidecar-not-started": "second did not start",
    "e2e-sidecar-startup-probe-fails": "regular-1 did not start",
    "hostname-fqdn-too-long": "main did not start",
    "image-invalid-name": "a did not start",
    "image-name-invalid": "main did not start",
    "pod-labelled-for-another-system": "main did not start",
    "refused-wrong-os": "main did not start",
    "rule-notin": "main ended",
    "sidecar-delete-before-started": "sidecar-3 did not start",
    "sidecar-image-update-after-startup-failure-never": "regular-1 did not start",
    "sidecar-image-update-after-startup-failure-onfailure": "regular-1 did not start",
    "sidecar-poststart-fails": "i2 did not start",
    "sidecar-startup-probe-fails": "i2 did not start",
    "07-otel-collector-sidecar": "checkout did not start",
}


def claims_of(folder: Path) -> list[Claim]:
    """Return what came of the plans of all pods of a folder's manifest."""
    result = load([str(each) for each in folder.glob("manifest.*")])
    read = admit(result, GATES, random.Random(0), SafetyPolicy())  # noqa: S311 - names
    if any(problem.severity == "error" for problem in read.problems):
        return []
    subjects = subjects_of(result.objects, GATES)
    return [claim for subject in subjects for claim in confirm(plan_of(subject), read.stored)]


@pytest.mark.parametrize("folder", [*SCENARIOS, *MANIFESTS])
def test_what_is_said_of_start_and_end_is_so(folder: str) -> None:
    kind = "scenarios" if folder in SCENARIOS else "manifests"
    claims = claims_of(FIXTURES / kind / folder)

    others = [claim for claim in claims if claim.outcome is not Outcome.CONFIRMED]

    assert [claim for claim in claims if claim.is_contradicted] == []
    expected = NOT_REACHED.get(folder)
    assert bool(others) is (expected is not None)
    assert expected is None or others[0].because.startswith(expected)


# why, the pod, how its plan says that it ends, what the claim about the end came to
ENDINGS = [
    ("a pod that always restarts", "containers: [{name: a, image: a:1}]", Ends.WHEN_DELETED, Outcome.CONFIRMED),
    (
        "one that ends",
        "restartPolicy: Never\n  containers: [{name: a, image: a:1}, {name: b, image: busybox, command: [sleep, '5']}]",
        Ends.WITH_MAINS,
        Outcome.CONFIRMED,
    ),
    (
        "a sidecar doesn't keep it",
        (
            "restartPolicy: OnFailure\n  initContainers: [{name: s, image: s:1, restartPolicy: Always}]\n"
            "  containers: [{name: a, image: a:1}]"
        ),
        Ends.WITH_MAINS,
        Outcome.CONFIRMED,
    ),
    (
        "a server does",
        "restartPolicy: Never\n  containers: [{name: a, image: a:1}, {name: e, image: 'envoyproxy/envoy:v1'}]",
        Ends.IF_KEEPERS_END,
        Outcome.CONFIRMED,
    ),
    (
        "an endless loop does",
        (
            "restartPolicy: Never\n  containers: [{name: a, image: busybox, command: [sh, -c, "
            "'until false; do sleep 9; done']}]"
        ),
        Ends.NEVER,
        Outcome.CONFIRMED,
    ),
    (
        "one that spins is ended by the simulation",
        "restartPolicy: Never\n  containers: [{name: a, image: busybox, command: [sh, -c, 'while :; do :; done']}]",
        Ends.NEVER,
        Outcome.NOT_REACHED,
    ),
    (
        "a main that always runs again does",
        (
            "restartPolicy: Never\n"
            "  containers: [{name: a, image: busybox, restartPolicy: Always, command: ['true']}, {name: b, image: b:1}]"
        ),
        Ends.NEVER,
        Outcome.CONFIRMED,
    ),
    (
        "an init container that waits for a main",
        (
            "restartPolicy: Never\n  initContainers: [{name: i, image: busybox, "
            "command: [sh, -c, 'until nc -z localhost 80; do sleep 1; done']}]\n"
            "  containers: [{name: a, image: a:1, ports: [{containerPort: 80}]}]"
        ),
        Ends.NEVER,
        Outcome.CONFIRMED,
    ),
    (
        "rules that run it again after success",
        (
            "restartPolicy: Never\n  containers: [{name: a, image: busybox, command: ['true'], restartPolicy: Never, "
            "restartPolicyRules: [{action: Restart, exitCodes: {operator: In, values: [0]}}]}]"
        ),
        Ends.IF_KEEPERS_END,
        Outcome.CONFIRMED,
    ),
]


@pytest.mark.parametrize(("why", "spec", "how", "outcome"), ENDINGS, ids=[row[0] for row in ENDINGS])
def test_how_a_pod_ends(why: str, spec: str, how: Ends, outcome: Outcome) -> None:
    plan = plan_of(subject_of(POD % spec))
    start, end = confirm(plan)
    assert (plan.ending.how, start.outcome, end.outcome) == (how, Outcome.CONFIRMED, outcome)


def test_a_wait_for_the_pods_own_service_is_played(tmp_path: Path) -> None:
    (tmp_path / "manifest.yaml").write_text(
        manifest(
            DEPLOYMENT,
            "initContainers: [{name: i, image: busybox, command: [sh, -c, 'until nc -z web 80; do sleep 1; done']}]",
            "containers: [{name: a, image: a:1, ports: [{containerPort: 80}]}]",
        )
        + "---\napiVersion: v1\nkind: Service\nmetadata: {name: web}\nspec: {selector: {a: b}, ports: [{port: 80}]}\n"
    )
    start, end = claims_of(tmp_path)
    assert (start.text, start.outcome, end.outcome) == (
        "starts in the order i",
        Outcome.CONFIRMED,
        Outcome.CONFIRMED,
    )


def test_a_jobs_own_bounds_dont_end_the_play() -> None:
    job = JOB.replace("  template:", "  activeDeadlineSeconds: 5\n  backoffLimit: 0\n  suspend: true\n  template:")
    text = manifest(
        job, "restartPolicy: OnFailure", "containers: [{name: a, image: busybox, command: [sleep, infinity]}]"
    )
    plan = plan_of(subject_of(text))
    assert plan.ending.deadline == 5
    assert [claim.outcome for claim in confirm(plan)] == [Outcome.CONFIRMED] * 2


def test_a_main_that_never_starts_holds_up_no_other() -> None:
    plan = plan_of(subject_of(POD % "containers: [{name: a, image: 'a@sha256:0'}, {name: b, image: b:1}]"))

    start, _ = confirm(plan)

    assert start.outcome is Outcome.NOT_REACHED
    assert start.because == "a did not start (Failed: Error: InvalidImageName)"


def test_a_keeper_that_its_probe_stops_ends_its_pod() -> None:
    probe = "livenessProbe: {tcpSocket: {port: 80}, periodSeconds: 1}"
    keeper = f"{{name: a, image: busybox, command: [sleep, infinity], {probe}}}"
    plan = plan_of(subject_of(POD % f"restartPolicy: Never\n  containers: [{keeper}]"))

    _, end = confirm(plan)

    assert (end.outcome, end.because) == (Outcome.NOT_REACHED, "a probe stopped a")


def test_a_run_that_is_otherwise_is_told() -> None:
    plan = plan_of(
        subject_of(
            POD % "restartPolicy: Never\n  initContainers: [{name: i, image: i:1}]\n"
            "  containers: [{name: a, image: busybox, command: [sleep, infinity]}]"
        )
    )
    assert judge_start(plan, Rehearsal(started=("a", "i"), phase="Running")).because == "the run started a, i"
    ended = judge_end(plan, Rehearsal(started=("i", "a"), phase="Failed"))
    assert (ended.is_contradicted, ended.because) == (True, "it was Failed")
    before = judge_end(plan, Rehearsal(started=("i",), phase="Failed", failed=("i",)))
    assert (before.outcome, before.because) == (Outcome.NOT_REACHED, "i failed before")
    lines = list(claim_lines([ended], lambda text, _: text))
    assert lines == ["", "contradicted in virtual time: doesn't end by itself: it was Failed"]


def test_a_pod_that_stays_though_its_mains_have_ended_is_told() -> None:
    plan = plan_of(subject_of(POD % "restartPolicy: Never\n  containers: [{name: a, image: a:1}]"))
    stays = judge_end(plan, Rehearsal(started=("a",), phase="Running"))
    late = judge_end(plan, Rehearsal(started=("a",), phase="Running", running=("a",)))
    never = judge_end(plan, Rehearsal(started=(), phase="Pending"))
    assert [each.outcome for each in (stays, late, never)] == [
        Outcome.CONTRADICTED,
        Outcome.NOT_REACHED,
        Outcome.NOT_REACHED,
    ]


def test_what_only_a_cluster_has_doesnt_hold_up_the_play() -> None:
    text = manifest(
        POD,
        "nodeSelector: {disk: ssd}",
        "schedulingGates: [{name: g}]",
        "volumes:",
        "- {name: claim, persistentVolumeClaim: {claimName: c}}",
        "- {name: token, projected: {sources: [{serviceAccountToken: {path: t}}, "
        "{configMap: {name: kube-root-ca.crt}}]}}",
        "- {name: memory, emptyDir: {medium: HugePages}}",
        "- {name: secret, secret: {secretName: s}}",
        "containers: [{name: a, image: a:1, imagePullPolicy: Never, securityContext: {runAsNonRoot: true}, "
        "resources: {requests: {cpu: '900'}}, envFrom: [{configMapRef: {name: c}}], "
        "env: [{name: A, valueFrom: {secretKeyRef: {name: s, key: k}}}, {name: B, value: why}, "
        "{name: C, valueFrom: {fieldRef: {fieldPath: metadata.name}}}], volumeMounts: [{name: claim, mountPath: /c}, "
        "{name: token, mountPath: /t}, {name: memory, mountPath: /m}, {name: secret, mountPath: /s}]}]",
    )
    assert [claim.outcome for claim in confirm(plan_of(subject_of(text)))] == [Outcome.CONFIRMED] * 2


# -- the grace

TRAPPED = 'restartPolicy: Never\n  containers: [{name: a, image: busybox, command: [sh, -c, "%s"]}]'
GRACES = [
    ("one that ends at once", "trap 'exit 0' TERM; sleep 900 & wait", 1, ()),
    ("one that takes seven seconds", "trap 'sleep 7; exit 0' TERM; sleep 900 & wait", 7, ("a",)),
    ("one that doesn't hear", "sleep 9000", None, ("a",)),
    ("one that ends by itself before it is ready", "true", 1, ()),
]


@pytest.mark.parametrize(("why", "script", "expected", "killed"), GRACES, ids=[row[0] for row in GRACES])
def test_the_least_grace_is_found(why: str, script: str, expected: int | None, killed: tuple[str, ...]) -> None:
    solution = solve_grace(subject_of(POD % (TRAPPED % script)))
    assert (solution.seconds, solution.killed, solution.unknown) == (expected, killed, ())


def test_hooks_sidecars_and_what_simulate_yaml_says_are_part_of_it() -> None:
    text = (
        POD % "initContainers: [{name: s, image: s:1, restartPolicy: Always}]\n"
        "  containers: [{name: a, image: a:1, lifecycle: {preStop: {sleep: {seconds: 5}}}}, {name: b, image: b:1}]"
    )
    slow = Behaviour(courses=(Course(on_term=Reaction(exit=0, after=10.0)),))
    solution = solve_grace(subject_of(text), told=Simulation(containers={"s": slow, "a": slow}))
    assert (solution.seconds, solution.killed, solution.unknown) == (25, ("s",), ("b",))
    assert list(solution_lines(solution, 30)) == [
        "",
        "grace  25 s is the least with no SIGKILL; with 24 s s would need SIGKILL (now 30 s)",
        "       taken to end as soon as they are told: b (simulate.yaml can say otherwise)",
    ]


def test_a_hook_that_sleeps_must_fit() -> None:
    text = POD % "containers: [{name: a, image: a:1, lifecycle: {preStop: {sleep: {seconds: 12}}}}]"
    assert solve_grace(subject_of(text)).seconds == 12


def test_a_grace_that_is_never_enough_is_told() -> None:
    text = POD % "containers: [{name: a, image: busybox, command: [sleep, infinity]}]"
    lines = list(solution_lines(solve_grace(subject_of(text)), 30))
    assert lines[1] == (
        f"grace  no terminationGracePeriodSeconds is enough: a would need SIGKILL even after {MOST_SECONDS} s"
    )
