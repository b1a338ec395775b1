"""Where the program's own diagnostics go: a line each on stderr, never between the container logs on stdout."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, TextIO

import structlog

if TYPE_CHECKING:
    from collections.abc import MutableMapping


def send_diagnostics(err: TextIO) -> None:
    """Send what structlog loggers warn of to a stream."""
    structlog.configure(
        processors=[_to_line],
        wrapper_class=structlog.make_filtering_bound_logger(logging.WARNING),
        logger_factory=structlog.PrintLoggerFactory(err),
    )


def _to_line(_logger: object, level: str, event: MutableMapping[str, object]) -> str:
    """Return `warning: relist failed (error: ...)`."""
    details = ", ".join(f"{key}: {value}" for key, value in event.items() if key != "event")
    return f"{level}: {event['event']}" + (f" ({details})" if details else "")
