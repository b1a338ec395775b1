"""What a pod failure policy says of one failed pod."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from job_inputs import a_condition, a_container, a_failure_policy, a_pod

from kubelet_emu.jobs.rules.pod_failure_policy import match_pod_failure_policy

if TYPE_CHECKING:
    from collections.abc import Mapping

    from table_rows import Fields


def check(row: Fields, shared: Mapping[str, Any]) -> None:
    given = row.part("in")
    policy = None if given.take("rules") is None else a_failure_policy(given.parts("rules"))
    described = given.part("pod")
    pod = a_pod(
        "mypod",
        "Failed",
        mains=[a_container(name, code) for name, code in described.take("mains", [])],
        inits=[a_container(name, code) for name, code in described.take("inits", [])],
        conditions=map(a_condition, described.take("conditions", [])),
    )
    match = match_pod_failure_policy(policy, pod)
    row.part("out").check(
        {
            "action": match.action.value if match.action else None,
            "counted": match.counted,
            "fail_job": match.fail_job_message,
        }
    )
