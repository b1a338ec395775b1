"""Images made from the machine's own static busybox, for the demo and for scenarios: one layer, no registry."""

from __future__ import annotations

import hashlib
import io
import json
import platform
import subprocess
import tarfile
from pathlib import Path
from typing import TYPE_CHECKING

from kubelet_emu.cli.failures import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

APPLETS = ("sh", "ash", "echo", "sleep", "cat", "true", "false", "date", "env", "ls", "wget", "nc", "httpd", "id", "ps")

SHELLS = (Path("/bin/busybox"), Path("/usr/bin/busybox"), Path("/bin/busybox.static"))

_FOLDERS = {"bin": 0o755, "tmp": 0o1777, "proc": 0o755, "dev": 0o755, "etc": 0o755, "root": 0o700, "var": 0o755}
_FILES = {
    "etc/passwd": b"root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534::/:/bin/sh\n",
    "etc/group": b"root:x:0:\nnogroup:x:65534:\n",
}
_ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}
_INTERPRETER = b"/ld-"


def find_shell(candidates: tuple[Path, ...] = SHELLS) -> Path:
    """Return a busybox that runs without libraries; InputError when there is none."""
    for path in candidates:
        if path.is_file() and _INTERPRETER not in path.read_bytes()[:4096]:
            return path
    raise InputError("its image needs a static busybox: install busybox-static, or run your own manifest")


def all_applets(shell: Path) -> tuple[str, ...]:
    """Return the names of all that a busybox can do."""
    listed = subprocess.run([shell, "--list"], capture_output=True, text=True, check=True)  # noqa: S603 - a known program
    return tuple(name for name in listed.stdout.split() if name != "busybox")


def archive_of(
    busybox: bytes, name: str, applets: Sequence[str] = APPLETS, files: Mapping[str, bytes] | None = None
) -> bytes:
    """Return an archive for the engine's load call: busybox with its applets and some files, under `name`."""
    layer = _layer(busybox, applets, {**_FILES, **(files or {})})
    config = {
        "architecture": _ARCHITECTURES.get(platform.machine(), platform.machine()),
        "os": "linux",
        "config": {"Cmd": ["sh"], "Env": ["PATH=/bin"], "Labels": {"kubelet-emu/demo": "true"}},
        "rootfs": {"type": "layers", "diff_ids": ["sha256:" + hashlib.sha256(layer).hexdigest()]},
    }
    text = json.dumps(config, sort_keys=True).encode()
    digest = hashlib.sha256(text).hexdigest()
    manifest = [{"Config": f"{digest}.json", "RepoTags": [name], "Layers": ["layer.tar"]}]
    return _tar({f"{digest}.json": text, "layer.tar": layer, "manifest.json": json.dumps(manifest).encode()})


def _layer(busybox: bytes, applets: Sequence[str], files: Mapping[str, bytes]) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        for folder, mode in _FOLDERS.items():
            entry = tarfile.TarInfo(folder)
            entry.type, entry.mode = tarfile.DIRTYPE, mode
            archive.addfile(entry)
        entry = tarfile.TarInfo("bin/busybox")
        entry.size, entry.mode = len(busybox), 0o755
        archive.addfile(entry, io.BytesIO(busybox))
        for applet in applets:
            entry = tarfile.TarInfo(f"bin/{applet}")
            entry.type, entry.linkname = tarfile.SYMTYPE, "busybox"
            archive.addfile(entry)
        for path, data in files.items():
            entry = tarfile.TarInfo(path)
            entry.size = len(data)
            archive.addfile(entry, io.BytesIO(data))
    return out.getvalue()


def _tar(members: Mapping[str, bytes]) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        for name, data in members.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(data)
            archive.addfile(entry, io.BytesIO(data))
    return out.getvalue()
