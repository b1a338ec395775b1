"""What comes out of calls that are made side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import trio

from runtime.api import CRIError, NotFoundError
from runtime.docker.nurseries import calls_side_by_side

if TYPE_CHECKING:
    from trio.testing import MockClock


async def fail_after(seconds: float, error: Exception) -> None:
    await trio.sleep(seconds)
    raise error


async def fail_when_cancelled(error: Exception) -> None:
    try:
        await trio.sleep_forever()
    finally:
        raise error


async def side_by_side(*errors: Exception, own: Exception | None = None) -> None:
    """Make calls that fail at once after a second, beside one that never ends; the block itself may fail, too."""
    async with calls_side_by_side() as nursery, trio.open_nursery() as inner:
        nursery.start_soon(trio.sleep_forever)
        for error in errors:
            inner.start_soon(fail_after, 1, error)
        if own is not None:
            raise own


async def test_a_failed_call_is_raised_as_it_is(autojump_clock: MockClock) -> None:
    with pytest.raises(NotFoundError, match="gone"):
        await side_by_side(NotFoundError("gone"))


async def test_of_several_one_is_raised(autojump_clock: MockClock) -> None:
    with pytest.raises(CRIError, match="none"):
        await side_by_side(CRIError("none"), CRIError("none"), CRIError("none"))


async def test_the_block_itself_may_fail(autojump_clock: MockClock) -> None:
    with pytest.raises(CRIError, match="none"):
        await side_by_side(own=CRIError("none"))


async def test_a_bug_is_not_hidden_by_a_failed_call(autojump_clock: MockClock) -> None:
    with pytest.RaisesGroup(ValueError):
        async with calls_side_by_side() as nursery:
            nursery.start_soon(fail_after, 1, CRIError("none"))
            nursery.start_soon(fail_when_cancelled, ValueError("a bug"))


async def test_a_bug_alone_stays_a_group(autojump_clock: MockClock) -> None:
    with pytest.RaisesGroup(ValueError, flatten_subgroups=True):
        await side_by_side(ValueError("a bug"))


async def test_a_cancellation_is_one_also_where_a_call_fails_by_it(autojump_clock: MockClock) -> None:
    with trio.move_on_after(1) as scope:
        async with calls_side_by_side() as nursery:
            nursery.start_soon(fail_when_cancelled, CRIError("none"))
            nursery.start_soon(trio.sleep_forever)
    assert scope.cancelled_caught
