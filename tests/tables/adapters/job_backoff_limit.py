"""One sync of a Job that counts failures or restarts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from job_inputs import a_container, a_job, a_pod, counts, pods_in, shown_condition, synced

if TYPE_CHECKING:
    from collections.abc import Mapping

    from table_rows import Fields

    from kubelet_emu.api.v1 import Pod

POLICIES = {"Never": "Never", "OnFailure": "OnFailure"}
UNFINISHED = {"Running": "Running", "Pending": "Pending"}


def check(row: Fields, shared: Mapping[str, Any]) -> None:
    given = row.part("in")
    active = _active(given)
    job = a_job(
        restart_policy=given.choice("restartPolicy", POLICIES),
        backoff_limit=given.take("backoffLimit"),
        parallelism=given.take("parallelism", max(1, len(active))),
        completions=given.take("completions", 5),
        suspend=given.flag("suspend"),
    )
    plan = synced(job, active + pods_in("Failed", given.take("failed_pods", 0)))
    assert plan is not None
    out = row.part("out")
    note = out.take("note", None)
    out.check(counts(plan) | {"condition": shown_condition(out, plan.final.conditions), "note": note})


def _active(given: Fields) -> list[Pod]:
    phase = given.choice("phase", UNFINISHED, "Running")
    if {"main_restarts", "sidecar_restarts", "init_restarts"} & set(given.values):
        mains = [a_container("main", None, restarts=given.take("main_restarts", 0))]
        inits = [
            a_container("sidecar", None, restarts=given.take("sidecar_restarts", 0)),
            a_container("init", 0, restarts=given.take("init_restarts", 0)),
        ]
        return [a_pod("pod", phase, mains=mains, inits=inits)]
    restarts = given.take("restartCounts", [0] * given.take("active", 0))
    return [
        a_pod(f"pod-{n}", phase, mains=[a_container("main", None, restarts=count)]) for n, count in enumerate(restarts)
    ]
