"""Lies here so that tests find the helper modules beside it; has the option that leaves long tests out."""

from __future__ import annotations

import gc
import signal
from typing import TYPE_CHECKING

import pytest
from examples import load_profile
from kept import nothing_else_kept

if TYPE_CHECKING:
    from collections.abc import Iterator

_OBJECTS_BETWEEN_COLLECTIONS = 50_000  # twelve thousand tests stay: to look through them often is of no use


def pytest_configure() -> None:
    """Let Ctrl-C reach the programs under test, also where whoever started the tests ignores it (as `&` of a shell)."""
    load_profile()
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_finish(session: pytest.Session) -> None:
    """Leave what collecting made, which stays to the end, out of all later garbage collections.

    Beside an engine garbage holds sockets and processes, which must go within the test that made them.
    """
    if not any(item.get_closest_marker("docker") for item in session.items):
        gc.set_threshold(_OBJECTS_BETWEEN_COLLECTIONS)
        gc.collect()
        gc.freeze()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option of run_all.py."""
    parser.addoption("--deselect-long", action="store_true", help="leave the tests marked long out, and count them")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Deselect the long tests where that was asked for: the last line of a run tells how many."""
    if not config.getoption("--deselect-long"):
        return
    long = [item for item in items if item.get_closest_marker("long")]
    config.hook.pytest_deselected(items=long)
    items[:] = [item for item in items if item not in long]


@pytest.fixture
def kept_alone() -> Iterator[None]:
    """Let no other test prune what this one keeps, nor keep what this one prunes."""
    with nothing_else_kept():
        yield
