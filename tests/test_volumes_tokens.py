"""Tokens and the root certificate that stand in for those of a cluster."""

from __future__ import annotations

import base64
import json
import ssl
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest
from attrs import evolve
from kubelet_rig import a_node, a_pod, container

from kubelet_emu.api.meta import ObjectMeta
from kubelet_emu.api.root_ca import ROOT_CA_CONFIG_MAP, STAND_IN_CERTIFICATE
from kubelet_emu.api.v1 import Container, EnvVar, Pod, PodSecurityContext, PodSpec
from kubelet_emu.api.v1_containers import VolumeMount
from kubelet_emu.api.v1_environment import ConfigMapKeySelector, EnvVarSource
from kubelet_emu.api.v1_security import SecurityContext
from kubelet_emu.api.v1_volumes import (
    ConfigMapProjection,
    ProjectedVolumeSource,
    ServiceAccountTokenProjection,
    Volume,
    VolumeProjection,
)
from kubelet_emu.volumes.content import ContentSources, payload_of
from kubelet_emu.volumes.tokens import SIGNATURE, fs_user, stand_in_token, token_file

if TYPE_CHECKING:
    from trio.testing import MockClock

BORN = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
TOKEN = ServiceAccountTokenProjection(path="token")
POD = Pod(
    metadata=ObjectMeta(name="p", namespace="ns", uid="u", creation_timestamp=BORN),
    spec=PodSpec(containers=(Container(name="c"),), service_account_name="robot"),
)


def claims(token: str) -> dict[str, Any]:
    """Return what a program reads in a token."""
    _, body, _ = token.split(".")
    found: dict[str, Any] = json.loads(base64.urlsafe_b64decode(body + "=" * (-len(body) % 4)))
    return found


def test_a_token_reads_as_a_real_one_and_says_that_it_is_none() -> None:
    token = stand_in_token(POD, TOKEN, "node1", BORN)

    assert token.endswith(f".{SIGNATURE}")
    assert claims(token) == {
        "aud": ["https://kubernetes.default.svc.cluster.local"],
        "exp": BORN.timestamp() + 3600,
        "iat": BORN.timestamp(),
        "iss": "https://stand-in.kubelet-emu.invalid",
        "kubernetes.io": {
            "namespace": "ns",
            "node": {"name": "node1"},
            "pod": {"name": "p", "uid": "u"},
            "serviceaccount": {"name": "robot"},
        },
        "nbf": BORN.timestamp(),
        "sub": "system:serviceaccount:ns:robot",
    }
    assert claims(stand_in_token(POD, evolve(TOKEN, audience="vault"), "node1", BORN))["aud"] == ["vault"]


REFRESHES = [
    ("at the start", 600, 0, 0),
    ("before 80 % of its life", 600, 479, 0),
    ("after them", 600, 480, 480),
    ("twice", 600, 1000, 960),
    ("a long one after a day", 10 * 86400, 86400, 86400),
    ("a clock that went back", 600, -5, 0),
]


@pytest.mark.parametrize(("why", "life", "after", "issued"), REFRESHES, ids=[row[0] for row in REFRESHES])
def test_a_token_is_renewed_as_a_kubelet_does(why: str, life: int, after: int, issued: int) -> None:
    token = stand_in_token(POD, evolve(TOKEN, expiration_seconds=life), "n", BORN + timedelta(seconds=after))

    assert claims(token)["iat"] - BORN.timestamp() == issued
    assert claims(token)["exp"] - claims(token)["iat"] == life


def of(*users: int | None, pod: int | None = None, fs_group: int | None = None) -> Pod:
    """Return a pod whose containers run as these users."""
    containers = tuple(
        Container(name=f"c{n}", security_context=None if user is None else SecurityContext(run_as_user=user))
        for n, user in enumerate(users)
    )
    security = PodSecurityContext(run_as_user=pod, fs_group=fs_group)
    return evolve(POD, spec=evolve(POD.spec, containers=containers, security_context=security))


USERS = [
    ("nobody says", of(None), None, 0o644),
    ("the pod says", of(None, None, pod=5), 5, 0o600),
    ("all containers say the same", of(7, 7), 7, 0o600),
    ("they differ", of(7, 8), None, 0o644),
    ("one doesn't say", of(7, None), None, 0o644),
    ("one has the pod's", of(5, None, pod=5), 5, 0o600),
    ("root", of(0), 0, 0o600),
    ("a group for volumes", of(None, fs_group=9), None, 0o600),
    ("both", of(7, fs_group=9), 7, 0o600),
]


@pytest.mark.parametrize(("why", "pod", "user", "mode"), USERS, ids=[row[0] for row in USERS])
def test_a_token_is_for_who_needs_it(why: str, pod: Pod, user: int | None, mode: int) -> None:
    made = token_file(pod, TOKEN, 0o644, "n", BORN)

    assert (fs_user(pod), made.uid, made.mode) == (user, user, mode)


def test_a_token_stands_among_the_files_of_its_volume() -> None:
    volume = Volume(
        name="v",
        projected=ProjectedVolumeSource(sources=(VolumeProjection(service_account_token=TOKEN),), default_mode=0o400),
    )
    sources = ContentSources(config_map=lambda _, __: None, secret=lambda _, __: None, now=BORN)

    payload = payload_of(of(7), volume, sources)

    assert payload is not None
    assert (payload["token"].mode, payload["token"].uid) == (0o600, 7)


def test_the_certificate_can_be_loaded() -> None:
    context = ssl.create_default_context(cadata=STAND_IN_CERTIFICATE)

    (subject,) = [ca["subject"] for ca in context.get_ca_certs() if "stand-in" in str(ca["subject"])]
    assert subject == ((("commonName", "kubelet-emu stand-in CA: nobody has its key"),),)


ROOT_CA = ConfigMapProjection(name=ROOT_CA_CONFIG_MAP)
ACCESS = Volume(
    name="access",
    projected=ProjectedVolumeSource(
        sources=(VolumeProjection(service_account_token=TOKEN), VolumeProjection(config_map=ROOT_CA))
    ),
)
FROM_ROOT_CA = EnvVarSource(config_map_key_ref=ConfigMapKeySelector(name=ROOT_CA_CONFIG_MAP, key="ca.crt"))


async def test_a_pod_starts_with_stand_ins(autojump_clock: MockClock) -> None:
    mounts = (VolumeMount(name="access", mount_path="/a"),)
    pod = a_pod(container("main", volume_mounts=mounts, env=(EnvVar(name="CA", value_from=FROM_ROOT_CA),)))
    async with a_node() as node:
        node.create(evolve(pod, spec=evolve(pod.spec, volumes=(ACCESS,))))
        await node.until(2)

        assert node.starts("main") == [0.0]
