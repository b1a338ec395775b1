"""A plan for people: how the pod starts, stops and ends, what it asks for, and the advice."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, assert_never

from kubelet_emu.advice.advices import listed, names_of, seconds, verb
from kubelet_emu.advice.ending import Ends
from kubelet_emu.advice.probing import describe
from kubelet_emu.advice.sizes import written
from kubelet_emu.advice.starting import Gate
from kubelet_emu.advice.subjects import Role
from kubelet_emu.journal.text import harmless

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from kubelet_emu.advice.advices import Advice
    from kubelet_emu.advice.ending import Ending
    from kubelet_emu.advice.plan import PodPlan
    from kubelet_emu.advice.starting import Start
    from kubelet_emu.advice.stopping import Stop
    from kubelet_emu.manifests.missing_references import Needed

    Style = Callable[[str, str], str]


MISSING = "KE901"


def plain(text: str, _colour: str) -> str:
    """Return a text without colour."""
    return text


def plan_lines(plan: PodPlan, style: Style = plain) -> Iterator[str]:
    """Yield the lines of a plan; `style` colours a text."""
    subject = plan.subject
    yield style(harmless(f"{subject.kind.lower()}/{subject.name}"), "bold") + f"  {end_of(plan)}"
    yield ""
    yield "start"
    yield from _start(plan)
    yield f"stop  within {seconds(subject.grace)} (terminationGracePeriodSeconds)"
    yield from _stop(plan)
    if plan.restarts:
        yield "probes"
        for each in plan.restarts:
            yield f"  if its {each.probe} probe never succeeds, {harmless(each.part.name)} {describe(each)}"
    yield "resources"
    yield from _sizes(plan)
    yield from _needs(plan)
    yield from _advice(plan, style)


# -- the start


def _start(plan: PodPlan) -> Iterator[str]:
    width = max((len(step.part.name) for step in plan.start), default=0)
    for number, step in enumerate(plan.start, 1):
        name = harmless(f"{step.part.name:<{width}}")
        yield f"  {number}. {name}  {step.part.role.value:<7}  {harmless(_when(step))}"


def _when(step: Start) -> str:
    if step.blocked_by:
        return f"never: {step.blocked_by} doesn't let it start"
    before = "" if step.after is None else step.after.name
    match step.gate:
        case Gate.FIRST:
            return "first"
        case Gate.EXITED:
            return f"when {before} has ended with 0"
        case Gate.STARTUP_PROBE:
            return f"when the startup probe of {before} has succeeded"
        case Gate.POST_START:
            return f"when the postStart hook of {before} has returned"
        case Gate.STARTED:
            is_sidecar = step.after is not None and step.after.role is Role.SIDECAR
            return f"as soon as {before} has started, ready or not" if is_sidecar else f"right after {before}"
        case _:
            assert_never(step.gate)


# -- the stop


def _stop(plan: PodPlan) -> Iterator[str]:
    rows = sorted(_moments(plan), key=lambda row: row[0])
    width = max(len(when) for _, when, _ in rows)
    for _, when, what in rows:
        yield harmless(f"  {when:<{width}}  {what}")
    sidecars = [each.part for each in plan.stop if each.part.role is Role.SIDECAR]
    if sidecars and plan.ending.how in {Ends.WITH_MAINS, Ends.IF_KEEPERS_END}:
        mains = plan.ending.mains
        done = f"once {names_of(mains)} {verb(mains, 'has', 'have')} ended"
        stopped = f"{names_of(sidecars)} {verb(sidecars, 'is', 'are')} stopped"
        yield harmless(f"  by itself: {done}, {stopped} in the same way, within as many seconds from then")


def _moments(plan: PodPlan) -> Iterator[tuple[float, str, str]]:
    """Yield when, for the order and as text, and what happens in a stop; unknown moments come before the grace ends."""
    grace = plan.subject.grace
    for each in plan.stop:
        if each.pre_stop is not None:
            yield -1.0, "+0 s", f"preStop of {each.part.name}: {_hook(each)}"
    for each in plan.stop:
        at = grace - 0.5 if each.term_at is None else each.term_at
        yield at, _at(each), f"SIGTERM to {each.part.name}{_why(each, grace)}"
        if each.is_deaf:
            yield (
                each.kill_at,
                f"+{seconds(each.kill_at)}",
                f"SIGKILL to {each.part.name}, which doesn't react to SIGTERM",
            )
    last = max((each.kill_at for each in plan.stop), default=float(grace))
    if not all(each.is_deaf for each in plan.stop):
        yield last + 0.5, f"+{seconds(last)}", "SIGKILL to whatever still runs"


def _at(stop: Stop) -> str:
    return "then" if stop.term_at is None else f"+{seconds(stop.term_at)}"


def _hook(stop: Stop) -> str:
    hook = stop.pre_stop
    if hook is None:
        return ""
    known = hook.seconds is not None and 0 < hook.seconds < math.inf and not hook.text.startswith("sleep")
    return f"{hook.text} ({hook.seconds:g} s at least)" if known else hook.text


def _why(stop: Stop, grace: int) -> str:
    hook, at = stop.pre_stop, stop.term_at
    if stop.after:
        if at is not None:
            return f": the grace is over before {names_of(stop.after)} {verb(stop.after, 'has', 'have')} ended"
        awaited = [*(part.name for part in stop.after), *(("its own preStop",) if hook is not None else ())]
        return f", when {listed(awaited)} {'has' if len(awaited) == 1 else 'have'} ended"
    if hook is None or at == 0:
        return ""
    if at is None:
        return ", when its preStop has ended"
    left = max(2.0, grace - at)
    return f": {at:g} s of {grace} s are spent before it, {seconds(left)} are left"


# -- the end, resources, advice


def end_of(plan: PodPlan) -> str:
    """Return how a pod ends, in one phrase."""
    ending = plan.ending
    blocked_by = next((step.blocked_by for step in plan.start if step.blocked_by), "")
    text = harmless(f"never comes further than {blocked_by}" if blocked_by else _end(ending))
    if ending.deadline is not None:
        return f"{text}; failed after {seconds(ending.deadline)} (activeDeadlineSeconds)"
    return text


def _end(ending: Ending) -> str:
    keepers, mains = names_of(ending.keepers), ending.mains
    match ending.how:
        case Ends.WHEN_DELETED:
            return "ends only when it is deleted (restartPolicy: Always)"
        case Ends.NEVER:
            return f"never ends: {keepers} {verb(ending.keepers, 'keeps', 'keep')} it"
        case Ends.IF_KEEPERS_END:
            others = [part for part in mains if part not in ending.keepers]
            does = verb(ending.keepers, "does", "do")
            if others:
                return f"ends with {names_of(others)}, but only if {keepers} {does}, too"
            return f"ends only if {keepers} {does}"
        case Ends.WITH_MAINS:
            return f"ends with {names_of(mains)}"
        case _:
            assert_never(ending.how)


def _sizes(plan: PodPlan) -> Iterator[str]:
    sizes = plan.sizes
    asked = [f"{name} {amount}" for name, amount in sizes.requests]
    allowed = [f"{name} {amount}" for name, amount in sizes.limits]
    amounts = [f"asks for {listed(asked) or 'nothing'}"] + ([f"limit {listed(allowed)}"] if allowed else [])
    yield f"  {sizes.qos_class}: {', '.join(amounts)}"
    for name, why in sizes.because:
        yield f"  {name}: {why}"
    scores = ", ".join(f"{name} {score}" for name, score in sizes.oom_score_adj)
    yield harmless(f"  oom_score_adj on a node of {written('memory', plan.node_memory)}: {scores}")


def _needs(plan: PodPlan) -> Iterator[str]:
    """Yield what is missing (KE901), in one list."""
    needed = [(advice, each) for advice in plan.advice for each in plan.subject.needs if _is_about(advice, each)]
    if needed:
        yield f"needs  what none of the manifests has ({MISSING})"
    for advice, each in needed:
        key = f", key {each.reference.key}" if each.is_there else ""
        yield harmless(f"  {each.reference.kind} {each.reference.name}{key} (line {_line(plan, advice)})")


def _is_about(advice: Advice, needed: Needed) -> bool:
    return advice.code == MISSING and advice.path == needed.reference.path


def _line(plan: PodPlan, advice: Advice) -> int:
    return plan.subject.problem(advice.path, advice.code, advice.text).line


def _advice(plan: PodPlan, style: Style) -> Iterator[str]:
    shown = [advice for advice in plan.advice if advice.code != MISSING]
    if shown:
        yield ""
    for advice in shown:
        yield f"{style(advice.code, 'yellow')}  {harmless(advice.text)} (line {_line(plan, advice)})"
        if advice.hint:
            yield f"       {harmless(advice.hint)}"
        for changed in advice.change.splitlines():
            colour = {"+": "green", "-": "red"}.get(changed[:1], "")
            yield f"       {style(harmless(changed), colour) if colour else harmless(changed)}"
