"""What the kubelet keeps in labels and annotations (kubelet v1.36 labels.go)."""

from __future__ import annotations

import pytest
from attrs import evolve
from pod_makers import a_container, a_pod

from kubelet_emu.api import labels
from kubelet_emu.api.v1 import ContainerPort
from kubelet_emu.api.v1_handlers import ExecAction, HTTPGetAction, Lifecycle, LifecycleHandler, SleepAction

PORTS = (ContainerPort(container_port=80, protocol="TCP"), ContainerPort(name="dns", container_port=53, protocol="UDP"))


def test_a_pod_is_named_as_messages_name_it() -> None:
    assert labels.format_pod(a_pod()) == "p_ns(uid)"


def test_the_hash_is_of_name_and_image_alone() -> None:
    container = a_container("m")
    assert labels.hash_container(container) == labels.hash_container(evolve(container, command=("x",)))
    others = {labels.hash_container(each) for each in (container, evolve(container, image="i:2"), a_container("n"))}
    assert len(others) == 3
    assert all(0 <= value < 2**32 for value in others)


def test_labels_carry_identity() -> None:
    pod = a_pod(metadata={"labels": {"app": "x"}})
    assert labels.pod_sandbox_labels(pod) == {
        "app": "x",
        "io.kubernetes.pod.name": "p",
        "io.kubernetes.pod.namespace": "ns",
        "io.kubernetes.pod.uid": "uid",
    }
    written = labels.container_labels(pod, a_container("m"))
    assert labels.parse_container_labels(written) == labels.ContainerIdentity(
        pod_name="p", pod_namespace="ns", pod_uid="uid", container_name="m"
    )


@pytest.mark.parametrize(
    "handler",
    [
        LifecycleHandler(exec=ExecAction(command=("sh", "-c", "sleep 1"))),
        LifecycleHandler(http_get=HTTPGetAction(path="/stop", port="admin", scheme="HTTP")),
        LifecycleHandler(sleep=SleepAction(seconds=3)),
        None,
    ],
)
def test_annotations_read_back_as_they_were_written(handler: LifecycleHandler | None) -> None:
    pod = a_pod(metadata={"deletion_grace_period_seconds": 5}, termination_grace_period_seconds=30)
    container = a_container(
        "m",
        lifecycle=Lifecycle(pre_stop=handler),
        ports=PORTS,
        termination_message_path="/dev/termination-log",
        termination_message_policy="File",
    )
    assert labels.parse_container_annotations(labels.container_annotations(pod, container, 4)) == labels.ContainerFacts(
        hash=labels.hash_container(container),
        restart_count=4,
        termination_message_path="/dev/termination-log",
        termination_message_policy="File",
        termination_grace_period_seconds=30,
        deletion_grace_period_seconds=5,
        pre_stop=handler,
        ports=PORTS,
    )


def test_annotations_of_a_plain_container_say_only_what_it_has() -> None:
    assert set(labels.container_annotations(a_pod(), a_container("m"), 0)) == {
        "io.kubernetes.container.hash",
        "io.kubernetes.container.restartCount",
        "io.kubernetes.container.terminationMessagePath",
        "io.kubernetes.container.terminationMessagePolicy",
    }


@pytest.mark.parametrize("text", ["{", "[]", "7", '{"exec": 3}', '[{"containerPort": "x"}]', "null"])
def test_what_cannot_be_read_counts_as_absent(text: str) -> None:
    keys = (
        labels.CONTAINER_HASH_ANNOTATION,
        labels.PRE_STOP_HANDLER_ANNOTATION,
        labels.PORTS_ANNOTATION,
        labels.POD_TERMINATION_GRACE_PERIOD_ANNOTATION,
    )
    facts = labels.parse_container_annotations(dict.fromkeys(keys, text) | {keys[0]: "zz", keys[3]: "soon"})
    assert facts == labels.ContainerFacts()
