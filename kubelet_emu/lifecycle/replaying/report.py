"""What a replay found, as text and as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from kubelet_emu.lifecycle.replaying.decisions import Difference, Replay


def as_text(replay: Replay, epoch: datetime) -> str:
    """Return the differences one after another and a line that counts; times are seconds since `epoch`."""
    blocks = [_block(difference, epoch) for difference in replay.differences]
    blocks += [
        f"{each.pod} sync {each.sync} at {_seconds(each.at, epoch)}: can't be taken again: {each.why}"
        for each in replay.skipped
    ]
    return "\n\n".join([*blocks, _count(replay)])


def as_json(replay: Replay, epoch: datetime) -> dict[str, object]:
    """Return a replay as plain data."""
    return {
        "syncs": replay.syncs,
        "differences": [
            {
                "pod": each.pod,
                "sync": each.sync,
                "t": round((each.at - epoch).total_seconds(), 6),
                "recorded": dict(each.recorded),
                "today": dict(each.today),
                "because": list(each.because),
            }
            for each in replay.differences
        ],
        "skipped": [
            {"pod": each.pod, "sync": each.sync, "t": round((each.at - epoch).total_seconds(), 6), "why": each.why}
            for each in replay.skipped
        ],
    }


def _block(difference: Difference, epoch: datetime) -> str:
    return "\n".join(_lines(difference, epoch))


def _lines(difference: Difference, epoch: datetime) -> Iterator[str]:
    yield f"{difference.pod} sync {difference.sync} at {_seconds(difference.at, epoch)}"
    yield f"  recorded: {difference.was}"
    yield f"  today:    {difference.now}"
    for fact in difference.because:
        yield f"  given     {fact}"


def _seconds(at: datetime, epoch: datetime) -> str:
    return f"+{(at - epoch).total_seconds():.3f}s"


def _count(replay: Replay) -> str:
    total = f"{replay.syncs} sync{'' if replay.syncs == 1 else 's'} taken again"
    if not replay.differences:
        return f"{total}: today's rules decide as recorded"
    return f"{total}: today's rules decide {len(replay.differences)} otherwise"
