"""Which of Linux' capabilities a container has, by the names that its manifest adds and drops.

Source: containerd v2 WithCapabilities; runc, which ignores names that no kernel knows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from runtime.api.configs import LinuxSecurityContext

ALL = "ALL"
_NUMBERED = """
    CHOWN DAC_OVERRIDE DAC_READ_SEARCH FOWNER FSETID KILL SETGID SETUID SETPCAP LINUX_IMMUTABLE NET_BIND_SERVICE
    NET_BROADCAST NET_ADMIN NET_RAW IPC_LOCK IPC_OWNER SYS_MODULE SYS_RAWIO SYS_CHROOT SYS_PTRACE SYS_PACCT SYS_ADMIN
    SYS_BOOT SYS_NICE SYS_RESOURCE SYS_TIME SYS_TTY_CONFIG MKNOD LEASE AUDIT_WRITE AUDIT_CONTROL SETFCAP MAC_OVERRIDE
    MAC_ADMIN SYSLOG WAKE_ALARM BLOCK_SUSPEND AUDIT_READ PERFMON BPF CHECKPOINT_RESTORE
"""
KNOWN = frozenset(_NUMBERED.split())
"""capabilities(7), without their prefix."""
_USUAL = """
    AUDIT_WRITE CHOWN DAC_OVERRIDE FOWNER FSETID KILL MKNOD NET_BIND_SERVICE NET_RAW SETFCAP SETGID SETPCAP
    SETUID SYS_CHROOT
"""
USUAL = frozenset(_USUAL.split())
"""What a container has that asks for nothing: containerd's list and Docker's are the same."""


def capability_changes(security: LinuxSecurityContext) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return what to add and what to drop so that the order in a runtime doesn't matter: no name is in both.

    ALL is added first, then dropped, then single names are added, at last single names are dropped. A name that no
    kernel has, such as one with the prefix CAP_, has no effect.
    """
    added, dropped = _named(security.add_capabilities), _named(security.drop_capabilities)
    if _has_all(security.drop_capabilities):
        return tuple(sorted(added - dropped)), (ALL,)
    if _has_all(security.add_capabilities):
        return (ALL,), tuple(sorted(dropped))
    return tuple(sorted(added - dropped)), tuple(sorted(dropped))


def has_capability(security: LinuxSecurityContext, name: str) -> bool:
    """Tell whether root has a capability in a container; a privileged one has all of them."""
    if security.privileged:
        return True
    added, dropped = capability_changes(security)
    if name in dropped:
        return False
    return name in added or ALL in added or (name in USUAL and ALL not in dropped)


def capability_mask(security: LinuxSecurityContext) -> int:
    """Return root's capabilities in a container as the kernel numbers them, one bit each."""
    return sum(1 << bit for bit, name in enumerate(_NUMBERED.split()) if has_capability(security, name))


def _named(names: Iterable[str]) -> frozenset[str]:
    return frozenset(name.upper() for name in names) & KNOWN


def _has_all(names: Iterable[str]) -> bool:
    return any(name.upper() == ALL for name in names)
