"""The manifests that people write: each is judged, and its faults are told, as its `expect.yaml` says."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
import yaml

from kubelet_emu import manifests
from kubelet_emu.config.features import FeatureGates
from kubelet_emu.manifests.loading import load_text
from kubelet_emu.manifests.not_emulated import not_emulated
from kubelet_emu.manifests.validation import validate
from kubelet_emu.manifests.workloads import expand

FIXTURES = Path(__file__).parent.parent / "fixtures"
FOLDERS = sorted(path.name for path in (FIXTURES / "manifests").iterdir())


def read(folder: str) -> tuple[manifests.LoadResult, list[manifests.Problem]]:
    (path,) = (FIXTURES / "manifests" / folder).glob("manifest.*")
    result = manifests.load([str(path)])
    return result, [*result.problems, *validate(result.objects, FeatureGates())]


def verdict(result: manifests.LoadResult, problems: list[manifests.Problem]) -> str:
    if any(problem.severity == "error" for problem in problems):
        return "rejected"
    if any(problem.type == "Unknown kind" for problem in problems):
        return "partly" if result.objects else "rejected"
    return "accepted"


@pytest.mark.parametrize(
    "source",
    ["image: {reference: 'r.io/x:1'}", "nfs: {server: a, path: /b}"],
)
def test_a_volume_that_nothing_mounts_is_told_of(source: str) -> None:
    text = (
        "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\n"
        f"spec: {{containers: [{{name: c, image: i}}], volumes: [{{name: v, {source}}}]}}\n"
    )
    [note] = not_emulated(load_text(text).objects[0])
    assert note.text == f"volume 'v': {source.partition(':')[0]} can't be mounted here, so the pod waits for it"


NOT_READY = "{key: node.kubernetes.io/not-ready, operator: Exists, effect: NoExecute}"
USUAL = [
    ("the usual class", "priority: 0, preemptionPolicy: PreemptLowerPriority, schedulerName: default-scheduler", ""),
    ("what admission adds", f"affinity: {{}}, tolerations: [{NOT_READY}]", ""),
    ("a class that makes room for its pods", "priorityClassName: system-node-critical, priority: 2000001000", ""),
    ("others", "priorityClassName: high, priority: 7, schedulerName: mine, tolerations: [{operator: Exists}]",
     "tolerations, schedulerName, priorityClassName, priority"),
]  # fmt: skip


@pytest.mark.parametrize("kind", ["Pod", "CronJob"])
@pytest.mark.parametrize(("why", "spec", "told"), USUAL, ids=[row[0] for row in USUAL])
def test_scheduling_that_somebody_asked_for_is_told(why: str, spec: str, told: str, kind: str) -> None:
    pod = f"{{{spec}, containers: [{{name: c, image: i}}]}}"
    text = f"apiVersion: v1\nkind: Pod\nmetadata: {{name: p}}\nspec: {pod}\n"
    if kind == "CronJob":
        job = f"{{spec: {{template: {{spec: {pod}}}}}}}"
        text = f"apiVersion: batch/v1\nkind: CronJob\nmetadata: {{name: c}}\nspec: {{jobTemplate: {job}}}\n"

    notes = not_emulated(load_text(text).objects[0])

    assert [note.text for note in notes] == ([f"scheduling fields are not used: {told}"] if told else [])


@pytest.mark.parametrize("source", ["persistentVolumeClaim: {claimName: c}", "ephemeral: {volumeClaimTemplate: {}}"])
def test_a_claim_is_told_to_be_an_empty_folder(source: str) -> None:
    text = (
        "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\n"
        f"spec: {{containers: [{{name: c, image: i}}], volumes: [{{name: v, {source}}}]}}\n"
    )
    [note] = not_emulated(load_text(text).objects[0])
    assert note.text == (
        f"volume 'v': {source.partition(':')[0]}: "
        "nothing is provisioned here, each pod has an empty folder that goes with it"
    )


@pytest.mark.parametrize(
    ("spec", "paths"),
    [
        ("securityContext: {supplementalGroupsPolicy: Strict, appArmorProfile: {type: Unconfined}}", []),
        (
            (
                "initContainers: [{name: i, image: i, "
                "securityContext: {capabilities: {drop: [all], add: [kill, CAP_KILL]}}}]"
            ),
            ["initContainers[0].securityContext.capabilities.add[1]"],
        ),
        (
            (
                "initContainers: [{name: i, image: i, securityContext: {privileged: true,"
                " seccompProfile: {type: Localhost, localhostProfile: a}}}]"
            ),
            [],
        ),
        ("securityContext: {appArmorProfile: {type: RuntimeDefault}}", ["securityContext.appArmorProfile"]),
        ("securityContext: {seLinuxOptions: {level: s0}}", ["securityContext.seLinuxOptions"]),
        ("securityContext: {seccompProfile: {type: RuntimeDefault}}", []),
        ("hostUsers: false, resources: {limits: {cpu: 1}}", ["hostUsers"]),
        ("hostUsers: true", []),
        ("resourceClaims: [{name: c, resourceClaimName: z}]", ["resourceClaims"]),
        ("volumes: [{name: v, emptyDir: {medium: HugePages-2Mi}}]", ["volumes[0].emptyDir.medium"]),
        (
            "volumes: [{name: v, projected: {sources: [{serviceAccountToken: {path: t}}]}}]",
            ["volumes[0].projected.sources[0].serviceAccountToken"],
        ),
        ("initContainers: [{name: i, image: i, securityContext: {privileged: false}}]", []),
        (
            "initContainers: [{name: i, image: i, ports: [{containerPort: 1}, {containerPort: 2, hostPort: 3}]}]",
            ["initContainers[0].ports[1].hostPort"],
        ),
        ("hostNetwork: true, initContainers: [{name: i, image: i, ports: [{containerPort: 1, hostPort: 1}]}]", []),
        (
            (
                "initContainers: [{name: i, image: i, securityContext: {procMount: Unmasked,"
                " seccompProfile: {type: Localhost, localhostProfile: a.json},"
                " appArmorProfile: {type: Localhost, localhostProfile: a}}}]"
            ),
            [
                "initContainers[0].securityContext.procMount",
                "initContainers[0].securityContext.appArmorProfile",
                "initContainers[0].securityContext.seccompProfile",
            ],
        ),
    ],
)
def test_fields_without_effect_are_named(spec: str, paths: list[str]) -> None:
    text = f"apiVersion: v1\nkind: Pod\nmetadata: {{name: p}}\nspec: {{containers: [{{name: c, image: i}}], {spec}}}\n"
    assert [note.path for note in not_emulated(load_text(text).objects[0])] == [f"spec.{path}" for path in paths]


@pytest.mark.parametrize(
    ("address", "is_told"),
    [("127.0.0.2", False), ("'::1'", False), ("'::'", False), ("10.1.2.3", True), ("zz", True)],
)
def test_an_address_that_a_host_port_does_not_get_is_told(address: str, *, is_told: bool) -> None:
    text = (
        "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec:\n  containers:\n  - name: c\n    image: i\n"
        f"    ports: [{{containerPort: 1}}, {{containerPort: 2, hostPort: 3, hostIP: {address}}}]\n"
    )
    notes = [f"{note.path}: {note.text}" for note in not_emulated(load_text(text).objects[0])]
    told = f"hostIP {address} counts only with --publish-address: else the port is opened at 127.0.0.1"
    assert notes == ([f"spec.containers[0].ports[1].hostIP: {told}"] if is_told else [])


@pytest.mark.parametrize("folder", FOLDERS)
def test_the_verdict_is_that_of_a_server(folder: str) -> None:
    expected = yaml.safe_load((FIXTURES / "manifests" / folder / "expect.yaml").read_text())["verdict"]

    assert verdict(*read(folder)) == expected


@pytest.mark.parametrize("folder", FOLDERS)
def test_what_a_server_says_is_said(folder: str) -> None:
    """Each error of the server's own words is told; a server stops at the first one, this reader doesn't."""
    said = yaml.safe_load((FIXTURES / "manifests" / folder / "expect.yaml").read_text())["server_says"]
    _result, problems = read(folder)
    ours = {f"{each.path}: {each.type}: {each.text}" if each.text else f"{each.path}: {each.type}" for each in problems}
    servers = {each.server_text for each in problems}
    for line in said:
        _doc, _, text = line.partition(": ")
        kind, _, rest = text.partition(" ")
        if kind == "INVALID":
            assert rest.partition(": ")[2] in ours
        elif kind == "DECODE:":
            assert rest in servers
        elif kind == "STRICT:":
            fields = rest.removeprefix("strict decoding error: ").split(", ")
            assert set(fields) <= servers


# Of each folder that isn't fine: the lines that are told, and what is said there.
TOLD = {
    "15-downward-api": [(18, "did you mean status.podIP?")],
    "22-tabs": [(9, "a tab is used for indentation")],
    "27-wrong-indentation": [
        (5, "'spec' belongs to Pod (spec): is it indented too far?"),
        (13, "'readinessProbe' belongs to Container"),
        (17, "'value' belongs to an entry of 'env'"),
    ],
    "28-string-port": [
        (6, "remove the quotes: 30"),
        (11, "remove the quotes: 8080"),
        (13, "write 8080 without quotes"),
        (14, "a plain number of seconds: 5"),
    ],
    "31-probe-on-plain-init": [
        (8, "was 'proxy' meant to be one?"),
        (9, "was 'proxy' meant to be one?"),
        (10, "was 'proxy' meant to be one?"),
    ],
    "32-job-without-restart-policy": [
        (6, "Never or OnFailure"),
        (15, "Always for a sidecar stands in the init container"),
        (22, "did you mean 'backoffLimit'?"),
        (27, 'only "Never" is supported when podFailurePolicy is specified'),
    ],
    "34-prestop-sleep-too-long": [(8, "set terminationGracePeriodSeconds to 60 or more")],
    "35-duplicates": [
        (6, "key 'labels' stands twice"),
        (9, 'Duplicate value: "app"'),
        (16, 'hides previous definition of "A"'),
        (18, 'Duplicate value: "app"'),
        (22, "key 'env' stands twice"),
        (24, 'Duplicate value: "TCP//8080"'),
    ],
    "46-quantities": [
        (8, "was 512Mi meant?"),
        (11, "write 128M or 128Mi"),
        (14, "must be less than or equal to memory limit of 1Gi"),
        (17, "write 64Mi"),
    ],
    "48-lower-case-values": [
        (5, "case sensitive: Never"),
        (6, "case sensitive: ClusterFirst"),
        (8, "case sensitive: Always"),
        (12, "case sensitive: IfNotPresent"),
        (13, "did you mean FallbackToLogsOnError?"),
        (14, "case sensitive: UDP"),
        (15, "case sensitive: HTTP"),
    ],
    "50-custom-resources": [
        (2, "Workflow/sidecar- (argoproj.io/v1alpha1)"),
        (12, "ExternalSecret/db"),
        (17, "Rollout/web"),
        (26, "Service/hello (serving.knative.dev/v1)"),
    ],
    "53-number-labels": [
        (5, 'quote it: "true"'),
        (7, 'quote it: "5432"'),
        (8, 'quote it: "false"'),
        (14, 'quote it: "1.10" (unquoted it is read as 1.1)'),
        (14, 'quote it: "007" (unquoted it is read as 7)'),
        (14, 'quote it: "5e10" (unquoted it is read as 50000000000)'),
        (20, 'quote it: "5"'),
        (21, 'quote it: "true"'),
    ],
    "08-oauth2-proxy": [(45, "Service/dashboard is not run"), (52, "Ingress/dashboard is not run")],
    "14-statefulset-all-volumes": [(2, "Service/broker-headless is not run")],
    "16-list-kind": [(41, "Service/web is not run")],
    "25-kustomize-output": [(2, "Namespace/portal-staging is not run")],
    "41-nothing-to-run": [(2, "Service/web is not run"), (12, "PodDisruptionBudget/web is not run")],
}


@pytest.mark.parametrize("folder", FOLDERS)
def test_every_fault_is_told_at_its_line_and_nothing_else(folder: str) -> None:
    result, problems = read(folder)
    shown = [(each.line, manifests.format_problem(each, next(iter(result.sources.values())))) for each in problems]
    expected = TOLD.get(folder, [])

    for line, said in expected:
        assert any(said in text for at, text in shown if at == line), shown
    assert sorted(line for line, _ in shown) == sorted(line for line, _ in expected)


NOTES = {
    "01-istio-native-sidecar": [
        "volume 'istio-token': serviceAccountToken: a stand-in is written, which no server accepts"
    ],
    "14-statefulset-all-volumes": [
        "volumeClaimTemplates: no claim is made, each pod has an empty folder for data that goes with it"
    ],
    "16-list-kind": ["set by a server, dropped here: metadata.uid, metadata.resourceVersion, status"],
    "17-cronjob-backup": ["CronJob/backup is not run: a schedule is not kept, run --now runs its Job once"],
    "25-kustomize-output": ["replicas is 0: it makes no pods"],
    "42-gpu-and-scheduling": [
        (
            "the node has the labels that options give it: the pod waits without "
            "--node-label cloud.google.com/gke-accelerator=nvidia-l4"
        ),
        "scheduling fields are not used: affinity, tolerations, priorityClassName",
        "runtimeClassName is ignored: the engine's default runtime is used",
        "nvidia.com/gpu: no device is passed to the container",
    ],
    "45-kubectl-get-output": [
        (
            "set by a server, dropped here: metadata.uid, metadata.resourceVersion, metadata.creationTimestamp, "
            "metadata.managedFields, metadata.ownerReferences, spec.nodeName, status"
        ),
        "volume 'kube-api-access-9m2xz': serviceAccountToken: a stand-in is written, which no server accepts",
    ],
    "52-daemonset-log-agent": [
        "updateStrategy has no effect: a rolling update is not done",
        "scheduling fields are not used: tolerations",
    ],
}


@pytest.mark.parametrize("folder", FOLDERS)
def test_what_is_not_run_or_not_emulated_is_said_once(folder: str) -> None:
    result, _problems = read(folder)

    notes = [*expand(result.objects, random.Random(1)).problems]  # noqa: S311 - names alone
    notes += [note for loaded in result.objects for note in not_emulated(loaded)]

    assert [note.text for note in notes] == NOTES.get(folder, [])


@pytest.mark.parametrize("path", sorted((FIXTURES / "slides").glob("slide-1*.yaml")), ids=lambda path: path.stem)
def test_the_slides_manifests_are_fine(path: Path) -> None:
    result = manifests.load([str(path)])

    assert (*result.problems, *validate(result.objects, FeatureGates())) == ()
