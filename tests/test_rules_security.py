"""Security contexts and the refusal to run as root (kubelet v1.36 security_context.go)."""

from __future__ import annotations

import pytest

from kubelet_emu.api.meta import ObjectMeta
from kubelet_emu.api.v1 import Container, EphemeralContainer, Pod, PodSpec
from kubelet_emu.api.v1_security import (
    AppArmorProfile,
    Capabilities,
    PodSecurityContext,
    SeccompProfile,
    SecurityContext,
)
from kubelet_emu.rules.security import (
    SeccompOfNode,
    SecurityError,
    check_run_as_non_root,
    container_namespaces,
    container_security,
    has_privileged_container,
    no_profile,
    sandbox_security,
    supplemental_groups,
)
from runtime.api import ContainerID, Image, ImageID, LinuxSecurityContext, NamespaceMode, NamespaceOptions
from runtime.api import SeccompProfile as RuntimeSeccompProfile

ROOT = Image(id=ImageID("i"))
NAMED = Image(id=ImageID("i"), username="nginx")
NUMERIC = Image(id=ImageID("i"), uid=101)
HUGE = Image(id=ImageID("i"), uid=2**31)
WHO = '(pod: "p_ns(u)", container: c)'


def a_pod(context: PodSecurityContext | None = None, *containers: Container, **spec: bool) -> Pod:
    meta = ObjectMeta(name="p", namespace="ns", uid="u")
    return Pod(metadata=meta, spec=PodSpec(security_context=context, containers=containers, **spec))  # type: ignore[arg-type]


def a_container(**context: object) -> Container:
    return Container(name="c", security_context=SecurityContext(**context) if context else None)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("pod_context", "container", "image", "text"),
    [
        pytest.param(
            PodSecurityContext(run_as_non_root=True, run_as_user=0),
            a_container(),
            NUMERIC,
            f"container's runAsUser breaks non-root policy {WHO}",
            id="runAsUser 0 of the pod",
        ),
        pytest.param(
            None,
            a_container(run_as_non_root=True),
            NAMED,
            f"container has runAsNonRoot and image has non-numeric user (nginx), cannot verify user is non-root {WHO}",
            id="the image's user is a name",
        ),
        pytest.param(
            None,
            a_container(run_as_non_root=True),
            ROOT,
            f"container has runAsNonRoot and image will run as root {WHO}",
            id="the image names no user",
        ),
        pytest.param(
            None,
            a_container(run_as_non_root=True),
            None,
            f"container has runAsNonRoot and image will run as root {WHO}",
            id="nothing is known of the image",
        ),
        pytest.param(
            None,
            a_container(run_as_non_root=True),
            HUGE,
            "container has runAsNonRoot and image has an invalid user id (2147483648). (Must be 1-(2147483647)):"
            f" must be between 0 and 2147483647, inclusive {WHO}",
            id="the image's uid is out of range",
        ),
    ],
)
def test_a_container_that_would_be_root_is_refused(
    pod_context: PodSecurityContext | None, container: Container, image: Image | None, text: str
) -> None:
    with pytest.raises(SecurityError) as raised:
        check_run_as_non_root(a_pod(pod_context), container, image)
    assert str(raised.value) == text


@pytest.mark.parametrize(
    ("pod_context", "container", "image"),
    [
        pytest.param(None, a_container(), ROOT, id="nobody asks"),
        pytest.param(
            PodSecurityContext(run_as_non_root=True), a_container(run_as_non_root=False), ROOT, id="container over pod"
        ),
        pytest.param(None, a_container(run_as_non_root=True, run_as_user=5), NAMED, id="runAsUser decides alone"),
        pytest.param(None, a_container(run_as_non_root=True), NUMERIC, id="the image has a number"),
    ],
)
def test_a_container_that_is_not_root_is_made(
    pod_context: PodSecurityContext | None, container: Container, image: Image
) -> None:
    check_run_as_non_root(a_pod(pod_context), container, image)


UNCONFINED = RuntimeSeccompProfile(type="Unconfined")


@pytest.mark.parametrize(
    ("pod_context", "container", "image", "expected"),
    [
        pytest.param(None, a_container(), NAMED, LinuxSecurityContext(seccomp=UNCONFINED), id="all left to the image"),
        pytest.param(
            PodSecurityContext(
                run_as_user=1,
                run_as_group=2,
                fs_group=3,
                supplemental_groups=(4, 3),
                seccomp_profile=SeccompProfile(type="Unconfined"),
            ),
            a_container(run_as_user=9, seccomp_profile=SeccompProfile(type="RuntimeDefault")),
            ROOT,
            LinuxSecurityContext(
                run_as_user=9,
                run_as_group=2,
                supplemental_groups=(3, 4),
                seccomp=RuntimeSeccompProfile(type="RuntimeDefault"),
            ),
            id="field by field, container over pod",
        ),
        pytest.param(
            None,
            a_container(
                privileged=True,
                read_only_root_filesystem=True,
                allow_privilege_escalation=False,
                capabilities=Capabilities(add=("NET_ADMIN",), drop=("ALL",)),
            ),
            ROOT,
            LinuxSecurityContext(
                privileged=True,
                readonly_rootfs=True,
                no_new_privs=True,
                add_capabilities=("NET_ADMIN",),
                drop_capabilities=("ALL",),
                seccomp=UNCONFINED,
            ),
            id="what only a container has",
        ),
        pytest.param(
            None,
            a_container(run_as_group=5),
            NUMERIC,
            LinuxSecurityContext(run_as_user=101, run_as_group=5, seccomp=UNCONFINED),
            id="a group alone takes the image's uid",
        ),
        pytest.param(
            None,
            a_container(run_as_group=5),
            NAMED,
            LinuxSecurityContext(run_as_username="nginx", run_as_group=5, seccomp=UNCONFINED),
            id="a group alone takes the image's name",
        ),
        pytest.param(
            None,
            a_container(run_as_group=5),
            None,
            LinuxSecurityContext(run_as_user=0, run_as_group=5, seccomp=UNCONFINED),
            id="a group alone is root's where the image says nothing",
        ),
    ],
)
def test_security_context(
    pod_context: PodSecurityContext | None, container: Container, image: Image | None, expected: LinuxSecurityContext
) -> None:
    assert container_security(a_pod(pod_context), container, image) == expected


def test_groups_and_app_armor_of_the_pod_reach_every_container() -> None:
    context = PodSecurityContext(
        supplemental_groups_policy="Strict", app_armor_profile=AppArmorProfile(type="Unconfined")
    )
    made = container_security(a_pod(context), a_container(), ROOT)
    assert (made.supplemental_groups_policy, made.app_armor) == ("Strict", "unconfined")
    assert sandbox_security(a_pod(context)).supplemental_groups_policy == "Strict"


def test_the_profiles_may_be_in_another_folder() -> None:
    def read(path: str) -> str:
        return {"/profiles/p.json": "{}"}[path] if path == "/profiles/p.json" else no_profile(path)

    profiles = SeccompOfNode(root="/profiles", read=read)
    assert (profiles.has("p.json"), profiles.has("q.json"), SeccompOfNode().has("p.json")) == (True, False, False)
    profile = SeccompProfile(type="Localhost", localhost_profile="p.json")
    made = container_security(a_pod(), a_container(seccomp_profile=profile), ROOT, seccomp=profiles)
    assert made.seccomp is not None
    assert (made.seccomp.localhost_path, made.seccomp.localhost_json) == ("/profiles/p.json", "{}")


def test_a_localhost_profile_is_read_by_its_path() -> None:
    profile = SeccompProfile(type="Localhost", localhost_profile="p.json")
    path, container = "/var/lib/kubelet/seccomp/p.json", a_container(seccomp_profile=profile)
    made = container_security(a_pod(), container, ROOT, seccomp=SeccompOfNode(read={path: "{}"}.__getitem__))
    assert made.seccomp == RuntimeSeccompProfile(type="Localhost", localhost_path=path, localhost_json="{}")
    made = container_security(a_pod(), container, ROOT)
    assert made.seccomp == RuntimeSeccompProfile(type="Localhost", localhost_path=path)


@pytest.mark.parametrize(("is_default", "type_"), [(False, "Unconfined"), (True, "RuntimeDefault")])
def test_without_a_profile_the_kubelets_default_counts(is_default: bool, type_: str) -> None:  # noqa: FBT001 - a table
    made = container_security(a_pod(), a_container(), ROOT, seccomp=SeccompOfNode(is_default=is_default))
    assert made.seccomp is not None
    assert made.seccomp.type == type_


def test_a_localhost_profile_needs_a_path() -> None:
    container = a_container(seccomp_profile=SeccompProfile(type="Localhost"))
    with pytest.raises(SecurityError, match=r"localhostProfile must be set if seccompProfile type is Localhost\."):
        container_security(a_pod(), container, ROOT)


def test_an_unknown_policy_of_groups_is_refused() -> None:
    pod = a_pod(PodSecurityContext(supplemental_groups_policy="Some"))
    with pytest.raises(SecurityError, match="unsupported supplementalGroupsPolicy: Some"):
        container_security(pod, a_container(), ROOT)


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ({}, NamespaceOptions()),
        ({"host_pid": True}, NamespaceOptions(pid=NamespaceMode.NODE)),
        ({"share_process_namespace": True}, NamespaceOptions(pid=NamespaceMode.POD)),
        ({"host_network": True}, NamespaceOptions(network=NamespaceMode.NODE)),
        ({"host_ipc": True}, NamespaceOptions(ipc=NamespaceMode.NODE)),
    ],
)
def test_namespaces_follow_the_pod(spec: dict[str, bool], expected: NamespaceOptions) -> None:
    assert container_namespaces(a_pod(None, **spec), None) == expected


def test_a_target_shares_its_processes() -> None:
    made = container_namespaces(a_pod(None, host_pid=True), ContainerID("t"))
    assert made == NamespaceOptions(pid=NamespaceMode.TARGET, target_id=ContainerID("t"))


def test_the_sandbox_has_the_pods_ids_and_is_privileged_with_its_containers() -> None:
    pod = a_pod(PodSecurityContext(run_as_user=1, run_as_group=2, fs_group=3), a_container(privileged=True))
    assert sandbox_security(pod) == LinuxSecurityContext(
        run_as_user=1,
        run_as_group=2,
        supplemental_groups=(3,),
        privileged=True,
        seccomp=RuntimeSeccompProfile(type="RuntimeDefault"),
    )


def test_an_ephemeral_container_makes_a_pod_privileged_too() -> None:
    privileged = SecurityContext(privileged=True)
    pod = Pod(spec=PodSpec(ephemeral_containers=(EphemeralContainer(name="d", security_context=privileged),)))
    assert has_privileged_container(pod)
    assert not has_privileged_container(a_pod(None, a_container()))
    assert supplemental_groups(pod) == ()
