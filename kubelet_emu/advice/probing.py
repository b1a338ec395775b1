"""What the probes of a pod come to: how soon a failing one restarts its container, and what they cost.

Source: kubelet v1.36 prober worker.doProbe; the limit of exec probes is what Docker engines were measured to run.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import evolve, field, frozen

from kubelet_emu.advice.advices import Advice, Rule, listed, seconds
from kubelet_emu.advice.subjects import Role

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kubelet_emu.advice.subjects import Part, Subject
    from kubelet_emu.api.v1_handlers import Probe

NOTICED_SECONDS = 1
"""How soon a kubelet knows of a container's start at the latest: its relist."""
MOST_EXECS_A_SECOND = 10.0
"""Commands that an engine on two cores runs in a second; with more, probes come too late and time out."""


@frozen(kw_only=True)
class Restart:
    """When a liveness or startup probe that never succeeds first has its container stopped.

    Seconds from the container's start, or from its startup probe's success where `waits_for_startup`. A container whose
    policy is Never isn't started again.
    """

    part: Part = field(repr=False)
    probe: str
    earliest: int
    latest: int
    waits_for_startup: bool = False
    is_started_again: bool = True


def restarts(subject: Subject) -> Iterator[Restart]:
    """Yield the first restarts that failing probes cause, container by container."""
    for part in subject.of(Role.SIDECAR, Role.MAIN):
        startup, liveness = part.container.startup_probe, part.container.liveness_probe
        if startup is not None and _unknown_port(part, startup):
            continue
        if liveness is not None and _unknown_port(part, liveness):
            liveness = None
        is_again = subject.restart_policy(part) != "Never"
        if startup is not None:
            yield evolve(_restart(part, startup), probe="startup", is_started_again=is_again)
        if liveness is not None:
            yield evolve(_restart(part, liveness, startup), is_started_again=is_again)


def _restart(part: Part, probe: Probe, after: Probe | None = None) -> Restart:
    """Add up the attempts of a probe, which begin with the container or when another probe has succeeded.

    Attempts keep the phase of the probe's worker, which is older than the container, so the first comes up to a period
    late; one that takes longer than the period puts off the next. The delay counts from the start in whole seconds.
    """
    from kubelet_emu.rules.probe_times import probe_times  # noqa: PLC0415 - only a plan asks for times

    times = probe_times(probe)
    more, each = times.failure_threshold - 1, max(times.period, times.timeout)
    if after is None:
        lead, earliest = max(times.initial_delay, NOTICED_SECONDS), max(0, times.initial_delay - 1)
    else:
        lead, earliest = max(0, times.initial_delay - probe_times(after).initial_delay), 0
    return Restart(
        part=part,
        probe="liveness",
        earliest=earliest + more * times.period,
        latest=lead + times.period + more * each + times.timeout,
        waits_for_startup=after is not None,
    )


def _probes(part: Part) -> Iterator[tuple[str, Probe]]:
    container = part.container
    given = (
        ("startupProbe", container.startup_probe),
        ("livenessProbe", container.liveness_probe),
        ("readinessProbe", container.readiness_probe),
    )
    yield from ((name, probe) for name, probe in given if probe is not None)


def timeout_over_period(subject: Subject) -> Iterator[Advice]:
    """Yield probes that wait longer for an answer than their period (KE801).

    Startup probes are left out: while a container starts, a slow answer costs nothing but time.
    """
    for part in subject.of(Role.SIDECAR, Role.MAIN):
        for name, probe in _probes(part):
            period, timeout = probe.period_seconds or 10, probe.timeout_seconds or 1
            if name != "startupProbe" and timeout > period:
                yield Advice(
                    code="KE801",
                    path=f"{part.path}.{name}.timeoutSeconds",
                    text=f"the {name} of {part.name} waits {timeout} s for an answer but is due every {period} s: "
                    f"one that hangs is tried every {timeout} s",
                    hint=f"make timeoutSeconds {period} or less, or periodSeconds {timeout} or more",
                )


def execs_a_second(subject: Subject) -> float:
    """Return how many probe commands a second the pods of a workload run at most."""
    return _replicas(subject) * sum(_rate(part) for part in subject.of(Role.SIDECAR, Role.MAIN))


def _rate(part: Part) -> float:
    rates = {name: 1 / (probe.period_seconds or 10) for name, probe in _probes(part) if probe.exec is not None}
    startup = rates.pop("startupProbe", 0.0)
    return max(startup, sum(rates.values()))


def _replicas(subject: Subject) -> int:
    if subject.job is not None:
        parallelism, completions = subject.job.parallelism, subject.job.completions
        at_once = 1 if parallelism is None else parallelism
        return at_once if completions is None else min(at_once, completions)
    given = getattr(getattr(subject.loaded.object, "spec", None), "replicas", 1)
    return 1 if given is None else int(given)


def too_many_execs(subject: Subject) -> Iterator[Advice]:
    """Yield pods whose exec probes are more than a Docker engine runs (KE802)."""
    rate, pods = execs_a_second(subject), _replicas(subject)
    if rate <= MOST_EXECS_A_SECOND:
        return
    parts = [part for part in subject.of(Role.SIDECAR, Role.MAIN) if _rate(part)]
    many = f"{pods} pods with exec probes in " if pods > 1 else "the exec probes of "
    yield Advice(
        code="KE802",
        path=parts[0].path,
        text=f"{many}{listed([part.name for part in parts])} come to {rate:.3g} commands a second: "
        f"more than about {MOST_EXECS_A_SECOND:g} is too much for an engine, and probes time out",
        hint="httpGet, tcpSocket and grpc probes cost nothing; else a longer periodSeconds",
    )


def unknown_port(subject: Subject) -> Iterator[Advice]:
    """Yield probes of a port by a name that the container doesn't have: they never count (KE803)."""
    for part in subject.of(Role.SIDECAR, Role.MAIN):
        names = {port.name for port in part.container.ports if port.name}
        for name, probe in _probes(part):
            if not (port := _unknown_port(part, probe)):
                continue
            action = "httpGet" if probe.http_get is not None else "tcpSocket"
            yield Advice(
                code="KE803",
                path=f"{part.path}.{name}.{action}.port",
                text=f"{part.name} has no port named {port!r}: {_consequence(part, name)}",
                hint=f"its ports are named {listed(sorted(names))}" if names else "write the number, or name the port",
            )


def _unknown_port(part: Part, probe: Probe) -> str:
    """Return the name of the port that a probe asks and its container doesn't have; nothing where all is well."""
    handler = probe.http_get or probe.tcp_socket
    port = None if handler is None else handler.port
    names = {each.name for each in part.container.ports}
    return port if isinstance(port, str) and port not in names and not port.isdecimal() else ""


def _consequence(part: Part, name: str) -> str:
    match name:
        case "livenessProbe":
            return "the probe never counts, and nothing is ever restarted"
        case "readinessProbe":
            return "the probe never counts, and the pod is never Ready"
        case _:
            is_gate = part.role is Role.SIDECAR
            return "the probe never counts, and " + ("what follows never starts" if is_gate else "it stays unready")


def describe(restart: Restart) -> str:
    """Return what becomes of a container whose probe never succeeds, and when, as a phrase."""
    since = "its startup probe succeeded" if restart.waits_for_startup else "its start"
    when = f"{restart.earliest} to {seconds(restart.latest)} after {since}"
    if restart.is_started_again:
        return f"is stopped {when}, and started again"
    return f"is stopped {when}, and not started again (restartPolicy: Never)"


RULES = (
    Rule(code="KE801", title="a probe's timeout is longer than its period", find=timeout_over_period),
    Rule(code="KE802", title="more exec probes than an engine can run", find=too_many_execs),
    Rule(code="KE803", title="a probe names a port that isn't there", find=unknown_port),
)
