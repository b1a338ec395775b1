"""Completion indexes: their text in a status, a pod's own index, and which indexes come next."""

from __future__ import annotations

import re
from itertools import islice
from typing import TYPE_CHECKING

from kubelet_emu.jobs.rules.words import COMPLETION_INDEX

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from kubelet_emu.api.v1 import Pod

_MAX_GENERATED_NAME_LENGTH = 63 - 5
_COUNT = re.compile(r"\+?[0-9]+|-0+", re.ASCII)


def parse_indexes(text: str, completions: int) -> frozenset[int]:
    """Return the indexes of an interval text that are below `completions`; what can't be read is left out.

    Source: pkg/controller/job parseIndexesFromString. The text is in order: what begins too high ends it.
    """
    indexes: set[int] = set()
    for interval in text.split(","):
        first, *rest = map(parse_count, interval.split("-"))
        last = rest[0] if rest else first
        if first is not None and first >= completions:
            break
        if first is not None and last is not None:
            indexes.update(range(first, min(last, completions - 1) + 1))
    return frozenset(indexes)


def parse_count(text: str) -> int | None:
    """Return the number that a text is, None unless it is one from 0 on (strconv.Atoi, and what its users refuse)."""
    return int(text) if _COUNT.fullmatch(text) else None


def format_indexes(indexes: Iterable[int]) -> str:
    """Return the interval text of indexes: two neighbours as `4,5`, more as `4-6` (orderedIntervals.String)."""
    intervals: list[list[int]] = []
    for index in sorted(indexes):
        if intervals and intervals[-1][1] == index - 1:
            intervals[-1][1] = index
        else:
            intervals.append([index, index])
    return ",".join(_format_interval(first, last) for first, last in intervals)


def _format_interval(first: int, last: int) -> str:
    """Return the text of one interval (orderedIntervals.String)."""
    if first == last:
        return str(first)
    return f"{first},{last}" if last == first + 1 else f"{first}-{last}"


def completion_index(pod: Pod) -> int | None:
    """Return the index in a pod's annotation, None without a usable one (getCompletionIndex)."""
    return parse_count(pod.metadata.annotations.get(COMPLETION_INDEX, ""))


def valid_index(pod: Pod, completions: int) -> int | None:
    """Return a pod's index if it counts for a Job of so many completions (getValidPodsWithFilter)."""
    index = completion_index(pod)
    return index if index is not None and index < completions else None


def indexes_of(pods: Iterable[Pod]) -> frozenset[int]:
    """Return the indexes that pods have (getIndexes)."""
    return frozenset(index for pod in pods if (index := completion_index(pod)) is not None)


def first_pending_indexes(count: int, completions: int, taken: Collection[int]) -> tuple[int, ...]:
    """Return the lowest free indexes, at most `count` (firstPendingIndexes)."""
    return tuple(islice((index for index in range(completions) if index not in taken), count))


def pod_generate_name_with_index(job_name: str, index: int) -> str:
    """Return generateName of an indexed pod; a long Job name is cut, the index kept (podGenerateNameWithIndex)."""
    suffix = f"-{index}-"
    return job_name[: _MAX_GENERATED_NAME_LENGTH - len(suffix)] + suffix
