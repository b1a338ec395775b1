"""Names and addresses: what a host's name means, how a client connects, and the words that show it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import trio

from runtime.api.capabilities import has_capability
from runtime.simulated import access
from runtime.simulated.network import LOOPBACK
from runtime.simulated.shell.applets.base import AppletError, UsageError, complain, options, put, tell

if TYPE_CHECKING:
    from runtime.simulated.process import Process

_ADDRESS = re.compile(r"[\d.]+|[0-9a-fA-F:]+:[0-9a-fA-F:]*")
_LOCAL = "127.0.0.1"
_OBJECTS = {
    "a": "addr", "ad": "addr", "addr": "addr", "address": "addr", "l": "link", "li": "link", "link": "link",
    "r": "route", "ro": "route", "route": "route", "n": "neigh", "neigh": "neigh", "rule": "rule", "tunnel": "tunnel",
}  # fmt: skip
_CHANGES = frozenset({"add", "del", "delete", "set", "replace", "flush", "change", "append"})


def address(process: Process, host: str) -> str | None:
    """Return the address of a host: a number, this pod's names, or a line of /etc/hosts; None for a bad name."""
    host = host.strip("[]")
    if host == "localhost":
        return _LOCAL
    if host in LOOPBACK or _ADDRESS.fullmatch(host):
        return host
    if host == process.container.hostname:
        return _LOCAL
    words = _line_of(process, host)
    if not words:
        return None
    return _LOCAL if words[0] == process.container.sandbox.address else words[0]


def whole_name(process: Process) -> str:
    """Return this pod's full name: the first one of the line of /etc/hosts that has its host name."""
    own = process.container.hostname
    words = _line_of(process, own)
    return words[1] if words else own


def _line_of(process: Process, host: str) -> list[str]:
    """Return the words of the first line of /etc/hosts that has a name, none without such a line."""
    data = bytes(getattr(access.get(process, "/etc/hosts"), "data", b"")).decode(errors="replace")
    lines = (line.partition("#")[0].split() for line in data.splitlines())
    return next((words for words in lines if host in words[1:]), [])


def need_address(process: Process, host: str) -> str:
    """Return the address of a host; AppletError for a bad name."""
    found = address(process, host)
    if found is None:
        raise AppletError(f"bad address '{host}'")
    return found


def port_number(text: str) -> int:
    """Return a port; AppletError."""
    if not text.isdecimal() or not 0 < int(text) < 1 << 16:
        raise AppletError(f"bad port '{text}'")
    return int(text)


async def connect(process: Process, where: str, port: int) -> trio.abc.Stream:
    """Connect to an address and a port; OSError."""
    here = process.container.network
    own = process.container.sandbox.address
    await trio.lowlevel.checkpoint()
    return process.container.machine.network.connect(here, _LOCAL if where == own else where, port)


async def nslookup(process: Process, name: str, arguments: list[str]) -> int:
    """Look a name up."""
    words = [word for word in arguments if not word.startswith("-")]
    if not words:
        raise UsageError("HOST [DNS_SERVER]")
    found = address(process, words[0])
    if found is None:
        await complain(process, name, f"can't resolve '{words[0]}'")
        return 1
    await put(process, f"Name:\t{words[0]}\nAddress: {found}\n")
    return 0


async def ping(process: Process, name: str, arguments: list[str]) -> int:
    """Tell whether an address is a pod's."""
    taken = options(arguments, "46q", "cisIWwtp")
    if not taken.rest:
        raise UsageError("[OPTIONS] HOST")
    host = taken.rest[0]
    found = need_address(process, host)
    is_there = found in LOOPBACK or found in process.container.machine.network.addresses
    await put(process, f"{host} is {'alive' if is_there else 'unreachable'}\n")
    return int(not is_there)


async def ip(process: Process, name: str, arguments: list[str]) -> int:
    """Show addresses, links or routes; changing anything needs NET_ADMIN."""
    words = [word for word in arguments if not word.startswith("-")]
    kind = _OBJECTS.get(words[0]) if words else "addr"
    if kind is None:
        raise UsageError("[OPTIONS] address|link|neighbor|route|rule|tunnel [ARGS]")
    if _CHANGES & set(words):
        if _may_change(process):
            return 0
        await tell(process, f"{name}: RTNETLINK answers: Operation not permitted")
        return 2
    own = process.container.sandbox.address
    if kind == "route":
        await put(process, f"default via {own.rpartition('.')[0]}.1 dev eth0\n" if own else "")
    elif kind in {"addr", "link"}:
        await _show_devices(process, own, with_addresses=kind == "addr", wanted=words[-1])
    return 0


async def _show_devices(process: Process, own: str, *, with_addresses: bool, wanted: str) -> None:
    devices = [(1, "lo", "<LOOPBACK,UP> mtu 65536", f"{_LOCAL}/8 scope host lo")]
    if own:
        devices.append((2, "eth0", "<BROADCAST,UP> mtu 1500", f"{own}/16 scope global eth0"))
    names = {device for _, device, _, _ in devices}
    for number, device, flags, inet in devices:
        if wanted in names - {device}:
            continue
        await put(process, f"{number}: {device}: {flags}\n")
        if with_addresses:
            await put(process, f"    inet {inet}\n")


def _may_change(process: Process) -> bool:
    return process.container.ids.uid == 0 and has_capability(process.container.config.security, "NET_ADMIN")
