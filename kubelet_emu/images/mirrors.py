"""Where an image is looked for when its registry has stand-ins.

A stand-in is pulled under its own name and used by its id: the engine never sees it under the original's name. Pure.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import frozen

from kubelet_emu.api.image_names import DEFAULT_DOMAIN, InvalidImageNameError, parse_image_name

if TYPE_CHECKING:
    from kubelet_emu.api.image_names import ImageName

ANY_HOST = "*"
_HUB_HOSTS = frozenset({"docker.io", "index.docker.io", "registry-1.docker.io"})


class MirrorError(ValueError):
    """A mirror is not written as it must be."""


@frozen(kw_only=True)
class Mirror:
    """One stand-in of a registry: images of `host` are also at `target`, below `prefix` ("" or "a/b").

    The host `*` stands for every registry that has no stand-in of its own. `is_server` takes the registry's own place,
    behind all others; `digests_only` is no authority on what a tag means (containerd: pull without resolve).
    """

    host: str
    target: str
    prefix: str = ""
    is_server: bool = False
    digests_only: bool = False

    @classmethod
    def parse(cls, text: str) -> Mirror:
        """Read HOST=HOST2[/PREFIX]; MirrorError."""
        if "@" in text.partition("=")[2]:
            raise MirrorError("registry mirror: a user and a password have no place here; use docker login")
        if "://" in text:
            raise MirrorError(f"registry mirror {text!r}: write the hosts without https:// or http://")
        host, equals, place = text.partition("=")
        target, _, prefix = place.partition("/")
        if not (host and equals and target) or "/" in place.partition("/")[0] or "/" in host:
            raise MirrorError(f"registry mirror {text!r}: expected HOST=HOST2[/PREFIX]")
        mirror = cls(host=registry_host(host), target=target, prefix=prefix.strip("/"))
        if fault := mirror.fault():
            raise MirrorError(f"registry mirror {text!r}: {fault}")
        return mirror

    def fault(self) -> str:
        """Return why no image name can begin with the hosts or the prefix, empty where one can."""
        if self.host != ANY_HOST and not _is_registry(self.host):
            return f"{self.host!r} is no registry's host: image names begin with one that has a dot or a port"
        if not _is_registry(self.target):
            return f"{self.target!r} is no registry's host: it needs a dot or a port, or is localhost"
        try:
            parse_image_name(self.repository("x"))
        except InvalidImageNameError as error:
            return f"no image can have a name below it: {error}"
        return ""

    def repository(self, path: str) -> str:
        """Return where the stand-in has what the registry has below a path."""
        return "/".join(part for part in (self.target, self.prefix, path) if part)


@frozen(kw_only=True)
class ImageSource:
    """One place to pull from: the reference to pull, and its repository, which credentials are matched against."""

    reference: str
    repository: str
    is_mirror: bool = False


def registry_host(host: str) -> str:
    """Return a registry's host as image names have it: Docker Hub has several."""
    return DEFAULT_DOMAIN if host in _HUB_HOSTS else host


def image_sources(image: str, mirrors: tuple[Mirror, ...]) -> tuple[ImageSource, ...]:
    """Return the places of an image in the order to try them: its registry's mirrors as given, then the registry.

    `image` has a tag or a digest. Source: containerd's hosts.toml (hosts in order, the server last).
    """
    name = parse_image_name(image)
    own = [mirror for mirror in mirrors if mirror.host == name.domain]
    chosen = own or [mirror for mirror in mirrors if mirror.host == ANY_HOST]
    stand_ins = [each for each in chosen if not each.is_server and (name.digest or not each.digests_only)]
    server = next((each for each in chosen if each.is_server and registry_host(each.target) != name.domain), None)
    places = [_source(name, mirror) for mirror in (*stand_ins, *([server] if server else []))]
    if server is None:
        places.append(ImageSource(reference=image, repository=name.repository))
    return tuple(places)


def _source(name: ImageName, mirror: Mirror) -> ImageSource:
    repository = mirror.repository(name.path)
    suffix = (f":{name.tag}" if name.tag else "") + (f"@{name.digest}" if name.digest else "")
    return ImageSource(reference=repository + suffix, repository=repository, is_mirror=True)


def _is_registry(host: str) -> bool:
    """Tell whether an image name that begins with this host is taken to be of it."""
    try:
        return registry_host(parse_image_name(f"{host}/x").domain) == registry_host(host)
    except InvalidImageNameError:
        return False
