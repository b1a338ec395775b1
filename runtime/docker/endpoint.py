"""Where the Docker engine listens, found as the docker command finds it.

DOCKER_HOST wins, then DOCKER_CONTEXT, then `currentContext` of the user's config.json, then the local socket.
"""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from urllib.parse import urlsplit

from attrs import frozen

from runtime.api import RuntimeUnavailableError

DEFAULT_HOST = "unix:///var/run/docker.sock"


@frozen(kw_only=True)
class TLSFiles:
    """Client certificates for an engine behind TLS; `verify` is off only where the user said so."""

    ca: Path | None = None
    cert: Path | None = None
    key: Path | None = None
    verify: bool = True


@frozen(kw_only=True)
class Endpoint:
    """An engine's address: scheme unix, tcp or ssh."""

    url: str
    tls: TLSFiles | None = None

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
    """Return the engine that the user means; RuntimeUnavailableError when a named context does not exist."""
    environment = os.environ
    if base_url or environment.get("DOCKER_HOST"):
        return checked(Endpoint(url=base_url or environment["DOCKER_HOST"], tls=_tls_of_environment()))
    config_dir = Path(environment.get("DOCKER_CONFIG") or Path.home() / ".docker")
    context = environment.get("DOCKER_CONTEXT") or _current_context(config_dir)
    if context in {"", "default"}:
        return Endpoint(url=DEFAULT_HOST)
    return checked(_endpoint_of_context(config_dir, context))


def checked(endpoint: Endpoint) -> Endpoint:
    """Return the endpoint if its scheme is one that can be spoken."""
    if endpoint.scheme not in {"unix", "tcp", "ssh"}:
        raise RuntimeUnavailableError(f"DOCKER_HOST {endpoint.url!r} is not unix://, tcp:// or ssh://")
    return endpoint


def _tls_of_environment() -> TLSFiles | None:
    """Return what DOCKER_TLS_VERIFY, DOCKER_TLS and DOCKER_CERT_PATH say."""
    environment = os.environ
    if not (environment.get("DOCKER_TLS_VERIFY") or environment.get("DOCKER_TLS")):
        return None
    folder = Path(environment.get("DOCKER_CERT_PATH") or Path.home() / ".docker")
    return _tls_of_folder(folder, verify=bool(environment.get("DOCKER_TLS_VERIFY")))


def _tls_of_folder(folder: Path, *, verify: bool) -> TLSFiles:
    """Return the certificates that a folder holds under Docker's names."""
    found = {name: path if (path := folder / f"{name}.pem").exists() else None for name in ("ca", "cert", "key")}
    return TLSFiles(**found, verify=verify)


def _current_context(config_dir: Path) -> str:
    """Return `currentContext` of config.json; empty when there is none or it can't be read."""
    try:
        config = json.loads((config_dir / "config.json").read_text())
    except (OSError, ValueError):
        return ""
    return str(config.get("currentContext") or "") if isinstance(config, dict) else ""


def _endpoint_of_context(config_dir: Path, context: str) -> Endpoint:
    """Read a context's meta file and certificates."""
    key = hashlib.sha256(context.encode()).hexdigest()
    meta_file = config_dir / "contexts" / "meta" / key / "meta.json"
    try:
        docker = json.loads(meta_file.read_text())["Endpoints"]["docker"]
        host = str(docker["Host"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise RuntimeUnavailableError(f"docker context {context!r} has no readable {meta_file}") from error
    tls_dir = config_dir / "contexts" / "tls" / key / "docker"
    verify = not docker.get("SkipTLSVerify", False)
    tls = _tls_of_folder(tls_dir, verify=verify) if tls_dir.is_dir() or host.startswith("https") else None
    return Endpoint(url=host, tls=tls)
