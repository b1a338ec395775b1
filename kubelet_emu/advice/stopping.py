"""How a pod stops: which hook and which signal comes when.

Source: kubelet v1.36 killContainer and terminationOrdering (KEP-753): all preStop hooks begin at once, mains get their
stop signal after their own, sidecars in reverse order after those, all within one grace period; SIGKILL comes at its
end, and at least 2 s after the stop signal.
"""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING

from attrs import field, frozen

from kubelet_emu.advice.advices import Advice, Rule, names_of, seconds, short, verb
from kubelet_emu.advice.command_lines import program_of_words, script_of
from kubelet_emu.advice.flows import is_harmless, sleep_seconds
from kubelet_emu.advice.programs import Deafness
from kubelet_emu.advice.subjects import Role

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kubelet_emu.advice.subjects import Part, Subject
    from kubelet_emu.api.v1_handlers import LifecycleHandler

MINIMUM_SECONDS = 2
_STOPPING_WORDS = frozenset(
    {"drain", "quit", "quitquitquit", "stop", "shutdown", "kill", "pkill", "killall", "terminate"}
)


@frozen(kw_only=True)
class PreStop:
    """A preStop hook: what it does, and the seconds that it takes at least; None where that isn't known."""

    text: str
    seconds: float | None = None


@frozen(kw_only=True)
class Stop:
    """How one container stops. Times are seconds from the beginning of the stop.

    `after` are the containers that must have ended before its stop signal. `term_at` is when that comes, at the
    earliest; None where it hangs on others or on a hook of unknown length. `kill_at` is the latest moment
    of SIGKILL: who may have to wait for the whole grace has the minimum after it.
    """

    part: Part
    pre_stop: PreStop | None
    after: tuple[Part, ...] = field(repr=False)
    term_at: float | None
    kill_at: float
    is_deaf: bool


def stops(subject: Subject) -> tuple[Stop, ...]:
    """Return how the containers of a running pod stop, in the order of their stop signals; init containers are done."""
    sidecars = subject.of(Role.SIDECAR)
    found = [_stop(subject, part, ()) for part in subject.of(Role.MAIN)]
    before = tuple(found)
    for part in reversed(sidecars):
        found.append(_stop(subject, part, before))
        before = (found[-1],)
    return tuple(found)


def _stop(subject: Subject, part: Part, before: tuple[Stop, ...]) -> Stop:
    """Return how a container stops; a sidecar waits for those before it, but no longer than the grace lasts."""
    hook, grace = pre_stop_of(part), float(subject.grace)
    spent = 0.0 if hook is None else hook.seconds
    is_held_back = any(each.is_deaf or each.term_at == grace for each in before)
    if is_held_back or (spent is not None and spent >= grace):
        term_at: float | None = grace
    else:
        term_at = None if before else spent
    may_be_last = any(each.kill_at > grace or _ignores_stop_signal(subject, each.part) for each in before)
    last_turn = grace if may_be_last else term_at or 0.0
    return Stop(
        part=part,
        pre_stop=hook,
        after=tuple(each.part for each in before),
        term_at=term_at,
        kill_at=max(grace, last_turn + MINIMUM_SECONDS),
        is_deaf=is_deaf(subject, part),
    )


def pre_stop_of(part: Part) -> PreStop | None:
    """Return the preStop hook of a container."""
    hooks = part.container.lifecycle
    hook = None if hooks is None else hooks.pre_stop
    if hook is None:
        return None
    if hook.sleep is not None:
        return PreStop(text=f"sleep {hook.sleep.seconds} s", seconds=float(max(0, hook.sleep.seconds)))
    if hook.exec is not None:
        return PreStop(text=short(_words(hook)), seconds=_exec_seconds(hook.exec.command))
    if hook.http_get is not None:
        return PreStop(text=f"HTTP GET {hook.http_get.path or '/'} at port {hook.http_get.port}")
    return PreStop(text="tcpSocket", seconds=0.0)


def _words(hook: LifecycleHandler) -> str:
    return "" if hook.exec is None else " ".join(hook.exec.command)


def _exec_seconds(command: tuple[str, ...]) -> float | None:
    """Return the least time that a command takes where it begins with `sleep`, None for another."""
    if command and command[0].rpartition("/")[2] == "sleep":
        return sleep_seconds(command[1:])
    return program_of_words(command).lasts or None


def is_deaf(subject: Subject, part: Part) -> bool:
    """Tell whether a container's first process goes on after SIGTERM for the whole grace period.

    Only process 1 of a namespace of its own ignores signals without a handler; a hook may end it in its own way.
    """
    hooks = part.container.lifecycle
    hook = None if hooks is None else hooks.pre_stop
    is_pure_sleep = hook is None or hook.sleep is not None or (hook.exec is not None and _is_sleep(hook.exec.command))
    return is_pure_sleep and _ignores_stop_signal(subject, part)


def _ignores_stop_signal(subject: Subject, part: Part) -> bool:
    """Tell whether a process goes on after SIGTERM for the whole grace period, unless its hook has ended it."""
    hooks = part.container.lifecycle
    if subject.spec.share_process_namespace or subject.spec.host_pid or (hooks is not None and hooks.stop_signal):
        return False
    return part.program.deafness is not None and part.program.deaf_seconds >= max(MINIMUM_SECONDS, subject.grace)


def _is_sleep(command: tuple[str, ...]) -> bool:
    program = program_of_words(command)
    is_one = program.script is None or (len(program.script) == 1 and program.script[0].name == "sleep")
    return bool(program.lasts) and is_one


def ignores_term(subject: Subject) -> Iterator[Advice]:
    """Yield containers that are sure to be sent SIGTERM and don't react to it (KE701)."""
    for part in subject.of(Role.SIDECAR, Role.MAIN):
        is_meant = part.program.deafness is Deafness.ASKED_FOR
        if is_meant or not is_deaf(subject, part) or not _is_stopped_by_signal(subject, part):
            continue
        limit = max(MINIMUM_SECONDS, subject.grace)
        when = "each time the pod ends" if part.role is Role.SIDECAR else "at each stop"
        yield Advice(
            code="KE701",
            path=f"{part.path}.{'command' if part.container.command else 'args'}",
            text=f"{part.name} doesn't react to SIGTERM: {_why(part)}; {when} SIGKILL ends it after {limit} s",
            hint=_cure(part, subject.grace),
        )


def _is_stopped_by_signal(subject: Subject, part: Part) -> bool:
    """Tell whether a container's usual end is a signal: sidecars, mains that always run again or never end."""
    if part.role is Role.SIDECAR:
        return True
    if subject.restart_policy(part) == "Always":
        return part.container.restart_policy != "Always" or subject.spec.restart_policy == "Always"
    mains = subject.of(Role.MAIN)
    return subject.job is None and part.program.is_endless and all(each.program.is_endless for each in mains)


def _why(part: Part) -> str:
    blocker = short(part.program.blocker or "its loop", 40)
    name = part.program.words[0].rpartition("/")[2] if part.program.words else ""
    match part.program.deafness:
        case Deafness.TRAP_WAITS:
            return f"its trap runs only when `{blocker}` has ended"
        case Deafness.TRAP_GOES_ON:
            return "its trap doesn't end it"
        case Deafness.NO_TRAP:
            return f"{name} as process 1 has no trap"
        case _:
            return f"`{blocker}` as process 1 has no handler"


def _cure(part: Part, grace: int) -> str:
    if part.program.deafness is Deafness.TRAP_WAITS:
        return "wait in the background, which a trap may interrupt: sleep 60 & wait $!"
    if part.program.deafness is Deafness.TRAP_GOES_ON:
        return "end the trap with exit: trap '...; exit 0' TERM"
    if part.program.longest >= grace:
        return f"sh -c \"trap 'exit 0' TERM; {short(part.program.blocker, 40)} & wait\", or shareProcessNamespace: true"
    return "begin the script with: trap 'exit 0' TERM; or set shareProcessNamespace: true"


def hook_takes_grace(subject: Subject) -> Iterator[Advice]:
    """Yield preStop hooks that use up half of the grace period or more (KE702)."""
    grace = subject.grace
    for part in subject.of(Role.SIDECAR, Role.MAIN):
        hook = pre_stop_of(part)
        if hook is None or hook.seconds is None or not hook.seconds or hook.seconds * 2 < grace:
            continue
        spent = "all" if hook.seconds >= grace else seconds(hook.seconds)
        left = max(MINIMUM_SECONDS, grace - hook.seconds) if hook.seconds < math.inf else MINIMUM_SECONDS
        text = f"{spent} of {grace} s are spent in preStop before SIGTERM: {part.name} has {seconds(left)} left to end"
        yield Advice(
            code="KE702",
            path=f"{part.path}.lifecycle.preStop",
            text=text,
            hint="the grace period counts from the delete: make it the hook's time and the program's together",
        )


def hook_stops_early(subject: Subject) -> Iterator[Advice]:
    """Yield preStop hooks of sidecars that stop them while the mains still work (KE703)."""
    mains = subject.of(Role.MAIN)
    for part in subject.of(Role.SIDECAR):
        hooks = part.container.lifecycle
        hook = None if hooks is None else hooks.pre_stop
        if hook is not None and _stops(hook):
            yield Advice(
                code="KE703",
                path=f"{part.path}.lifecycle.preStop",
                text=f"the preStop hook of {part.name} runs as soon as the pod is deleted, "
                f"while {names_of(mains)} still {verb(mains, 'works', 'work')}",
                hint="a sidecar gets SIGTERM only when the mains have ended: let it stop then, without a hook",
            )


def _stops(hook: LifecycleHandler) -> bool:
    """Tell whether a hook says that it stops something; what a script prints or sets up doesn't count."""
    if hook.http_get is not None:
        return bool(_STOPPING_WORDS & set(re.split(r"[^a-z]+", (hook.http_get.path or "").lower())))
    command = () if hook.exec is None else hook.exec.command
    program = program_of_words(command)
    if program.script is None:
        words = () if script_of(command) is not None else command
    else:
        inside = (each for statement in program.script for each in statement.walk())
        words = tuple(word for each in inside if each.words and not is_harmless(each) for word in each.words)
    return any(_STOPPING_WORDS & set(re.split(r"[^a-z]+", word.lower())) for word in words)


def hook_without_effect(subject: Subject) -> Iterator[Advice]:
    """Yield hooks with tcpSocket, which always fail (KE704)."""
    for part in subject.of(Role.SIDECAR, Role.MAIN):
        hooks = part.container.lifecycle
        if hooks is None:
            continue
        for name, hook, what in (
            ("postStart", hooks.post_start, "the container is killed after its start, again and again"),
            ("preStop", hooks.pre_stop, "it does nothing but a warning, FailedPreStopHook"),
        ):
            if hook is not None and hook.tcp_socket is not None:
                yield Advice(
                    code="KE704",
                    path=f"{part.path}.lifecycle.{name}.tcpSocket",
                    text=f"tcpSocket is accepted in hooks but always fails: {what}",
                    hint="use exec, httpGet or sleep",
                )


RULES = (
    Rule(code="KE701", title="process 1 doesn't react to SIGTERM", find=ignores_term),
    Rule(code="KE702", title="preStop uses up the grace period", find=hook_takes_grace),
    Rule(code="KE703", title="preStop stops a sidecar before the mains", find=hook_stops_early),
    Rule(code="KE704", title="a hook with tcpSocket always fails", find=hook_without_effect),
)
