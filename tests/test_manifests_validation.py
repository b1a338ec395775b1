"""Rules of validation beside the decision tables: one row a rule, with the path and the text of a v1.36 server."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from kubelet_emu import manifests
from kubelet_emu.api.meta import LabelSelector, LabelSelectorRequirement
from kubelet_emu.config.features import FeatureGates, gates_for
from kubelet_emu.manifests.validation import object_faults, object_warnings, update_faults, validate
from kubelet_emu.manifests.validation.job_policies import count_indexes
from kubelet_emu.manifests.validation.metadata import selector_matches
from kubelet_emu.manifests.validation.names import file_path_errors, qualified_name_errors

if TYPE_CHECKING:
    from kubelet_emu.manifests.loading import APIObject

GATES = FeatureGates()
C = "{name: c, image: 'busybox:1'}"


def read(text: str) -> APIObject:
    result = manifests.load_text(text)
    assert result.problems == ()
    return result.objects[0].object


def pod(spec: str, metadata: str = "{name: p}") -> APIObject:
    return read(f"apiVersion: v1\nkind: Pod\nmetadata: {metadata}\nspec: {{{spec}}}\n")


def faults(obj: APIObject, gates: FeatureGates = GATES) -> list[str]:
    return [f"{fault.path}: {fault.text}" for fault in object_faults(obj, gates)]


def starts(said: list[str], expected: list[str]) -> bool:
    return len(said) == len(expected) and all(one.startswith(two) for one, two in zip(said, expected, strict=True))


CONTAINER = "spec.containers[0]"
OF_A_CONTAINER: list[tuple[str, str, list[str]]] = [
    (
        "a header's name",
        "livenessProbe: {httpGet: {port: 80, httpHeaders: [{name: 'a b', value: x}]}}",
        [f'{CONTAINER}.livenessProbe.httpGet.httpHeaders: Invalid value: "a b": a valid HTTP header must consist of'],
    ),
    (
        "a port name with a dash at its end",
        "ports: [{containerPort: 80, name: a-}]",
        [f'{CONTAINER}.ports[0].name: Invalid value: "a-": must not begin or end with a hyphen'],
    ),
    (
        "the same port name twice",
        "ports: [{containerPort: 80, name: a}, {containerPort: 81, name: a}]",
        [f'{CONTAINER}.ports[1].name: Duplicate value: "a"'],
    ),
    (
        "a hook's port that is not said",
        "lifecycle: {postStart: {tcpSocket: {}}}",
        [f"{CONTAINER}.lifecycle.postStart.tcpSocket.port: Invalid value: 0: must be between 1 and 65535, inclusive"],
    ),
    (
        "an unknown resize policy",
        "resizePolicy: [{resourceName: cpu, restartPolicy: X}]",
        [f'{CONTAINER}.resizePolicy: Unsupported value: "X": supported values: "NotRequired", "RestartContainer"'],
    ),
    (
        "an empty resize policy",
        "resizePolicy: [{}]",
        [f"{CONTAINER}.resizePolicy: Required value", f"{CONTAINER}.resizePolicy: Required value"],
    ),
    (
        "a resource with a bad name",
        "resources: {limits: {'a b': 1}}",
        [
            f'{CONTAINER}.resources.limits[a b]: Invalid value: "a b": name part must consist of',
            f'{CONTAINER}.resources.limits[a b]: Invalid value: "a b": must be a standard resource for containers',
            f'{CONTAINER}.resources.requests[a b]: Invalid value: "a b": name part must consist of',
            f'{CONTAINER}.resources.requests[a b]: Invalid value: "a b": must be a standard resource for containers',
        ],
    ),
    (
        "huge pages of no size",
        "resources: {limits: {hugepages-x: 1, cpu: 1}}",
        [
            f'{CONTAINER}.resources.limits[hugepages-x]: Invalid value: "1": 1 is not positive integer multiple of',
            f'{CONTAINER}.resources.requests[hugepages-x]: Invalid value: "1": 1 is not positive integer multiple of',
        ],
    ),
    ("a claim without a name", "resources: {claims: [{}]}", [f"{CONTAINER}.resources.claims[0]: Required value"]),
    (
        "memory in steps of thousandths",
        "env: [{name: A, valueFrom: {resourceFieldRef: {resource: limits.memory, divisor: 1m}}}]",
        [f'{CONTAINER}.env[0].valueFrom.resourceFieldRef.divisor: Invalid value: "limits.memory": only divisor\'s'],
    ),
    (
        "storage in odd steps",
        "env: [{name: A, valueFrom: {resourceFieldRef: {resource: limits.ephemeral-storage, divisor: 3}}}]",
        [f'{CONTAINER}.env[0].valueFrom.resourceFieldRef.divisor: Invalid value: "limits.ephemeral-storage": only'],
    ),
    (
        "another version of fields",
        "env: [{name: A, valueFrom: {fieldRef: {apiVersion: v2, fieldPath: metadata.name}}}]",
        [
            (
                f'{CONTAINER}.env[0].valueFrom.fieldRef.fieldPath: Invalid value: "metadata.name": error converting '
                "fieldPath: "
                "unsupported pod version: v2"
            )
        ],
    ),
    ("the old name of nodeName", "env: [{name: A, valueFrom: {fieldRef: {fieldPath: spec.host}}}]", []),
    (
        "a bad annotation key",
        "env: [{name: A, valueFrom: {fieldRef: {fieldPath: \"metadata.annotations['a b']\"}}}]",
        [f'{CONTAINER}.env[0].valueFrom.fieldRef: Invalid value: "a b": name part must consist of'],
    ),
    (
        "an empty file reference",
        "env: [{name: A, valueFrom: {fileKeyRef: {}}}]",
        [
            f"{CONTAINER}.env[0].valueFrom.fileKeyRef.key: Required value",
            f"{CONTAINER}.env[0].valueFrom.fileKeyRef.volumeName: Required value",
            f"{CONTAINER}.env[0].valueFrom.fileKeyRef.path: Required value",
            f'{CONTAINER}.env[0].valueFrom.fileKeyRef.volumeName: Not found: ""',
        ],
    ),
    (
        "a file reference that goes up",
        "env: [{name: A, valueFrom: {fileKeyRef: {key: a=, volumeName: e, path: ../x}}}]",
        [
            f'{CONTAINER}.env[0].valueFrom.fileKeyRef.key: Invalid value: "a=": a valid environment variable name',
            f"{CONTAINER}.env[0].valueFrom.fileKeyRef.path: Invalid value: \"../x\": must not contain '..'",
        ],
    ),
    (
        "sources with bad names",
        "envFrom: [{configMapRef: {name: A}}, {secretRef: {}}]",
        [
            f'{CONTAINER}.envFrom[0].configMapRef.name: Invalid value: "A": a lowercase RFC 1123 subdomain',
            f"{CONTAINER}.envFrom[1].secretRef.name: Required value",
        ],
    ),
    (
        "two sources in one entry",
        "envFrom: [{configMapRef: {name: a}, secretRef: {name: b}}]",
        [f'{CONTAINER}.envFrom: Invalid value: "": may not have more than one field specified at a time'],
    ),
    (
        "a dot as key",
        "env: [{name: A, valueFrom: {configMapKeyRef: {name: m, key: ..}}}]",
        [f"{CONTAINER}.env[0].valueFrom.configMapKeyRef.key: Invalid value: \"..\": must not be '..'"],
    ),
    (
        "a subPathExpr that goes up",
        "volumeMounts: [{name: e, mountPath: /x, subPathExpr: ../$(A)}]",
        [f"{CONTAINER}.volumeMounts.subPathExpr: Invalid value: \"../$(A)\": must not contain '..'"],
    ),
    (
        "devices",
        "volumeDevices: [{name: '', devicePath: /d}, {name: zz, devicePath: /d}, {name: zz, devicePath: /../d}]",
        [
            f"{CONTAINER}.volumeDevices[0].name: Required value",
            f'{CONTAINER}.volumeDevices[0].name: Not found: ""',
            f'{CONTAINER}.volumeDevices[1].name: Not found: "zz"',
            f'{CONTAINER}.volumeDevices[1].devicePath: Invalid value: "/d": must be unique',
            f'{CONTAINER}.volumeDevices[2].name: Invalid value: "zz": must be unique',
            f'{CONTAINER}.volumeDevices[2].name: Not found: "zz"',
            f"{CONTAINER}.volumeDevices[2].devicePath: Invalid value: \"/../d\": can not contain backsteps ('..')",
        ],
    ),
    (
        "one path as mount and as device",
        "volumeMounts: [{name: e, mountPath: /x}], volumeDevices: [{name: k, devicePath: /x}]",
        [
            f'{CONTAINER}.volumeMounts[0].mountPath: Invalid value: "/x": must not already exist as a path in',
            f'{CONTAINER}.volumeDevices[0].devicePath: Invalid value: "/x": must not already exist as a path in',
        ],
    ),
    (
        "AppArmor without a profile",
        "securityContext: {appArmorProfile: {type: Localhost}}",
        [f"{CONTAINER}.securityContext.appArmorProfile.localhostProfile: Required value: must be set when"],
    ),
    (
        "AppArmor with blanks",
        "securityContext: {appArmorProfile: {type: Localhost, localhostProfile: ' a'}}",
        [f'{CONTAINER}.securityContext.appArmorProfile.localhostProfile: Invalid value: " a": must not be padded'],
    ),
    (
        "AppArmor with a very long profile",
        f"securityContext: {{appArmorProfile: {{type: Localhost, localhostProfile: {'a' * 4096}}}}}",
        [f"{CONTAINER}.securityContext.appArmorProfile.localhostProfile: Too long: may not be more than 4095 bytes"],
    ),
    (
        "AppArmor without a type",
        "securityContext: {appArmorProfile: {}}",
        [f"{CONTAINER}.securityContext.appArmorProfile.type: Required value: type is required"],
    ),
]


@pytest.mark.parametrize(("why", "text", "expected"), OF_A_CONTAINER, ids=[row[0] for row in OF_A_CONTAINER])
def test_of_a_container(why: str, text: str, expected: list[str]) -> None:
    volumes = "volumes: [{name: e}, {name: k, persistentVolumeClaim: {claimName: k}}]"

    said = faults(pod(f"containers: [{{name: c, image: 'busybox:1', {text}}}], {volumes}"))

    assert starts(said, expected), said


VOLUME = "spec.volumes[0]"
OF_A_VOLUME: list[tuple[str, str, list[str]]] = [
    ("no name", "{emptyDir: {}}", [f"{VOLUME}.name: Required value"]),
    (
        "a git repository",
        "{name: v, gitRepo: {directory: /a}}",
        [
            f"{VOLUME}.gitRepo.repository: Required value",
            f'{VOLUME}.gitRepo.directory: Invalid value: "/a": must be a relative path',
        ],
    ),
    (
        "an NFS server without a path",
        "{name: v, nfs: {server: s}}",
        [f"{VOLUME}.nfs.path: Required value", f'{VOLUME}.nfs.path: Invalid value: "": must be an absolute path'],
    ),
    ("a driver without a name", "{name: v, csi: {}}", [f"{VOLUME}.csi.driver: Required value"]),
    (
        "a claim without a mode it could have",
        "{name: v, ephemeral: {volumeClaimTemplate: {spec: {accessModes: [X]}}}}",
        [
            f'{VOLUME}.ephemeral.volumeClaimTemplate.spec.accessModes: Unsupported value: "X"',
            f"{VOLUME}.ephemeral.volumeClaimTemplate.spec.resources[storage]: Required value",
        ],
    ),
    (
        "a claim of nothing",
        (
            "{name: v, ephemeral: {volumeClaimTemplate: {spec: {accessModes: [ReadWriteOnce], "
            "resources: {requests: {storage: 0}}}}}}"
        ),
        [f'{VOLUME}.ephemeral.volumeClaimTemplate.spec.resources[storage]: Invalid value: "0": must be greater'],
    ),
    (
        "both references",
        (
            "{name: v, downwardAPI: {items: [{path: a, fieldRef: {fieldPath: metadata.name}, "
            "resourceFieldRef: {containerName: c, resource: limits.cpu}}]}}"
        ),
        [f'{VOLUME}.downwardAPI: Invalid value: "resource": fieldRef and resourceFieldRef can not be specified'],
    ),
    (
        "a resource of no container",
        "{name: v, downwardAPI: {items: [{path: a, resourceFieldRef: {resource: limits.cpu}}]}}",
        [f"{VOLUME}.downwardAPI.resourceFieldRef.containerName: Required value"],
    ),
    (
        "any key may be named: those of the secret are checked there",
        "{name: v, secret: {secretName: s, items: [{key: 'a b', path: a}]}}",
        [],
    ),
    (
        "projected: no name",
        "{name: v, projected: {sources: [{configMap: {}}]}}",
        [f"{VOLUME}.projected.sources[0].configMap.name: Required value"],
    ),
    (
        "projected: three kinds in one",
        ("{name: v, projected: {sources: [{secret: {name: s}, downwardAPI: {}, serviceAccountToken: {path: t}}]}}"),
        [f"{VOLUME}.projected.sources[0]: Forbidden: may not specify more than 1 volume type per source"],
    ),
    (
        "projected: a token that lives too long",
        ("{name: v, projected: {sources: [{serviceAccountToken: {path: t, expirationSeconds: 4294967297}}]}}"),
        [f"{VOLUME}.projected.sources[0].serviceAccountToken.expirationSeconds: Invalid value: 4294967297: may not"],
    ),
    (
        "projected: a token's file",
        ("{name: v, projected: {sources: [{serviceAccountToken: {path: /t}}, {serviceAccountToken: {}}]}}"),
        [
            f'{VOLUME}.projected.path: Invalid value: "/t": must be a relative path',
            f"{VOLUME}.projected.path: Required value",
        ],
    ),
    (
        "projected: the same downward file twice",
        (
            "{name: v, projected: {sources: [{downwardAPI: {items: [{path: a, "
            "fieldRef: {fieldPath: metadata.name}}]}}, "
            "{downwardAPI: {items: [{path: a, fieldRef: {fieldPath: metadata.uid}}]}}]}}"
        ),
        [f'{VOLUME}.projected: Invalid value: "a": conflicting duplicate paths'],
    ),
]


@pytest.mark.parametrize(("why", "text", "expected"), OF_A_VOLUME, ids=[row[0] for row in OF_A_VOLUME])
def test_of_a_volume(why: str, text: str, expected: list[str]) -> None:
    said = faults(pod(f"serviceAccountName: default, containers: [{C}], volumes: [{text}]"))

    assert starts(said, expected), said


REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
TERM = f"spec.affinity.nodeAffinity.{REQUIRED}.nodeSelectorTerms[0]"
OF_A_SPEC: list[tuple[str, str, list[str]]] = [
    (
        "an unknown effect",
        "tolerations: [{key: a, effect: X}]",
        ['spec.tolerations[0].effect: Unsupported value: "X": supported values: "NoSchedule", "PreferNoSchedule"'],
    ),
    (
        "expressions",
        (
            f"affinity: {{nodeAffinity: {{{REQUIRED}: {{nodeSelectorTerms: [{{matchExpressions: [{{key: a, "
            "operator: Exists, values: [b]}, {key: a, operator: Gt}, {key: a b, operator: X, values: [c d]}]}]}}}"
        ),
        [
            f"{TERM}.matchExpressions[0].values: Forbidden: may not be specified when `operator` is 'Exists'",
            f"{TERM}.matchExpressions[1].values: Required value: must be specified single value",
            f'{TERM}.matchExpressions[2].operator: Invalid value: "X": not a valid selector operator',
            f'{TERM}.matchExpressions[2].key: Invalid value: "a b": name part must consist of',
            f'{TERM}.matchExpressions[2].values[0]: Invalid value: "c d": a valid label must be',
        ],
    ),
    (
        "fields",
        (
            f"affinity: {{nodeAffinity: {{{REQUIRED}: {{nodeSelectorTerms: [{{matchFields: [{{key: a, operator: X}}, "
            "{key: metadata.name, operator: In}]}]}}}"
        ),
        [
            f'{TERM}.matchFields[0].operator: Invalid value: "X": not a valid selector operator',
            f'{TERM}.matchFields[0].key: Invalid value: "a": not a valid field selector key',
            f"{TERM}.matchFields[1].values: Required value: must be only one value",
        ],
    ),
    (
        "a weight",
        f"affinity: {{nodeAffinity: {{{PREFERRED}: [{{weight: 0, preference: {{}}}}]}}}}",
        [f"spec.affinity.nodeAffinity.{PREFERRED}[0].weight: Invalid value: 0: must be in the range 1-100"],
    ),
    (
        "selectors of pods",
        (
            f"affinity: {{podAffinity: {{{REQUIRED}: [{{topologyKey: a, namespaces: [A], labelSelector: "
            "{matchExpressions: [{key: a, operator: In}, {key: a, operator: Exists, values: [b]}, "
            "{key: a b, operator: X, "
            "values: [c d]}]}, namespaceSelector: {matchLabels: {a: b c}}}]}}"
        ),
        [
            f"spec.affinity.podAffinity.{REQUIRED}[0].labelSelector.matchExpressions[0].values: Required value",
            f"spec.affinity.podAffinity.{REQUIRED}[0].labelSelector.matchExpressions[1].values: Forbidden",
            f'spec.affinity.podAffinity.{REQUIRED}[0].labelSelector.matchExpressions[2].operator: Invalid value: "X"',
            f'spec.affinity.podAffinity.{REQUIRED}[0].labelSelector.matchExpressions[2].key: Invalid value: "a b"',
            f"spec.affinity.podAffinity.{REQUIRED}[0].labelSelector.matchExpressions[2].values[0]: Invalid",
            f'spec.affinity.podAffinity.{REQUIRED}[0].namespaceSelector.matchLabels: Invalid value: "b c"',
            f'spec.affinity.podAffinity.{REQUIRED}[0].namespace: Invalid value: "A"',
        ],
    ),
    (
        "a spread",
        (
            "topologySpreadConstraints: [{maxSkew: 1, whenUnsatisfiable: ScheduleAnyway, minDomains: 0, "
            "labelSelector: {}}, {maxSkew: 1, topologyKey: a b, whenUnsatisfiable: DoNotSchedule}]"
        ),
        [
            "spec.topologySpreadConstraints[0].topologyKey: Required value: can not be empty",
            "spec.topologySpreadConstraints[0].minDomains: Invalid value: 0: must be greater than zero",
            "spec.topologySpreadConstraints[0].minDomains: Invalid value: 0: can only use minDomains if when",
        ],
    ),
    (
        "a scheduling gate's name",
        "schedulingGates: [{name: a b}]",
        ['spec.schedulingGates[0]: Invalid value: "a b": name part must consist of'],
    ),
    (
        "a claim without a name",
        "resourceClaims: [{resourceClaimName: a}]",
        ["spec.resourceClaims[0].name: Required value"],
    ),
    ("no policy for names", "dnsPolicy: None", ["spec.dnsConfig: Required value: must provide `dnsConfig`"]),
    (
        "too many servers",
        "dnsConfig: {nameservers: [1.1.1.1, 1.1.1.2, 1.1.1.3, 1.1.1.4]}",
        ['spec.dnsConfig.nameservers: Invalid value: ["1.1.1.1","1.1.1.2","1.1.1.3","1.1.1.4"]: must'],
    ),
    (
        "too many domains",
        f"dnsConfig: {{searches: [{', '.join(f'a{n}' for n in range(33))}]}}",
        ["spec.dnsConfig.searches: Invalid value: ["],
    ),
    (
        "too long domains",
        f"dnsConfig: {{searches: [{', '.join(['.'.join(['a' * 60] * 4)] * 9)}]}}",
        ["spec.dnsConfig.searches: Invalid value: ["],
    ),
    (
        "an alias's name",
        "hostAliases: [{ip: 1.1.1.1, hostnames: [A_b]}]",
        ['spec.hostAliases[0].hostnames[0]: Invalid value: "A_b": a lowercase RFC 1123 subdomain'],
    ),
    (
        "a zone in an address",
        "hostAliases: [{ip: 'fe80::1%eth0'}]",
        ['spec.hostAliases[0].ip: Invalid value: "fe80::1%eth0"'],
    ),
    (
        "preemption",
        "preemptionPolicy: X",
        ['spec.preemptionPolicy: Unsupported value: "X": supported values: "PreemptLowerPriority", "Never"'],
    ),
    (
        "hostname override beside host network",
        "hostNetwork: true, hostnameOverride: a",
        ["spec.hostnameOverride: Forbidden: may not be specified when hostNetwork is true"],
    ),
    (
        "overhead",
        "overhead: {cpu: -1, gpu: 1}",
        [
            'spec.overhead.limits[cpu]: Invalid value: "-1": must be greater than or equal to 0',
            'spec.overhead.limits[gpu]: Invalid value: "gpu": must be a standard resource type',
            'spec.overhead.limits[gpu]: Invalid value: "gpu": must be a standard resource for containers',
        ],
    ),
    (
        "windows options on linux",
        "os: {name: linux}, securityContext: {windowsOptions: {}}",
        ["spec.securityContext.windowsOptions: Forbidden: windows options cannot be set for a linux pod"],
    ),
    (
        "a sysctl of a host namespace by slashes",
        "hostNetwork: true, securityContext: {sysctls: [{name: net/core/x, value: a}]}",
        ['spec.securityContext.sysctls[0].name: Invalid value: "net/core/x": may not'],
    ),
]


@pytest.mark.parametrize(("why", "text", "expected"), OF_A_SPEC, ids=[row[0] for row in OF_A_SPEC])
def test_of_a_spec(why: str, text: str, expected: list[str]) -> None:
    said = faults(pod(f"containers: [{C}], {text}"))

    assert starts(said, expected), said


def test_a_pod_without_containers() -> None:
    assert faults(pod("containers: []")) == ["spec.containers: Required value"]


def test_windows_options_of_a_container_on_linux() -> None:
    given = pod("os: {name: linux}, containers: [{name: c, image: a, securityContext: {windowsOptions: {}}}]")

    assert faults(given) == [
        f"{CONTAINER}.securityContext.windowsOptions: Forbidden: windows options cannot be set for a linux pod"
    ]


METADATA: list[tuple[str, str, list[str]]] = [
    ("a generateName", "{generateName: Ab-}", ['metadata.generateName: Invalid value: "Ab-": a lowercase RFC 1123']),
    ("one whose name is bad", "{generateName: A-}", ['metadata.name: Invalid value: "A-xxxxx": a lowercase RFC 1123']),
    ("an annotation key", "{name: p, annotations: {'a b': c}}", ['metadata.annotations: Invalid value: "a b"']),
    (
        "a finalizer",
        "{name: p, finalizers: ['a b', orphan, a.b/c]}",
        [
            'metadata.finalizers: Invalid value: "a b": name part must consist of',
            'metadata.finalizers[0]: Invalid value: "a b": name is neither a standard finalizer name nor is it fully',
        ],
    ),
    (
        "annotations without end",
        f"{{name: p, annotations: {{a: {'x' * 262144}}}}}",
        ["metadata.annotations: Too long: may not be more than 262144 bytes"],
    ),
]


@pytest.mark.parametrize(("why", "metadata", "expected"), METADATA, ids=[row[0] for row in METADATA])
def test_of_metadata(why: str, metadata: str, expected: list[str]) -> None:
    said = faults(pod(f"containers: [{C}]", metadata))

    assert starts(said, expected), said


def job(spec: str, template: str = "") -> APIObject:
    return read(
        f"apiVersion: batch/v1\nkind: Job\nmetadata: {{name: j}}\n"
        f"spec: {{{spec}template: {{spec: {{restartPolicy: Never, containers: [{C}]{template}}}}}}}\n"
    )


RULE = "spec.podFailurePolicy.rules[0]"
SUCCESS = "completionMode: Indexed, completions: 5, successPolicy: {rules: [%s]}, "
OF_A_JOB: list[tuple[str, str, list[str]]] = [
    (
        "too many conditions",
        f"podFailurePolicy: {{rules: [{{action: Count, onPodConditions: [{'{type: X}, ' * 21}]}}]}}, ",
        [f"{RULE}.onPodConditions: Too many: 21: must have at most 20 items"],
    ),
    (
        "a condition's type and status",
        "podFailurePolicy: {rules: [{action: Count, onPodConditions: [{type: a b, status: X}]}]}, ",
        [
            f'{RULE}.onPodConditions[0].type: Invalid value: "a b"',
            f'{RULE}.onPodConditions[0].status: Unsupported value: "X": supported values: "False", "True", "Unknown"',
        ],
    ),
    (
        "too many codes",
        (
            "podFailurePolicy: {rules: [{action: Count, onExitCodes: {operator: NotIn, values: "
            f"[{', '.join(map(str, range(256)))}]}}}}]}}, "
        ),
        [f"{RULE}.onExitCodes.values: Too many: 256: must have at most 255 items"],
    ),
    (
        "success: too many rules",
        SUCCESS % ("{succeededCount: 1}, " * 21),
        ["spec.successPolicy.rules: Too many: 21: must have at most 20 items"],
    ),
    (
        "success: a negative count",
        SUCCESS % "{succeededCount: -1}",
        ["spec.successPolicy.rules[0].succeededCount: Invalid value: -1: must be greater than or equal to 0"],
    ),
    (
        "success: a very long list",
        SUCCESS % f"{{succeededIndexes: '{'0,' * 32769}0'}}",
        [
            "spec.successPolicy.rules[0].succeededIndexes: Too long: may not be more than 65536 bytes",
            "spec.successPolicy.rules[0].succeededIndexes: Invalid value: ",
        ],
    ),
    (
        "very many indexes",
        (
            "completionMode: Indexed, completions: 100001, parallelism: 1, backoffLimitPerIndex: 1, "
            "maxFailedIndexes: 10001, "
        ),
        ["spec.maxFailedIndexes: Invalid value: 10001: must be less than or equal to 10000 when completions are above"],
    ),
    (
        "failed indexes without indexes",
        "maxFailedIndexes: 1, ",
        [
            "spec.backoffLimitPerIndex: Required value: when maxFailedIndexes is specified",
            "spec.maxFailedIndexes: Invalid value: 1: requires indexed completion mode",
        ],
    ),
]


@pytest.mark.parametrize(("why", "text", "expected"), OF_A_JOB, ids=[row[0] for row in OF_A_JOB])
def test_of_a_job(why: str, text: str, expected: list[str]) -> None:
    said = faults(job(text))

    assert starts(said, expected), said


INDEXES = [("", 0), ("0", 1), ("0,2-4", 4), ("1-3,5", 4)]
BAD_INDEXES = [
    ("2,1", "non-increasing"),
    ("3-1", "non-increasing"),
    ("1-2-3", "two parts"),
    ("9", "too large"),
    ("x", "convert"),
]


@pytest.mark.parametrize(("text", "count"), INDEXES)
def test_indexes_are_counted(text: str, count: int) -> None:
    assert count_indexes(text, 6) == count


@pytest.mark.parametrize(("text", "said"), BAD_INDEXES)
def test_what_is_no_list_of_indexes(text: str, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        count_indexes(text, 6)


def workload(kind: str, spec: str) -> APIObject:
    return read(f"apiVersion: apps/v1\nkind: {kind}\nmetadata: {{name: w}}\nspec: {{{spec}}}\n")


TEMPLATE = f"template: {{metadata: {{labels: {{a: b}}}}, spec: {{containers: [{C}]}}}}"


def test_a_workloads_selector_must_fit_its_template() -> None:
    assert faults(workload("Deployment", f"selector: {{matchLabels: {{a: b}}}}, {TEMPLATE}")) == []
    assert faults(workload("Deployment", TEMPLATE)) == [
        "spec.selector: Required value",
        'spec.template.metadata.labels: Invalid value: {"a":"b"}: `selector` does not match template `labels`',
    ]
    assert starts(
        faults(workload("Deployment", f"selector: {{matchLabels: {{a: c}}}}, {TEMPLATE}")),
        ["spec.template.metadata.labels: Invalid value: "],
    )


def test_a_workloads_pods_are_always_restarted() -> None:
    template = TEMPLATE.replace("spec: {", "spec: {restartPolicy: Never, ")

    assert faults(workload("ReplicaSet", f"selector: {{matchLabels: {{a: b}}}}, {template}")) == [
        'spec.template.spec.restartPolicy: Unsupported value: "Never": supported values: "Always"'
    ]


def test_a_cron_jobs_template_is_checked() -> None:
    spec = "{jobTemplate: {spec: {template: {spec: {}}}}}"
    text = f"{{apiVersion: batch/v1, kind: CronJob, metadata: {{name: c}}, spec: {spec}}}"

    assert faults(read(text)) == [
        "spec.schedule: Required value",
        "spec.jobTemplate.spec.template.spec.containers: Required value",
        'spec.jobTemplate.spec.template.spec.restartPolicy: Required value: valid values: "OnFailure", "Never"',
    ]


def test_names_of_other_objects_are_checked() -> None:
    assert starts(faults(read("{apiVersion: v1, kind: Secret, metadata: {name: A}}")), ["metadata.name: Invalid value"])


GATED: list[tuple[str, str, str, list[str]]] = [
    (
        "1.28 has no sidecars",
        "1.28",
        ("initContainers: [{name: s, image: a, restartPolicy: Always, startupProbe: {exec: {command: [a]}}}]"),
        ["spec.initContainers[0].startupProbe: Forbidden"],
    ),
    (
        "1.34 drops a container's own policy",
        "1.34",
        (
            "restartPolicy: Never, initContainers: [{name: s, image: a, "
            "restartPolicy: Never, restartPolicyRules: [{action: X}]}]"
        ),
        [],
    ),
    (
        "1.35 knows no restart of all",
        "1.35",
        (
            "initContainers: [{name: s, image: a, restartPolicy: Never, "
            "restartPolicyRules: [{action: RestartAllContainers, exitCodes: {operator: In, values: [1]}}]}]"
        ),
        ['spec.initContainers[0].restartPolicyRules[0].action: Unsupported value: "RestartAllContainers"'],
    ),
    (
        "1.33 has no files of variables",
        "1.33",
        (
            "initContainers: [{name: s, image: a, env: [{name: A, value: x}, {name: B, "
            "valueFrom: {fileKeyRef: {volumeName: v, path: p, key: k}}}]}]"
        ),
        ['spec.initContainers[0].env[1].valueFrom: Invalid value: "": must specify one of'],
    ),
    ("1.33 has no pod-level resources", "1.33", "resources: {limits: {gpu: 1}}, hostnameOverride: A", []),
    (
        "1.34 drops an image volume",
        "1.34",
        "volumes: [{name: v, image: {reference: a}}]",
        [],
    ),
]


@pytest.mark.parametrize(("why", "version", "text", "expected"), GATED, ids=[row[0] for row in GATED])
def test_older_versions(why: str, version: str, text: str, expected: list[str]) -> None:
    said = faults(pod(f"containers: [{C}], {text}"), gates_for(version))

    assert starts(said, expected), said


def test_stop_signals_and_tolerations_that_compare_are_gated() -> None:
    gates = FeatureGates(overrides={"ContainerStopSignals": True, "TaintTolerationComparisonOperators": True})
    stop = "containers: [{name: c, image: a, lifecycle: {stopSignal: SIGUSR1}}]"

    assert starts(
        faults(pod(f"os: {{name: windows}}, {stop}"), gates), [f"{CONTAINER}.lifecycle.stopSignal: Unsupported"]
    )
    assert faults(pod(f"containers: [{C}], tolerations: [{{key: a, operator: Gt, value: '5'}}]"), gates) == []
    assert faults(pod(f"containers: [{C}], tolerations: [{{key: a, operator: Gt, value: x}}]"), gates) == [
        'spec.tolerations[0].value: Invalid value: "x": must be a valid integer'
    ]


WARNED: list[tuple[str, str, list[str]]] = [
    (
        "a negative grace",
        "terminationGracePeriodSeconds: -1",
        ["spec.terminationGracePeriodSeconds: must be >= 0; negative values are invalid and will be treated as 1"],
    ),
    (
        "an address twice",
        "hostAliases: [{ip: 1.1.1.1}, {ip: 1.1.1.1}]",
        ['spec.hostAliases[1].ip: duplicate ip "1.1.1.1"'],
    ),
    (
        "the name of a port twice",
        (
            "initContainers: [{name: s, image: a, restartPolicy: Always, ports: [{containerPort: 1, "
            "name: web}]}, {name: i, image: a, ports: [{containerPort: 2, name: web}]}], "
            "containers: [{name: c, image: a, "
            "ports: [{containerPort: 3, name: web}]}]"
        ),
        [
            (
                'spec.containers[0].ports[0]: duplicate port name "web" with spec.initContainers[0].ports[0], '
                "services and probes "
                "that select ports by name will use spec.initContainers[0].ports[0]"
            )
        ],
    ),
    (
        "a variable that builds on itself",
        ("containers: [{name: c, image: a, env: [{name: A, value: x}, {name: A, value: $(A)x}]}]"),
        [],
    ),
    (
        "a variable that is only itself",
        ("containers: [{name: c, image: a, env: [{name: A, value: x}, {name: A, value: $(A)}]}]"),
        ['spec.containers[0].env[1]: hides previous definition of "A", which may be dropped when using apply'],
    ),
    (
        "a variable from elsewhere behind a value",
        (
            "containers: [{name: c, image: a, env: [{name: A, value: x}, "
            "{name: A, valueFrom: {fieldRef: {fieldPath: metadata.name}}}]}]"
        ),
        ['spec.containers[0].env[1]: hides previous definition of "A", which may be dropped when using apply'],
    ),
    (
        "a secret for images twice",
        "imagePullSecrets: [{name: a}, {name: a}]",
        ['spec.imagePullSecrets[1].name: duplicate name "a"'],
    ),
    (
        "half a byte of overhead",
        "overhead: {memory: 1500m}",
        ['spec.overhead[memory]: fractional byte value "1500m" is invalid, must be an integer'],
    ),
    (
        "ports that are near each other",
        (
            "containers: [{name: c, image: a, ports: [{containerPort: 80, hostPort: 80, hostIP: 10.0.0.1}, "
            "{containerPort: 80, hostPort: 80}, {containerPort: 80, hostPort: 81}, "
            "{containerPort: 81, hostIP: 1.1.1.1}, "
            "{containerPort: 81, hostPort: 5}]}]"
        ),
        [
            "spec.containers[0].ports[1]: dangerously ambiguous port definition with spec.containers[0].ports[0]",
            (
                "spec.containers[0].ports[3]: hostIP set without hostPort: "
                "{Name: HostPort:0 ContainerPort:81 Protocol:TCP HostIP:1.1.1.1}"
            ),
            "spec.containers[0].ports[4]: overlapping port definition with spec.containers[0].ports[3]",
        ],
    ),
    (
        "old labels of nodes",
        (
            "nodeSelector: {beta.kubernetes.io/os: linux, a: b}, "
            "topologySpreadConstraints: [{maxSkew: 1, topologyKey: failure-domain.beta.kubernetes.io/zone, "
            "whenUnsatisfiable: DoNotSchedule}]"
        ),
        [
            ('spec.nodeSelector[beta.kubernetes.io/os]: deprecated since v1.14; use "kubernetes.io/os" instead'),
            (
                "spec.topologySpreadConstraints[0].topologyKey: failure-domain.beta.kubernetes.io/zone is "
                'deprecated since v1.17; use "topology.kubernetes.io/zone" instead'
            ),
            "spec.topologySpreadConstraints[0].labelSelector: a null labelSelector results in matching no pod",
        ],
    ),
    (
        "terms of nodes",
        (
            f"affinity: {{nodeAffinity: {{{REQUIRED}: {{nodeSelectorTerms: [{{matchExpressions: "
            f"[{{key: beta.kubernetes.io/arch, operator: In, values: [a b]}}]}}]}}, {PREFERRED}: [{{weight: 1, "
            "preference: "
            "{matchExpressions: [{key: beta.kubernetes.io/os, operator: Exists}]}}, {weight: 1}]}}"
        ),
        [
            (
                f"{TERM}.matchExpressions[0].key: beta.kubernetes.io/arch is "
                'deprecated since v1.14; use "kubernetes.io/arch" instead'
            ),
            (
                f"{TERM}.matchExpressions[0].values[0]: a b is invalid, a valid label must be an empty string or "
                "consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric "
                "character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is "
                "'(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"
            ),
            (
                f"spec.affinity.nodeAffinity.{PREFERRED}[0].preference.matchExpressions[0].key: "
                'beta.kubernetes.io/os is deprecated since v1.14; use "kubernetes.io/os" instead'
            ),
        ],
    ),
    (
        "terms of pods that match none",
        (
            f"affinity: {{podAffinity: {{{REQUIRED}: [{{topologyKey: a}}]}}, podAntiAffinity: {{{PREFERRED}: "
            "[{weight: 1, podAffinityTerm: {topologyKey: a}}, {weight: 1}]}}"
        ),
        [
            f"spec.affinity.{where}.labelSelector: a null labelSelector results in matching no pod"
            for where in (
                f"podAffinity.{REQUIRED}[0]",
                f"podAntiAffinity.{PREFERRED}[0].podAffinityTerm",
                f"podAntiAffinity.{PREFERRED}[1].podAffinityTerm",
            )
        ],
    ),
    (
        "half a byte",
        "containers: [{name: c, image: a, resources: {requests: {memory: 500m}}}]",
        ['spec.containers[0].resources.requests[memory]: fractional byte value "500m" is invalid, must be an integer'],
    ),
]


@pytest.mark.parametrize(("why", "text", "expected"), WARNED, ids=[row[0] for row in WARNED])
def test_warnings(why: str, text: str, expected: list[str]) -> None:
    own = "" if "containers: [{name: c" in text else f", containers: [{C}]"
    given = pod(f"{text}{own}")

    assert [f"{each.path}: {each.detail}" for each in object_warnings(given, GATES)] == expected


def test_a_name_that_is_no_label_is_warned_of() -> None:
    given = pod(f"containers: [{C}]", f"{{name: {'a' * 64}}}")

    assert ["must be no more than 63 characters" in each.detail for each in object_warnings(given, GATES)] == [True]


def test_old_annotations_are_warned_of() -> None:
    seccomp, pod_seccomp = "container.seccomp.security.alpha.kubernetes.io/", "seccomp.security.alpha.kubernetes.io/pod"
    keys = [f"{seccomp}c", f"{seccomp}other", pod_seccomp, "scheduler.alpha.kubernetes.io/critical-pod"]
    metadata = f"{{name: p, annotations: {{{', '.join(f'{key}: runtime/default' for key in keys)}}}}}"
    profile = "securityContext: {seccompProfile: {type: RuntimeDefault}}"
    no_profile = 'non-functional in v1.27+; use the "seccompProfile" field instead'
    critical = 'non-functional in v1.16+; use the "priorityClassName" field instead'

    warned = [each.detail for each in object_warnings(pod(f"containers: [{C}]", metadata), GATES)]
    said = object_warnings(pod(f"{profile}, containers: [{{name: c, image: a, {profile}}}]", metadata), GATES)

    assert warned == [no_profile, no_profile, critical]
    assert [each.detail for each in said] == [critical]


def test_a_cron_jobs_template_is_warned_of() -> None:
    spec = f"{{restartPolicy: Never, terminationGracePeriodSeconds: -1, containers: [{C}]}}"
    text = (
        "{apiVersion: batch/v1, kind: CronJob, metadata: {name: c}, "
        f"spec: {{schedule: '* * * * *', jobTemplate: {{spec: {{template: {{spec: {spec}}}}}}}}}}}"
    )

    assert [each.path for each in object_warnings(read(text), GATES)] == [
        "spec.jobTemplate.spec.template.spec.terminationGracePeriodSeconds"
    ]


def test_templates_are_warned_of_and_other_objects_are_not() -> None:
    template = job("", ", terminationGracePeriodSeconds: -1")

    assert [each.path for each in object_warnings(template, GATES)] == [
        "spec.template.spec.terminationGracePeriodSeconds"
    ]
    assert object_warnings(read("{apiVersion: v1, kind: Secret, metadata: {name: a}}"), GATES) == ()


UPDATES: list[tuple[str, str, str, list[str]]] = [
    (
        "an init container more",
        f"containers: [{C}]",
        f"containers: [{C}], initContainers: [{{name: i, image: a}}]",
        ["spec.initContainers: Forbidden: pod updates may not add or remove containers"],
    ),
    ("another image", f"containers: [{C}]", "containers: [{name: c, image: 'busybox:2'}]", []),
    ("a toleration more", f"containers: [{C}]", f"containers: [{C}], tolerations: [{{key: a, operator: Exists}}]", []),
    (
        "a selector of a gated pod",
        f"containers: [{C}], schedulingGates: [{{name: a}}]",
        f"containers: [{C}], nodeSelector: {{a: b}}",
        [],
    ),
]


@pytest.mark.parametrize(("why", "old", "new", "expected"), UPDATES, ids=[row[0] for row in UPDATES])
def test_updates(why: str, old: str, new: str, expected: list[str]) -> None:
    said = [f"{each.path}: {each.text}" for each in update_faults(pod(new), pod(old), GATES)]

    assert starts(said, expected), said


def test_a_suspended_job_may_be_scheduled_otherwise() -> None:
    def template(selector: str) -> dict[str, Any]:
        return {"new": job("suspend: true, completions: 1, ", f", nodeSelector: {{a: {selector}}}")}

    assert update_faults(template("b")["new"], template("c")["new"], GATES) == ()


def test_selectors() -> None:
    def fits(operator: str, *values: str) -> bool:
        expression = LabelSelectorRequirement(key="a", operator=operator, values=values)
        return selector_matches(LabelSelector(match_expressions=(expression,)), {"a": "1"})

    assert [fits("In", "1"), fits("NotIn", "1"), fits("Exists"), fits("DoesNotExist")] == [True, False, True, False]


def test_names_and_paths() -> None:
    assert "optional DNS subdomain prefix" in qualified_name_errors("a/b/c")[0]
    assert qualified_name_errors("A/b")[0].startswith("prefix part a lowercase RFC 1123 subdomain")
    assert qualified_name_errors("a" * 64) == ["name part must be no more than 63 bytes"]
    assert file_path_errors("../a") == ["must not contain '..'"]


def test_a_fault_that_only_follows_from_another_is_not_told() -> None:
    text = (
        "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec:\n  containers:\n  - name: c\n    image: a\n"
        "    ports: [{containerPort: x}]\n    livenessProbe: {exec: []}\n    resources: {limits: {cpu: -1}}\n"
    )
    result = manifests.load_text(text)

    assert [problem.path for problem in result.problems] == [
        "spec.containers[0].ports[0].containerPort",
        "spec.containers[0].livenessProbe.exec",
    ]
    assert [problem.path for problem in validate(result.objects, GATES)] == ["spec.containers[0].resources.limits[cpu]"]
