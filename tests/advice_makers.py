"""Short ways to the pods that advice is about: a spec as a line of YAML, in an object of some kind."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubelet_emu.advice.advising import advise
from kubelet_emu.advice.subjects import subjects_of
from kubelet_emu.config.features import FeatureGates
from kubelet_emu.manifests import load_text

if TYPE_CHECKING:
    from kubelet_emu.advice.advices import Advice
    from kubelet_emu.advice.subjects import Subject

GATES = FeatureGates()
POD = "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec:\n  %s\n"
JOB = "apiVersion: batch/v1\nkind: Job\nmetadata: {name: j}\nspec:\n  template:\n    spec:\n      %s\n"
DEPLOYMENT = (
    "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: d}\nspec:\n  replicas: 4\n"
    "  selector: {matchLabels: {a: b}}\n  template:\n    metadata: {labels: {a: b}}\n    spec:\n      %s\n"
)


def manifest(kind: str, *fields: str) -> str:
    """Return a manifest whose pod spec has these fields, a line each."""
    indent = "\n" + " " * (len(kind.rstrip().rpartition("\n")[2]) - len("%s"))
    return kind % indent.join(fields)


def subject_of(text: str) -> Subject:
    """Return the first pod of a text, which must be readable."""
    result = load_text(text)
    assert not result.has_errors, result.problems
    subject, *_ = subjects_of(result.objects, GATES)
    return subject


def advice_of(text: str) -> tuple[Advice, ...]:
    """Return the advice about the one pod of a text."""
    return advise(subject_of(text))


def found(text: str) -> list[str]:
    """Return code and path of each advice, as `KE701 containers[0].command`."""
    return [f"{each.code} {each.path}" for each in advice_of(text)]
