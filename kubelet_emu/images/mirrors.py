"""Where an image is looked for when its registry has stand-ins.

A stand-in is pulled under its own name and used by its id: the engine never sees it under the original's name. Pure.
"""

from __future__ import annotations

import tomllib
from urllib.parse import urlsplit

from attrs import frozen

from kubelet_emu.api.image_names import parse_image_name

ANY_HOST = "*"


class MirrorError(ValueError):
    """A mirror is not written as HOST=HOST2[/PREFIX]."""


@frozen(kw_only=True)
class Mirror:
    """One stand-in of a registry: images of `host` are also at `target`, below `prefix` ("" or "a/b").

    The host `*` stands for every registry that has no stand-in of its own.
    """

    host: str
    target: str
    prefix: str = ""

    @classmethod
    def parse(cls, text: str) -> Mirror:
        """Read HOST=HOST2[/PREFIX]; MirrorError."""
        host, equals, place = text.partition("=")
        target, _, prefix = place.partition("/")
        if not (host and equals and target) or "/" in host:
            raise MirrorError(f"registry mirror {text!r}: expected HOST=HOST2[/PREFIX]")
        return cls(host=host, target=target, prefix=prefix.strip("/"))


@frozen(kw_only=True)
class ImageSource:
    """One place to pull from: the reference to pull, and its repository, which credentials are matched against."""

    reference: str
    repository: str
    is_mirror: bool = False


def image_sources(image: str, mirrors: tuple[Mirror, ...]) -> tuple[ImageSource, ...]:
    """Return the places of an image in the order to try them: its registry's mirrors as given, then the registry.

    `image` has a tag or a digest. Source: containerd's hosts.toml (hosts in order, the server last).
    """
    name = parse_image_name(image)
    suffix = (f":{name.tag}" if name.tag else "") + (f"@{name.digest}" if name.digest else "")
    places: list[ImageSource] = []
    own = [mirror for mirror in mirrors if mirror.host == name.domain]
    for mirror in own or [mirror for mirror in mirrors if mirror.host == ANY_HOST]:
        repository = "/".join(part for part in (mirror.target, mirror.prefix, name.path) if part)
        places.append(ImageSource(reference=repository + suffix, repository=repository, is_mirror=True))
    places.append(ImageSource(reference=image, repository=name.repository))
    return tuple(places)


def parse_hosts_toml(host: str, text: str) -> tuple[Mirror, ...]:
    """Read the hosts.toml of one registry (`_default`: of all others), hosts in their order; MirrorError.

    Hosts that may not pull are passed over. A path must be `/v2/PREFIX` with override_path, as image names have no
    other place for it. Source: containerd docs/hosts.md.
    """
    try:
        hosts = tomllib.loads(text).get("host", {})
    except tomllib.TOMLDecodeError as error:
        raise MirrorError(f"hosts.toml of {host}: {error}") from error
    if not isinstance(hosts, dict) or not all(isinstance(options, dict) for options in hosts.values()):
        raise MirrorError(f'hosts.toml of {host}: expected tables [host."URL"]')
    pulls = {url: options for url, options in hosts.items() if "pull" in options.get("capabilities", ["pull"])}
    return tuple(_mirror_at(ANY_HOST if host == "_default" else host, url, options) for url, options in pulls.items())


def _mirror_at(host: str, url: str, options: dict[str, object]) -> Mirror:
    parts = urlsplit(url if "://" in url else f"https://{url}")
    path = parts.path.rstrip("/")
    if path not in {"", "/v2"} and not (path.startswith("/v2/") and options.get("override_path")):
        raise MirrorError(f"hosts.toml of {host}: {url}: expected a path /v2/PREFIX with override_path")
    return Mirror(host=host, target=parts.netloc, prefix=path.removeprefix("/v2").strip("/"))
