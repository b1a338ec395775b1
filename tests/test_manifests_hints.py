"""Hints: what a newcomer is told to write instead, and that what follows from one mistake isn't told as a second."""

from __future__ import annotations

import pytest

from kubelet_emu.config.features import FeatureGates
from kubelet_emu.manifests import load_text
from kubelet_emu.manifests.validation import validate

POD = "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec:\n"
C = "  containers: [{name: c, image: 'a:1'%s}]\n"
DEPLOYMENT = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: d}\nspec:\n"
LABELS = "  selector: {matchLabels: {app: a}}\n  template:\n    metadata: {labels: {app: a}}\n"


def told(text: str) -> list[str]:
    """Return line, path and hint of each error."""
    result = load_text(text)
    problems = (*result.problems, *validate(result.objects, FeatureGates()))
    return [f"{each.line} {each.path}: {each.hint}" for each in problems if each.severity == "error"]


# why, the manifest, all that is told
HINTS = [
    ("a typo, and not what is missing then", POD + "  containres: [{name: c, image: a}]", [
        "5 spec.containres: did you mean 'containers'?"]),
    ("another case", POD + C % ", ports: [{containerport: 80}]", [
        "5 spec.containers[0].ports[0].containerport: did you mean 'containerPort'?"]),
    ("the spec of a template at the wrong place", DEPLOYMENT + LABELS + "  spec: {containers: [{name: c, image: a}]}", [
        "8 spec.spec: 'spec' belongs to 'template': is it indented too little?"]),
    ("a pod's spec in a Deployment", DEPLOYMENT + LABELS + "  containers: [{name: c, image: a}]", [
        "8 spec.containers: 'containers' belongs to spec.template.spec.containers: is a line spec: missing?"]),
    ("a pod's spec in a Job", "apiVersion: batch/v1\nkind: Job\nmetadata: {name: j}\nspec:\n" + C % "", [
        ("5 spec.containers: 'containers' belongs to spec.template.spec.containers: "
         "are lines template: and spec: missing?"),
        ("4 spec.template.spec.restartPolicy: write restartPolicy: Never or OnFailure; "
         "Always for a sidecar stands in the init container")]),
    ("a CronJob without its Job's spec", ("apiVersion: batch/v1\nkind: CronJob\nmetadata: {name: c}\nspec:\n"
      "  schedule: '@daily'\n  jobTemplate:\n    template: {spec: {containers: [{name: c, image: a}]}}"), [
        "7 spec.jobTemplate.template: 'template' belongs to spec.jobTemplate.spec.template: is a line spec: missing?"]),
    ("the name of a claim", POD + C % "" + "  volumes: [{name: v, persistentVolumeClaim: {name: x}}]", [
        "6 spec.volumes[0].persistentVolumeClaim.name: did you mean 'claimName'?"]),
    ("the name of a Secret", POD + C % "" + "  volumes: [{name: v, secret: {name: x}}]", [
        "6 spec.volumes[0].secret.name: did you mean 'secretName'?"]),
    ("a dash that is missing", POD + "  containers: {name: c, image: a}", [
        "5 spec.containers: begin each item with a dash: - name: ..."]),
    ("a dash too many", POD + C % ", securityContext: [{runAsUser: 1}]", [
        "5 spec.containers[0].securityContext: remove the dash: this is one mapping, not a list of them"]),
    ("variables as a mapping", POD + C % ", env: {A: b}", [
        "5 spec.containers[0].env: write each as an item: - name: A, and in the next line value: ..."]),
    ("a mapping in the place of words", POD + C % ", command: {sh: -c}", [
        "5 spec.containers[0].command: write a list: each item begins with a dash"]),
    ("a command as text", POD + C % ", command: sleep 5", ['5 spec.containers[0].command: write ["sleep", "5"]']),
    ("a command for a shell", POD + C % ", args: 'a && b'", [
        '5 spec.containers[0].args: write ["sh", "-c", "a && b"]']),
    ("a list as text", POD + C % ", securityContext: {capabilities: {add: NET_ADMIN}}", [
        "5 spec.containers[0].securityContext.capabilities.add: write [NET_ADMIN]"]),
    ("a list of mappings as text", POD + C % ", ports: 80", [
        "5 spec.containers[0].ports: write a list: each item begins with a dash"]),
    ("a name for a reference", POD + C % "" + "  imagePullSecrets: [regcred]", [
        "6 spec.imagePullSecrets[0]: write name: regcred"]),
    ("text for a mapping without names", POD + C % ", lifecycle: stop", ["5 spec.containers[0].lifecycle: "]),
    ("a colon in a word", POD + C % ", command: [sh, -c, echo: a]", [
        "5 spec.containers[0].command[2]: quote the whole text: a colon with a blank after it makes it a mapping"]),
    ("a mapping in a ConfigMap", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\ndata: {a: {b: c}}", [
        "4 data[a]: put | after the colon, to keep what follows as text"]),
    ("an empty mapping for text", POD + C % ", workingDir: {}", ["5 spec.containers[0].workingDir: "]),
    ("a list for text", POD + C % ", workingDir: [a]", ["5 spec.containers[0].workingDir: "]),
    ("a value that isn't encoded", "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\ndata: {a: 'b!'}", [
        "4 data[a]: encode it with base64, or write it as it is in stringData of a Secret"]),
    ("root as a number", POD + C % ", securityContext: {runAsUser: root}", [
        "5 spec.containers[0].securityContext.runAsUser: write its number: 0"]),
    ("a name with capitals", "apiVersion: v1\nkind: Pod\nmetadata: {name: My_Pod.}\nspec:\n" + C % "", [
        "3 metadata.name: write my-pod"]),
    ("a container's name", POD + "  containers: [{name: My App.x, image: a}]", [
        "5 spec.containers[0].name: write my-app-x"]),
    ("a label's prefix", "apiVersion: v1\nkind: Pod\nmetadata: {name: p, labels: {My_Co/App: a}}\nspec:\n" + C % "", [
        "3 metadata.labels: write my-co/App"]),
    ("a long name", f"apiVersion: v1\nkind: Pod\nmetadata: {{name: {'a' * 70}_b}}\nspec:\n" + C % "", [
        f"3 metadata.name: write {'a' * 70}-b"]),
    ("a docker configuration that isn't shown", ("apiVersion: v1\nkind: Secret\nmetadata: {name: s}\n"
     "type: kubernetes.io/dockerconfigjson\nstringData: {.dockerconfigjson: x}"), [
        "5 data[.dockerconfigjson]: "]),
    ("a port without its field", POD + C % ", ports: [80]", [
        "5 spec.containers[0].ports[0]: write {containerPort: 80}"]),
    ("a variable as a shell has it", POD + C % ", env: [A=b=1]", [
        '5 spec.containers[0].env[0]: write {name: A, value: "b=1"}']),
    ("a variable's name alone", POD + C % ", env: [A]", ["5 spec.containers[0].env[0]: write name: A"]),
    ("thousandths after a blank", POD + C % ", resources: {limits: {cpu: 500 m}}", [
        "5 spec.containers[0].resources.limits[cpu]: write 500m"]),
    ("small letters in a unit", POD + C % ", resources: {limits: {memory: 64mb}}", [
        "5 spec.containers[0].resources.limits[memory]: write 64M or 64Mi"]),
    ("limits without their line", POD + C % ", limits: {cpu: 1}", [
        ("5 spec.containers[0].limits: 'limits' belongs to spec.containers[0].resources.limits: "
         "is a line resources: missing?")]),
    ("a handler that more than one probe could have", POD + C % ", httpGet: {port: 1}", [
        "5 spec.containers[0].httpGet: "]),
    ("a selector of a Job", ("apiVersion: batch/v1\nkind: Job\nmetadata: {name: j}\nspec:\n"
     "  selector: {matchLabels: {a: b}}\n"
     "  template: {spec: {restartPolicy: Never, containers: [{name: c, image: a}]}}"), [
        ("6 spec.template.metadata.labels: leave the selector out: a server makes it, "
         "and the labels that it selects")]),
    ("a name of nothing but marks", POD + "  containers: [{name: '__', image: a}]", ["5 spec.containers[0].name: "]),
    ("a template in quotes", "apiVersion: v1\nkind: Pod\nmetadata: {name: '{{ .Name }}'}\nspec:\n" + C % "", [
        ("3 metadata.name: is this a template that isn't filled in? "
         "Render it first (helm template, kustomize, envsubst)")]),
    ("a mount of a volume by another name", POD + C % ", volumeMounts: [{name: confg, mountPath: /c}]"
     + "  volumes: [{name: config, emptyDir: {}}]", [
        "5 spec.containers[0].volumeMounts[0].name: did you mean 'config'?"]),
    ("a mount of no volume", POD + C % ", volumeMounts: [{name: data, mountPath: /c}]", [
        "5 spec.containers[0].volumeMounts[0].name: the pod's volumes need one of this name: - name: data"]),
    ("a device of no volume and of no name", POD + C % ", volumeDevices: [{name: '', devicePath: /c}]", [
        "5 spec.containers[0].volumeDevices[0].name: ", "5 spec.containers[0].volumeDevices[0].name: "]),
    ("labels that the selector doesn't select", DEPLOYMENT + "  selector: {matchLabels: {app: a, b: c}}\n"
     "  template: {metadata: {labels: {app: x, b: c}}, spec: {containers: [{name: c, image: a}]}}", [
        "6 spec.template.metadata.labels: the selector wants app: a"]),
    ("a pod's field in a container's securityContext", POD + C % ", securityContext: {fsGroup: 5}", [
        "5 spec.containers[0].securityContext.fsGroup: 'fsGroup' belongs to spec.securityContext.fsGroup"]),
    ("a container's field in a pod's securityContext", POD + C % "" + "  securityContext: {privileged: true}", [
        "6 spec.securityContext.privileged: 'privileged' belongs to the securityContext of a container"]),
    ("a selector's name", POD + C % ", env: [{name: A, valueFrom: {secretKeyRef: {secret: s, key: k}}}]", [
        "5 spec.containers[0].env[0].valueFrom.secretKeyRef.secret: did you mean 'name'?"]),
    ("a source of variables", POD + C % ", envFrom: [{configMap: {name: x}}]", [
        "5 spec.containers[0].envFrom[0].configMap: did you mean 'configMapRef'?"]),
    ("a port alone", POD + C % ", livenessProbe: {tcpSocket: 80}", [
        "5 spec.containers[0].livenessProbe.tcpSocket: write {port: 80}"]),
    ("a number of seconds alone", POD + C % ", lifecycle: {preStop: {sleep: 5}}", [
        "5 spec.containers[0].lifecycle.preStop.sleep: write {seconds: 5}"]),
    ("a resource by a short name", POD + C % ", resources: {requests: {mem: 1Gi}}", [
        "5 spec.containers[0].resources.requests[mem]: did you mean 'memory'?"] * 2),
    ("a template in quotes isn't what breaks", POD + "  containers:\n  - name: '{{ .Name }}'\n    image: a:\n", [
        "7 : check the indentation, or quote text with ': '"]),
    ("neither kind nor version", "metadata: {name: p}\nspec: {containers: [{name: c, image: a}]}", [
        "1 apiVersion: is it a Pod? Write apiVersion: v1", "1 kind: is it a Pod? Write kind: Pod"]),
    ("marks of a merge", "apiVersion: v1\n<<<<<<< HEAD\nkind: Pod\n=======\nkind: Job\n>>>>>>> b\n", [
        "2 : settle the conflict first, and remove the marks"]),
]  # fmt: skip


@pytest.mark.parametrize(("why", "text", "expected"), HINTS, ids=[row[0] for row in HINTS])
def test_each_mistake_is_told_once_with_what_mends_it(why: str, text: str, expected: list[str]) -> None:
    assert told(text) == expected


def test_two_documents_without_a_line_between_them() -> None:
    problems = load_text((POD + C % "") * 2).problems

    assert [each.hint for each in problems] == ["is a line --- missing before it?"] * 2 + [""] * 2


def test_a_name_that_is_refused_is_not_warned_of_as_well() -> None:
    loaded = load_text("apiVersion: v1\nkind: Pod\nmetadata: {name: A.b}\nspec:\n" + C % "").objects

    assert [each.severity for each in validate(loaded, FeatureGates())] == ["error"]
