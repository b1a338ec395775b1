"""The helper image: one static program of a few hundred bytes that every pod can have as its sandbox.

Its image is made here from bytes, so that neither a registry nor a compiler is needed. What the program does stands
in helper-x86_64.S and helper-aarch64.S; build.sh turns them into code.py.
"""

from __future__ import annotations

import hashlib
import io
import json
import struct
import tarfile

from runtime.docker.helper.code import AARCH64, X86_64

PROGRAM = "/pause"
RELAY = (PROGRAM, "r")
LISTEN = (PROGRAM, "l")
IMAGE_LABEL = "kubelet-emu/helper"

_ARCHITECTURES = {
    "amd64": (62, X86_64),
    "x86_64": (62, X86_64),
    "arm64": (183, AARCH64),
    "aarch64": (183, AARCH64),
}
_BASE_ADDRESS = 0x400000
_HEADERS_SIZE = 64 + 56


def supports(architecture: str) -> bool:
    """Tell whether there is a helper for an engine's architecture (its `docker info` name)."""
    return architecture in _ARCHITECTURES


def program(architecture: str) -> bytes:
    """Return the helper as a static ELF file: one segment, loaded as it lies in the file."""
    machine, code = _ARCHITECTURES[architecture]
    size = _HEADERS_SIZE + len(code)
    entry = _BASE_ADDRESS + _HEADERS_SIZE
    ident = b"\x7fELF" + bytes((2, 1, 1)) + bytes(9)
    elf_header = struct.pack("<16sHHIQQQIHHHHHH", ident, 2, machine, 1, entry, 64, 0, 0, 64, 56, 1, 64, 0, 0)
    segment = struct.pack("<IIQQQQQQ", 1, 5, 0, _BASE_ADDRESS, _BASE_ADDRESS, size, size, 0x10000)
    return elf_header + segment + code


def image_archive(architecture: str, labels: dict[str, str]) -> tuple[str, bytes]:
    """Return the id of the helper's image and an archive for the engine's load call; it carries no name."""
    layer = _tar({"pause": program(architecture)}, mode=0o755)
    config = {
        "architecture": "arm64" if architecture in {"arm64", "aarch64"} else "amd64",
        "os": "linux",
        "created": "1970-01-01T00:00:00Z",
        "config": {"Entrypoint": [PROGRAM], "Labels": labels},
        "rootfs": {"type": "layers", "diff_ids": ["sha256:" + hashlib.sha256(layer).hexdigest()]},
        "history": [{"created": "1970-01-01T00:00:00Z", "created_by": "kubelet-emu"}],
    }
    text = json.dumps(config, sort_keys=True).encode()
    digest = hashlib.sha256(text).hexdigest()
    manifest = [{"Config": f"{digest}.json", "RepoTags": None, "Layers": ["layer.tar"]}]
    files = {f"{digest}.json": text, "layer.tar": layer, "manifest.json": json.dumps(manifest).encode()}
    return "sha256:" + digest, _tar(files, mode=0o644)


def _tar(files: dict[str, bytes], *, mode: int) -> bytes:
    """Return a tar of regular files, the same bytes each time."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        for name, data in files.items():
            entry = tarfile.TarInfo(name)
            entry.size, entry.mode = len(data), mode
            archive.addfile(entry, io.BytesIO(data))
    return out.getvalue()
