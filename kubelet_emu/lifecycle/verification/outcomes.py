"""Rules about how pods and Jobs end: by their mains, never by their sidecars."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubelet_emu.journal.facts import ContainerKind
from kubelet_emu.lifecycle.verification.comparing import shown, unknown
from kubelet_emu.lifecycle.verification.verdicts import Outcome, Verdict

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kubelet_emu.lifecycle.history import ContainerHistory, JobHistory, PhaseChange, PodHistory
    from kubelet_emu.lifecycle.verification.verdicts import Case, Terms

SUCCEEDED, FAILED = "Succeeded", "Failed"
BACKOFF_LIMIT_EXCEEDED = "BackoffLimitExceeded"
_OTHER_CODE = 137
_JOB_RULE = "only the mains of a Job's pods decide what becomes of it"


def pod_by_mains(pod: PodHistory, _terms: Terms) -> Iterator[Verdict]:
    """Judge that a pod's last phase is Succeeded if its mains all ended with 0, else Failed, whatever its sidecars did.

    Source: KEP-753, kubelet v1.36 getPhase.
    """
    final = next((change for change in reversed(pod.phases) if change.phase in {SUCCEEDED, FAILED}), None)
    mains = pod.of_kind(ContainerKind.MAIN)
    if final is None or not mains or final is not pod.phases[-1]:
        return
    codes = {main.name: _last_code(main) for main in mains}
    told = ", ".join(f"{name} {'unknown' if code is None else code}" for name, code in codes.items())
    text = f"{shown(final.at)}, mains ended with: {told}"
    rule = f"a pod whose mains end so is {FAILED if any(codes.values()) else SUCCEEDED}, whatever its sidecars did"
    outcome = _by_mains(pod, final, list(codes.values()))
    yield Verdict(outcome=outcome, subject=pod.name, text=text, rule=rule, moments=(final.at,))


def _by_mains(pod: PodHistory, final: PhaseChange, codes: list[int | None]) -> Outcome:
    if final.phase == FAILED and (final.reason or _has_failed_init(pod)):
        return Outcome.OK
    if None in codes:
        return Outcome.UNKNOWN
    return Outcome.OK if (final.phase == SUCCEEDED) == (not any(codes)) else Outcome.VIOLATION


def _last_code(container: ContainerHistory) -> int | None:
    """Return the code a container ended with: what its last status says, else its last run."""
    for state in reversed(container.states):
        _, _, rest = state.state.partition("terminated:")
        code = rest.rpartition(":")[2]
        if code.lstrip("-").isdecimal():
            return int(code)
        if state.state.startswith("waiting") and container.last_run is None:
            return _OTHER_CODE
        break
    return container.last_run.code if container.last_run is not None else None


def _has_failed_init(pod: PodHistory) -> bool:
    return any(c.last_run is None or c.last_run.code != 0 for c in pod.of_kind(ContainerKind.INIT))


def job_by_mains(case: Case) -> Iterator[Verdict]:
    """Judge that a Job doesn't fail for what its pods' sidecars did.

    With restartPolicy OnFailure the restarts of sidecars do count for the backoffLimit, so only Never is judged.
    Source: kubernetes v1.36 job controller, getFailJobMessage, exceedsBackoffLimit; KEP-753.
    """
    pods = {pod.name: pod for pod in case.history.pods}
    for job in case.history.jobs:
        own = [pods[name] for name in job.pods if name in pods]
        failed, complete = job.condition("Failed"), job.condition("Complete")
        is_failed = failed is not None and failed.reason == BACKOFF_LIMIT_EXCEEDED and _is_never(job)
        if not own and (complete is not None or is_failed):
            yield unknown(job.name, "nothing tells which pods are its own: give the manifest (-f)")
        elif complete is not None:
            yield _completed(job, own)
        elif is_failed:
            yield _failed(job, own)


def _is_never(job: JobHistory) -> bool:
    return job.spec is None or job.spec.spec.template.spec.restart_policy != "OnFailure"


def _completed(job: JobHistory, pods: list[PodHistory]) -> Verdict:
    good = [pod for pod in pods if all(_last_code(c) == 0 for c in pod.of_kind(ContainerKind.MAIN))]
    text = f"{job.name} is Complete; the mains of {len(good)} of its {len(pods)} pods ended with 0"
    wanted = _wanted(job)
    outcome = Outcome.OK if len(good) >= wanted else Outcome.VIOLATION if _are_all_told(pods) else Outcome.UNKNOWN
    return Verdict(outcome=outcome, subject=job.name, text=text, rule=_JOB_RULE)


def _wanted(job: JobHistory) -> int:
    has_policy = job.spec is None or job.spec.spec.success_policy is not None
    return 1 if has_policy or job.spec is None else job.spec.spec.completions or 1


def _failed(job: JobHistory, pods: list[PodHistory]) -> Verdict:
    bad = [pod.name for pod in pods if pod.deletions or (pod.phases[-1:] and _is_bad(pod))]
    text = f"{job.name} is Failed ({BACKOFF_LIMIT_EXCEEDED})"
    if bad:
        return Verdict(outcome=Outcome.OK, subject=job.name, text=f"{text}: {', '.join(bad)} failed")
    outcome = Outcome.VIOLATION if pods and _are_all_told(pods) else Outcome.UNKNOWN
    text = f"{text}, and no main of its pods ended badly"
    return Verdict(outcome=outcome, subject=job.name, text=text, rule=_JOB_RULE)


def _is_bad(pod: PodHistory) -> bool:
    codes = [_last_code(c) for c in pod.of_kind(ContainerKind.MAIN)]
    return any(codes) or _has_failed_init(pod) or bool(pod.phases[-1].reason)


def _are_all_told(pods: list[PodHistory]) -> bool:
    return all(pod.has_kinds and None not in [_last_code(c) for c in pod.of_kind(ContainerKind.MAIN)] for pod in pods)
