"""Small logs for tests of verify, written by hand."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from lifecycle_logs import a_log
from scenario_files import given

from kubelet_emu.config.kubelet_configuration import load_text
from kubelet_emu.lifecycle.verification import Finding, Outcome, Terms, verify
from kubelet_emu.scenarios.needs import read_needs

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

Records = list[dict[str, object]]

OK, BROKEN, UNKNOWN, NOTHING = Outcome.OK, Outcome.VIOLATION, Outcome.UNKNOWN, Outcome.NOT_APPLICABLE
HOOK = {"exec": {"command": ["sh", "-c", "echo Hook > /proc/1/fd/1; sleep 3; echo Hooked > /proc/1/fd/1"]}}
SLEEP = {"sleep": {"seconds": 5}}


def a_pod(*containers: dict[str, object], init: Iterable[dict[str, object]] = (), **spec: object) -> str:
    """Return the manifest of pod p as JSON, which is YAML."""
    body = {"initContainers": list(init), "containers": list(containers) or [{"name": "a"}], **spec}
    return json.dumps({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": body})


def sidecar(name: str, **more: object) -> dict[str, object]:
    return {"name": name, "restartPolicy": "Always", **more}


def with_hook(name: str, hook: str, handler: dict[str, object]) -> dict[str, object]:
    return {"name": name, "lifecycle": {hook: handler}}


CREATED = {"t": 0.0, "kind": "object", "what": "created"}


def ran(name: str, start: float, end: float | None = None, code: int = 0, *, n: int = 1) -> Records:
    """Return a run as the runtime records it."""
    whose = {"kind": "run", "pod": "p", "container": name, "run": n}
    ended = [] if end is None else [{"t": end, **whose, "what": "exit", "code": code}]
    return [{"t": start, **whose, "what": "start"}, *ended]


def stopped(name: str, at: float, timeout: float | None = None, kill: float | None = None, *, n: int = 1) -> Records:
    """Return the stop call, the signals and the event of a stop."""
    whose = {"kind": "cri", "pod": "p", "container": name, "run": n}
    found: Records = [{"t": at, **whose, "what": "signal", "signal": "SIGTERM"}]
    if timeout is not None:
        found.insert(0, {"t": at, **whose, "what": "StopContainer", "timeout": timeout})
    if kill is not None:
        found.append({"t": kill, **whose, "what": "signal", "signal": "SIGKILL"})
    return found


def event(at: float, reason: str, message: str = "", container: str = "") -> Records:
    return [{"t": at, "kind": "event", "pod": "p", "container": container, "reason": reason, "message": message}]


def deleted(at: float, grace: int | None = 30) -> Records:
    given = {} if grace is None else {"gracePeriodSeconds": grace}
    return [{"t": at, "kind": "object", "what": "deletionTimestamp", "pod": "p", **given}]


def line(at: float, container: str, text: str) -> Records:
    return [{"t": at, "kind": "log", "pod": "p", "container": container, "run": 1, "line": text}]


def status(at: float, phase: str = "Running", **containers: dict[str, object]) -> Records:
    """Return a status; `a={"state": ..., "started": ...}` for each container."""
    full = {name: {"state": "running", "ready": True, "restartCount": 0, **c} for name, c in containers.items()}
    return [{"t": at, "kind": "status", "pod": "p", "phase": phase, "conditions": {}, "containers": full}]


def finding_of(code: str, manifest: str, records: Records, terms: Terms | None = None) -> Finding:
    created = [{**CREATED, "pod": next((r["pod"] for r in records if r.get("pod")), "p")}]
    log = a_log(sorted([*created, *records], key=lambda record: float(str(record["t"]))), manifest)
    return next(finding for finding in verify(log, terms).findings if finding.rule.code == code)


def killing(name: str, at: float) -> Records:
    return event(at, "Killing", f"Stopping container {name}", name)


def configured(text: str) -> Terms:
    kind = "apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n"
    return Terms(configuration=load_text(kind + text))


PLAIN = a_pod()


def terms_of(trace: Path) -> Terms:
    """Return by which kubelet a recorded trace is judged: what its scenario needs of one."""
    needs = read_needs(given(trace.parent / "scenario.yaml").needs)
    return Terms(gates=needs.features, configuration=needs.configuration)
