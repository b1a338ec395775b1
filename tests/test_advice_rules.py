"""Each rule of advice: what it finds, and the neighbours that are fine."""

from __future__ import annotations

import pytest
from advice_makers import DEPLOYMENT, GATES, JOB, POD, advice_of, found, manifest

from kubelet_emu.advice.advising import advise
from kubelet_emu.advice.subjects import subjects_of
from kubelet_emu.manifests import load_text

APP = "{name: app, image: app:1}"
SLEEPER = "{name: app, image: busybox, command: [sleep, '5']}"
PROXY = "name: proxy, image: proxy:1, restartPolicy: Always, ports: [{containerPort: 9000}]"
USER = "{name: app, image: app:1, env: [{name: URL, value: 'http://localhost:9000/x'}]}"
PROBE = "startupProbe: {tcpSocket: {port: 9000}}"
WAIT = "{name: wait, image: busybox, command: [sh, -c, 'until nc -z localhost 5432; do sleep 1; done']}"
DB = "{name: db, image: db:1, ports: [{containerPort: 5432}]}"
ENDLESS = "{name: helper, image: busybox, command: [sh, -c, 'while true; do sync; sleep 60; done']}"
TRAP = 'trap \\"exit 0\\" TERM'


def waits_with(script: str) -> str:
    """Return an init container with a script."""
    return f'{{name: wait, image: busybox, command: [sh, -c, "{script}"]}}'


def pod(*fields: str) -> str:
    """Return a bare pod."""
    return manifest(POD, *fields)


def job(*fields: str) -> str:
    """Return a Job."""
    return manifest(JOB, *fields)


START = [
    # -- KE501
    (
        "a sidecar that is used has no gate",
        pod(f"initContainers: [{{{PROXY}}}]", f"containers: [{USER}]"),
        ["KE501 initContainers[0]"],
    ),
    ("it has a startup probe", pod(f"initContainers: [{{{PROXY}, {PROBE}}}]", f"containers: [{USER}]"), []),
    (
        "it has a postStart hook",
        pod(
            f"initContainers: [{{{PROXY}, lifecycle: {{postStart: {{exec: {{command: [wait]}}}}}}}}]",
            f"containers: [{USER}]",
        ),
        [],
    ),
    ("nobody uses it", pod(f"initContainers: [{{{PROXY}}}]", f"containers: [{APP}]"), []),
    (
        "the user has that port itself",
        pod(
            f"initContainers: [{{{PROXY}}}]",
            "containers: [{name: app, image: app:1, args: ['--self=localhost:9000'], ports: [{containerPort: 9000}]}]",
        ),
        [],
    ),
    (
        "an init container uses it",
        pod(
            f"initContainers: [{{{PROXY}}}, {{name: i, image: app:1, command: [load, 'http://127.0.0.1:9000/']}}]",
            f"containers: [{APP}]",
        ),
        ["KE501 initContainers[0]"],
    ),
    (
        "another host's port",
        pod(
            f"initContainers: [{{{PROXY}}}]",
            "containers: [{name: app, image: app:1, args: ['db.localhost:9000', 'my-localhost:9000']}]",
        ),
        [],
    ),
    (
        "its port stands in its arguments",
        pod(
            "initContainers: [{name: proxy, image: proxy:1, restartPolicy: Always, args: ['--http-port=9000']}]",
            f"containers: [{USER}]",
        ),
        ["KE501 initContainers[0]"],
    ),
    # -- KE502
    (
        "an init container waits for a main",
        pod(f"initContainers: [{WAIT}]", f"containers: [{DB}]"),
        ["KE502 initContainers[0].command"],
    ),
    (
        "for a port that nobody has yet",
        pod(f"initContainers: [{WAIT}]", f"containers: [{APP}]"),
        ["KE502 initContainers[0].command"],
    ),
    (
        "for a sidecar before it",
        pod(
            "initContainers: [{name: db, image: db:1, restartPolicy: Always, ports: [{containerPort: 5432}]}, "
            + WAIT
            + "]",
            f"containers: [{APP}]",
        ),
        [],
    ),
    (
        "a sidecar before it may have the port",
        pod("initContainers: [{name: db, image: db:1, restartPolicy: Always}, " + WAIT + "]", f"containers: [{APP}]"),
        [],
    ),
    (
        "a sidecar before it doesn't, a main does",
        pod("initContainers: [{name: x, image: x:1, restartPolicy: Always}, " + WAIT + "]", f"containers: [{DB}]"),
        ["KE502 initContainers[0].command".replace("[0]", "[1]")],
    ),
    (
        "for a sidecar after it",
        pod(
            "initContainers: ["
            + WAIT
            + ", {name: db, image: db:1, restartPolicy: Always, ports: [{containerPort: 5432}]}]",
            f"containers: [{APP}]",
        ),
        ["KE502 initContainers[0].command"],
    ),
    (
        "on the host's network it may be anybody's",
        pod("hostNetwork: true", f"initContainers: [{WAIT}]", f"containers: [{DB}]"),
        [],
    ),
    (
        "for another pod",
        pod("initContainers: [" + waits_with("until nc -z db 5432; do sleep 1; done") + "]", f"containers: [{DB}]"),
        [],
    ),
    (
        "while not",
        pod(
            "initContainers: [" + waits_with("while ! wget -q -O- http://localhost/; do sleep 1; done") + "]",
            f"containers: [{APP}]",
        ),
        ["KE502 initContainers[0].command"],
    ),
    (
        "a loop that breaks",
        pod(
            "initContainers: ["
            + waits_with("while true; do curl -sf http://127.0.0.1:5432/ && break; sleep 1; done")
            + "]",
            f"containers: [{DB}]",
        ),
        ["KE502 initContainers[0].command"],
    ),
    (
        "a loop with two ways out",
        pod(
            "initContainers: ["
            + waits_with("while true; do nc -z localhost 1 && break; nc -z db 2 && break; done")
            + "]",
            f"containers: [{DB}]",
        ),
        [],
    ),
    (
        "a loop that gives up",
        pod(
            "initContainers: [" + waits_with("until nc -z localhost 5432; do [ -f /x ] && exit 1; sleep 1; done") + "]",
            f"containers: [{DB}]",
        ),
        [],
    ),
    (
        "a client with its own default port",
        pod(
            "initContainers: [" + waits_with("until pg_isready -h localhost; do sleep 1; done") + "]",
            f"containers: [{DB}]",
        ),
        ["KE502 initContainers[0].command"],
    ),
    (
        "a client with a port option",
        pod(
            "initContainers: [" + waits_with("until pg_isready -h localhost -p 5433; do sleep 1; done") + "]",
            f"containers: [{DB}]",
        ),
        ["KE502 initContainers[0].command"],
    ),
    (
        "a client of a socket",
        pod("initContainers: [" + waits_with("until pg_isready; do sleep 1; done") + "]", f"containers: [{DB}]"),
        [],
    ),
    (
        "what it waits for was started before",
        pod(
            "initContainers: [" + waits_with("postgres & until nc -z localhost 5432; do sleep 1; done") + "]",
            f"containers: [{DB}]",
        ),
        [],
    ),
    (
        "a word before may have started it",
        pod(
            "initContainers: [" + waits_with("pg_ctl start; until nc -z localhost 5432; do sleep 1; done") + "]",
            f"containers: [{DB}]",
        ),
        [],
    ),
    (
        "a word in the loop may start it",
        pod(
            "initContainers: [" + waits_with("until nc -z localhost 5432; do start-db; done") + "]",
            f"containers: [{DB}]",
        ),
        [],
    ),
    (
        "harmless words before",
        pod(
            "initContainers: ["
            + waits_with("echo waiting; until nc -z localhost 5432; do echo .; sleep 1; done")
            + "]",
            f"containers: [{DB}]",
        ),
        ["KE502 initContainers[0].command"],
    ),
    (
        "a waiting script",
        pod(
            "initContainers: [{name: w, image: w:1, command: [wait-for-it.sh, 'localhost:5432']}]",
            f"containers: [{DB}]",
        ),
        ["KE502 initContainers[0].command"],
    ),
    (
        "the pod's own address",
        pod(
            "initContainers: [{name: w, image: busybox, "
            "env: [{name: IP, valueFrom: {fieldRef: {fieldPath: status.podIP}}}], "
            "command: [sh, -c, 'until nc -z $IP 5432; do sleep 1; done']}]",
            f"containers: [{DB}]",
        ),
        ["KE502 initContainers[0].command"],
    ),
    (
        "a file that a main writes",
        pod(
            "volumes: [{name: s, emptyDir: {}}]",
            "initContainers: [{name: w, image: busybox, volumeMounts: [{name: s, mountPath: /s}], "
            "command: [sh, -c], args: ['until [ -f /s/up ]; do sleep 1; done']}]",
            "containers: [{name: app, image: busybox, volumeMounts: [{name: s, mountPath: /s}], "
            "command: [sh, -c, 'touch /s/up; serve']}]",
        ),
        ["KE502 initContainers[0].args"],
    ),
    (
        "a file that is written from outside",
        pod(
            "volumes: [{name: s, persistentVolumeClaim: {claimName: c}}]",
            "initContainers: [{name: w, image: busybox, volumeMounts: [{name: s, mountPath: /s}], "
            "command: [sh, -c, 'while [ ! -e /s/up ]; do sleep 1; done']}]",
            "containers: [{name: app, image: busybox, command: [sh, -c, 'touch /s/up; serve']}]",
        ),
        [],
    ),
    (
        "a file that an earlier one mentions",
        pod(
            "volumes: [{name: s, emptyDir: {}}]",
            "initContainers: [{name: a, image: a:1, command: [make, /s/up]}, "
            "{name: w, image: busybox, volumeMounts: [{name: s, mountPath: /s}], "
            "command: [sh, -c, 'until test -f /s/up; do sleep 1; done']}]",
            "containers: [{name: app, image: busybox, command: [sh, -c, 'touch /s/up; serve']}]",
        ),
        [],
    ),
    (
        "a file that a main only reads",
        pod(
            "volumes: [{name: s, emptyDir: {}}]",
            "initContainers: [{name: w, image: busybox, volumeMounts: [{name: s, mountPath: /s}], "
            "command: [sh, -c, 'until [ -f /s/up ]; do sleep 1; done']}]",
            "containers: [{name: app, image: busybox, command: [sh, -c, 'cat /s/up; serve']}]",
        ),
        [],
    ),
    # -- KE503
    (
        "a hook waits for a later container",
        pod(
            "containers: [{name: a, image: a:1, lifecycle: {postStart: {exec: {command: "
            "[sh, -c, 'until nc -z localhost 5432; do sleep 1; done']}}}}, " + DB + "]"
        ),
        ["KE503 containers[0].lifecycle.postStart"],
    ),
    (
        "a hook waits for its own container",
        pod(
            "containers: [{name: a, image: a:1, args: ['--port=5432'], lifecycle: {postStart: {exec: {command: "
            "[sh, -c, 'until nc -z localhost 5432; do sleep 1; done']}}}}, " + DB + "]"
        ),
        [],
    ),
    (
        "a hook waits for an earlier container",
        pod(
            "containers: [" + DB + ", {name: a, image: a:1, lifecycle: {postStart: {exec: {command: "
            "[sh, -c, 'until nc -z localhost 5432; do sleep 1; done']}}}}]"
        ),
        [],
    ),
    (
        "a hook waits for a port that nobody has",
        pod(
            "containers: [{name: a, image: a:1, lifecycle: {postStart: {exec: {command: "
            "[sh, -c, 'until nc -z localhost 5432; do sleep 1; done']}}}}]"
        ),
        [],
    ),
    (
        "a startup probe of a main's port",
        pod(
            "initContainers: [{name: s, image: s:1, restartPolicy: Always, startupProbe: {tcpSocket: {port: 5432}}}]",
            f"containers: [{DB}]",
        ),
        ["KE503 initContainers[0].startupProbe"],
    ),
    (
        "a startup probe of its own port",
        pod(
            "initContainers: [{name: s, image: s:1, restartPolicy: Always, ports: [{name: p, containerPort: 5432}], "
            "startupProbe: {tcpSocket: {port: p}}}]",
            f"containers: [{DB}]",
        ),
        [],
    ),
    (
        "a startup probe of the port that its image is known for",
        pod(
            "initContainers: [{name: web, image: nginx, restartPolicy: Always, startupProbe: {tcpSocket: {port: 80}}}]",
            "containers: [{name: app, image: app:1, ports: [{containerPort: 80}]}]",
        ),
        [],
    ),
    (
        "a startup probe of another port than its image is known for",
        pod(
            "initContainers: [{name: web, image: nginx, restartPolicy: Always, startupProbe: {tcpSocket: {port: 81}}}]",
            "containers: [{name: app, image: app:1, ports: [{containerPort: 81}]}]",
        ),
        ["KE503 initContainers[0].startupProbe"],
    ),
    (
        "what an image runs is not known with a command of its own",
        pod(
            "initContainers: [{name: web, image: nginx, command: [a], restartPolicy: Always, "
            "startupProbe: {tcpSocket: {port: 80}}}]",
            "containers: [{name: app, image: app:1, ports: [{containerPort: 80}]}]",
        ),
        ["KE503 initContainers[0].startupProbe"],
    ),
    (
        "a startup probe of its own port, in its arguments",
        pod(
            "initContainers: [{name: s, image: s:1, restartPolicy: Always, args: ['--admin=:5432'], "
            "startupProbe: {tcpSocket: {port: 5432}}}]",
            f"containers: [{DB}]",
        ),
        [],
    ),
    (
        "a startup probe of another host",
        pod(
            "initContainers: [{name: s, image: s:1, restartPolicy: Always, "
            "startupProbe: {httpGet: {host: db, port: 5432}}}]",
            f"containers: [{DB}]",
        ),
        [],
    ),
    # -- KE504
    (
        "a server as an init container",
        pod("initContainers: [{name: i, image: 'envoyproxy/envoy:v1'}]", f"containers: [{APP}]"),
        ["KE504 initContainers[0]"],
    ),
    (
        "an init container that opens ports",
        pod(
            "initContainers: [{name: i, image: i:1, args: [--x], ports: [{containerPort: 80}]}]", f"containers: [{APP}]"
        ),
        ["KE504 initContainers[0]"],
    ),
    (
        "with a command it may be anything",
        pod(
            "initContainers: [{name: i, image: i:1, command: [migrate], ports: [{containerPort: 80}]}]",
            f"containers: [{APP}]",
        ),
        [],
    ),
    (
        "with a word it may be anything",
        pod(
            "initContainers: [{name: i, image: i:1, args: [migrate], ports: [{containerPort: 80}]}]",
            f"containers: [{APP}]",
        ),
        [],
    ),
    (
        "an endless init container",
        pod("initContainers: [{name: i, image: busybox, command: [sleep, infinity]}]", f"containers: [{APP}]"),
        ["KE504 initContainers[0]"],
    ),
    (
        "one that takes its time",
        pod("initContainers: [{name: i, image: busybox, command: [sleep, '600']}]", f"containers: [{APP}]"),
        [],
    ),
]

END = [
    # -- KE601
    ("a helper in a Job", job("restartPolicy: Never", f"containers: [{APP}, {ENDLESS}]"), ["KE601 containers[1]"]),
    (
        "a server in a Job",
        job("restartPolicy: Never", f"containers: [{APP}, {{name: e, image: 'envoyproxy/envoy:v1'}}]"),
        ["KE601 containers[1]"],
    ),
    (
        "a helper in a pod that is to end",
        pod("restartPolicy: Never", f"containers: [{ENDLESS}, {APP}]"),
        ["KE601 containers[0]"],
    ),
    (
        "a helper in a pod that never is",
        pod("terminationGracePeriodSeconds: 90", f"containers: [{APP}, {SLEEPER}]"),
        [],
    ),
    (
        "a native one",
        job(
            "restartPolicy: Never",
            "initContainers: [{name: e, image: 'envoyproxy/envoy:v1', restartPolicy: Always}]",
            f"containers: [{APP}]",
        ),
        [],
    ),
    (
        "servers alone: that is what is wanted",
        pod("restartPolicy: Never", "containers: [{name: a, image: nginx}, {name: b, image: redis}]"),
        [],
    ),
    ("one that ends by itself", job("restartPolicy: Never", f"containers: [{APP}, {SLEEPER}]"), []),
    (
        "one that waits for a word",
        job(
            "restartPolicy: Never",
            "containers: [" + APP + ", {name: h, image: busybox, "
            "command: [sh, -c, 'until [ -f /done ]; do sleep 1; done']}]",
        ),
        [],
    ),
    # -- KE602
    (
        "Always on a main of a Job",
        job("restartPolicy: Never", "containers: [" + APP + ", {name: h, image: h:1, restartPolicy: Always}]"),
        ["KE602 containers[1].restartPolicy"],
    ),
    (
        "Always on a main of a pod that has it, too",
        pod("containers: [{name: h, image: h:1, restartPolicy: Always}]"),
        [],
    ),
    (
        "OnFailure on a main",
        pod("restartPolicy: Never", "containers: [{name: h, image: h:1, restartPolicy: OnFailure}]"),
        [],
    ),
    (
        "Never on a main of a pod that always restarts",
        pod("containers: [{name: h, image: h:1, restartPolicy: Never}]"),
        [],
    ),
    # -- KE603
    (
        "OnFailure with a sidecar",
        job("restartPolicy: OnFailure", f"initContainers: [{{{PROXY}}}]", f"containers: [{APP}]"),
        ["KE603 restartPolicy"],
    ),
    (
        "OnFailure with a plain helper",
        job("restartPolicy: OnFailure", f"containers: [{APP}, {ENDLESS}]"),
        ["KE601 containers[1]", "KE603 restartPolicy"],
    ),
    ("OnFailure alone", job("restartPolicy: OnFailure", f"containers: [{APP}]"), []),
    ("Never with a sidecar", job("restartPolicy: Never", f"initContainers: [{{{PROXY}}}]", f"containers: [{APP}]"), []),
    (
        "OnFailure of a pod",
        pod("restartPolicy: OnFailure", f"initContainers: [{{{PROXY}}}]", f"containers: [{APP}]"),
        [],
    ),
    # -- KE604
    ("a Job that never ends", job("restartPolicy: Never", f"containers: [{ENDLESS}]"), ["KE604 containers[0].command"]),
    ("a Job with a deadline", job("restartPolicy: Never", "activeDeadlineSeconds: 60", f"containers: [{ENDLESS}]"), []),
    (
        "a pod that never ends is no fault",
        manifest(
            DEPLOYMENT,
            "containers: [{name: a, image: busybox, command: [sh, -c, 'trap exit TERM; while :; do sleep 1; done']}]",
        ),
        [],
    ),
]

STOP = [
    # -- KE701
    (
        "a deaf sidecar",
        pod(
            "restartPolicy: Never",
            "initContainers: [{name: s, image: busybox, restartPolicy: Always, command: [tail, -F, /log]}]",
            f"containers: [{APP}]",
        ),
        ["KE701 initContainers[0].command"],
    ),
    (
        "a deaf main of a pod that always restarts",
        pod("containers: [{name: a, image: busybox, command: [sleep, '600']}]"),
        ["KE701 containers[0].command"],
    ),
    (
        "its arguments are the command",
        pod("containers: [{name: a, image: busybox, args: [sleep, '600']}]"),
        ["KE701 containers[0].args"],
    ),
    (
        "one that ends before SIGKILL would come",
        pod("containers: [{name: a, image: busybox, command: [sleep, '20']}]"),
        [],
    ),
    (
        "a grace that is longer",
        pod("terminationGracePeriodSeconds: 700", "containers: [{name: a, image: busybox, command: [sleep, '600']}]"),
        [],
    ),
    (
        "a grace of 0: SIGKILL comes after two seconds",
        pod(
            "terminationGracePeriodSeconds: 0",
            "containers: [{name: a, image: busybox, command: [sleep, '1']}, {name: b, "
            "image: busybox, command: [sleep, '2']}]",
        ),
        ["KE701 containers[1].command"],
    ),
    (
        "a deaf main that ends by itself",
        job("restartPolicy: Never", "containers: [{name: a, image: busybox, command: [sleep, '600']}]"),
        [],
    ),
    (
        "a deaf main alone, without an end",
        pod("restartPolicy: Never", "containers: [{name: a, image: busybox, command: [sleep, infinity]}]"),
        ["KE701 containers[0].command"],
    ),
    (
        "a deaf main beside one that ends: told by another advice",
        pod("restartPolicy: Never", f"containers: [{APP}, {ENDLESS}]"),
        ["KE601 containers[1]"],
    ),
    (
        "one that always restarts by itself",
        pod(
            "restartPolicy: Never",
            "containers: [{name: a, image: busybox, restartPolicy: Always, command: [sleep, '600']}]",
        ),
        ["KE602 containers[0].restartPolicy"],
    ),
    (
        "processes that share a namespace: it isn't process 1",
        pod("shareProcessNamespace: true", "containers: [{name: a, image: busybox, command: [sleep, '600']}]"),
        [],
    ),
    (
        "processes of the host",
        pod("hostPID: true", "containers: [{name: a, image: busybox, command: [sleep, '600']}]"),
        [],
    ),
    (
        "a hook may end it",
        pod(
            "containers: [{name: a, image: busybox, command: [sleep, '600'], "
            "lifecycle: {preStop: {exec: {command: [sh, -c, 'kill -9 1']}}}}]"
        ),
        [],
    ),
    (
        "a hook that only waits",
        pod(
            "containers: [{name: a, image: busybox, command: [sleep, '600'], "
            "lifecycle: {preStop: {exec: {command: [sh, -c, 'sleep 3']}}}}]"
        ),
        ["KE701 containers[0].command"],
    ),
    (
        "a late trap",
        pod(f'containers: [{{name: a, image: busybox, command: [sh, -c, "{TRAP}; sleep 600"]}}]'),
        ["KE701 containers[0].command"],
    ),
    (
        "a trap that goes on",
        pod('containers: [{name: a, image: busybox, command: [sh, -c, "trap : TERM; while :; do sleep 1; done"]}]'),
        ["KE701 containers[0].command"],
    ),
    (
        "deaf on purpose",
        pod("containers: [{name: a, image: busybox, command: [sh, -c, \"trap '' TERM; while :; do sleep 1; done\"]}]"),
        [],
    ),
    (
        "a good trap",
        pod(f'containers: [{{name: a, image: busybox, command: [sh, -c, "{TRAP}; sleep 600 & wait"]}}]'),
        [],
    ),
    (
        "an init that passes signals on",
        pod("containers: [{name: a, image: x:1, command: [tini, --, sleep, '600']}]"),
        [],
    ),
    ("exec of a program", pod("containers: [{name: a, image: x:1, command: [sh, -c, 'exec /app']}]"), []),
    ("an image that isn't known", pod(f"containers: [{APP}]"), []),
    # -- KE702
    (
        "a hook that takes half of the grace",
        pod("containers: [{name: a, image: a:1, lifecycle: {preStop: {sleep: {seconds: 15}}}}]"),
        ["KE702 containers[0].lifecycle.preStop"],
    ),
    (
        "one that takes less",
        pod("containers: [{name: a, image: a:1, lifecycle: {preStop: {sleep: {seconds: 14}}}}]"),
        [],
    ),
    (
        "a command that takes all",
        pod(
            "containers: [{name: a, image: a:1, lifecycle: {preStop: {exec: "
            "{command: [sh, -c, 'sleep 40; nginx -s quit']}}}}]"
        ),
        ["KE702 containers[0].lifecycle.preStop"],
    ),
    (
        "a plain sleep of 20",
        pod("containers: [{name: a, image: a:1, lifecycle: {preStop: {exec: {command: [sleep, '20']}}}}]"),
        ["KE702 containers[0].lifecycle.preStop"],
    ),
    (
        "a command of unknown length",
        pod("containers: [{name: a, image: a:1, lifecycle: {preStop: {exec: {command: [drain]}}}}]"),
        [],
    ),
    (
        "a longer grace",
        pod(
            "terminationGracePeriodSeconds: 60",
            "containers: [{name: a, image: a:1, lifecycle: {preStop: {sleep: {seconds: 15}}}}]",
        ),
        [],
    ),
    # -- KE703
    (
        "a sidecar's hook stops it",
        pod(
            "initContainers: [{" + PROXY + ", lifecycle: {preStop: {exec: {command: [agent, request, POST, drain]}}}}]",
            f"containers: [{APP}]",
        ),
        ["KE703 initContainers[0].lifecycle.preStop"],
    ),
    (
        "by HTTP",
        pod(
            "initContainers: [{" + PROXY + ", lifecycle: {preStop: {httpGet: {path: /quitquitquit, port: 9000}}}}]",
            f"containers: [{APP}]",
        ),
        ["KE703 initContainers[0].lifecycle.preStop"],
    ),
    (
        "by HTTP, but nothing is stopped",
        pod("initContainers: [{" + PROXY + ", lifecycle: {preStop: {httpGet: {port: 9000}}}}]", f"containers: [{APP}]"),
        [],
    ),
    (
        "a script that stops it",
        pod(
            "initContainers: [{" + PROXY + ", lifecycle: {preStop: {exec: "
            "{command: [sh, -c, 'sleep 1; nginx -s quit']}}}}]",
            f"containers: [{APP}]",
        ),
        ["KE703 initContainers[0].lifecycle.preStop"],
    ),
    (
        "a script that only says so",
        pod(
            "initContainers: [{" + PROXY + ", lifecycle: {preStop: {exec: "
            "{command: [sh, -c, 'echo stop; sleep 1']}}}}]",
            f"containers: [{APP}]",
        ),
        [],
    ),
    (
        "a script that isn't understood",
        pod(
            "initContainers: [{" + PROXY + ", lifecycle: {preStop: {exec: {command: [sh, -c, 'stop (']}}}}]",
            f"containers: [{APP}]",
        ),
        [],
    ),
    (
        "a wait",
        pod("initContainers: [{" + PROXY + ", lifecycle: {preStop: {sleep: {seconds: 2}}}}]", f"containers: [{APP}]"),
        [],
    ),
    (
        "a main's hook stops it: that is its purpose",
        pod("containers: [{name: a, image: a:1, lifecycle: {preStop: {exec: {command: [nginx, -s, quit]}}}}]"),
        [],
    ),
    # -- KE704
    (
        "hooks with tcpSocket",
        pod(
            "containers: [{name: a, image: a:1, lifecycle: {postStart: {tcpSocket: {port: 1}}, "
            "preStop: {tcpSocket: {port: 1}}}}]"
        ),
        ["KE704 containers[0].lifecycle.postStart.tcpSocket", "KE704 containers[0].lifecycle.preStop.tcpSocket"],
    ),
]

PROBES = [
    # -- KE801
    (
        "a timeout over the period",
        pod(
            "containers: [{name: a, image: a:1, livenessProbe: {tcpSocket: {port: 1}, "
            "periodSeconds: 2, timeoutSeconds: 5}}]"
        ),
        ["KE801 containers[0].livenessProbe.timeoutSeconds"],
    ),
    (
        "of a readiness probe",
        pod("containers: [{name: a, image: a:1, readinessProbe: {tcpSocket: {port: 1}, timeoutSeconds: 11}}]"),
        ["KE801 containers[0].readinessProbe.timeoutSeconds"],
    ),
    (
        "of a startup probe: it costs nothing",
        pod(
            "containers: [{name: a, image: a:1, startupProbe: {tcpSocket: {port: 1}, "
            "periodSeconds: 1, timeoutSeconds: 5}}]"
        ),
        [],
    ),
    (
        "a timeout that is the period",
        pod(
            "containers: [{name: a, image: a:1, livenessProbe: {tcpSocket: {port: 1}, "
            "periodSeconds: 5, timeoutSeconds: 5}}]"
        ),
        [],
    ),
    # -- KE802
    (
        "too many commands a second",
        pod(
            "containers: ["
            + ", ".join(
                f"{{name: c{n}, image: a:1, livenessProbe: {{exec: {{command: [a]}}, periodSeconds: 1}}, "
                "readinessProbe: {exec: {command: [b]}, periodSeconds: 1}}"
                for n in range(6)
            )
            + "]"
        ),
        ["KE802 containers[0]"],
    ),
    (
        "as many as an engine runs",
        pod(
            "containers: ["
            + ", ".join(
                f"{{name: c{n}, image: a:1, livenessProbe: {{exec: {{command: [a]}}, periodSeconds: 1}}, "
                "readinessProbe: {exec: {command: [b]}, periodSeconds: 1}}"
                for n in range(5)
            )
            + "]"
        ),
        [],
    ),
    (
        "a startup probe runs before the others",
        pod(
            "containers: ["
            + ", ".join(
                f"{{name: c{n}, image: a:1, startupProbe: {{exec: {{command: [s]}}, periodSeconds: 1}}, "
                "readinessProbe: {exec: {command: [b]}, periodSeconds: 1}}"
                for n in range(10)
            )
            + "]"
        ),
        [],
    ),
    (
        "of all replicas",
        manifest(
            DEPLOYMENT,
            "containers: ["
            + ", ".join(
                f"{{name: c{n}, image: a:1, livenessProbe: {{exec: {{command: [a]}}, periodSeconds: 1}}}}"
                for n in range(3)
            )
            + "]",
        ),
        ["KE802 containers[0]"],
    ),
    (
        "of all pods of a Job at a time",
        manifest(
            JOB.replace("  template:", "  parallelism: 20\n  completions: 30\n  template:"),
            "restartPolicy: Never",
            "containers: [{name: a, image: a:1, livenessProbe: {exec: {command: [a]}, periodSeconds: 1}}]",
        ),
        ["KE802 containers[0]"],
    ),
    (
        "of no more pods than a Job has",
        manifest(
            JOB.replace("  template:", "  parallelism: 20\n  completions: 3\n  template:"),
            "restartPolicy: Never",
            "containers: [{name: a, image: a:1, livenessProbe: {exec: {command: [a]}, periodSeconds: 1}}]",
        ),
        [],
    ),
    (
        "HTTP costs nothing",
        pod(
            "containers: ["
            + ", ".join(
                f"{{name: c{n}, image: a:1, livenessProbe: {{httpGet: {{port: 1}}, periodSeconds: 1}}}}"
                for n in range(15)
            )
            + "]"
        ),
        [],
    ),
    # -- KE803
    (
        "a port that isn't there",
        pod(
            "containers: [{name: a, image: a:1, ports: [{name: web, containerPort: 80}], "
            "livenessProbe: {httpGet: {port: http}}, readinessProbe: {tcpSocket: {port: web}}}]"
        ),
        ["KE803 containers[0].livenessProbe.httpGet.port"],
    ),
    (
        "of another container: ports go by container",
        pod(
            "containers: [{name: a, image: a:1, "
            "readinessProbe: {tcpSocket: {port: web}}}, {name: b, image: b:1, ports: [{name: web, containerPort: 80}]}]"
        ),
        ["KE803 containers[0].readinessProbe.tcpSocket.port"],
    ),
    (
        "of a startup probe",
        pod("containers: [{name: a, image: a:1, startupProbe: {tcpSocket: {port: web}}}]"),
        ["KE803 containers[0].startupProbe.tcpSocket.port"],
    ),
    (
        "of a sidecar's startup probe",
        pod(
            "initContainers: [{name: s, image: a:1, restartPolicy: Always, startupProbe: {tcpSocket: {port: web}}}]",
            f"containers: [{APP}]",
        ),
        ["KE803 initContainers[0].startupProbe.tcpSocket.port"],
    ),
]

NEEDS = [
    # -- KE901
    (
        "a Secret that isn't there",
        pod("containers: [{name: a, image: a:1, envFrom: [{secretRef: {name: s}}]}]"),
        ["KE901 containers[0].envFrom[0].secretRef.name"],
    ),
    (
        "what every namespace has",
        pod("volumes: [{name: v, configMap: {name: kube-root-ca.crt}}]", f"containers: [{APP}]"),
        [],
    ),
    # -- KE902
    (
        "a variable is used before it is defined",
        pod("containers: [{name: a, image: a:1, env: [{name: A, value: 'x-$(B)'}, {name: B, value: why}]}]"),
        ["KE902 containers[0].env[0].value"],
    ),
    (
        "after it",
        pod("containers: [{name: a, image: a:1, env: [{name: B, value: why}, {name: A, value: 'x-$(B)'}]}]"),
        [],
    ),
    (
        "both before and after",
        pod(
            "containers: [{name: a, image: a:1, "
            "env: [{name: B, value: why}, {name: A, value: '$(B)'}, {name: B, value: zet}]}]"
        ),
        [],
    ),
    (
        "an escape",
        pod("containers: [{name: a, image: a:1, env: [{name: A, value: '$$(B)'}, {name: B, value: why}]}]"),
        [],
    ),
    (
        "a name that isn't defined at all: the text may be meant",
        pod("containers: [{name: a, image: a:1, env: [{name: A, value: '$(date)'}]}]"),
        [],
    ),
    # -- KE903
    (
        "a hundred cpus as a request, more as a limit: told once",
        pod("containers: [{name: a, image: a:1, resources: {requests: {cpu: 100}, limits: {cpu: '1000'}}}]"),
        ["KE903 containers[0].resources.limits[cpu]"],
    ),
    (
        "a request alone, of an init container",
        pod(
            "initContainers: [{name: i, image: a:1, resources: {requests: {cpu: 250}}}]",
            "containers: [{name: a, image: a:1}]",
        ),
        ["KE903 initContainers[0].resources.requests[cpu]"],
    ),
    (
        "fewer, and thousandths",
        pod("containers: [{name: a, image: a:1, resources: {requests: {cpu: 500m, memory: 500}, limits: {cpu: 99}}}]"),
        [],
    ),
    (
        "envFrom may define it",
        pod(
            "volumes: []",
            "containers: [{name: a, image: a:1, "
            "envFrom: [{configMapRef: {name: c, optional: true}}], env: [{name: A, "
            "value: '$(B)'}, {name: B, value: why}]}]",
        ),
        [],
    ),
]


@pytest.mark.parametrize(
    ("why", "text", "expected"),
    [*START, *END, *STOP, *PROBES, *NEEDS],
    ids=[row[0] for row in (*START, *END, *STOP, *PROBES, *NEEDS)],
)
def test_a_rule_finds_what_it_is_about_and_nothing_else(why: str, text: str, expected: list[str]) -> None:
    assert found(text) == expected


SERVICE = "---\napiVersion: v1\nkind: Service\nmetadata: {name: web%s}\nspec: {ports: [{port: 80}], %s}\n"
ITSELF = SERVICE % ("", "selector: {a: b}")
WAITER = waits_with("until wget -qO- http://%s/; do sleep 1; done")
WAITS = manifest(DEPLOYMENT, f"initContainers: [{WAITER}]", f"containers: [{APP}]")
KE502 = ["KE502 initContainers[0].command"]
SERVICES = [
    ("a Service that leads to this pod alone", WAITS % "web" + ITSELF, KE502),
    ("by its long name", WAITS % "web.default.svc.cluster.local:8080" + ITSELF, KE502),
    ("another Service", WAITS % "webs" + ITSELF, []),
    ("a path of that name", WAITS % "db/web" + ITSELF, []),
    ("one that is in none of the manifests", WAITS % "web", []),
    ("one of other pods", WAITS % "web" + SERVICE % ("", "selector: {a: c}"), []),
    ("one of another namespace", WAITS % "web" + SERVICE % (", namespace: far", "selector: {a: b}"), []),
    ("one without a selector", WAITS % "web" + SERVICE % ("", "type: ClusterIP"), []),
    (
        "one that doesn't wait for readiness",
        WAITS % "web" + SERVICE % ("", "selector: {a: b}, publishNotReadyAddresses: true"),
        [],
    ),
    ("one that leads elsewhere", WAITS % "web" + SERVICE % ("", "type: ExternalName, externalName: x.example"), []),
    (
        "from a postStart hook",
        manifest(
            DEPLOYMENT,
            "containers: [{name: a, image: a:1, lifecycle: {postStart: {exec: {command: "
            "[sh, -c, 'until nc -z web 80; do sleep 1; done']}}}}]",
        )
        + ITSELF,
        ["KE503 containers[0].lifecycle.postStart"],
    ),
]


@pytest.mark.parametrize(("why", "text", "expected"), SERVICES, ids=[row[0] for row in SERVICES])
def test_a_wait_for_the_pods_own_service(why: str, text: str, expected: list[str]) -> None:
    assert found(text) == expected


def test_a_service_of_two_workloads_may_lead_to_the_other() -> None:
    other = manifest(POD, f"containers: [{APP}]").replace("{name: p}", "{name: p, labels: {a: b}}")
    first, _ = subjects_of(load_text(WAITS % "web" + ITSELF + "---\n" + other).objects, GATES)
    assert advise(first) == ()


def test_a_job_without_a_bound_on_failures_has_nothing_to_count() -> None:
    text = job("restartPolicy: OnFailure", f"initContainers: [{{{PROXY}}}]", f"containers: [{APP}]")
    for field in ("backoffLimitPerIndex: 1\n  completionMode: Indexed\n  completions: 2", "backoffLimit: 2147483647"):
        assert found(text.replace("  template:", f"  {field}\n  template:", 1)) == []


TEXTS = [
    (
        pod(f"initContainers: [{WAIT}]", f"containers: [{DB}]"),
        "wait waits for db (localhost:5432), which starts only after it: the pod stays in Init",
    ),
    (
        job("restartPolicy: Never", f"containers: [{APP}, {SLEEPER.replace('app', 'work')}, {ENDLESS}]"),
        (
            "helper never ends (`while true; do sync; sleep 60; done`): "
            "when app and work are done the Job doesn't complete"
        ),
    ),
    (
        pod("containers: [{name: a, image: a:1, lifecycle: {preStop: {sleep: {seconds: 15}}}}]"),
        "15 s of 30 s are spent in preStop before SIGTERM: a has 15 s left to end",
    ),
    (
        WAITS % "web" + ITSELF,
        "wait waits for Service web, which leads to this very pod, and only when it is ready: the pod stays in Init",
    ),
    (
        pod("containers: [{name: a, image: busybox, command: [sh, -c, 'sleep 600']}]"),
        "a doesn't react to SIGTERM: sh as process 1 has no trap; at each stop SIGKILL ends it after 30 s",
    ),
]


@pytest.mark.parametrize(("text", "said"), TEXTS, ids=[row[1] for row in TEXTS])
def test_what_an_advice_says(text: str, said: str) -> None:
    assert [each.text for each in advice_of(text)] == [said]
