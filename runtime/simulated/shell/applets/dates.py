"""date, and the times that words take as text."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from runtime.simulated import access
from runtime.simulated.shell.applets.base import AppletError, UsageError, options, put

if TYPE_CHECKING:
    from runtime.simulated.process import Process

_FORMS = (
    "%Y-%m-%d %H:%M:%S", "%Y-%m-%d %H:%M", "%Y-%m-%d %H", "%Y-%m-%d", "%Y.%m.%d-%H:%M:%S", "%Y.%m.%d-%H:%M",
    "%H:%M:%S", "%H:%M", "%m.%d-%H:%M:%S", "%m.%d-%H:%M", "%b %d %H:%M:%S %Y", "%a %b %d %H:%M:%S %Z %Y",
)  # fmt: skip
_DIGITS = {4: "%H%M", 6: "%d%H%M", 8: "%m%d%H%M", 10: "%y%m%d%H%M", 12: "%Y%m%d%H%M"}
_DEFAULT = "%a %b %e %H:%M:%S %Z %Y"
_ISO = {"": "%F", "date": "%F", "hours": "%FT%H%:z", "minutes": "%FT%H:%M%:z", "seconds": "%FT%H:%M:%S%:z",
        "ns": "%FT%H:%M:%S,%,N%:z"}  # fmt: skip


def parse_date(text: str, now: datetime, form: str | None = None) -> datetime:
    """Return the time that a text means: @seconds, or one of busybox's forms; AppletError."""
    fault = AppletError(f"invalid date '{text}'")
    if form is not None:
        return _filled(text, form, now, fault)
    if text.startswith("@"):
        if not re.fullmatch(r"@-?\d+", text):
            raise fault
        return datetime.fromtimestamp(int(text[1:]), UTC)
    digits = re.fullmatch(r"(\d{2}|\d{4}|\d{6}|\d{8}|\d{10}|\d{12})(\.\d\d)?", text)
    if digits is not None:
        seconds = ".%S" if digits[2] else ""
        return _filled(text, (_DIGITS.get(len(digits[1])) or "%M") + seconds, now, fault)
    for each in _FORMS:
        try:
            return _filled(text, each, now, fault)
        except AppletError:
            continue
    raise fault


def _filled(text: str, form: str, now: datetime, fault: AppletError) -> datetime:
    """Read a text by a form; what the form doesn't name is the present day's, and the seconds are 0."""
    try:
        found = datetime.strptime(text, form).replace(tzinfo=UTC)
    except ValueError:
        raise fault from None
    names = set(re.findall(r"%(.)", form))
    return found.replace(
        year=found.year if names & {"Y", "y"} else now.year,
        month=found.month if names & {"m", "b"} else now.month,
        day=found.day if "d" in names else now.day,
    )


def show_date(at: datetime, form: str) -> str:
    """Return a time in strftime's way, in UTC."""
    whole = {
        "s": str(int(at.timestamp())), "N": "%%N", "Z": "UTC", "z": "+0000", ":z": "+00:00",
        "F": "%Y-%m-%d", "T": "%H:%M:%S", "R": "%H:%M", "D": "%m/%d/%y", "r": "%I:%M:%S %p", "n": "\n", "t": "\t",
        "h": "%b", "k": f"{at.hour:2}", "l": f"{(at.hour - 1) % 12 + 1:2}", "C": f"{at.year // 100:02}",
        "c": "%a %b %e %H:%M:%S %Y", "x": "%m/%d/%y", "X": "%H:%M:%S", "P": "%p",
    }  # fmt: skip
    form = form.replace("%,N", f"{at.microsecond * 1000:09d}")
    text = re.sub(r"%(:?.)", lambda match: whole.get(match[1], match[0]), form, flags=re.DOTALL)
    return at.strftime(text)


async def date(process: Process, name: str, arguments: list[str]) -> int:
    """Print the virtual time: `date [-u] [-d time] [-r file] [-R] [-I[spec]] [+format]`."""
    words = [f"-{'I'}" if word.startswith("--iso") else word for word in arguments]
    iso = next((word[2:] for word in words if word.startswith("-I")), None)
    taken = options(
        [word for word in words if not word.startswith("-I")], "uR", "dDrs", {"utc": "u", "date": "d", "rfc-2822": "R"}
    )
    if iso is not None and iso not in _ISO:
        raise UsageError("[OPTIONS] [+FMT] [[-s] TIME]")
    now = process.container.machine.now().astimezone(UTC)
    at = now
    if "d" in taken.values:
        at = parse_date(taken.values["d"], now, taken.values.get("D"))
    elif "r" in taken.values:
        at = datetime.fromtimestamp(access.need(process, taken.values["r"]).mtime, UTC)
    form = _DEFAULT
    if taken.rest and taken.rest[0].startswith("+"):
        form = taken.rest.pop(0)[1:]
    elif taken.has("R") or iso is not None:
        form = "%a, %d %b %Y %H:%M:%S %z" if taken.has("R") else _ISO[iso or ""]
    if len(taken.rest) > 1:
        raise UsageError("[OPTIONS] [+FMT] [[-s] TIME]")
    if taken.rest or "s" in taken.values:
        text = taken.values.get("s") or taken.rest[0]
        parse_date(text, now)
        raise AppletError("can't set date: Operation not permitted")
    await put(process, show_date(at, form) + "\n")
    return 0
