"""Pods at random with what happens to them and to their node, as folders of scenarios: whatever a kubelet may meet.

A seed is a scenario. Nothing in it is expected: it is there to be run, and its log to be judged.
"""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING, Any

import yaml

if TYPE_CHECKING:
    from pathlib import Path

    Json = dict[str, Any]

IMAGE = "127.0.0.1:5000/kemu/busybox"
ON_TERM = (
    "trap 'echo Terminated; echo Exiting; exit 0' TERM",
    "trap 'echo Terminated; sleep 3; echo Exiting; exit 3' TERM",
    "trap 'echo Terminated; sleep 7; echo Exiting; exit 0' TERM",
    "trap '' TERM",
    "",
)
PRE_STOP = ("sleep 2", "sleep 100", "exit 1")
POST_START = ("sleep 2", "exit 1", "sleep 4")
CALLS = (
    "StopContainer",
    "StopContainer",
    "CreateContainer",
    "StartContainer",
    "RemoveContainer",
    "StopPodSandbox",
    "RunPodSandbox",
)


def write_scenario(folder: Path, seed: int) -> Path:
    """Write the scenario of a seed into an empty folder and return its file."""
    random = Random(seed)  # noqa: S311 - nothing is secret here
    pod = _pod(random)
    steps, last = _steps(random, [main["name"] for main in pod["spec"]["containers"]])
    scenario = {
        "about": "a pod at random",
        "source": "own",
        "needs": [],
        "steps": steps,
        "end": {"seconds": last + random.choice([60, 200, 500])},
        "timeout": 900,
        "expect": ["phase != Nothing"],
    }
    simulate = {"faults": [_fault(random, last) for _ in range(random.choice([0, 1, 1, 2]))]}
    for name, body in (("manifest", pod), ("scenario", scenario), ("simulate", simulate)):
        (folder / f"{name}.yaml").write_text(yaml.safe_dump(body))
    return folder / "scenario.yaml"


def _exec(script: str) -> Json:
    return {"exec": {"command": ["sh", "-c", script]}}


def _script(random: Random, life: str) -> str:
    match life:
        case "crash":
            return f"echo Started; sleep {random.choice([0, 1, 3, 8])}; exit {random.choice([0, 1, 1, 42])}"
        case "long":
            return f"echo Started; sleep {random.choice([2, 5, 20])}; exit {random.choice([0, 0, 1])}"
    return f"{random.choice(ON_TERM)}\necho Started\nsleep 9999 & wait $!\nwait"


def _plain(random: Random, name: str, lives: tuple[str, ...]) -> Json:
    return {
        "name": name,
        "image": f"{IMAGE}:1",
        "imagePullPolicy": random.choice(["IfNotPresent", "IfNotPresent", "Always"]),
        "command": ["sh", "-c", _script(random, random.choice(lives))],
        "resources": {"requests": {"cpu": "100m", "memory": "32Mi"}, "limits": {"cpu": "200m", "memory": "64Mi"}},
    }


def _probed(random: Random, container: Json) -> Json:
    """Add hooks and probes."""
    hooks = {}
    if random.random() < 0.2:
        hooks["preStop"] = _exec(random.choice(PRE_STOP))
    if random.random() < 0.15:
        hooks["postStart"] = _exec(random.choice(POST_START))
    more: Json = {"lifecycle": hooks} if hooks else {}
    if random.random() < 0.25:
        threshold, delay = random.choice([1, 3]), random.choice([0, 4])
        more["livenessProbe"] = {
            **_exec(random.choice(["exit 1", "true"])),
            "periodSeconds": random.choice([1, 2]),
            "failureThreshold": threshold,
            "initialDelaySeconds": delay,
        }
    if random.random() < 0.15:
        more["startupProbe"] = {
            **_exec(random.choice(["exit 1", "true"])),
            "periodSeconds": 1,
            "failureThreshold": random.choice([2, 4]),
        }
    return {**container, **more}


def _ruled(random: Random, container: Json, policy: str) -> Json:
    """Add restart rules, or that a resize needs a restart."""
    if random.random() < 0.15:
        rule = {
            "action": random.choice(["Restart", "RestartAllContainers"]),
            "exitCodes": {"operator": "In", "values": [42]},
        }
        return {**container, "restartPolicy": "Never", "restartPolicyRules": [rule]}
    if policy != "Never" and random.random() < 0.3:
        return {**container, "resizePolicy": [{"resourceName": "cpu", "restartPolicy": "RestartContainer"}]}
    return container


def _pod(random: Random) -> Json:
    policy = random.choice(["Always", "Always", "OnFailure", "Never"])
    sidecars = [
        {**_probed(random, _plain(random, f"s{k}", ("steady", "steady", "crash"))), "restartPolicy": "Always"}
        for k in range(random.choice([0, 0, 0, 1, 2]))
    ]
    init = list(sidecars)
    if random.random() < 0.2:
        init.insert(random.randint(0, len(init)), _plain(random, "i0", ("long",)))
    mains = [
        _ruled(random, _probed(random, _plain(random, f"m{k}", ("steady", "crash", "crash", "long"))), policy)
        for k in range(random.choice([1, 1, 2]))
    ]
    spec: Json = {
        "restartPolicy": policy,
        "terminationGracePeriodSeconds": random.choice([2, 5, 10, 30]),
        "initContainers": init,
        "containers": mains,
    }
    if random.random() < 0.1:
        spec["activeDeadlineSeconds"] = random.choice([10, 40])
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": spec}


def _steps(random: Random, mains: list[str]) -> tuple[list[Json], int]:
    """Return what is done to the pod, and when the last of it is."""
    steps, at = [], 0
    for _ in range(random.choice([0, 1, 2, 3])):
        at += random.choice([3, 7, 15, 40])
        steps.append({"at": at, "do": _step(random, random.choice(mains))})
    if random.random() < 0.6:
        at += random.choice([5, 20])
        grace = random.choice([None, 0, 3, 20])
        steps.append({"at": at, "do": {"delete": {} if grace is None else {"gracePeriodSeconds": grace}}})
    return steps, at


def _step(random: Random, main: str) -> Json:
    match random.choice(["resize", "resize", "image", "kubelet", "sandbox"]):
        case "resize":
            change: Json = {"resources": {"requests": {"cpu": f"{random.choice([50, 100, 150])}m"}}}
            body = {"spec": {"containers": [{"name": main, **change}]}}
            return {"patch": {"kind": "Pod", "subresource": "resize", "body": body}}
        case "image":
            body = {"spec": {"containers": [{"name": main, "image": f"{IMAGE}:{random.choice([1, 2])}"}]}}
            return {"patch": {"kind": "Pod", "body": body}}
        case "kubelet":
            return {"kubelet": "restart"}
    return {"runtime": {"stop-sandbox": True}}


def _fault(random: Random, last: int) -> Json:
    at = random.choice([0, 5, 20])
    match random.choice(["slow", "fail", "fail", "engine", "lose"]):
        case "slow":
            return {"do": "slowStops", "delay": random.choice([1, 3, 20, 130]), "rate": random.choice([0.5, 1])}
        case "fail":
            call = random.choice(CALLS)
            return {"do": "failCalls", "call": call, "times": random.choice([1, 2, 4]), "at": at, "error": "bad luck"}
        case "engine":
            at = 3 + at + random.randint(0, last)
            return {"do": "engineRestart", "at": at, "seconds": random.choice([2, 5, 12])}
    return {"do": "loseEvents", "rate": 0.5, "at": at, "seconds": 10}
