"""One sync of a Job with a back-off limit per index, and the counts that a new pod carries."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from job_inputs import (
    a_container,
    a_job,
    a_pod,
    an_exit_code_rule,
    counts,
    shown_condition,
    synced,
    with_failure_policy,
)
from table_rows import TableError

from kubelet_emu.jobs.rules.per_index import new_index_failure_counts

if TYPE_CHECKING:
    from collections.abc import Mapping

    from table_rows import Fields

    from kubelet_emu.api.v1 import Pod

POD = re.compile(r"(?P<index>\d+) (?P<phase>\w+)(\((?P<code>\d+)\))? (?P<failures>\d+)( (?P<ignored>\d+))?")
REPLACES = re.compile(
    r"replaces failed pod with count (?P<failures>\d+)((?:,| and) ignored(?: count)? (?P<ignored>\d+))?"
    r"(, matching (?P<action>Ignore|Count|FailIndex|FailJob))?"
)


def check(row: Fields, shared: Mapping[str, Any]) -> None:
    given, out = row.part("in"), row.part("out")
    if "new_pod_for" in given:
        failures, ignored = _new_counts(given.take("new_pod_for"))
        out.check({"failure_count": failures, "ignored_count": ignored})
        return
    job = a_job(
        completion_mode="Indexed",
        completions=given.take("completions"),
        parallelism=given.take("parallelism", 2),
        backoff_limit_per_index=given.take("limit"),
        backoff_limit=given.take("backoffLimit", 2**31 - 1),
        max_failed_indexes=given.take("maxFailedIndexes", None),
    )
    if (rule := given.take("rule", None)) is not None:
        job = with_failure_policy(job, an_exit_code_rule(rule))
    plan = synced(job, [_a_pod(n, text) for n, text in enumerate(given.take("pods"))])
    assert plan is not None
    conditions = plan.final.conditions
    out.check(
        counts(plan)
        | {"condition": shown_condition(out, conditions), "terminal": [condition.type for condition in conditions]}
    )


def _a_pod(n: int, text: str) -> Pod:
    found = POD.fullmatch(text)
    if found is None:
        raise TableError(f"unknown pod {text!r}")
    code = int(found["code"] or {"Failed": 1}.get(found["phase"], 0))
    is_over = found["phase"] in ("Failed", "Succeeded")
    return a_pod(
        f"pod-{n}",
        found["phase"],
        index=int(found["index"]),
        counts=(int(found["failures"]), int(found["ignored"] or 0)),
        mains=[a_container("main", code if is_over else None)],
    )


def _new_counts(text: str) -> tuple[int, int]:
    job = a_job(completion_mode="Indexed", completions=2, backoff_limit_per_index=6)
    if text == "first":
        return new_index_failure_counts(job, None)
    found = REPLACES.fullmatch(text)
    if found is None:
        raise TableError(f"unknown new_pod_for {text!r}")
    if found["action"]:
        job = with_failure_policy(job, an_exit_code_rule(f"{found['action']} In [1]"))
    pod = a_pod("old", "Failed", index=0, counts=(int(found["failures"]), int(found["ignored"] or 0)))
    return new_index_failure_counts(job, pod)
