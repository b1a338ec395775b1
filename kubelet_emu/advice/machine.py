"""Plans for machines: JSON, as docs/ADVICE.md has it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from kubelet_emu.advice.starting import Gate

if TYPE_CHECKING:
    from kubelet_emu.advice.advices import Advice
    from kubelet_emu.advice.plan import PodPlan
    from kubelet_emu.advice.starting import Start
    from kubelet_emu.advice.stopping import Stop

SCHEMA = 1


def as_object(plan: PodPlan) -> dict[str, object]:
    """Return a plan as a JSON object; times are seconds, null where they aren't known."""
    subject, sizes = plan.subject, plan.sizes
    return {
        "kind": subject.kind,
        "name": subject.name,
        "file": subject.loaded.source.file,
        "line": subject.loaded.source.line,
        "gracePeriodSeconds": subject.grace,
        "start": [_start(step) for step in plan.start],
        "stop": [_stop(stop) for stop in plan.stop],
        "end": {
            "how": plan.ending.how.value,
            "mains": [part.name for part in plan.ending.mains],
            "keptBy": [part.name for part in plan.ending.keepers],
            "deadlineSeconds": plan.ending.deadline,
        },
        "restarts": [
            {
                "container": each.part.name,
                "probe": each.probe,
                "earliest": each.earliest,
                "latest": each.latest,
                "from": "startupProbe" if each.waits_for_startup else "start",
                "startedAgain": each.is_started_again,
            }
            for each in plan.restarts
        ],
        "execProbesPerSecond": round(plan.execs_a_second, 3),
        "resources": {
            "qosClass": sizes.qos_class,
            "requests": dict(sizes.requests),
            "limits": dict(sizes.limits),
            "oomScoreAdj": dict(sizes.oom_score_adj),
            "nodeMemoryBytes": plan.node_memory,
        },
        "needs": [
            {
                "kind": each.reference.kind,
                "name": each.reference.name,
                "key": each.reference.key if each.is_there else "",
            }
            for each in subject.needs
        ],
        "advice": [_advice(plan, advice) for advice in plan.advice],
    }


def _start(step: Start) -> dict[str, object]:
    return {
        "container": step.part.name,
        "role": step.part.role.value,
        "gate": step.gate.value,
        "after": None if step.gate is Gate.FIRST or step.after is None else step.after.name,
        "blockedBy": step.blocked_by or None,
    }


def _stop(stop: Stop) -> dict[str, object]:
    hook = stop.pre_stop
    return {
        "container": stop.part.name,
        "role": stop.part.role.value,
        "preStop": None if hook is None else {"text": hook.text, "seconds": _known(hook.seconds)},
        "after": [part.name for part in stop.after],
        "termAt": _known(stop.term_at),
        "killAt": stop.kill_at,
        "ignoresTerm": stop.is_deaf,
    }


def _known(value: float | None) -> float | None:
    return None if value is None or value == math.inf else value


def _advice(plan: PodPlan, advice: Advice) -> dict[str, object]:
    problem = plan.subject.problem(advice.path, advice.code, advice.text, advice.hint)
    return {
        "code": advice.code,
        "file": problem.file,
        "line": problem.line,
        "column": problem.column,
        "path": problem.path,
        "text": advice.text,
        "hint": advice.hint,
        "change": advice.change,
    }
