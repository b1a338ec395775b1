"""When a container's hooks ran, from whatever shows it.

Best first: the hook records of our own log; the process that a runtime started with the hook's command; the lines that
the hook writes into its container's output, which are known from its command; the words PreStop and PostStart.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal

from attrs import frozen

from kubelet_emu.lifecycle.history import HookHistory
from kubelet_emu.lifecycle.pod_records import at_of, moments_of
from kubelet_emu.lifecycle.raw_records import EVENT_SLACK_SECONDS, number_of, time_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kubelet_emu.api.v1 import Container, EphemeralContainer
    from kubelet_emu.api.v1_handlers import LifecycleHandler
    from kubelet_emu.lifecycle.pod_records import PodRecords
    from kubelet_emu.lifecycle.raw_records import RawRecord

    HookName = Literal["postStart", "preStop"]

_ECHO = r"""echo\s+(?P<quote>["']?)(?P<text>[^$`"'>;&|\n]+?)(?P=quote)\s*>+\s*/(?:proc/1/fd/[12]|dev/std(?:out|err))"""
_FIRST = re.compile(rf"\s*{_ECHO}\s*(?:$|[;\n&])")
_LAST = re.compile(rf"(?:^|[;\n&])\s*{_ECHO}\s*;?\s*(?:exit\s+\d+\s*)?$")
_ENDING = re.compile(r"\b(?:end|done|finished)\b", re.IGNORECASE)


@frozen(kw_only=True)
class Witness:
    """The lines by which a hook shows that it begins and that it ends, empty where it writes none."""

    first: str = ""
    last: str = ""


def handler_of(container: Container | EphemeralContainer | None, hook: HookName) -> LifecycleHandler | None:
    """Return what a container's spec says of a hook."""
    if container is None or container.lifecycle is None:
        return None
    return container.lifecycle.pre_stop if hook == "preStop" else container.lifecycle.post_start


def witness_of(handler: LifecycleHandler | None) -> Witness:
    """Return the lines that a hook surely writes: the first command of its script, and the last."""
    script = handler.exec.command[-1] if handler is not None and handler.exec and handler.exec.command else ""
    first, last = _FIRST.match(script), _LAST.search(script)
    texts = [found["text"].strip() if found else "" for found in (first, last)]
    return Witness(first=texts[0], last=texts[1])


@frozen(kw_only=True)
class HookQuestion:
    """Which hook is looked for: of which run, and between which times it may have begun."""

    container: str
    run: int
    hook: HookName
    handler: LifecycleHandler | None
    first: float
    last: float

    def may_begin(self, record: RawRecord) -> bool:
        """Tell whether a record is of a time at which the hook may have begun."""
        return self.first <= time_of(record) <= self.last


Found = tuple["RawRecord | None", "RawRecord | None"]


def hook_of(records: PodRecords, question: HookQuestion) -> HookHistory | None:
    """Return what became of a hook, None for one that neither the spec nor the log says anything of."""
    handler, name = question.handler, f"{question.container} {question.hook}"
    began, ended = _NOTHING
    for look in (_from_effects, _from_processes, _from_moments, _from_lines):
        began, ended = look(records, question)
        if began is not None:
            break
    if handler is None and began is None:
        return None
    return HookHistory(
        began=None if began is None else at_of(began, f"{name} began"),
        ended=None if ended is None else at_of(ended, f"{name} ended"),
        has_failed=(ended is not None and ended.get("what") == "failed") or _has_failed_event(records, question),
        sleep_seconds=float(handler.sleep.seconds) if handler is not None and handler.sleep else None,
        is_expected=handler is not None and _would_show(records, question),
    )


_NOTHING: Found = (None, None)


def _from_effects(records: PodRecords, question: HookQuestion) -> Found:
    calls = [r for r in records.of_kind("effect", question.container) if _is_call_of(r, question)]
    began = next((r for r in calls if question.may_begin(r) and r.get("what") == "started"), None)
    if began is None:
        return _NOTHING
    ends = (r for r in calls if time_of(r) >= time_of(began) and r.get("what") in {"finished", "failed"})
    return began, next(ends, None)


def _is_call_of(record: RawRecord, question: HookQuestion) -> bool:
    is_of_run = number_of(record.get("run") or question.run) == question.run
    return is_of_run and str(record.get("call")).replace("_", "").lower() == question.hook.lower()


def _from_processes(records: PodRecords, question: HookQuestion) -> Found:
    handler = question.handler
    if handler is None or handler.exec is None:
        return _NOTHING
    processes = list(records.of_kind("exec", question.container))
    for record in processes:
        is_start = record.get("what") == "exec-started" and question.may_begin(record)
        if is_start and record.get("args") == list(handler.exec.command):
            ends = (r for r in processes if r.get("id") == record.get("id") and r.get("what") == "exec-exited")
            return record, next(ends, None)
    return _NOTHING


def _from_moments(records: PodRecords, question: HookQuestion) -> Found:
    began, ended = (
        list(moments_of(records, question.container, f"{question.hook.lower()}-{end}", question.run))
        for end in ("start", "end")
    )
    return next(filter(question.may_begin, began), None), next((r for r in ended if time_of(r) >= question.first), None)


def _from_lines(records: PodRecords, question: HookQuestion) -> Found:
    witness, lines = witness_of(question.handler), list(records.of_kind("log", question.container))
    if not witness.first and not witness.last:
        return _from_words(lines, question)
    began = next((r for r in lines if question.may_begin(r) and witness.first and witness.first in _line(r)), None)
    if not witness.last or witness.last == witness.first:
        return began, None
    since = question.first if began is None else time_of(began)
    return began, next((r for r in lines if time_of(r) >= since and witness.last in _line(r)), None)


def _from_words(lines: Sequence[RawRecord], question: HookQuestion) -> Found:
    word = "PreStop" if question.hook == "preStop" else "PostStart"
    told = [record for record in lines if time_of(record) >= question.first and _line(record).startswith(word)]
    began = next((r for r in told if not _ENDING.search(_line(r)) and question.may_begin(r)), None)
    return began, next((r for r in told if _ENDING.search(_line(r))), None)


def _line(record: RawRecord) -> str:
    return str(record.get("line") or "")


def _has_failed_event(records: PodRecords, question: HookQuestion) -> bool:
    reason = "FailedPreStopHook" if question.hook == "preStop" else "FailedPostStartHook"
    failed = (r for r in records.of_kind("event", question.container) if r.get("reason") == reason)
    return any(question.first <= time_of(record) <= question.last + EVENT_SLACK_SECONDS for record in failed)


def _would_show(records: PodRecords, question: HookQuestion) -> bool:
    """Tell whether the hook's beginning would be in this log: it writes a line, or its calls are recorded."""
    if records.has_hooks:
        return True
    return bool(witness_of(question.handler).first) and any(records.of_kind("log", question.container))
