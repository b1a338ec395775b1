"""Where an image is looked for when its registry has stand-ins.

A stand-in is pulled under its own name and used by its id: the engine never sees it under the original's name. Pure.
"""

from __future__ import annotations

from attrs import frozen

from kubelet_emu.images.names import parse_image_name


class MirrorError(ValueError):
    """A mirror is not written as HOST=HOST2[/PREFIX]."""


@frozen(kw_only=True)
class Mirror:
    """One stand-in of a registry: images of `host` are also at `target`, below `prefix` ("" or "a/b")."""

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
    for mirror in mirrors:
        if mirror.host == name.domain:
            repository = "/".join(part for part in (mirror.target, mirror.prefix, name.path) if part)
            places.append(ImageSource(reference=repository + suffix, repository=repository, is_mirror=True))
    places.append(ImageSource(reference=image, repository=name.repository))
    return tuple(places)
