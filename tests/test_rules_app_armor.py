"""AppArmor profiles: which one a container has, and which pods need a node with AppArmor."""

from __future__ import annotations

import pytest
from pod_makers import a_container, a_pod

from kubelet_emu.api.v1_security import AppArmorProfile, PodSecurityContext, SecurityContext
from kubelet_emu.rules.app_armor import ANNOTATION_PREFIX, app_armor_profile, needs_app_armor

DEFAULT = AppArmorProfile(type="RuntimeDefault")
FREE = AppArmorProfile(type="Unconfined")
OWN = AppArmorProfile(type="Localhost", localhost_profile="k8s-own")

ROWS = [
    ("nothing is asked for", None, None, None, "", False),
    ("the pod's field", DEFAULT, None, None, "runtime/default", True),
    ("the container's field", None, OWN, None, "localhost/k8s-own", True),
    ("the container's field before the pod's", DEFAULT, FREE, None, "unconfined", True),
    ("the container's field before its annotation", None, DEFAULT, "localhost/p", "runtime/default", True),
    ("the annotation before the pod's field", FREE, None, "localhost/p", "localhost/p", True),
    ("an annotation of the runtime's profile", None, None, "runtime/default", "runtime/default", True),
    ("an annotation unconfined needs nothing", None, None, "unconfined", "unconfined", False),
    ("an annotation that names none", None, None, "p", "", True),
    ("fields unconfined need nothing", FREE, FREE, None, "unconfined", False),
    ("a profile without a name", None, AppArmorProfile(type="Localhost"), None, "localhost/", True),
    ("a type that there is not", None, AppArmorProfile(type="?"), None, "", True),
]


@pytest.mark.parametrize(("why", "of_pod", "own", "annotated", "profile", "is_needed"), ROWS, ids=[r[0] for r in ROWS])
def test_a_profile_comes_from_the_nearest_place(
    why: str,
    of_pod: AppArmorProfile | None,
    own: AppArmorProfile | None,
    annotated: str | None,
    profile: str,
    is_needed: bool,  # noqa: FBT001 - a table
) -> None:
    container = a_container("c", security_context=SecurityContext(app_armor_profile=own) if own else None)
    annotations = {} if annotated is None else {f"{ANNOTATION_PREFIX}c": annotated, "other": "localhost/x"}
    context = PodSecurityContext(app_armor_profile=of_pod) if of_pod else None
    pod = a_pod(container, security_context=context, metadata={"annotations": annotations})
    assert (app_armor_profile(pod, container), needs_app_armor(pod)) == (profile, is_needed)


def test_a_profile_of_an_init_container_is_enough() -> None:
    armoured = a_container("i", security_context=SecurityContext(app_armor_profile=OWN))
    assert needs_app_armor(a_pod(a_container("c"), init=[armoured]))
