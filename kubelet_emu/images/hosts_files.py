"""Mirrors from files in the way of containerd's: FOLDER/HOST/hosts.toml, FOLDER/_default/hosts.toml, or one file alone.

How a registry is spoken to (its certificates, plain HTTP, headers) is the engine's matter: what a file says of that is
named in a warning. No warning or error shows a URL's password or a header. Source: containerd docs/hosts.md.
"""

from __future__ import annotations

import re
import tomllib
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from attrs import frozen

from kubelet_emu.images.mirrors import ANY_HOST, Mirror, MirrorError, registry_host

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

FILE_NAME = "hosts.toml"
DEFAULT_FOLDER = "_default"
_CAPABILITIES = frozenset({"pull", "resolve", "push"})
_KNOWN = frozenset({"capabilities", "override_path"})
_OF_ENGINE = frozenset({"ca", "client", "skip_verify", "header", "dial_timeout"})
_ENGINES = "how a registry is spoken to is the engine's own setting"
_WITH_PORT = re.compile(r"(?P<host>.+)_(?P<port>\d+)_")


@frozen(kw_only=True)
class RegistryHosts:
    """The mirrors that files name, in the order to try them, and what the user should know."""

    mirrors: tuple[Mirror, ...] = ()
    warnings: tuple[str, ...] = ()


def read_registry_hosts(path: Path) -> RegistryHosts:
    """Read a folder of hosts files, or one file whose `server` says whose it is; MirrorError names the file."""
    if not path.is_dir():
        return _read_file(path, host=None)
    files = sorted(path.glob(f"*/{FILE_NAME}"))
    if not files:
        raise MirrorError(f"{path}: no HOST/{FILE_NAME} below this folder")
    found = [_read_file(file, host=_host_of(file.parent.name)) for file in files]
    return RegistryHosts(
        mirrors=tuple(mirror for each in found for mirror in each.mirrors),
        warnings=tuple(warning for each in found for warning in each.warnings),
    )


def parse_hosts_file(where: str, text: str, host: str | None) -> RegistryHosts:
    """Read the text of one file for a registry's host (`*`: all others; None: the one of `server`); MirrorError."""
    try:
        content = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise MirrorError(f"{where}: {error}") from error
    server = content.get("server")
    if server is not None and not isinstance(server, str):
        raise MirrorError(f'{where}: server: expected "https://HOST"')
    if host is None and server is None:
        raise MirrorError(f'{where}: add server = "https://HOST", which says whose mirrors these are')
    own = registry_host(_netloc(where, "server", server or "")) if host is None else host
    tables = content.get("host", {})
    if not isinstance(tables, dict) or not all(isinstance(options, dict) for options in tables.values()):
        raise MirrorError(f'{where}: expected tables [host."https://HOST2"]')
    mirrors = [mirror for url, options in tables.items() if (mirror := _mirror(where, own, url, options)) is not None]
    if server is not None or own != ANY_HOST:
        mirrors.append(_server(where, own, server, is_override=bool(content.get("override_path"))))
    return RegistryHosts(mirrors=tuple(mirrors), warnings=tuple(_warnings(where, content, tables)))


def _read_file(file: Path, host: str | None) -> RegistryHosts:
    try:
        return parse_hosts_file(str(file), file.read_bytes().decode(), host)
    except UnicodeDecodeError as error:
        raise MirrorError(f"{file}: no UTF-8 text (byte {error.start})") from error
    except OSError as error:
        raise MirrorError(f"{file}: {error.strerror}") from error


def _host_of(folder: str) -> str:
    """Return the registry that a folder's name means; `HOST_PORT_` is another way to write `HOST:PORT`."""
    if folder == DEFAULT_FOLDER:
        return ANY_HOST
    found = _WITH_PORT.fullmatch(folder)
    return registry_host(f"{found['host']}:{found['port']}" if found else folder)


def _mirror(where: str, own: str, url: str, options: Mapping[str, object]) -> Mirror | None:
    """Return what one table says, None for one that may not pull."""
    capabilities = options.get("capabilities", ["pull", "resolve"])
    if not isinstance(capabilities, list) or not all(str(each) in _CAPABILITIES for each in capabilities):
        raise MirrorError(f"{where}: {_shown(url)}: capabilities: expected a list of pull, resolve, push")
    mirror = _at(where, own, url, is_override=bool(options.get("override_path")))
    if "pull" not in capabilities:
        return None
    return Mirror(
        host=mirror.host, target=mirror.target, prefix=mirror.prefix, digests_only="resolve" not in capabilities
    )


def _server(where: str, own: str, url: str | None, *, is_override: bool) -> Mirror:
    """Return what takes the registry's own place, the registry itself where nothing else is named."""
    mirror = Mirror(host=own, target=own) if url is None else _at(where, own, url, is_override=is_override)
    return Mirror(host=mirror.host, target=mirror.target, prefix=mirror.prefix, is_server=True)


def _at(where: str, own: str, url: str, *, is_override: bool) -> Mirror:
    """Return the mirror at a URL: a path must be /v2/PREFIX with override_path, names have no place for another."""
    target = _netloc(where, url, url)
    path = urlsplit(_with_scheme(url)).path.rstrip("/")
    if path not in {"", "/v2"} and not (path.startswith("/v2/") and is_override):
        raise MirrorError(f"{where}: {_shown(url)}: expected a path /v2/PREFIX with override_path = true")
    mirror = Mirror(host=own, target=target, prefix=path.removeprefix("/v2").strip("/"))
    if fault := mirror.fault():
        raise MirrorError(f"{where}: {_shown(url)}: {fault}")
    return mirror


def _netloc(where: str, what: str, url: str) -> str:
    try:
        parts = urlsplit(_with_scheme(url))
    except ValueError as error:
        raise MirrorError(f"{where}: {_shown(what)}: {error}") from error
    if parts.scheme not in {"http", "https"} or parts.query or parts.fragment:
        raise MirrorError(f"{where}: {_shown(what)}: expected https://HOST or http://HOST")
    if "@" in parts.netloc:
        raise MirrorError(f"{where}: {_shown(what)}: a user and a password have no place here; use docker login")
    return parts.netloc


def _with_scheme(url: str) -> str:
    return url if "://" in url else f"https://{url}"


def _shown(url: str) -> str:
    """Return a URL without what stands before an @ in it."""
    head, scheme, rest = url.rpartition("://")
    return head + scheme + rest.rpartition("@")[2]


def _warnings(where: str, content: Mapping[str, object], tables: Mapping[str, Mapping[str, object]]) -> Iterator[str]:
    for name in sorted(content.keys() - {"server", "host", "override_path"}):
        is_of_engine = name in _OF_ENGINE
        yield f"{where}: {name}: {_ENGINES}" if is_of_engine else f"{where}: {name} has no effect here"
    for url, options in tables.items():
        if names := sorted(options.keys() & _OF_ENGINE):
            yield f"{where}: {_shown(url)}: {', '.join(names)}: {_ENGINES}"
        for name in sorted(options.keys() - _OF_ENGINE - _KNOWN):
            yield f"{where}: {_shown(url)}: {name} is not known"
