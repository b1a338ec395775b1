"""Who a container runs as and what it may do: container over pod, and the refusal to run as root."""

from __future__ import annotations

from errno import ENOENT
from typing import TYPE_CHECKING

from attrs import frozen

from kubelet_emu.api import reasons_creation
from kubelet_emu.api.gotext import quote
from kubelet_emu.api.labels import format_pod
from kubelet_emu.api.v1_security import PodSecurityContext, SecurityContext
from kubelet_emu.rules.app_armor import app_armor_profile
from runtime.api import LinuxSecurityContext, NamespaceMode, NamespaceOptions, SeccompProfile

if TYPE_CHECKING:
    from collections.abc import Callable

    from kubelet_emu.api.v1 import AnyContainer, Pod
    from kubelet_emu.api.v1_security import SeccompProfile as APISeccompProfile
    from runtime.api import ContainerID, Image

MAX_ID = 2**31 - 1
SECCOMP_ROOT = "/var/lib/kubelet/seccomp"
"""Where a node keeps its profiles (kubelet v1.36 DefaultKubeletSeccompProfileRoot below its root directory)."""

_NOTHING_ASKED = SecurityContext()
_NOTHING_ASKED_OF_POD = PodSecurityContext()


class SecurityError(ValueError):
    """A container must not be made; the text is the waiting message."""


def no_profile(path: str) -> str:
    """Have no seccomp profile at any path: the reader of a node without any; FileNotFoundError."""
    raise FileNotFoundError(ENOENT, "No such file or directory", path)


@frozen(kw_only=True)
class SeccompOfNode:
    """What a node knows of seccomp: the folder of its profiles and what reads one by its path (OSError).

    `is_default` is the kubelet's seccompDefault.
    """

    root: str = SECCOMP_ROOT
    read: Callable[[str], str] = no_profile
    is_default: bool = False

    def path(self, profile: str) -> str:
        """Return where a profile is."""
        return f"{self.root}/{profile}"

    def has(self, profile: str) -> bool:
        """Tell whether a profile can be read."""
        try:
            self.read(self.path(profile))
        except OSError:
            return False
        return True


_NO_PROFILES = SeccompOfNode()


def check_run_as_non_root(pod: Pod, container: AnyContainer, image: Image | None) -> None:
    """Refuse a container that would run as root although it must not; SecurityError.

    A runAsUser decides alone, else the image's user. Source: kubelet v1.36 verifyRunAsNonRoot.
    """
    own, of_pod = _own(container), _of_pod(pod)
    if not _first(own.run_as_non_root, of_pod.run_as_non_root):
        return
    names = {"pod": quote(format_pod(pod)), "container": container.name}
    user = _first(own.run_as_user, of_pod.run_as_user)
    if user is not None:
        if user == 0:
            raise SecurityError(reasons_creation.NON_ROOT_RUN_AS_USER.format(**names))
        return
    if image is not None and image.username:
        raise SecurityError(reasons_creation.NON_ROOT_USER_NAME.format(user=image.username, **names))
    uid = image.uid if image is not None else None
    if not uid:
        raise SecurityError(reasons_creation.NON_ROOT_IMAGE_IS_ROOT.format(**names))
    if not 0 < uid <= MAX_ID:
        detail = f"must be between 0 and {MAX_ID}, inclusive"
        raise SecurityError(reasons_creation.NON_ROOT_BAD_USER_ID.format(uid=uid, detail=detail, **names))


def container_security(
    pod: Pod,
    container: AnyContainer,
    image: Image | None,
    *,
    target_id: ContainerID | None = None,
    seccomp: SeccompOfNode = _NO_PROFILES,
) -> LinuxSecurityContext:
    """Return a container's security context, the container's fields before the pod's; SecurityError.

    Only a group without a user takes the user of the image. Source: kubelet v1.36 determineEffectiveSecurityContext,
    securitycontext.DetermineEffectiveSecurityContext.
    """
    own, of_pod = _own(container), _of_pod(pod)
    if of_pod.supplemental_groups_policy not in {None, "Merge", "Strict"}:
        policy = of_pod.supplemental_groups_policy
        raise SecurityError(reasons_creation.UNSUPPORTED_SUPPLEMENTAL_GROUPS_POLICY.format(policy=policy))
    capabilities = own.capabilities
    user = _first(own.run_as_user, of_pod.run_as_user)
    group = _first(own.run_as_group, of_pod.run_as_group)
    username = None
    if user is None and group is not None:
        user, username = _image_user(image)
    return LinuxSecurityContext(
        run_as_user=user,
        run_as_username=username,
        run_as_group=group,
        supplemental_groups=supplemental_groups(pod),
        supplemental_groups_policy=of_pod.supplemental_groups_policy or "Merge",
        privileged=bool(own.privileged),
        add_capabilities=capabilities.add if capabilities else (),
        drop_capabilities=capabilities.drop if capabilities else (),
        readonly_rootfs=bool(own.read_only_root_filesystem),
        no_new_privs=own.allow_privilege_escalation is False,
        seccomp=_seccomp(own.seccomp_profile or of_pod.seccomp_profile, seccomp),
        app_armor=app_armor_profile(pod, container),
        namespaces=container_namespaces(pod, target_id),
    )


def sandbox_security(pod: Pod) -> LinuxSecurityContext:
    """Return the sandbox's security context: the pod's ids, the runtime's seccomp profile.

    It is privileged when any container is. Source: kubelet v1.36 generatePodSandboxLinuxConfig.
    """
    of_pod = _of_pod(pod)
    return LinuxSecurityContext(
        run_as_user=of_pod.run_as_user,
        run_as_group=of_pod.run_as_group,
        supplemental_groups=supplemental_groups(pod),
        supplemental_groups_policy=of_pod.supplemental_groups_policy or "Merge",
        privileged=has_privileged_container(pod),
        seccomp=SeccompProfile(type="RuntimeDefault"),
        namespaces=container_namespaces(pod, None),
    )


def has_privileged_container(pod: Pod) -> bool:
    """Tell whether any container of a pod is privileged (kubelet v1.36 HasPrivilegedContainer)."""
    spec = pod.spec
    containers: tuple[AnyContainer, ...] = (*spec.init_containers, *spec.containers, *spec.ephemeral_containers)
    return any(_own(container).privileged for container in containers)


def supplemental_groups(pod: Pod) -> tuple[int, ...]:
    """Return the extra groups of every container of a pod, fsGroup among them.

    Source: kubelet v1.36 determineEffectiveSecurityContext, volume manager GetExtraSupplementalGroupsForPod.
    """
    of_pod = _of_pod(pod)
    fs_group = () if of_pod.fs_group is None else (of_pod.fs_group,)
    return tuple(dict.fromkeys((*fs_group, *of_pod.supplemental_groups)))


def container_namespaces(pod: Pod, target_id: ContainerID | None) -> NamespaceOptions:
    """Return whose namespaces a container of the pod joins; a target shares its processes.

    Source: kubelet v1.36 util NamespacesForPod.
    """
    spec = pod.spec
    pid = NamespaceMode.CONTAINER
    if target_id is not None:
        pid = NamespaceMode.TARGET
    elif spec.host_pid:
        pid = NamespaceMode.NODE
    elif spec.share_process_namespace:
        pid = NamespaceMode.POD
    return NamespaceOptions(
        network=NamespaceMode.NODE if spec.host_network else NamespaceMode.POD,
        ipc=NamespaceMode.NODE if spec.host_ipc else NamespaceMode.POD,
        pid=pid,
        target_id=target_id,
    )


def _seccomp(profile: APISeccompProfile | None, node: SeccompOfNode) -> SeccompProfile:
    """Return the profile to use; none asked for is Unconfined, with seccompDefault the runtime's."""
    if profile is None:
        return SeccompProfile(type="RuntimeDefault" if node.is_default else "Unconfined")
    if profile.type != "Localhost":
        return SeccompProfile(type=profile.type)
    if not profile.localhost_profile:
        raise SecurityError(reasons_creation.SECCOMP_LOCALHOST_MISSING)
    path = node.path(profile.localhost_profile)
    try:
        return SeccompProfile(type="Localhost", localhost_path=path, localhost_json=node.read(path))
    except OSError as error:
        why = (error.strerror or "").lower()
        return SeccompProfile(type="Localhost", localhost_path=path, localhost_error=why)


def _image_user(image: Image | None) -> tuple[int | None, str | None]:
    if image is not None and image.uid is None and image.username:
        return None, image.username
    return (image.uid or 0 if image is not None else 0), None


def _own(container: AnyContainer) -> SecurityContext:
    return container.security_context or _NOTHING_ASKED


def _of_pod(pod: Pod) -> PodSecurityContext:
    return pod.spec.security_context or _NOTHING_ASKED_OF_POD


def _first(own: int | None, of_pod: int | None) -> int | None:
    return own if own is not None else of_pod
