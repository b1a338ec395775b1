"""Linux signals by number and name, and what each does to a process that has no handler."""

from __future__ import annotations

# fmt: off
_NAMES = (
    "HUP", "INT", "QUIT", "ILL", "TRAP", "ABRT", "BUS", "FPE", "KILL", "USR1",
    "SEGV", "USR2", "PIPE", "ALRM", "TERM", "STKFLT", "CHLD", "CONT", "STOP", "TSTP",
    "TTIN", "TTOU", "URG", "XCPU", "XFSZ", "VTALRM", "PROF", "WINCH", "IO", "PWR",
    "SYS",
)
# fmt: on
_NUMBER = {name: number for number, name in enumerate(_NAMES, start=1)} | {"IOT": 6, "POLL": 29, "EXIT": 0}
_FIRST_REALTIME, _LAST_REALTIME = 34, 64

SIGHUP, SIGINT, SIGQUIT, SIGKILL, SIGPIPE, SIGTERM, SIGXCPU, SIGWINCH = 1, 2, 3, 9, 13, 15, 24, 28
HARMLESS = frozenset({17, 18, 23, 28})
"""Signals whose default is to be ignored: CHLD, CONT, URG, WINCH."""
STOPPING = frozenset({19, 20, 21, 22})
"""Signals that would stop a process; the simulation does not stop processes, so they change nothing."""
DESCRIPTIONS = {
    1: "Hangup",
    3: "Quit",
    4: "Illegal instruction",
    5: "Trace/breakpoint trap",
    6: "Aborted",
    7: "Bus error",
    8: "Floating point exception",
    9: "Killed",
    10: "User defined signal 1",
    11: "Segmentation fault",
    12: "User defined signal 2",
    14: "Alarm clock",
    15: "Terminated",
    24: "CPU time limit exceeded",
}
"""What a shell prints when a foreground command died of the signal (strsignal of the C library)."""


def signal_number(name: str) -> int:
    """Return the number of "SIGTERM", "TERM", "15" or "SIGRTMIN+3"; ValueError for anything else."""
    if name.isdecimal() and int(name) <= _LAST_REALTIME:
        return int(name)
    short = name.upper().removeprefix("SIG")
    if short in _NUMBER:
        return _NUMBER[short]
    base, sign, offset = short[:5], short[5:6], short[6:]
    if offset.isdecimal() or short in {"RTMIN", "RTMAX"}:
        step = int(offset or 0)
        if base == "RTMIN" and sign in {"+", ""}:
            return _FIRST_REALTIME + step
        if base == "RTMAX" and sign in {"-", ""}:
            return _LAST_REALTIME - step
    raise ValueError(f"no such signal: {name!r}")


def signal_name(number: int) -> str:
    """Return "SIGTERM" for 15, "SIGRTMIN+3" for 37."""
    if 1 <= number <= len(_NAMES):
        return f"SIG{_NAMES[number - 1]}"
    if number == 0:
        return "EXIT"
    return f"SIGRTMIN+{number - _FIRST_REALTIME}" if number > _FIRST_REALTIME else "SIGRTMIN"
