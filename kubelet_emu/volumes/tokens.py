"""Service account tokens: what takes their place, how long it lives, and how it lies in its volume.

Pure. Source: kubelet v1.36 pkg/kubelet/token, pkg/volume/projected; kubernetes v1.36 pkg/serviceaccount claims.
"""

from __future__ import annotations

import base64
import json
from datetime import timedelta
from typing import TYPE_CHECKING

from attrs import frozen

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from kubelet_emu.api.v1 import AnyContainer, Pod
    from kubelet_emu.api.v1_volumes import ServiceAccountTokenProjection

DEFAULT_SECONDS = 3600
LONGEST_USE_SECONDS = 24 * 3600
USED_PART = 0.8
OWN_MODE = 0o600
ISSUER = "https://stand-in.kubelet-emu.invalid"
API_SERVER = "https://kubernetes.default.svc.cluster.local"
SIGNATURE = "kubelet-emu-stand-in-token-that-no-server-accepts"


@frozen(kw_only=True)
class TokenFile:
    """The token of a projection, and how its file is kept: the owner is None where that is the volume's."""

    text: str
    mode: int
    uid: int | None = None


def token_file(
    pod: Pod, projection: ServiceAccountTokenProjection, mode: int, node_name: str, now: datetime
) -> TokenFile:
    """Return the file of a token: for its owner alone where the pod has an fsGroup, or one user for all containers.

    Differs: nobody here can issue a token, so it is a stand-in: a JSON web token with the claims of a real one, whose
    signature is no signature. Source: kubelet v1.36 projected collectData.
    """
    security, uid = pod.spec.security_context, fs_user(pod)
    has_group = security is not None and security.fs_group is not None
    text = stand_in_token(pod, projection, node_name, now)
    return TokenFile(text=text, mode=OWN_MODE if has_group or uid is not None else mode, uid=uid)


def fs_user(pod: Pod) -> int | None:
    """Return the user whom all containers of a pod run as, None where they don't say or differ (FsUserFrom)."""
    of_pod = pod.spec.security_context.run_as_user if pod.spec.security_context is not None else None
    containers: tuple[AnyContainer, ...] = (
        *pod.spec.init_containers,
        *pod.spec.containers,
        *pod.spec.ephemeral_containers,
    )
    own = (None if each.security_context is None else each.security_context.run_as_user for each in containers)
    users = {of_pod if user is None else user for user in own}
    return users.pop() if len(users) == 1 else None


def stand_in_token(pod: Pod, projection: ServiceAccountTokenProjection, node_name: str, now: datetime) -> str:
    """Return a token as it reads at a time: another one each time when a kubelet would have asked for a new one."""
    life = projection.expiration_seconds or DEFAULT_SECONDS
    issued_at = _issued_at(pod.metadata.creation_timestamp or now, now, life)
    account, namespace = pod.spec.service_account_name or "default", pod.metadata.namespace or ""
    claims = {
        "aud": [projection.audience or API_SERVER],
        "exp": int(issued_at.timestamp()) + life,
        "iat": int(issued_at.timestamp()),
        "iss": ISSUER,
        "kubernetes.io": {
            "namespace": namespace,
            "node": {"name": node_name},
            "pod": {"name": pod.metadata.name, "uid": pod.metadata.uid},
            "serviceaccount": {"name": account},
        },
        "nbf": int(issued_at.timestamp()),
        "sub": f"system:serviceaccount:{namespace}:{account}",
    }
    return ".".join((_part({"alg": "RS256", "kid": "kubelet-emu-stand-in"}), _part(claims), SIGNATURE))


def _issued_at(first: datetime, now: datetime, life: int) -> datetime:
    """Return when the token in use was issued: a new one after 80 % of its life, at the latest after a day.

    Source: kubelet v1.36 token manager requiresRefresh, without its jitter.
    """
    use = timedelta(seconds=min(life * USED_PART, LONGEST_USE_SECONDS))
    return first + max(0, (now - first) // use) * use


def _part(content: Mapping[str, object]) -> str:
    """Return one part of a JSON web token (RFC 7515, section 2: base64url without padding)."""
    text = json.dumps(content, separators=(",", ":"))
    return base64.urlsafe_b64encode(text.encode()).rstrip(b"=").decode()
