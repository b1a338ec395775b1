"""Names and labels of Docker objects, both ways."""

from __future__ import annotations

import pytest

from runtime.api import ContainerMetadata, PodSandboxMetadata
from runtime.docker import naming

POD = PodSandboxMetadata(name="web-0", namespace="default", uid="1234-ab", attempt=2)


def test_a_sandbox_has_the_name_that_cri_dockerd_gives() -> None:
    assert naming.sandbox_name(POD) == "k8s_POD_web-0_default_1234-ab_2"


def test_a_container_has_its_own_attempt() -> None:
    name = naming.container_name(POD, ContainerMetadata(name="app", attempt=7))
    assert name == "k8s_app_web-0_default_1234-ab_7"


@pytest.mark.parametrize("suffix", ["", "instance"], ids=["six parts", "seven parts"])
def test_a_name_is_read_back(suffix: str) -> None:
    metadata = ContainerMetadata(name="app", attempt=7)
    parsed = naming.parse_name("/" + naming.container_name(POD, metadata, suffix))
    assert parsed is not None
    assert (parsed.metadata, parsed.is_sandbox) == (metadata, False)
    assert (parsed.pod.name, parsed.pod.namespace, parsed.pod.uid) == ("web-0", "default", "1234-ab")
    sandbox = naming.parse_name(naming.sandbox_name(POD, suffix))
    assert sandbox is not None
    assert (sandbox.pod, sandbox.is_sandbox) == (POD, True)


@pytest.mark.parametrize(
    "name",
    ["", "busy_curie", "k8s_a_b_c_d", "k8s_a_b_c_d_x", "k8s_a_b_c_d_1_e_f", "x8s_a_b_c_d_1"],
    ids=["empty", "foreign", "five parts", "no number", "eight parts", "another prefix"],
)
def test_other_names_say_nothing(name: str) -> None:
    assert naming.parse_name(name) is None


def test_labels_and_annotations_come_back_and_internal_ones_are_hidden() -> None:
    stored = naming.merged_labels(
        {"app": "web"},
        {"io.kubernetes.container.hash": "ab"},
        **{naming.TYPE_LABEL: naming.CONTAINER_TYPE, naming.INSTANCE_LABEL: "i", naming.SANDBOX_ID_LABEL: "s"},
    )
    assert stored["annotation.io.kubernetes.container.hash"] == "ab"
    assert naming.split_labels(stored, is_sandbox=False) == ({"app": "web"}, {"io.kubernetes.container.hash": "ab"})


@pytest.mark.parametrize(("is_sandbox", "shown"), [(True, {}), (False, {naming.CONTAINER_NAME_LABEL: "POD"})])
def test_the_containers_name_is_hidden_on_sandboxes_alone(*, is_sandbox: bool, shown: dict[str, str]) -> None:
    assert naming.split_labels({naming.CONTAINER_NAME_LABEL: "POD"}, is_sandbox=is_sandbox) == (shown, {})
