"""What a runtime says when the AppArmor profile of a container is not loaded on its machine."""

from __future__ import annotations

from typing import TYPE_CHECKING

from runtime.api.errors import CRIError

if TYPE_CHECKING:
    from collections.abc import Container

    from runtime.api.configs import LinuxSecurityContext

_LOCALHOST = "localhost/"


def check_app_armor(security: LinuxSecurityContext, loaded: Container[str]) -> None:
    """Refuse a container whose profile isn't among those that are loaded; CRIError. A privileged one is no exception.

    Source: containerd v2 internal/cri GenerateApparmorSpecOpts.
    """
    name = security.app_armor.removeprefix(_LOCALHOST)
    if security.app_armor.startswith(_LOCALHOST) and name not in loaded:
        failed = "failed to get container spec opts: failed to generate apparmor spec opts"
        raise CRIError(f"{failed}: apparmor profile not found {name}")
