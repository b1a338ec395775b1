"""Where the program's own diagnostics go: a line each on stderr, never between the container logs on stdout."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, NoReturn

import structlog

if TYPE_CHECKING:
    from collections.abc import Callable, MutableMapping

    from kubelet_emu.journal.outlet import Writable


def send_diagnostics(err: Writable, scrub: Callable[[str], str] = str) -> None:
    """Send what structlog loggers warn of through `scrub` to a stream, as `warning: relist failed (error: ...)`."""

    def write(_logger: object, level: str, event: MutableMapping[str, object]) -> NoReturn:
        details = ", ".join(f"{key}: {value}" for key, value in event.items() if key != "event")
        err.write(scrub(f"{level}: {event['event']}" + (f" ({details})" if details else "")) + "\n")
        raise structlog.DropEvent

    structlog.configure(processors=[write], wrapper_class=structlog.make_filtering_bound_logger(logging.WARNING))
