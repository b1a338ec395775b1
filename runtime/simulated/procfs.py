"""The parts of /proc and /sys that scripts read, made when they are read."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import trio

from runtime.api.capabilities import capability_mask

if TYPE_CHECKING:
    from runtime.simulated.process import Process

_PROCESS_FILE = re.compile(r"/proc/(\d+|self)/(cmdline|comm|environ|status|stat)")


def proc_text(process: Process, path: str) -> bytes | None:
    """Return the text of a file of /proc, None when the simulation has no such file."""
    if match := _PROCESS_FILE.fullmatch(path):
        number = process.pid if match[1] == "self" else int(match[1])
        found = process.container.pids.processes.get(number)
        if found is not None:
            return _of_process(found, match[2])
        return b"/pause\0" if process.container.pids.is_shared and number == 1 and match[2] == "cmdline" else None
    machine = process.container.machine
    match path:
        case "/proc/uptime":
            return f"{trio.current_time():.2f} 0.00\n".encode()
        case "/proc/loadavg":
            return b"0.00 0.00 0.00 1/1 1\n"
        case "/proc/meminfo":
            return f"MemTotal:       {machine.memory_bytes // 1024} kB\n".encode()
        case "/proc/cpuinfo":
            return b"".join(b"processor\t: %d\n\n" % number for number in range(machine.cpus))
        case "/proc/sys/kernel/ostype":
            return b"Linux\n"
        case "/proc/sys/kernel/hostname":
            return f"{process.container.hostname}\n".encode()
        case "/proc/mounts" | "/proc/self/mounts":
            paths = [mount.container_path for mount in process.container.config.mounts]
            return "".join(f"none {path} tmpfs rw 0 0\n" for path in ["/", *paths]).encode()
    if path.startswith("/proc/sys/"):
        name = path.removeprefix("/proc/sys/").replace("/", ".")
        value = process.container.sandbox.config.sysctls.get(name)
        return None if value is None else f"{value}\n".encode()
    return None


def is_process(process: Process, path: str) -> bool:
    """Tell whether a path is the directory of a process that runs."""
    match = re.fullmatch(r"/proc/(\d+)/?", path)
    return match is not None and int(match[1]) in process.container.pids.processes


def _of_process(process: Process, what: str) -> bytes:
    match what:
        case "cmdline":
            return b"".join(each.encode() + b"\0" for each in process.argv)
        case "comm":
            return f"{process.name[:15]}\n".encode()
        case "environ":
            return b"".join(f"{name}={value}\0".encode() for name, value in process.env.items())
        case "stat":
            return f"{process.pid} ({process.name[:15]}) S {process.parent_pid} 0 0\n".encode()
    rows: dict[str, object] = {
        "Name": process.name[:15],
        "State": "S (sleeping)",
        "Pid": process.pid,
        "PPid": process.parent_pid,
    }
    rows |= _rights(process)
    return "".join(f"{name}:\t{value}\n" for name, value in rows.items()).encode()


def _rights(process: Process) -> dict[str, object]:
    """Return what a process's status says of its ids and of what it may do."""
    ids, security = process.container.ids, process.container.config.security
    bound = capability_mask(security)
    own = 0 if ids.uid else bound
    masks = {"CapInh": 0, "CapPrm": own, "CapEff": own, "CapBnd": bound, "CapAmb": 0}
    is_free = security.privileged or security.seccomp is None or security.seccomp.type == "Unconfined"
    return {
        "Uid": "\t".join([str(ids.uid)] * 4),
        "Gid": "\t".join([str(ids.gid)] * 4),
        "Groups": "".join(f"{group} " for group in sorted(ids.groups)),
        **{name: f"{mask:016x}" for name, mask in masks.items()},
        "NoNewPrivs": int(security.no_new_privs),
        "Seccomp": 0 if is_free else 2,
    }
