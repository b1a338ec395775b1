"""Image names as runtimes complete them: registry, repository, tag or digest. Pure."""

from __future__ import annotations

_HUB, _HUB_SERVER = "docker.io", "registry-1.docker.io"


def split_name(name: str) -> tuple[str, str, str]:
    """Return repository, tag and digest of a name, with the registry and the tag that it leaves out."""
    rest, _, digest = name.partition("@")
    head, slash, last = rest.rpartition("/")
    last, _, tag = last.partition(":")
    repository = f"{head}{slash}{last}"
    first = repository.split("/", 1)[0]
    if not head:
        repository = f"{_HUB}/library/{last}"
    elif "." not in first and ":" not in first and first != "localhost" and first == first.lower():
        repository = f"{_HUB}/{repository}"
    return repository, tag or ("" if digest else "latest"), digest


def full_name(name: str) -> str:
    """Return the full form of a name, "docker.io/library/busybox:latest" for "busybox"."""
    repository, tag, digest = split_name(name)
    return repository + (f":{tag}" if tag else "") + (f"@{digest}" if digest else "")


def manifest_url(name: str) -> str:
    """Return where a registry has the manifest of a name."""
    repository, tag, digest = split_name(name)
    registry, _, path = repository.partition("/")
    server = _HUB_SERVER if registry == _HUB else registry
    return f"https://{server}/v2/{path}/manifests/{digest or tag}"
