"""docs/FIELDS.md: no field of a pod is in no class, the page is what the table gives, each warning comes."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from kubelet_emu.config.features import FeatureGates
from kubelet_emu.manifests.admission import admit
from kubelet_emu.manifests.field_page import field_page
from kubelet_emu.manifests.field_reasons import PARTS, SCHEDULING
from kubelet_emu.manifests.field_support import named_fields, walk
from kubelet_emu.manifests.loading import load_text
from kubelet_emu.manifests.safety import SafetyPolicy

PAGE = Path(__file__).parent.parent / "docs" / "FIELDS.md"
ALL_GATES = FeatureGates(
    dict.fromkeys(
        ("GenericWorkload", "ProcMountType", "PodCertificateRequest", "ClusterTrustBundleProjection", "ImageVolume"),
        True,
    )
)
SPEC = {
    "PodSpec.affinity": "affinity: {podAffinity: {}, podAntiAffinity: {}}",
    "PodSpec.automountServiceAccountToken": "automountServiceAccountToken: true",
    "PodSpec.hostUsers": "hostUsers: false",
    "PodSpec.nodeName": "nodeName: elsewhere",
    "PodSpec.nodeSelector": "nodeSelector: {disk: ssd}",
    "PodSpec.overhead": "overhead: {cpu: 1}",
    "PodSpec.preemptionPolicy": "preemptionPolicy: Never",
    "PodSpec.priority": "priorityClassName: high, priority: 5",
    "PodSpec.priorityClassName": "priorityClassName: high",
    "PodSpec.resourceClaims": "resourceClaims: [{name: gpu, resourceClaimName: g}]",
    "PodSpec.resources": "resources: {limits: {cpu: 1}}",
    "PodSpec.runtimeClassName": "runtimeClassName: gvisor",
    "PodSpec.schedulerName": "schedulerName: mine",
    "PodSpec.schedulingGates": "schedulingGates: [{name: a.b/c}]",
    "PodSpec.schedulingGroup": "schedulingGroup: {podGroupName: g}",
    "PodSpec.tolerations": "tolerations: [{key: a, operator: Exists}]",
    "PodSpec.topologySpreadConstraints": "topologySpreadConstraints: [{maxSkew: 1, topologyKey: zone,"
    " whenUnsatisfiable: DoNotSchedule}]",
    "PodSecurityContext.appArmorProfile": "securityContext: {appArmorProfile: {type: RuntimeDefault}}",
    "PodSecurityContext.seLinuxChangePolicy": "securityContext: {seLinuxChangePolicy: Recursive}",
    "PodSecurityContext.seLinuxOptions": "securityContext: {seLinuxOptions: {level: s0}}",
    "PodSecurityContext.seccompProfile": "securityContext: {seccompProfile: {type: Localhost, localhostProfile: a}}",
    "PodSecurityContext.windowsOptions": "securityContext: {windowsOptions: {runAsUserName: a}}",
}
_REQUIRED = "nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchFields: []}]}"
SPEC |= {
    "Affinity.podAffinity": f"affinity: {{podAffinity: {{}}, {_REQUIRED}}}}}",
    "Affinity.podAntiAffinity": f"affinity: {{podAntiAffinity: {{}}, {_REQUIRED}}}}}",
    "NodeAffinity.preferredDuringSchedulingIgnoredDuringExecution": f"affinity: {{{_REQUIRED},"
    " preferredDuringSchedulingIgnoredDuringExecution: [{weight: 1, preference: {}}]}}",
}
CONTAINER = {
    "Capabilities.add": "securityContext: {capabilities: {add: [CAP_CHOWN]}}",
    "Capabilities.drop": "securityContext: {capabilities: {drop: [FOO]}}",
    "Container.volumeDevices": "volumeDevices: [{name: v, devicePath: /dev/x}]",
    "ContainerPort.hostIP": "ports: [{containerPort: 1, hostPort: 1, hostIP: 10.0.0.9}]",
    "Lifecycle.stopSignal": "lifecycle: {stopSignal: SIGINT}",
    "ResourceRequirements.claims": "resources: {claims: [{name: gpu}]}",
    "ResourceRequirements.limits": "resources: {limits: {a.b/gpu: 1}}",
    "ResourceRequirements.requests": "resources: {requests: {a.b/gpu: 1}}",
    "SecurityContext.appArmorProfile": "securityContext: {appArmorProfile: {type: RuntimeDefault}}",
    "SecurityContext.procMount": "securityContext: {procMount: Unmasked}",
    "SecurityContext.seLinuxOptions": "securityContext: {seLinuxOptions: {level: s0}}",
    "SecurityContext.seccompProfile": "securityContext: {seccompProfile: {type: Localhost, localhostProfile: a}}",
    "SecurityContext.windowsOptions": "securityContext: {windowsOptions: {runAsUserName: a}}",
    "VolumeMount.mountPropagation": "volumeMounts: [{name: v, mountPath: /v, mountPropagation: HostToContainer}]",
    "VolumeMount.recursiveReadOnly": "volumeMounts: [{name: v, mountPath: /v, readOnly: true,"
    " recursiveReadOnly: Enabled}]",
}
SPEC |= {key: f"containers: [{{name: c, image: i, {text}}}]" for key, text in CONTAINER.items()}
SPEC |= {
    "ContainerPort.hostPort": "initContainers: [{name: c, image: i, ports: [{containerPort: 1, hostPort: 1}]}]",
    "EphemeralContainer.volumeDevices": "ephemeralContainers: [{name: c, image: i, volumeDevices: [{name: v}]}]",
    "EmptyDirVolumeSource.medium": "volumes: [{name: v, emptyDir: {medium: HugePages}}]",
}
METADATA = {"ObjectMeta.ownerReferences": "ownerReferences: [{apiVersion: v1, kind: Node, name: n, uid: u}]"}
METADATA |= {"ObjectMeta.annotations": "annotations: {container.apparmor.security.beta.kubernetes.io/c: localhost/p}"}
_EMPTY = "volumes: [{name: v, %s: {}}]"
_SOURCE = "volumes: [{name: v, projected: {sources: [{%s: {path: t}}]}}]"
for _key in named_fields():
    _type, _name = _key.split(".")
    if _type in {"Volume", "VolumeProjection"}:
        SPEC[_key] = (_EMPTY if _type == "Volume" else _SOURCE) % _name


def _manifest(key: str) -> str:
    spec = SPEC.get(key, "")
    containers = "" if spec.startswith("containers:") else "containers: [{name: c, image: i}], "
    return f"apiVersion: v1\nkind: Pod\nmetadata: {{name: p, {METADATA.get(key, '')}}}\nspec: {{{containers}{spec}}}\n"


def _warnings(key: str, gates: FeatureGates) -> list[str]:
    """Return what validate and run say of a manifest that has the field: both ask admit."""
    rng = Random(1)  # noqa: S311 - names alone
    admitted = admit(load_text(_manifest(key)), gates, rng, SafetyPolicy())
    return [f"{each.path}: {each.text}" for each in admitted.problems if each.severity == "warning"]


@pytest.mark.parametrize(
    ("spec", "where"),
    [
        ("containers: [{name: c, image: i, resources: {limits: {memory: 6Mi}}}]", []),
        ("containers: [{name: c, image: i, resources: {limits: {memory: 0}}}]", []),
        ("containers: [{name: c, image: i, resources: {limits: {memory: 5M}}}]", ["spec.containers[0].resources"]),
        (
            (
                "initContainers: [{name: a, image: i, resources: {limits: {memory: 1}}}],"
                " containers: [{name: c, image: i}], resources: {limits: {memory: 4Mi}}"
            ),
            ["spec.resources", "spec.initContainers[0].resources"],
        ),
    ],
)
def test_a_memory_limit_that_an_engine_refuses_is_named(spec: str, where: list[str]) -> None:
    text = f"apiVersion: v1\nkind: Pod\nmetadata: {{name: p}}\nspec: {{{spec}}}\n"
    admitted = admit(load_text(text), ALL_GATES, Random(1), SafetyPolicy())  # noqa: S311 - names alone
    told = [each for each in admitted.problems if "less than 6Mi" in each.text]
    assert [each.path for each in told] == [f"{each}.limits[memory]" for each in where]


def test_every_field_is_in_one_class_and_every_class_has_fields_alone() -> None:
    found = {f"{each.type}.{each.name}" for each in walk()}
    assert {*named_fields(), *PARTS} <= found


def test_the_page_is_what_the_table_gives() -> None:
    assert PAGE.read_text() == field_page(), "make fields"


@pytest.mark.parametrize("key", [*named_fields(), *PARTS])
def test_what_does_not_work_is_named_in_a_warning(key: str) -> None:
    gates = FeatureGates() if key == "Lifecycle.stopSignal" else ALL_GATES
    name = key.split(".")[1]
    assert any(name in warning for warning in _warnings(key, gates)), _warnings(key, gates)


@pytest.mark.parametrize("key", [key for key in SCHEDULING if not key.startswith("PodSpec.")])
def test_an_affinity_that_is_used_in_part_says_which_part_is_not(key: str) -> None:
    assert any(f".{key.split('.')[1]}: " in warning for warning in _warnings(key, FeatureGates()))
