"""The demo's image, made from the machine's own static busybox: one layer, no registry."""

from __future__ import annotations

import hashlib
import io
import json
import platform
import tarfile
from typing import TYPE_CHECKING

from kubelet_emu.cli.failures import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

APPLETS = ("sh", "ash", "echo", "sleep", "cat", "true", "false", "date", "env", "ls", "wget", "nc", "httpd", "id", "ps")

_ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}
_INTERPRETER = b"/ld-"


def find_shell(candidates: tuple[Path, ...]) -> Path:
    """Return a busybox that runs without libraries; InputError when there is none."""
    for path in candidates:
        if path.is_file() and _INTERPRETER not in path.read_bytes()[:4096]:
            return path
    raise InputError("the demo's image needs a static busybox: install busybox-static, or run your own manifest")


def archive_of(busybox: bytes, name: str) -> bytes:
    """Return an archive for the engine's load call: busybox with its applets, under `name`."""
    layer = _layer(busybox)
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


def _layer(busybox: bytes) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        for folder in ("bin", "tmp", "proc", "dev", "etc"):
            entry = tarfile.TarInfo(folder)
            entry.type, entry.mode = tarfile.DIRTYPE, 0o755
            archive.addfile(entry)
        entry = tarfile.TarInfo("bin/busybox")
        entry.size, entry.mode = len(busybox), 0o755
        archive.addfile(entry, io.BytesIO(busybox))
        for applet in APPLETS:
            entry = tarfile.TarInfo(f"bin/{applet}")
            entry.type, entry.linkname = tarfile.SYMTYPE, "busybox"
            archive.addfile(entry)
    return out.getvalue()


def _tar(members: Mapping[str, bytes]) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        for name, data in members.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(data)
            archive.addfile(entry, io.BytesIO(data))
    return out.getvalue()
