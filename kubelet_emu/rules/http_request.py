"""How an httpGet of a probe or a hook becomes a request, and where a redirect leads.

Values only; `kubelet_emu.kubelet.http_client` sends them. Source: kubelet v1.36 pkg/probe/http/request.go, net/url and
net/http of Go where they decide what is sent.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import quote, unquote, urljoin, urlsplit

from attrs import evolve, field, frozen

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kubelet_emu.api.quantity import IntOrString
    from kubelet_emu.api.v1 import Container, EphemeralContainer
    from kubelet_emu.api.v1_handlers import HTTPGetAction, HTTPHeader

KUBE_PROBE_AGENT = "kube-probe/1.36"
KUBE_LIFECYCLE_AGENT = "kube-lifecycle/1.36"
MAX_REDIRECTS = 10
MAX_BODY_BYTES = 10 * 1024
REDIRECT_STATUSES = frozenset({301, 302, 303, 307, 308})

_DEFAULT_PORTS = {"http": 80, "https": 443}
# What Go leaves alone in a path that is well encoded, and in one that it encodes itself.
_PATH_AS_WRITTEN = re.compile(r"(?:[A-Za-z0-9\-_.~!$&'()*+,;=:@/\[\]]|%[0-9A-Fa-f]{2})*")
_PATH_SAFE = "/-_.~$&+,:;=@"
_QUERY_SAFE = "".join(chr(code) for code in range(0x21, 0x7F))
_AUTHORITY = re.compile(r"(?:[A-Za-z][A-Za-z0-9+.\-]*:)?//[^/?#]*")
_BAD_ESCAPE = re.compile(r"%(?![0-9A-Fa-f]{2})")
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_HEADER_NAME = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")


class InvalidPortError(ValueError):
    """A port that can't be connected to: no such name, or out of range."""


@frozen(kw_only=True)
class HTTPRequest:
    """One GET. `host` and `port` are where to connect, `http_host` is the Host header, `url` what texts show."""

    scheme: str
    host: str
    port: int
    target: str
    url: str
    http_host: str
    headers: tuple[tuple[str, str], ...] = ()


@frozen(kw_only=True)
class HTTPOutcome:
    """What a GET came to: a final response, or the `error` text of one that never came.

    `body` is cut at MAX_BODY_BYTES; `body_error` tells that reading it failed.
    """

    status: int | None = None
    body: bytes = b""
    error: str = ""
    body_error: str = ""


@frozen
class _URL:
    path: str
    query: str = field(default="")
    fragment: str = field(default="")


def resolve_container_port(port: IntOrString | None, container: Container | EphemeralContainer) -> int:
    """Return the port to connect to: a number, the number of a port of the same container, or a number as text.

    Raises InvalidPortError. Source: kubelet v1.36 probe.ResolveContainerPort.
    """
    number = _port_number(port, container)
    if not 0 < number < 65536:
        raise InvalidPortError(f"invalid port number: {number}")
    return number


def _port_number(port: IntOrString | None, container: Container | EphemeralContainer) -> int:
    if port is None or isinstance(port, int):
        return port or 0
    for named in container.ports:
        if named.name == port:
            return named.container_port
    if re.fullmatch(r"[+-]?[0-9]+", port):
        return int(port)
    raise InvalidPortError(f'strconv.Atoi: parsing "{port}": invalid syntax')


def join_host_port(host: str, port: int) -> str:
    """Return HOST:PORT, an IPv6 address in brackets (Go net.JoinHostPort, which kubelet v1.36 formatURL uses)."""
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def probe_request(action: HTTPGetAction, container: Container | EphemeralContainer, pod_ip: str) -> HTTPRequest:
    """Return the request of an httpGet probe; raises InvalidPortError.

    Source: kubelet v1.36 NewRequestForHTTPGetAction, and the probe transport, which keeps no connection.
    """
    request = _request(action, container, pod_ip, KUBE_PROBE_AGENT)
    return evolve(request, headers=(*request.headers, ("Connection", "close")))


def lifecycle_request(action: HTTPGetAction, container: Container | EphemeralContainer, pod_ip: str) -> HTTPRequest:
    """Return the request of an httpGet hook; raises InvalidPortError.

    Source: kubelet v1.36 NewRequestForHTTPGetAction, handlerRunner.runHTTPHandler.
    """
    request = _request(action, container, pod_ip, KUBE_LIFECYCLE_AGENT)
    return evolve(request, headers=(*request.headers, ("Accept-Encoding", "gzip")))


def without_tls(request: HTTPRequest) -> HTTPRequest:
    """Return the request that a hook sends when an HTTPS server turned out to speak HTTP: no TLS, no Authorization.

    Source: kubelet v1.36 handlerRunner.runHTTPHandler.
    """
    return evolve(
        request,
        scheme="http",
        url=request.url.replace("https:", "http:", 1),
        headers=tuple((name, value) for name, value in request.headers if name != "Authorization"),
    )


def redirected(request: HTTPRequest, location: str) -> HTTPRequest:
    """Return the request that follows a redirect; ValueError when `location` is no URL.

    A Host header of one's own goes on only with a relative location. Source: Go net/http Client.do.
    """
    url = urljoin(request.url, location)
    parts = urlsplit(url)
    port = parts.port or _DEFAULT_PORTS.get(parts.scheme, 0)
    if not parts.hostname or not port:
        raise ValueError(f"no host in {location!r}")
    is_relative = not urlsplit(location).scheme
    target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    return evolve(
        request,
        scheme=parts.scheme,
        host=parts.hostname,
        port=port,
        url=url,
        target=target,
        http_host=request.http_host if is_relative else parts.netloc.rpartition("@")[2],
    )


def _request(action: HTTPGetAction, container: Container | EphemeralContainer, pod_ip: str, agent: str) -> HTTPRequest:
    scheme = (action.scheme or "http").lower()
    host = action.host or pod_ip
    port = resolve_container_port(action.port, container)
    url = _parse_path(action.path or "")
    authority = join_host_port(host, port)
    headers = _headers(action.http_headers, agent)
    return HTTPRequest(
        scheme=scheme,
        host=host,
        port=port,
        target=(url.path or "/") + url.query,
        url=f"{scheme}://{authority}{url.path}{url.query}{url.fragment}",
        http_host=next((value for name, value in headers if name == "Host"), "") or authority,
        headers=tuple((name, value) for name, value in headers if name != "Host"),
    )


def _parse_path(path: str) -> _URL:
    """Split path, query and fragment as Go's url.Parse does; what it refuses is taken as a path throughout."""
    if _CONTROL.search(path) or path.startswith(":"):
        return _URL(_rooted(quote(path, safe=_PATH_SAFE)))
    rest, hash_mark, fragment = path.partition("#")
    rest, question_mark, query = rest.partition("?")
    rest = _AUTHORITY.sub("", rest, count=1) if _AUTHORITY.match(rest) else rest
    if _BAD_ESCAPE.search(rest) or _BAD_ESCAPE.search(fragment):
        return _URL(_rooted(quote(path, safe=_PATH_SAFE)))
    escaped = rest if _PATH_AS_WRITTEN.fullmatch(rest) else quote(unquote(rest), safe=_PATH_SAFE)
    return _URL(
        _rooted(escaped),
        question_mark + quote(query, safe=_QUERY_SAFE),
        hash_mark + quote(fragment, safe=_QUERY_SAFE),
    )


def _rooted(path: str) -> str:
    return f"/{path}" if path and not path.startswith("/") else path


def _headers(given: Sequence[HTTPHeader], agent: str) -> tuple[tuple[str, str], ...]:
    """Return the headers to send: doubled names stay, an empty User-Agent or Accept takes the default away."""
    headers = [(_canonical(header.name), header.value) for header in given]
    for name, default in (("Accept", "*/*"), ("User-Agent", agent)):
        values = [value for other, value in headers if other == name]
        if not values:
            headers.insert(0, (name, default))
        elif values[0] == "":
            headers = [header for header in headers if header[0] != name]
    return tuple(headers)


def _canonical(name: str) -> str:
    """Return a header's name as Go spells it (http.CanonicalHeaderKey): X-Request-Id."""
    if not _HEADER_NAME.fullmatch(name):
        return name
    return "-".join(part[:1].upper() + part[1:].lower() for part in name.split("-"))
