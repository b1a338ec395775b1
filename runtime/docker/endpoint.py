"""Where the Docker engine listens, found as the docker command finds it.

DOCKER_HOST wins, then DOCKER_CONTEXT, then `currentContext` of the user's config.json, then the local socket.
"""

from __future__ import annotations

import hashlib
import json
import os
from contextlib import suppress
from pathlib import Path
from urllib.parse import urlsplit

from attrs import field, frozen

from runtime.api import RuntimeUnavailableError

DEFAULT_HOST = "unix:///var/run/docker.sock"
VALID = "valid are unix:///var/run/docker.sock, tcp://HOST:PORT and ssh://USER@HOST"


@frozen(kw_only=True)
class TLSFiles:
    """Client certificates for an engine behind TLS; `verify` is off only where the user said so."""

    ca: Path | None = None
    cert: Path | None = None
    key: Path | None = None
    verify: bool = True


@frozen(kw_only=True)
class Endpoint:
    """An engine's address: scheme unix, tcp or ssh; `origin` is who said it, empty for the local socket."""

    url: str
    tls: TLSFiles | None = None
    origin: str = field(default="", eq=False)

    @property
    def scheme(self) -> str:
        """Return unix, tcp or ssh."""
        scheme = urlsplit(self.url).scheme
        return "tcp" if scheme in {"http", "https"} else scheme

    @property
    def socket_path(self) -> str:
        """Return the path of a unix endpoint's socket."""
        parts = urlsplit(self.url)
        return parts.netloc + parts.path

    @property
    def host(self) -> str:
        """Return the host name of a tcp or ssh endpoint."""
        return urlsplit(self.url).hostname or "localhost"

    @property
    def port(self) -> int | None:
        """Return the port that the address names; for tcp Docker's own where it names none."""
        port = urlsplit(self.url).port
        if port is None and self.scheme == "tcp":
            return 2376 if self.tls else 2375
        return port

    @property
    def user(self) -> str | None:
        """Return the user of an ssh endpoint."""
        return urlsplit(self.url).username


def find_endpoint(base_url: str | None = None) -> Endpoint:
    """Return the engine that the user means; RuntimeUnavailableError for an address or a context that is none."""
    environment = os.environ
    if base_url:
        return checked(Endpoint(url=base_url, tls=_tls_of_environment(), origin="the given address"))
    if environment.get("DOCKER_HOST"):
        return checked(Endpoint(url=environment["DOCKER_HOST"], tls=_tls_of_environment(), origin="DOCKER_HOST"))
    config_dir = Path(environment.get("DOCKER_CONFIG") or Path.home() / ".docker")
    context, said_by = environment.get("DOCKER_CONTEXT", ""), "DOCKER_CONTEXT"
    if not context:
        context, said_by = _current_context(config_dir), str(config_dir / "config.json")
    if context in {"", "default"}:
        return Endpoint(url=DEFAULT_HOST)
    return checked(_endpoint_of_context(config_dir, context, said_by))


def checked(endpoint: Endpoint) -> Endpoint:
    """Return the endpoint if its address is one that can be spoken to."""
    if reason := _fault(endpoint):
        error = RuntimeUnavailableError(f"{endpoint.origin} says {endpoint.url!r}: {reason}")
        error.add_note(VALID)
        raise error
    return endpoint


def _fault(endpoint: Endpoint) -> str:
    """Return what is wrong with an address; empty when nothing is."""
    try:
        scheme, host, port = endpoint.scheme, urlsplit(endpoint.url).hostname, endpoint.port
    except ValueError as error:
        return str(error).lower()
    if scheme not in {"unix", "tcp", "ssh"}:
        return "it does not begin with unix://, tcp:// or ssh://"
    if scheme == "unix":
        return "" if endpoint.socket_path.startswith("/") else "it names no absolute path"
    if port == 0:
        return "port 0 is no port"
    return "" if host else "it names no host"


def _tls_of_environment() -> TLSFiles | None:
    """Return what DOCKER_TLS_VERIFY, DOCKER_TLS and DOCKER_CERT_PATH say."""
    environment = os.environ
    if not (environment.get("DOCKER_TLS_VERIFY") or environment.get("DOCKER_TLS")):
        return None
    folder = Path(environment.get("DOCKER_CERT_PATH") or Path.home() / ".docker")
    if environment.get("DOCKER_CERT_PATH") and not folder.is_dir():
        error = RuntimeUnavailableError(f"DOCKER_CERT_PATH says {str(folder)!r}, which is no folder")
        error.add_note("it holds ca.pem, cert.pem and key.pem; without DOCKER_TLS_VERIFY and DOCKER_TLS none is needed")
        raise error
    return _tls_of_folder(folder, verify=bool(environment.get("DOCKER_TLS_VERIFY")))


def _tls_of_folder(folder: Path, *, verify: bool) -> TLSFiles:
    """Return the certificates that a folder holds under Docker's names."""
    found = {name: path if (path := folder / f"{name}.pem").exists() else None for name in ("ca", "cert", "key")}
    return TLSFiles(**found, verify=verify)


def _current_context(config_dir: Path) -> str:
    """Return `currentContext` of config.json; empty when there is none or it can't be read."""
    try:
        config = json.loads((config_dir / "config.json").read_text())
    except (OSError, ValueError, RecursionError):
        return ""
    return str(config.get("currentContext") or "") if isinstance(config, dict) else ""


def _endpoint_of_context(config_dir: Path, context: str, said_by: str) -> Endpoint:
    """Read a context's meta file and certificates."""
    origin = f"docker context {context!r} (of {said_by})"
    key = hashlib.sha256(context.encode()).hexdigest()
    meta_file = config_dir / "contexts" / "meta" / key / "meta.json"
    try:
        docker = json.loads(meta_file.read_text())["Endpoints"]["docker"]
        host = str(docker["Host"])
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        told = RuntimeUnavailableError(f"{origin} has no readable {meta_file}")
        told.add_note(f"contexts that there are: {', '.join(['default', *_contexts(config_dir)])}")
        raise told from error
    tls_dir = config_dir / "contexts" / "tls" / key / "docker"
    verify = not docker.get("SkipTLSVerify", False)
    tls = _tls_of_folder(tls_dir, verify=verify) if tls_dir.is_dir() or host.startswith("https") else None
    return Endpoint(url=host, tls=tls, origin=origin)


def _contexts(config_dir: Path) -> list[str]:
    """Return the names of the contexts that can be read, sorted."""
    names = []
    for file in (config_dir / "contexts" / "meta").glob("*/meta.json"):
        with suppress(OSError, ValueError, KeyError, TypeError, RecursionError):
            names.append(str(json.loads(file.read_text())["Name"]))
    return sorted(names)
