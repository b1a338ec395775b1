"""What a pod needs from elsewhere, and variables that aren't what they seem."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from kubelet_emu.advice.advices import Advice, Rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kubelet_emu.advice.subjects import Subject

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


RULES = (
    Rule(code="KE901", title="a ConfigMap, Secret or key is missing", find=missing),
    Rule(code="KE902", title="a variable is used before it is defined", find=defined_later),
)
