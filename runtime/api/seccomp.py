"""What a runtime says when it can't read a seccomp profile of the node's own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from runtime.api.errors import CRIError

if TYPE_CHECKING:
    from runtime.api.configs import LinuxSecurityContext


def check_seccomp(security: LinuxSecurityContext) -> None:
    """Refuse a container whose profile can't be read; CRIError. A privileged one has no profile.

    Source: containerd v2 contrib/seccomp WithProfile, internal/cri CreateContainer.
    """
    profile = security.seccomp
    if profile is None or profile.type != "Localhost" or security.privileged or profile.localhost_json is not None:
        return
    path = profile.localhost_path
    raise CRIError(
        f'failed to create containerd container: cannot load seccomp profile "{path}": '
        f"open {path}: {profile.localhost_error}"
    )
