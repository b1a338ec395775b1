"""`get` of services, configuration, CronJobs and workloads: kubectl's columns, counts from the pods that there are."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from kubelet_emu.cli.remote.kinds import KINDS, kind_of
from kubelet_emu.cli.remote.other_cells import with_counts
from kubelet_emu.cli.remote.table import Table

NOW = datetime(2026, 12, 2, 4, 0, 0, tzinfo=UTC)
TEMPLATE = {"spec": {"containers": [{"name": "a", "image": "x:1"}, {"name": "b", "image": "y:1"}]}}
SELECTOR = {"matchLabels": {"tier": "web", "app": "web"}}
APPS = {"selector": SELECTOR, "template": TEMPLATE}


def an_object(kind: str, **more: object) -> dict[str, Any]:
    """Return an object of a kind, 5 s old."""
    return {"kind": kind, "metadata": {"name": "n", "creationTimestamp": "2026-12-02T03:59:55Z"}, **more}


ROWS: list[tuple[str, dict[str, Any], str, str]] = [
    (
        "a Deployment",
        an_object(
            "Deployment",
            spec={"replicas": 3, **APPS},
            status={"readyReplicas": 1, "updatedReplicas": 2, "availableReplicas": 1},
        ),
        "n|1/3|2|1|5s",
        "a,b|x:1,y:1|app=web,tier=web",
    ),
    (
        "a Deployment of which nothing is known",
        an_object("Deployment", spec={"replicas": 3, **APPS}),
        "n|0/3|0|0|5s",
        "a,b|x:1,y:1|app=web,tier=web",
    ),
    (
        "a ReplicaSet",
        an_object("ReplicaSet", spec={"replicas": 3, **APPS}, status={"replicas": 2, "readyReplicas": 1}),
        "n|3|2|1|5s",
        "a,b|x:1,y:1|app=web,tier=web",
    ),
    (
        "a StatefulSet",
        an_object("StatefulSet", spec={"replicas": 3, **APPS}, status={"readyReplicas": 2}),
        "n|2/3|5s",
        "a,b|x:1,y:1",
    ),
    (
        "a DaemonSet",
        an_object("DaemonSet", spec=APPS, status={"desiredNumberScheduled": 1, "currentNumberScheduled": 1}),
        "n|1|1|0|0|0|<none>|5s",
        "a,b|x:1,y:1|app=web,tier=web",
    ),
    (
        "a CronJob",
        an_object("CronJob", spec={"schedule": "@daily", "jobTemplate": {"spec": {"template": TEMPLATE}}}),
        "n|@daily|<none>|<unset>|0|<none>|5s",
        "a,b|x:1,y:1|<none>",
    ),
    (
        "a CronJob that has run",
        an_object(
            "CronJob",
            spec={"schedule": "@daily", "suspend": False, "timeZone": "Etc/UTC", "jobTemplate": {}},
            status={"active": [{"name": "j"}], "lastScheduleTime": "2026-12-02T03:58:00Z"},
        ),
        "n|@daily|Etc/UTC|False|1|2m|5s",
        "||<none>",
    ),
    (
        "a Service",
        an_object(
            "Service",
            spec={
                "type": "NodePort",
                "clusterIP": "10.0.0.1",
                "ports": [{"port": 80, "nodePort": 30080}, {"port": 53, "protocol": "UDP"}],
                "selector": {"app": "web"},
            },
        ),
        "n|NodePort|10.0.0.1|<none>|80:30080/TCP,53/UDP|5s",
        "app=web",
    ),
    (
        "a Service without an address",
        an_object("Service", spec={"clusterIPs": ["None"]}),
        "n|ClusterIP|None|<none>|<none>|5s",
        "<none>",
    ),
    (
        "a load balancer that nobody makes",
        an_object("Service", spec={"type": "LoadBalancer"}),
        "n|LoadBalancer|<none>|<pending>|<none>|5s",
        "<none>",
    ),
    (
        "a Service with addresses from outside",
        an_object("Service", spec={"externalIPs": ["1.2.3.4", "5.6.7.8"]}),
        "n|ClusterIP|<none>|1.2.3.4,5.6.7.8|<none>|5s",
        "<none>",
    ),
    (
        "a name elsewhere",
        an_object("Service", spec={"type": "ExternalName", "externalName": "db.example"}),
        "n|ExternalName|<none>|db.example|<none>|5s",
        "<none>",
    ),
    ("a ConfigMap", an_object("ConfigMap", data={"a": "1"}, binaryData={"b": "AA=="}), "n|2|5s", ""),
    ("a Secret", an_object("Secret", data={"a": "MQ=="}), "n|Opaque|1|5s", ""),
    ("a Secret of a type", an_object("Secret", type="kubernetes.io/tls"), "n|kubernetes.io/tls|0|5s", ""),
]


@pytest.mark.parametrize(("why", "obj", "cells", "wide"), ROWS, ids=[row[0] for row in ROWS])
def test_a_kind_has_the_row_of_kubectl(why: str, obj: dict[str, Any], cells: str, wide: str) -> None:
    kind = kind_of(obj["kind"])
    assert kind is not None
    assert "|".join(kind.cells(obj, NOW, is_wide=False)) == cells, why
    assert "|".join(kind.cells(obj, NOW, is_wide=True)) == "|".join(filter(None, (cells, wide))) or not wide, why
    assert len(kind.header(is_wide=False)) == len(kind.cells(obj, NOW, is_wide=False))
    assert len(kind.header(is_wide=True)) == len(kind.cells(obj, NOW, is_wide=True))


def owned(name: str, owner: str, *, ready: bool = True, phase: str = "Running", **metadata: object) -> dict[str, Any]:
    """Return a pod, or a ReplicaSet, of an owner."""
    conditions = [{"type": "Ready", "status": "True" if ready else "False"}]
    return {
        "metadata": {"uid": name, "ownerReferences": [{"uid": owner, "controller": True}], **metadata},
        "status": {"phase": phase, "conditions": conditions},
    }


def revision(number: int) -> dict[str, str]:
    return {"deployment.kubernetes.io/revision": str(number)}


SETS = [owned("old", "uid", annotations=revision(9)), owned("new", "uid", annotations=revision(10))]
PODS = [
    owned("a", "old"),
    owned("b", "new"),
    owned("c", "new", ready=False),
    owned("d", "new", phase="Failed"),
    owned("e", "elsewhere"),
    owned("f", "uid"),
    owned("g", "new", deletionTimestamp="2026-12-02T03:59:58Z"),
    owned("h", "uid", deletionTimestamp="2026-12-02T03:59:58Z"),
]
COUNTS = [
    ("a Deployment's pods are those of its ReplicaSets", "Deployment", {"readyReplicas": 3, "updatedReplicas": 2}),
    ("others have their own, but for those that are deleted", "ReplicaSet", {"readyReplicas": 3, "replicas": 4}),
    ("of a StatefulSet these count until they are gone", "StatefulSet", {"readyReplicas": 5, "replicas": 6}),
]


@pytest.mark.parametrize(("why", "kind", "expected"), COUNTS, ids=[row[0] for row in COUNTS])
def test_workloads_are_counted_by_their_pods(why: str, kind: str, expected: dict[str, int]) -> None:
    counted = with_counts({"kind": kind, "metadata": {"uid": "uid"}}, PODS, SETS)
    status: Any = counted["status"]
    assert {name: status[name] for name in expected} == expected, why


def test_what_has_counts_keeps_them() -> None:
    known = {"kind": "Deployment", "metadata": {"uid": "uid"}, "status": {"readyReplicas": 9}}
    assert with_counts(known, PODS, SETS) is known
    service = {"kind": "Service", "metadata": {"uid": "uid"}}
    assert with_counts(service, PODS, SETS) is service


def test_every_kind_has_columns() -> None:
    assert all(kind.headers[0] in {"NAME", "LAST SEEN"} and len(kind.headers) > 2 for kind in KINDS)


@pytest.mark.parametrize("end", ["\n", "\r", "\f"])
def test_a_cell_of_several_lines_is_cut(end: str) -> None:
    assert Table().lines([("A", f"first{end}second\nthird")]) == ["A     first..."]
