"""Test images made here: a static busybox from this machine, imported from scratch; no registry is needed."""

from __future__ import annotations

import io
import os
import shutil
import struct
import subprocess
import tarfile
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from docker import APIClient

REPOSITORY = "127.0.0.1:5000/kemu"
BUSYBOX = f"{REPOSITORY}/busybox:1"
BUSYBOX_2 = f"{REPOSITORY}/busybox:2"
GRPC = f"{REPOSITORY}/grpc:1"
GRPC_SERVER = Path(__file__).parent / "grpc_health.sh"
USERS = {
    "etc/passwd": b"root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534::/:/bin/sh\n",
    "etc/group": b"root:x:0:\nnogroup:x:65534:\n",
}


def busybox_path() -> Path:
    """Return this machine's static busybox."""
    found = shutil.which("busybox")
    if found is None or not _is_static(Path(found)):
        raise RuntimeError("tests on a Docker engine need a static busybox (Debian: busybox-static)")
    return Path(found).resolve()


def _is_static(program: Path) -> bool:
    """Tell whether an ELF file asks for no loader (program header type 3)."""
    data = program.read_bytes()[:4096]
    offset, size, count = struct.unpack_from("<Q", data, 32)[0], *struct.unpack_from("<HH", data, 54)
    return all(struct.unpack_from("<I", data, offset + n * size)[0] != 3 for n in range(count))


def root_file_system(*, extra: dict[str, bytes] | None = None) -> bytes:
    """Return a tar of a small system: busybox with a link for each of its applets, and the files of `extra`.

    The lists of users and groups are small ones, unless `extra` has its own.
    """
    program = busybox_path()
    names = subprocess.run([program, "--list"], capture_output=True, text=True, check=True).stdout.split()
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        for folder, mode in (("bin", 0o755), ("etc", 0o755), ("root", 0o700), ("tmp", 0o1777), ("var", 0o755)):
            _add(archive, folder, mode=mode, kind=tarfile.DIRTYPE)
        _add(archive, "bin/busybox", data=program.read_bytes(), mode=0o755)
        for name in names:
            if name != "busybox":
                _add(archive, f"bin/{name}", kind=tarfile.SYMTYPE, link="busybox")
        for name, data in {**USERS, **(extra or {})}.items():
            _add(archive, name, data=data)
    return out.getvalue()


def _add(
    archive: tarfile.TarFile,
    name: str,
    *,
    data: bytes = b"",
    mode: int = 0o644,
    kind: bytes = tarfile.REGTYPE,
    link: str = "",
) -> None:
    entry = tarfile.TarInfo(name)
    entry.type, entry.mode, entry.linkname, entry.size = kind, mode, link, len(data)
    archive.addfile(entry, io.BytesIO(data))


def make_image(
    client: APIClient, name: str, *, extra: dict[str, bytes] | None = None, changes: tuple[str, ...] = ()
) -> str:
    """Import an image under a name and return its id. `changes` are Dockerfile lines."""
    repository, _, tag = name.rpartition(":")
    all_changes = ["ENV PATH=/bin", 'CMD ["/bin/sh"]', *changes]
    client.import_image_from_data(root_file_system(extra=extra), repository=repository, tag=tag, changes=all_changes)
    return str(client.inspect_image(name)["Id"])


def ensure_busybox(client: APIClient) -> None:
    """Make the two busybox images where they are missing; the second differs from the first by one file."""
    for name, extra in ((BUSYBOX, {"etc/kemu-image": b"1\n"}), (BUSYBOX_2, {"etc/kemu-image": b"2\n"})):
        if not client.images(name=name):
            make_image(client, name, extra=extra)


def ensure_grpc(client: APIClient) -> None:
    """Make the image of a gRPC health server where it is missing."""
    if not client.images(name=GRPC):
        command = 'CMD ["/bin/sh", "/bin/grpc-health"]'
        make_image(client, GRPC, extra={"bin/grpc-health": GRPC_SERVER.read_bytes()}, changes=(command,))


def push_as(client: APIClient, name: str, other_name: str) -> None:
    """Push an image under another name, which the engine doesn't keep."""
    repository, _, tag = other_name.rpartition(":")
    client.tag(name, repository, tag)
    for message in client.push(repository, tag, stream=True, decode=True):
        assert "error" not in message, message
    client.remove_image(other_name)


def make_big_image(client: APIClient, name: str, megabytes: int) -> str:
    """Make an image with some megabytes that don't compress, to be pulled slowly."""
    return make_image(client, name, extra={"var/ballast": os.urandom(megabytes << 20)})


def names_of(client: APIClient, image: str) -> tuple[list[str], list[str]]:
    """Return the tags and the repository digests of an image, to be compared before and after."""
    inspected = client.inspect_image(image)
    return sorted(inspected["RepoTags"]), sorted(inspected["RepoDigests"])
