"""What a manifest may do to the machine that runs it: host paths, privileged containers, capabilities, namespaces.

Differs: a cluster lets a pod use any host path and namespace that its admission allows; here each needs an option, and
a refusal comes before anything starts. Reads the file system only to resolve symbolic links.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from attrs import frozen

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kubelet_emu.api.v1 import Container, PodSpec
    from kubelet_emu.api.v1_volumes import Volume
    from kubelet_emu.manifests.problems import Problem
    from kubelet_emu.manifests.workloads import Runnable


_ENGINE_SOCKETS = (
    "/var/run/docker.sock",
    "/run/docker.sock",
    "/run/containerd/containerd.sock",
    "/var/run/crio/crio.sock",
    "/run/podman/podman.sock",
)
_SENSITIVE_TREES = ("/etc", "/proc", "/dev", "/sys", "/boot", "/root/.ssh")
_HOST_CAPABILITIES = frozenset(
    {
        "ALL",
        "BPF",
        "DAC_READ_SEARCH",
        "MAC_ADMIN",
        "MAC_OVERRIDE",
        "PERFMON",
        "SYS_ADMIN",
        "SYS_BOOT",
        "SYS_MODULE",
        "SYS_RAWIO",
        "SYS_TIME",
    }
)
"""Capabilities whose reach is the kernel or the machine, whatever namespaces a container has."""


class HostPathRule(NamedTuple):
    """An allowed host folder (or file), and whether pods may write below it."""

    prefix: str
    is_writable: bool = False

    @classmethod
    def parse(cls, text: str) -> HostPathRule:
        """Read an option `PREFIX[:rw]`; ValueError for a prefix that is not absolute."""
        prefix, _, mode = text.rpartition(":") if text.endswith((":rw", ":ro")) else (text, "", "")
        if not prefix.startswith("/"):
            raise ValueError(f"{prefix!r} is not an absolute path")
        return cls(prefix=prefix, is_writable=mode == "rw")


@frozen(kw_only=True)
class SafetyPolicy:
    """What the user allows; `manifest_folder` is readable without an option, None where there is none (stdin)."""

    host_paths: tuple[HostPathRule, ...] = ()
    allow_privileged: bool = False
    allow_host_namespaces: bool = False
    manifest_folder: str | None = None
    engine_socket: str | None = None
    home: str | None = None


class _Refusal(NamedTuple):
    path: str
    text: str
    flag: str


def check_safety(runnable: Runnable, policy: SafetyPolicy) -> tuple[Problem, ...]:
    """Return what of a Pod or Job is refused, each with field, line and the option that would allow it."""
    spec = runnable.pod_spec
    if spec is None:
        return ()
    refusals = (*_namespaces(spec, policy), *_privileged(spec, policy), *_host_paths(spec, policy))
    return tuple(_problem(runnable, each) for each in refusals)


def _problem(runnable: Runnable, refusal: _Refusal) -> Problem:
    path = f"{runnable.spec_path}.{refusal.path}"
    return runnable.loaded.problem(path, "Not allowed", refusal.text, hint=f"{refusal.flag} allows it")


def _namespaces(spec: PodSpec, policy: SafetyPolicy) -> Iterator[_Refusal]:
    if policy.allow_host_namespaces:
        return
    for name, value in (("hostNetwork", spec.host_network), ("hostPID", spec.host_pid), ("hostIPC", spec.host_ipc)):
        if value:
            yield _Refusal(name, f"{name}: the pod would share this machine's namespace", "--allow-host-namespaces")


def _containers(spec: PodSpec) -> Iterator[tuple[str, Container]]:
    for index, container in enumerate(spec.init_containers):
        yield f"initContainers[{index}]", container
    for index, container in enumerate(spec.containers):
        yield f"containers[{index}]", container


def _privileged(spec: PodSpec, policy: SafetyPolicy) -> Iterator[_Refusal]:
    if policy.allow_privileged:
        return
    for path, container in _containers(spec):
        context = container.security_context
        if context is not None and context.privileged:
            text = f"container {container.name!r} is privileged: it could do everything on this machine"
            yield _Refusal(f"{path}.securityContext.privileged", text, "--allow-privileged")
        if context is not None and context.capabilities is not None:
            yield from _capabilities(path, container.name, context.capabilities.add)


def _capabilities(path: str, container: str, added: Sequence[str]) -> Iterator[_Refusal]:
    """Refuse what a container's namespaces don't hold; names count in any case, and those with CAP_ have no effect."""
    for index, name in enumerate(added):
        if name.upper() in _HOST_CAPABILITIES:
            text = f"container {container!r} has capability {name}: with it, it could reach this machine"
            yield _Refusal(f"{path}.securityContext.capabilities.add[{index}]", text, "--allow-privileged")


def _host_paths(spec: PodSpec, policy: SafetyPolicy) -> Iterator[_Refusal]:
    for index, volume in enumerate(spec.volumes):
        if volume.host_path is None:
            continue
        real = _resolve(volume.host_path.path)
        needs_write = _creates(volume) or any(True for _ in _writers(spec, volume.name))
        where = f"volumes[{index}].hostPath.path"
        if not _is_allowed(real, policy, needs_write=False):
            flag = f"--allow-host-path {real}{':rw' if needs_write else ''}"
            yield _Refusal(where, f"host path {_named(volume.host_path.path, real)} is not allowed", flag)
        elif needs_write and not _is_allowed(real, policy, needs_write=True):
            writers = " and ".join(_writers(spec, volume.name)) or "its type creates it"
            text = (
                f"host path {_named(volume.host_path.path, real)} is allowed for reading alone, but {writers} may write"
            )
            yield _Refusal(where, text, f"--allow-host-path {real}:rw (or readOnly: true on its mounts)")


def _named(written: str, real: str) -> str:
    return repr(written) if written == real else f"{written!r} ({real})"


def _resolve(path: str) -> str:
    """Return what a path leads to, one that is not absolute from the root on (volumes.host_path from_root)."""
    return os.path.realpath(os.path.join("/", path))


def _creates(volume: Volume) -> bool:
    return volume.host_path is not None and volume.host_path.type in ("DirectoryOrCreate", "FileOrCreate")


def _writers(spec: PodSpec, volume: str) -> Iterator[str]:
    for _path, container in _containers(spec):
        if any(mount.name == volume and not mount.read_only for mount in container.volume_mounts):
            yield f"container {container.name!r}"


def _is_allowed(real: str, policy: SafetyPolicy, *, needs_write: bool) -> bool:
    for rule in policy.host_paths:
        prefix = os.path.realpath(rule.prefix)
        if _is_below(real, prefix) and _opens(prefix, real, policy) and (rule.is_writable or not needs_write):
            return True
    if policy.manifest_folder is None or needs_write:
        return False
    folder = os.path.realpath(policy.manifest_folder)
    return _is_below(real, folder) and not _sensitive_around(real, policy) and not _sensitive_tree(real)


def _opens(prefix: str, real: str, policy: SafetyPolicy) -> bool:
    """Tell whether an allowed prefix reaches a path: a sensitive one must be named itself."""
    if prefix == real:
        return True
    tree = _sensitive_tree(real)
    return not _sensitive_around(real, policy) and (not tree or _is_below(prefix, tree))


def _sensitive_around(real: str, policy: SafetyPolicy) -> bool:
    """Tell whether a path is, or holds, an engine's socket, the home folder or a system folder."""
    home = policy.home or os.path.realpath(os.path.expanduser("~"))
    sockets = (*_ENGINE_SOCKETS, *([policy.engine_socket] if policy.engine_socket else []))
    sensitive = ("/", *_SENSITIVE_TREES, home, *sockets, *(os.path.realpath(each) for each in sockets))
    return any(_is_below(each, real) for each in sensitive)


def _sensitive_tree(real: str) -> str:
    return next((each for each in _SENSITIVE_TREES if _is_below(real, each)), "")


def _is_below(path: str, prefix: str) -> bool:
    return path == prefix or path.startswith(prefix.rstrip("/") + "/")
