"""What a pod needs from elsewhere, and variables that aren't what they seem."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from kubelet_emu.advice.advices import Advice, Rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kubelet_emu.advice.subjects import Subject

MANY_CPUS = 100
_REFERENCE = re.compile(r"\$(?:\$|\(([A-Za-z_][\w.-]*)\))")


def missing(subject: Subject) -> Iterator[Advice]:
    """Yield the ConfigMaps, Secrets and keys that a pod needs and no manifest has (KE901)."""
    for needed in subject.needs:
        yield Advice(code="KE901", path=needed.reference.path, text=needed.text, hint=needed.hint)


def defined_later(subject: Subject) -> Iterator[Advice]:
    """Yield variables whose value names one that is defined after them, which stays as text (KE902).

    Source: kubelet v1.36 makeEnvironmentVariables, which expands in the order of the list.
    """
    for part in subject.parts:
        env = part.container.env
        if part.container.env_from:
            continue
        for index, variable in enumerate(env):
            earlier = {each.name for each in env[:index]}
            later = {each.name for each in env[index + 1 :]} - earlier - {variable.name}
            named = (found[1] for found in _REFERENCE.finditer(variable.value or "") if found[1] in later)
            for name in dict.fromkeys(named):
                yield Advice(
                    code="KE902",
                    path=f"{part.path}.env[{index}].value",
                    text=f"{variable.name} keeps the text $({name}): {name} is defined only after it",
                    hint=f"move {name} before {variable.name}",
                )


def many_cpus(subject: Subject) -> Iterator[Advice]:
    """Yield whole cpus by the hundred, where thousandths were meant (KE903): told once of each container."""
    for part in subject.parts:
        resources = part.container.resources
        asked = () if resources is None else (("limits", resources.limits), ("requests", resources.requests))
        found = [(kind, cpus) for kind, amounts in asked if (cpus := amounts.get("cpu", "")).isdecimal()]
        for kind, cpus in [each for each in found if int(each[1]) >= MANY_CPUS][:1]:
            yield Advice(
                code="KE903",
                path=f"{part.path}.resources.{kind}[cpu]",
                text=f"{part.name} asks for {cpus} whole cpus, which hardly a node has",
                hint=f"write {cpus}m, if thousandths of a cpu are meant",
            )


RULES = (
    Rule(code="KE901", title="a ConfigMap, Secret or key is missing", find=missing),
    Rule(code="KE902", title="a variable is used before it is defined", find=defined_later),
    Rule(code="KE903", title="cpus by the hundred", find=many_cpus),
)
