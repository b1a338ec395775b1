"""Which pods a Job owns: those it made, those it adopts, those it lets go."""

from __future__ import annotations

import enum
from typing import TYPE_CHECKING

from attrs import evolve

from kubelet_emu.api.controller_ref import new_controller_ref
from kubelet_emu.jobs.rules.template import selector_of
from kubelet_emu.jobs.rules.words import TRACKING_FINALIZER
from kubelet_emu.manifests.validation.metadata import selector_matches

if TYPE_CHECKING:
    from kubelet_emu.api.batch_v1 import Job
    from kubelet_emu.api.v1 import Pod


class Claim(enum.Enum):
    """What a pod is to a Job."""

    OWN = "own"
    ADOPT = "adopt"
    DISOWN = "disown"
    NONE = "none"


def claim_of(job: Job, pod: Pod) -> Claim:
    """Tell what a pod is to a Job; a Job that is being deleted neither adopts nor disowns.

    Source: pkg/controller BaseControllerRefManager.ClaimObject, as getPodsForJob uses it.
    """
    is_deleted = job.metadata.deletion_timestamp is not None
    matches = selector_matches(selector_of(job), pod.metadata.labels)
    controller = next((owner for owner in pod.metadata.owner_references if owner.controller), None)
    if controller is not None and controller.uid != job.metadata.uid:
        return Claim.NONE
    if controller is not None:
        return Claim.OWN if matches else Claim.NONE if is_deleted else Claim.DISOWN
    if is_deleted or not matches or pod.metadata.deletion_timestamp is not None:
        return Claim.NONE
    return Claim.ADOPT if pod.metadata.namespace == job.metadata.namespace else Claim.NONE


def adopted(job: Job, pod: Pod) -> Pod:
    """Return a pod with the Job as its controller and the finalizer that has it counted (AdoptPod)."""
    finalizers = tuple(dict.fromkeys((*pod.metadata.finalizers, TRACKING_FINALIZER)))
    owners = (*pod.metadata.owner_references, new_controller_ref(job))
    return evolve(pod, metadata=evolve(pod.metadata, owner_references=owners, finalizers=finalizers))


def disowned(job: Job, pod: Pod) -> Pod:
    """Return a pod without the Job among its owners and without its finalizer (ReleasePod)."""
    owners = tuple(owner for owner in pod.metadata.owner_references if owner.uid != job.metadata.uid)
    released = without_finalizer(pod)
    return evolve(released, metadata=evolve(released.metadata, owner_references=owners))


def without_finalizer(pod: Pod) -> Pod:
    """Return a pod without the finalizer by which its Job counts it (removeTrackingFinalizerPatch)."""
    kept = tuple(name for name in pod.metadata.finalizers if name != TRACKING_FINALIZER)
    return evolve(pod, metadata=evolve(pod.metadata, finalizers=kept))
