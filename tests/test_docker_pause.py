"""Images that another session may remove between the look and the call."""

from __future__ import annotations

import itertools

import pytest

from runtime.api import CRIError, NotFoundError
from runtime.docker.pause import IMAGE_TRIES, created_with


async def created(errors: list[CRIError]) -> str:
    """Create with a new image each time, and fail with each of some errors first."""
    names = (f"image-{number}" for number in itertools.count(1))

    async def image() -> str:
        return next(names)

    async def create(name: str) -> str:
        if errors:
            raise errors.pop(0)
        return name

    return await created_with(image, create)


@pytest.mark.parametrize("lost", range(IMAGE_TRIES))
async def test_an_image_that_has_gone_is_looked_for_anew(lost: int) -> None:
    assert await created([NotFoundError("no such image") for _ in range(lost)]) == f"image-{lost + 1}"


async def test_an_image_that_goes_each_time_is_an_error() -> None:
    with pytest.raises(NotFoundError, match="no such image"):
        await created([NotFoundError("no such image") for _ in range(IMAGE_TRIES)])


async def test_any_other_error_comes_out() -> None:
    with pytest.raises(CRIError, match="no space left"):
        await created([CRIError("no space left")])
