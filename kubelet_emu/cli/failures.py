"""Errors at the edge: what a user reads when a run can't go on, and the exit status.

Expected errors are a line. Anything else is a bug: its traceback with its notes, and where to report it.
"""

from __future__ import annotations

import traceback
from typing import TYPE_CHECKING

from attrs import frozen

from kubelet_emu.apiserver.errors import AlreadyExistsError
from kubelet_emu.cli.exit_status import BAD_INPUT, FAILED, INTERRUPTED, NO_ENGINE
from kubelet_emu.control.errors import ControlError, Reason
from kubelet_emu.embedding.errors import ManifestError
from runtime.api import CRIError, RuntimeUnavailableError

if TYPE_CHECKING:
    from collections.abc import Iterator

REPORT_AT = "this is a bug in kubelet-emu: please report it with the text above and, if you have it, the file of --log"


class InputError(Exception):
    """Something the user named can't be used; the text says what."""


class SpinError(Exception):
    """Virtual time stands still: a task goes on without ever waiting."""


EXPECTED = InputError | ManifestError | CRIError | KeyboardInterrupt | SpinError | AlreadyExistsError | ControlError


@frozen
class Failure:
    """What to print and how to exit."""

    status: int
    text: str


def explain(error: BaseException) -> Failure:
    """Return what to tell about an error, unwrapping groups of one kind of cause."""
    leaves = tuple(_leaves(error))
    if all(isinstance(leaf, KeyboardInterrupt) for leaf in leaves):
        return Failure(INTERRUPTED, "interrupted")
    bugs = [leaf for leaf in leaves if not isinstance(leaf, EXPECTED)]
    if bugs:
        return Failure(FAILED, "\n".join([*(_traceback(bug) for bug in bugs), REPORT_AT]))
    expected = next(leaf for leaf in leaves if not isinstance(leaf, KeyboardInterrupt))
    if isinstance(expected, RuntimeUnavailableError):
        notes = getattr(expected, "__notes__", [])
        hint = "\n".join(notes) or "is an engine running? `make engine` of the project's checkout sets one up"
        return Failure(NO_ENGINE, f"error: no container engine: {expected}\n{hint}")
    if isinstance(expected, ControlError):
        return Failure(FAILED, _of_server(expected))
    if isinstance(expected, ManifestError):
        return Failure(BAD_INPUT, str(expected))
    status = BAD_INPUT if isinstance(expected, InputError | AlreadyExistsError) else FAILED
    return Failure(status, "\n".join([f"error: {expected}", *getattr(expected, "__notes__", [])]))


_OF_SERVER = frozenset({Reason.NOT_FOUND, Reason.BAD_REQUEST, Reason.CONFLICT, Reason.INVALID, Reason.EXPIRED})


def _of_server(error: ControlError) -> str:
    """Return an error of a run's socket in kubectl's words for one of an API server."""
    return f"Error from server ({error.reason.value}): {error}" if error.reason in _OF_SERVER else f"error: {error}"


def _leaves(error: BaseException) -> Iterator[BaseException]:
    """Yield the errors of a group that are no groups."""
    if isinstance(error, BaseExceptionGroup):
        for inner in error.exceptions:
            yield from _leaves(inner)
    else:
        yield error


def _traceback(error: BaseException) -> str:
    return "".join(traceback.format_exception(error)).rstrip()
