"""Who listens where in a pod, and what a command waits for: a port of the pod's own network, or a file.

All containers of a pod share one network, so `localhost` may be any of them.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from attrs import frozen

from kubelet_emu.advice.command_lines import script_of
from kubelet_emu.advice.entry_points import expanded
from kubelet_emu.advice.flows import is_harmless, leaves
from kubelet_emu.advice.known_servers import known_port
from kubelet_emu.advice.scripts import Kind, read_script

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from kubelet_emu.advice.scripts import Script, Statement
    from kubelet_emu.api.v1 import Container
    from kubelet_emu.api.v1_handlers import LifecycleHandler, Probe

_HOST = r"(?:localhost|127\.0\.0\.1|0\.0\.0\.0|\[::1\])"
_LOCAL_PORT = re.compile(rf"(?<![\w.-]){_HOST}:(\d{{1,5}})(?!\d)")
_LOCAL_HOST = re.compile(rf"(?<![\w.-]){_HOST}(?![\w.:-])")
_PORT_OPTION = re.compile(r"(?:-p|--port)(?:=|\s+)(\d{1,5})\b")
_BARE_PORT = re.compile(rf"(?<![\w.-]){_HOST}\s+(\d{{1,5}})\b")
_LISTEN_OPTION = re.compile(
    r"-{1,2}(?:[a-z-]*-)?(?:port|listen|address|addr|bind)(?:[-=a-z]*=|\s+)(?:[\w.*\[\]:/]*:)?(\d{2,5})(?!\d)"
)
_URL = re.compile(rf"(https?)://{_HOST}(?=[/\s\"']|$)")
_DEFAULT_PORTS = {"pg_isready": 5432, "psql": 5432, "redis-cli": 6379, "mysqladmin": 3306, "mysql": 3306}
_SCHEMES = {"http": 80, "https": 443}
_CONNECTING = frozenset({"nc", "ncat", "netcat", "wget", "curl", "telnet", "grpc_health_probe", *_DEFAULT_PORTS})
_WAITING_SCRIPTS = re.compile(r"wait-for(-it)?(\.sh)?|dockerize")
_HANDLERS = ("http_get", "tcp_socket", "grpc")


@frozen(kw_only=True)
class Awaited:
    """What a command waits for without an end: a port of this pod, a file, or a host; `text` is the command."""

    text: str
    port: int | None = None
    path: str = ""
    host: str = ""

    @property
    def name(self) -> str:
        """Return what is waited for, for a message."""
        return self.path or self.host or f"localhost:{self.port}"


def ports_of(container: Container) -> frozenset[int]:
    """Return the ports that a container declares, is probed at, is told to listen at, or has by its image."""
    declared = {port.container_port for port in container.ports}
    probes = (container.startup_probe, container.readiness_probe, container.liveness_probe)
    probed = {port for probe in probes if probe is not None for port in handler_ports(probe, container)}
    words = " ".join(expanded(container, (*container.command, *container.args)))
    told = {int(port) for port in _LISTEN_OPTION.findall(words)}
    return frozenset(declared | probed | told | image_ports(container))


def image_ports(container: Container) -> frozenset[int]:
    """Return the port at which a container's image listens by itself, where that is known."""
    port = None if container.command else known_port(container.image or "", expanded(container, container.args))
    return frozenset() if port is None else frozenset({port})


def handler_ports(handler: Probe | LifecycleHandler, container: Container) -> Iterator[int]:
    """Yield the port that a probe or hook of a container calls; none for a name that isn't one of its ports."""
    named = {port.name: port.container_port for port in container.ports if port.name}
    for action in _HANDLERS:
        port = getattr(getattr(handler, action, None), "port", None)
        if isinstance(port, int):
            yield port
        elif isinstance(port, str) and port in named:
            yield named[port]


def local_ports(container: Container) -> frozenset[int]:
    """Return the ports of `localhost` that a container's environment, command and arguments name."""
    values = [each.value for each in container.env if each.value]
    words = expanded(container, (*container.command, *container.args))
    return frozenset(int(port) for text in (*values, *words) for port in _LOCAL_PORT.findall(text))


def awaited_by(words: Sequence[str], hosts: frozenset[str], *, is_init: bool) -> Iterator[Awaited]:
    """Yield what a command waits for before it does anything else: on this pod, or at one of some hosts.

    Of a script only what stands before the first command that could start something: that might answer itself.
    """
    text = script_of(words)
    script = None if text is None else read_script(text)
    if script is not None:
        yield from _awaited_in(script, hosts, is_init=is_init)
    elif text is None and words and _WAITING_SCRIPTS.fullmatch(words[0].rpartition("/")[2]):
        line = " ".join(words)
        yield from (Awaited(text=line, port=int(port)) for port in _LOCAL_PORT.findall(line))
        yield from (Awaited(text=line, host=host) for host in _named(line, hosts))


def _named(line: str, hosts: frozenset[str]) -> list[str]:
    """Return the hosts that a command line connects to."""
    before = r"(?:(?<=//)|(?<![\w./-]))"
    return [host for host in sorted(hosts) if re.search(rf"{before}{re.escape(host)}(?=[:/\s]|$)", line)]


def _awaited_in(script: Script, hosts: frozenset[str], *, is_init: bool) -> Iterator[Awaited]:
    for statement in script:
        if statement.in_background:
            return
        if statement.kind in {Kind.WHILE, Kind.UNTIL}:
            if is_init and not _starts_nothing(statement):
                return
            yield from _awaited_by_loop(statement, hosts)
        elif is_init and not is_harmless(statement) and statement.kind is not Kind.TEST:
            return


def _starts_nothing(loop: Statement) -> bool:
    """Tell whether a loop only asks and waits."""
    commands = (each for each in loop.walk() if each.kind is Kind.COMMAND)
    return all(is_harmless(each) or each.name in _CONNECTING | {"test", "break"} for each in commands)


def _awaited_by_loop(loop: Statement, hosts: frozenset[str]) -> Iterator[Awaited]:
    """Yield what a loop waits for: `until ASK`, `while ! ASK`, or `while true; do ASK && break`."""
    if any(leaves(each) and each.name != "break" for each in loop.walk() if each.kind is Kind.COMMAND):
        return
    if len(loop.condition) == 1:
        condition = loop.condition[0]
        if loop.kind is Kind.UNTIL:
            yield from _asked(condition, hosts)
        elif condition.kind is Kind.NOT and len(condition.parts) == 1:
            yield from _asked(condition.parts[0], hosts)
        elif condition.kind is Kind.TEST and condition.words[:1] == ("!",):
            yield from _tested(condition.words[1:], condition.text)
    for each in loop.parts:
        is_left = each.kind is Kind.AND and len(each.parts) == 2 and each.parts[1].name == "break"
        if is_left and len([part for part in loop.walk() if part.name == "break"]) == 1:
            yield from _asked(each.parts[0], hosts)


def _asked(statement: Statement, hosts: frozenset[str]) -> Iterator[Awaited]:
    if statement.kind is Kind.TEST:
        yield from _tested(statement.words, statement.text)
    elif statement.kind is Kind.COMMAND and statement.name == "test":
        yield from _tested(statement.words[1:], statement.text)
    elif statement.kind is Kind.COMMAND and statement.name in _CONNECTING:
        port = _asked_port(statement)
        if port is not None:
            yield Awaited(text=statement.text, port=port)
        yield from (Awaited(text=statement.text, host=host) for host in _named(" ".join(statement.words), hosts)[:1])


def _tested(words: Sequence[str], text: str) -> Iterator[Awaited]:
    if len(words) == 2 and words[0] in {"-f", "-e", "-s", "-S"} and words[1].startswith("/") and "$" not in words[1]:
        yield Awaited(text=text, path=words[1].strip("\"'"))


def _asked_port(statement: Statement) -> int | None:
    """Return the port of `localhost` that a command asks, None for another host or one that isn't known."""
    line = " ".join(statement.words)
    if found := _LOCAL_PORT.search(line) or _BARE_PORT.search(line):
        return int(found[1])
    if found := _URL.search(line):
        return _SCHEMES[found[1]]
    if statement.name not in _DEFAULT_PORTS or _LOCAL_HOST.search(line) is None:
        return None
    option = _PORT_OPTION.search(line)
    return int(option[1]) if option else _DEFAULT_PORTS[statement.name]


def texts_of(containers: Iterable[Container]) -> str:
    """Return all that containers run, as one text: commands, arguments, hooks."""
    words: list[str] = []
    for container in containers:
        words += [*container.command, *container.args]
        hooks = container.lifecycle
        for hook in () if hooks is None else (hooks.post_start, hooks.pre_stop):
            if hook is not None and hook.exec is not None:
                words += hook.exec.command
    return "\n".join(words)
