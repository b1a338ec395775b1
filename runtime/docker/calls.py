"""Pure: the calls of the engine's API that this runtime makes, as values. One function a call."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlencode

from attrs import field, frozen

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

Body = dict[str, Any]

JSON_TYPE = "application/json"
TAR_TYPE = "application/x-tar"


@frozen(kw_only=True)
class Request:
    """One call: `path` is without the API's version, `body` goes as JSON, or `content` as an archive."""

    method: str
    path: str
    query: Mapping[str, str] = field(factory=dict)
    body: object = None
    content: bytes | None = None
    has_version: bool = True

    @property
    def target(self) -> str:
        """Return the path with its options."""
        return f"{self.path}?{urlencode(self.query)}" if self.query else self.path

    @property
    def content_type(self) -> str:
        """Return what is sent."""
        return JSON_TYPE if self.content is None else TAR_TYPE

    @property
    def payload(self) -> bytes:
        """Return the bytes to send, if any."""
        if self.content is not None:
            return self.content
        return b"" if self.body is None else json.dumps(self.body).encode()


def _get(path: str, **query: str) -> Request:
    return Request(method="GET", path=path, query=query)


def _filters(**filters: Sequence[str]) -> str:
    return json.dumps({name: list(values) for name, values in filters.items()})


def _named(name: str) -> str:
    """Return a name as a part of a path; names of images have slashes and colons."""
    return quote(name, safe="/:")


# The engine


def version() -> Request:
    """Ask for the engine's versions, which needs none."""
    return Request(method="GET", path="/version", has_version=False)


def info() -> Request:
    """Ask for what the engine's machine has."""
    return _get("/info")


# Containers


def list_containers(*labels: str) -> Request:
    """List containers that have all labels (`name` or `name=value`), in every state."""
    return _get("/containers/json", all="1", filters=_filters(label=labels))


def list_with_size(container_id: str) -> Request:
    """List one container with the bytes that it has written."""
    return _get("/containers/json", all="1", size="1", filters=_filters(id=[container_id]))


def inspect_container(container_id: str) -> Request:
    """Ask for all of one container."""
    return _get(f"/containers/{_named(container_id)}/json")


def create_container(body: Body, name: str = "") -> Request:
    """Create a container, under a name of the engine's own where there is none."""
    return Request(method="POST", path="/containers/create", query={"name": name} if name else {}, body=body)


def start_container(container_id: str) -> Request:
    """Start a container; one that runs is fine."""
    return Request(method="POST", path=f"/containers/{container_id}/start")


def kill_container(container_id: str, signal: str) -> Request:
    """Send a signal."""
    return Request(method="POST", path=f"/containers/{container_id}/kill", query={"signal": signal})


def update_container(container_id: str, body: Body) -> Request:
    """Change the limits of a container."""
    return Request(method="POST", path=f"/containers/{container_id}/update", body=body)


def remove_container(container_id: str) -> Request:
    """Remove a container with its anonymous volumes, killing it if need be."""
    return Request(method="DELETE", path=f"/containers/{_named(container_id)}", query={"v": "1", "force": "1"})


def resize_container(container_id: str, rows: int, columns: int) -> Request:
    """Set the size of a container's terminal."""
    return Request(method="POST", path=f"/containers/{container_id}/resize", query={"h": str(rows), "w": str(columns)})


def commit_container(container_id: str, repository: str, tag: str) -> Request:
    """Make an image of a container."""
    query = {"container": container_id, "repo": repository, "tag": tag}
    return Request(method="POST", path="/commit", query=query)


def get_archive(container_id: str, path: str) -> Request:
    """Read a path of a container as an archive."""
    return Request(method="GET", path=f"/containers/{_named(container_id)}/archive", query={"path": path})


def stat_archive(container_id: str, path: str) -> Request:
    """Ask what is at a path of a container."""
    return Request(method="HEAD", path=f"/containers/{_named(container_id)}/archive", query={"path": path})


def put_archive(container_id: str, path: str, archive: bytes) -> Request:
    """Unpack an archive at a path of a container."""
    where = f"/containers/{_named(container_id)}/archive"
    return Request(method="PUT", path=where, query={"path": path}, content=archive)


# Commands


def create_exec(container_id: str, command: Sequence[str], *, stdin: bool, tty: bool) -> Request:
    """Make a command in a container, to be started by a call that carries its streams."""
    attached = {"AttachStdin": stdin, "AttachStdout": True, "AttachStderr": True, "Tty": tty}
    return Request(method="POST", path=f"/containers/{container_id}/exec", body={"Cmd": list(command), **attached})


def inspect_exec(exec_id: str) -> Request:
    """Ask for the state of a command."""
    return _get(f"/exec/{exec_id}/json")


def resize_exec(exec_id: str, rows: int, columns: int) -> Request:
    """Set the size of a command's terminal."""
    return Request(method="POST", path=f"/exec/{exec_id}/resize", query={"h": str(rows), "w": str(columns)})


# Images


def list_images() -> Request:
    """List the images that have a name, or could have."""
    return _get("/images/json")


def list_labelled_images(label: str) -> Request:
    """List all images that have a label."""
    return _get("/images/json", all="1", filters=_filters(label=[label]))


def inspect_image(image: str) -> Request:
    """Ask for all of one image."""
    return _get(f"/images/{_named(image)}/json")


def load_images(archive: bytes) -> Request:
    """Take in the images of an archive; the answer is a row of messages."""
    return Request(method="POST", path="/images/load", content=archive)


def tag_image(image: str, repository: str, tag: str) -> Request:
    """Give an image another name."""
    return Request(method="POST", path=f"/images/{_named(image)}/tag", query={"repo": repository, "tag": tag})


def remove_image(image: str) -> Request:
    """Remove a name, and the image with its last one."""
    return Request(method="DELETE", path=f"/images/{_named(image)}")


# Volumes and networks


def list_volumes(*labels: str) -> Request:
    """List volumes that have all labels."""
    return _get("/volumes", filters=_filters(label=labels))


def inspect_volume(name: str) -> Request:
    """Ask for all of one volume."""
    return _get(f"/volumes/{_named(name)}")


def create_volume(name: str, options: Mapping[str, str], labels: Mapping[str, str]) -> Request:
    """Make a volume of the engine's own driver."""
    body = {"Name": name, "Driver": "local", "DriverOpts": dict(options), "Labels": dict(labels)}
    return Request(method="POST", path="/volumes/create", body=body)


def remove_volume(name: str) -> Request:
    """Remove a volume."""
    return Request(method="DELETE", path=f"/volumes/{_named(name)}", query={"force": "1"})


def list_networks(*labels: str) -> Request:
    """List networks that have all labels."""
    return _get("/networks", filters=_filters(label=labels))


def inspect_network(name: str) -> Request:
    """Ask for all of one network."""
    return _get(f"/networks/{_named(name)}")


def remove_network(network_id: str) -> Request:
    """Remove a network."""
    return Request(method="DELETE", path=f"/networks/{network_id}")
