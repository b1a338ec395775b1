"""Manifests of several shapes that end by themselves, for runs that are killed at some moment."""

from __future__ import annotations

import images
from attrs import frozen


@frozen
class Shape:
    """A manifest, and texts of the records after which something goes on for a while."""

    text: str
    moments: tuple[str, ...] = ()


_INIT = """\
apiVersion: v1
kind: Pod
metadata: {name: init}
spec:
  restartPolicy: Never
  initContainers:
  - {name: first, image: IMAGE, command: [sh, -c, "sleep 0.5"]}
  - {name: second, image: IMAGE, command: [sh, -c, "sleep 0.3"]}
  containers:
  - {name: main, image: IMAGE, command: [sh, -c, "sleep 0.7"]}
  - {name: failing, image: IMAGE, command: [sh, -c, "sleep 0.2; exit 3"]}
"""
_SIDECARS = """\
apiVersion: v1
kind: Pod
metadata: {name: sidecars}
spec:
  restartPolicy: Never
  initContainers:
  - name: outer
    image: IMAGE
    restartPolicy: Always
    command: [sh, -c, "trap 'sleep 0.4; exit 0' TERM; (sleep 0.6; touch /ready) & while :; do sleep 0.05; done"]
    startupProbe: {exec: {command: [test, -e, /ready]}, periodSeconds: 1, failureThreshold: 9}
  - name: inner
    image: IMAGE
    restartPolicy: Always
    command: [sh, -c, "trap 'exit 0' TERM; while :; do sleep 0.05; done"]
    lifecycle: {preStop: {exec: {command: [sleep, "0.5"]}}}
  containers:
  - {name: main, image: IMAGE, command: [sh, -c, "sleep 1"]}
"""
_POST_START = """\
apiVersion: v1
kind: Pod
metadata: {name: hooked}
spec:
  restartPolicy: Never
  containers:
  - name: main
    image: IMAGE
    command: [sh, -c, "sleep 2"]
    lifecycle: {postStart: {exec: {command: [sleep, "0.8"]}}}
  - {name: later, image: IMAGE, command: [sh, -c, "sleep 0.2"]}
"""
_JOB = """\
apiVersion: batch/v1
kind: Job
metadata: {name: job}
spec:
  completions: 3
  parallelism: 2
  template:
    spec:
      restartPolicy: Never
      initContainers:
      - name: sidecar
        image: IMAGE
        restartPolicy: Always
        command: [sh, -c, "trap 'exit 0' TERM; while :; do sleep 0.05; done"]
      containers:
      - {name: work, image: IMAGE, command: [sh, -c, "sleep 0.8"]}
"""
_CRASHING = """\
apiVersion: v1
kind: Pod
metadata: {name: crashing}
spec:
  restartPolicy: OnFailure
  volumes: [{name: counted, emptyDir: {}}]
  containers:
  - name: main
    image: IMAGE
    command: [sh, -c, "echo >> /counted/starts; sleep 0.2; [ $(wc -l < /counted/starts) -ge 3 ]"]
    volumeMounts: [{name: counted, mountPath: /counted}]
  - name: unhealthy
    image: IMAGE
    command:
    - sh
    - -c
    - "[ -e /counted/killed ] && exit 0; trap 'touch /counted/killed; exit 1' TERM; while :; do sleep 0.05; done"
    livenessProbe: {exec: {command: ["false"]}, periodSeconds: 1, failureThreshold: 1}
    volumeMounts: [{name: counted, mountPath: /counted}]
"""
_TERMINATED = """\
apiVersion: v1
kind: Pod
metadata: {name: late}
spec:
  activeDeadlineSeconds: 1
  terminationGracePeriodSeconds: 9
  containers:
  - {name: main, image: IMAGE, command: [sh, -c, "trap 'sleep 1.2; exit 0' TERM; while :; do sleep 0.05; done"]}
---
apiVersion: batch/v1
kind: Job
metadata: {name: late}
spec:
  activeDeadlineSeconds: 1
  template:
    spec:
      restartPolicy: Never
      terminationGracePeriodSeconds: 2
      containers:
      - {name: deaf, image: IMAGE, command: [sh, -c, "trap '' TERM; while :; do sleep 0.05; done"]}
"""
_PULLED = """\
apiVersion: v1
kind: Pod
metadata: {name: pulled}
spec:
  restartPolicy: Never
  initContainers:
  - {name: before, image: IMAGE, command: ["true"]}
  containers:
  - {name: main, image: PULLED, imagePullPolicy: Always, command: [sh, -c, "sleep 0.3"]}
"""
_SEVERAL = """\
apiVersion: v1
kind: ConfigMap
metadata: {name: settings}
data: {colour: blue}
---
apiVersion: v1
kind: Service
metadata: {name: several}
spec: {selector: {app: several}, ports: [{port: 80}]}
"""
_ONE_OF_SEVERAL = """\
---
apiVersion: v1
kind: Pod
metadata: {name: one-of-several-NUMBER, labels: {app: several}}
spec:
  restartPolicy: Never
  resources: {limits: {memory: 64Mi}}
  volumes:
  - {name: settings, configMap: {name: settings}}
  - {name: scratch, emptyDir: {medium: Memory}}
  containers:
  - name: main
    image: IMAGE
    command: [sh, -c, "grep -q blue /settings/colour && echo > /scratch/a && sleep 0.NUMBER"]
    volumeMounts: [{name: settings, mountPath: /settings}, {name: scratch, mountPath: /scratch}]
"""
SHAPES = {
    "init containers": Shape(_INIT),
    "sidecars": Shape(_SIDECARS, ('"call":"preStop"', '"what":"StopContainer"')),
    "a postStart hook": Shape(_POST_START, ('"call":"postStart"',)),
    "a Job with a sidecar": Shape(_JOB),
    "a crash loop": Shape(_CRASHING, ("CrashLoopBackOff", '"what":"StopContainer"')),
    "termination under grace": Shape(_TERMINATED, ('"what":"StopContainer"',)),
    "a pull": Shape(_PULLED, ('"reason":"Pulling"',)),
    "several pods": Shape(_SEVERAL + "".join(_ONE_OF_SEVERAL.replace("NUMBER", str(n)) for n in range(4, 8))),
}


def manifest_of(shape: Shape, pulled: str) -> str:
    """Return a shape's manifest; `pulled` is the image that has to come from a registry."""
    return shape.text.replace("IMAGE", images.BUSYBOX).replace("PULLED", pulled)
