"""What a runtime says when it can't read a seccomp profile of the node's own."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from runtime.api.errors import CRIError

if TYPE_CHECKING:
    from runtime.api.configs import LinuxSecurityContext


def check_seccomp(security: LinuxSecurityContext) -> None:
    """Refuse a container whose profile can't be read; CRIError. A privileged one has no profile.

    Source: containerd v2 contrib/seccomp WithProfile, internal/cri CreateContainer.
    """
    profile = security.seccomp
    if profile is None or profile.type != "Localhost" or security.privileged:
        return
    path = profile.localhost_path
    if profile.localhost_json is not None:
        _check_json(path, profile.localhost_json)
        return
    raise CRIError(
        f'failed to create containerd container: cannot load seccomp profile "{path}": '
        f"open {path}: {profile.localhost_error}"
    )


def _check_json(path: str, text: str) -> None:
    try:
        is_object = isinstance(json.loads(text), dict)
    except (ValueError, RecursionError) as error:
        why = str(error) or type(error).__name__
        told = f"{why[:1].lower()}{why[1:]}"
    else:
        told = "" if is_object else "it is no JSON object"
    if told:
        raise CRIError(f'failed to create containerd container: decoding seccomp profile failed "{path}": {told}')
