"""The one line about a pod, as a value."""

from __future__ import annotations

from attrs import frozen


@frozen(kw_only=True)
class Answer:
    """What a pod waits for. `since` is seconds on the log's time line; `fix` what to change, as lines.

    `is_stuck` when it will not go on by itself.
    """

    pod: str
    text: str
    since: float | None = None
    fix: tuple[str, ...] = ()
    is_stuck: bool = False
