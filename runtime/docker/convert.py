"""Pure conversions: configurations to the engine's create bodies, the engine's JSON to the statuses of `runtime.api`.

Knows the engine's words and nothing of its calls. Source of the mapping: cri-dockerd (pod sandbox, container, helpers),
except start failures, which become what containerd says (reason StartError, code 128).
"""

from __future__ import annotations

import ipaddress
import re
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from runtime.api import (
    ContainerID,
    ContainerMetadata,
    ContainerState,
    ContainerStatus,
    ContainerSummary,
    Image,
    ImageID,
    NamespaceMode,
    PodSandboxMetadata,
    PodSandboxState,
    PodSandboxStatus,
    SandboxID,
)
from runtime.docker import errors, naming, unstartable

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

JSON = Any  # decoded JSON of the engine

START_ERROR = "StartError"
START_ERROR_CODE = 128
_NO_TIME = "0001-01-01"
_NUMBER = re.compile(r"[+-]?[0-9]{1,19}")
_MAX_INT64 = 2**63 - 1
_FRACTION = re.compile(r"\.(\d+)")


def parse_time(text: str | None) -> datetime | None:
    """Return the engine's RFC 3339 time cut to microseconds, None for none and for Go's zero time."""
    if not text or text.startswith(_NO_TIME):
        return None
    match = _FRACTION.search(text)
    fraction = f".{match[1][:6]:0<6}" if match else ""
    whole = _FRACTION.sub("", text).replace("Z", "+00:00")
    return datetime.fromisoformat(f"{whole[:19]}{fraction}{whole[19:]}").astimezone(UTC)


def _time_of(text: str | None) -> datetime:
    """Return a time that is always there."""
    return parse_time(text) or datetime.fromtimestamp(0, UTC)


def container_state(item: JSON) -> ContainerState:
    """Return the state of a list entry or of an inspect's `State`."""
    match str(item.get("State") if isinstance(item.get("State"), str) else item.get("Status", "")):
        case "created":
            return ContainerState.CREATED
        case "running" | "paused" | "restarting":
            return ContainerState.RUNNING
        case "exited" | "removing" | "dead" | "stopped":
            return ContainerState.EXITED
        case _:
            return ContainerState.UNKNOWN


def is_start_failure(state: JSON) -> bool:
    """Tell whether an inspect's `State` is that of a container whose process could not be started.

    The engine leaves such a container `created`, with a code of its own (126, 127, 128) and its text in Error.
    """
    never_ran = parse_time(state.get("StartedAt")) is None
    return never_ran and not state.get("Running", False) and bool(state.get("ExitCode") or state.get("Error"))


def sandbox_summary(item: JSON) -> PodSandboxStatus:
    """Return a list entry of a sandbox; its addresses are those that the list shows."""
    labels, annotations = naming.split_labels(item.get("Labels") or {}, is_sandbox=True)
    host_config = item.get("HostConfig") or {}
    addresses = _addresses(item.get("NetworkSettings") or {})
    return PodSandboxStatus(
        id=SandboxID(item["Id"]),
        metadata=_sandbox_metadata(_name_of(item)),
        state=_sandbox_state(container_state(item)),
        created_at=datetime.fromtimestamp(item.get("Created", 0), UTC),
        ip=addresses[0] if addresses else "",
        additional_ips=addresses[1:],
        network=_network_mode(host_config.get("NetworkMode", "")),
        labels=labels,
        annotations=annotations,
    )


def sandbox_status(inspected: JSON) -> PodSandboxStatus:
    """Return a sandbox from its inspect."""
    labels, annotations = naming.split_labels(inspected["Config"].get("Labels") or {}, is_sandbox=True)
    addresses = _addresses(inspected.get("NetworkSettings") or {})
    return PodSandboxStatus(
        id=SandboxID(inspected["Id"]),
        metadata=_sandbox_metadata(inspected["Name"]),
        state=_sandbox_state(container_state(inspected["State"])),
        created_at=_time_of(inspected.get("Created")),
        ip=addresses[0] if addresses else "",
        additional_ips=addresses[1:],
        network=_network_mode(inspected["HostConfig"].get("NetworkMode", "")),
        labels=labels,
        annotations=annotations,
    )


def _sandbox_state(state: ContainerState) -> PodSandboxState:
    """Return READY iff the sandbox's process runs (cri-dockerd toRuntimeAPISandboxState)."""
    return PodSandboxState.READY if state is ContainerState.RUNNING else PodSandboxState.NOT_READY


def _network_mode(mode: str) -> NamespaceMode:
    return NamespaceMode.NODE if mode == "host" else NamespaceMode.POD


def _addresses(settings: JSON) -> tuple[str, ...]:
    """Return IPv4 addresses, then IPv6 ones, of all networks."""
    networks = list((settings.get("Networks") or {}).values())
    found = [settings.get("IPAddress", "")] + [network.get("IPAddress", "") for network in networks]
    found += [settings.get("GlobalIPv6Address", "")] + [network.get("GlobalIPv6Address", "") for network in networks]
    return tuple(dict.fromkeys(address for address in found if address))


def gateways_of(inspected: JSON) -> frozenset[str]:
    """Return the gateways of a sandbox, of all its networks."""
    settings = inspected.get("NetworkSettings") or {}
    networks = [settings, *(settings.get("Networks") or {}).values()]
    found = [network.get(key, "") for network in networks for key in ("Gateway", "IPv6Gateway")]
    return frozenset(address for address in found if address)


def _name_of(item: JSON) -> str:
    """Return the first name of a list entry: links may add others."""
    names = [name for name in item.get("Names") or () if name.count("/") == 1]
    return str(names[0]) if names else ""


def _sandbox_metadata(name: str) -> PodSandboxMetadata:
    parsed = naming.parse_name(name)
    return parsed.pod if parsed else PodSandboxMetadata(name=name.removeprefix("/"), namespace="", uid="")


def _container_metadata(name: str) -> ContainerMetadata:
    parsed = naming.parse_name(name)
    return parsed.metadata if parsed else ContainerMetadata(name=name.removeprefix("/"))


def container_summary(item: JSON) -> ContainerSummary:
    """Return a list entry of a container."""
    stored = item.get("Labels") or {}
    labels, annotations = naming.split_labels(stored, is_sandbox=False)
    return ContainerSummary(
        id=ContainerID(item["Id"]),
        sandbox_id=SandboxID(stored.get(naming.SANDBOX_ID_LABEL, "")),
        metadata=_container_metadata(_name_of(item)),
        state=container_state(item),
        created_at=datetime.fromtimestamp(item.get("Created", 0), UTC),
        image_name=stored.get(naming.IMAGE_NAME_LABEL, item.get("Image", "")),
        labels=labels,
        annotations=annotations,
    )


def container_status(inspected: JSON, *, image_ref: str = "", failed_at: datetime | None = None) -> ContainerStatus:
    """Return a container from its inspect; `failed_at` is when a failed start was seen.

    Source: cri-dockerd ContainerStatus; a process that could not be started is EXITED with StartError and 128, as
    containerd reports it.
    """
    config = inspected["Config"]
    stored = config.get("Labels") or {}
    labels, annotations = naming.split_labels(stored, is_sandbox=False)
    common = {
        "id": ContainerID(inspected["Id"]),
        "sandbox_id": SandboxID(stored.get(naming.SANDBOX_ID_LABEL, "")),
        "metadata": _container_metadata(inspected["Name"]),
        "created_at": _time_of(inspected.get("Created")),
        "image_name": stored.get(naming.IMAGE_NAME_LABEL, config.get("Image", "")),
        "image_ref": image_ref or inspected.get("Image", ""),
        "image_id": ImageID(inspected.get("Image", "")),
        "labels": labels,
        "annotations": annotations,
        "stop_signal": config.get("StopSignal") or "SIGTERM",
    }
    return ContainerStatus(**common, **_outcome(inspected, failed_at or common["created_at"]))


def _outcome(inspected: JSON, failed_at: datetime) -> dict[str, Any]:
    """Return state, times, code, reason and message."""
    state = inspected["State"]
    if is_start_failure(state):
        return {
            "state": ContainerState.EXITED,
            "finished_at": failed_at,
            "exit_code": START_ERROR_CODE,
            "reason": START_ERROR,
            "message": errors.start_failure(unstartable.told(inspected["Config"].get("Labels"), _failure_text(state))),
        }
    kind = container_state(state)
    outcome: dict[str, Any] = {"state": kind, "started_at": parse_time(state.get("StartedAt"))}
    match kind:
        case ContainerState.RUNNING:
            outcome["pid"] = state.get("Pid") or None
        case ContainerState.EXITED:
            code = int(state.get("ExitCode", 0))
            finished_at = parse_time(state.get("FinishedAt"))
            outcome |= {"finished_at": finished_at, "exit_code": code}
            if finished_at and outcome["started_at"] and finished_at < outcome["started_at"]:
                outcome["started_at"] = finished_at  # the engine notes a start after it, a short life's end before
            outcome["reason"] = "OOMKilled" if state.get("OOMKilled") else "Error" if code else "Completed"
            outcome["message"] = state.get("Error", "")
        case _:
            pass
    return outcome


def _failure_text(state: JSON) -> str:
    return state.get("Error") or "the process could not be started"


def image(item: JSON) -> Image:
    """Return an image from its inspect; a list entry gives the names and the size only."""
    config = item.get("Config") or {}
    user = str(config.get("User") or "").partition(":")[0]
    uid = int(user) if _NUMBER.fullmatch(user) and abs(int(user)) <= _MAX_INT64 else None
    return Image(
        id=ImageID(item["Id"]),
        repo_tags=tuple(tag for tag in item.get("RepoTags") or () if tag != "<none>:<none>"),
        repo_digests=tuple(digest for digest in item.get("RepoDigests") or () if "<none>" not in digest),
        size_bytes=int(item.get("Size") or 0),
        uid=uid if user else None,
        username="" if uid is not None else user,
        entrypoint=tuple(config.get("Entrypoint") or ()),
        cmd=tuple(config.get("Cmd") or ()),
        env=env_of(config.get("Env") or ()),
        stop_signal=config.get("StopSignal") or "",
    )


def gateway(network: JSON) -> str:
    """Return a network's gateway: the first address of its subnet where the engine names none yet."""
    for config in (network.get("IPAM") or {}).get("Config") or []:
        if config.get("Gateway"):
            return str(config["Gateway"])
        subnet = ipaddress.ip_network(config.get("Subnet", "0.0.0.0/32"), strict=False)
        if subnet.version == 4 and subnet.num_addresses > 1:
            return str(subnet.network_address + 1)
    return ""


def env_of(pairs: Iterable[str]) -> Mapping[str, str]:
    """Return the engine's NAME=value list as a mapping."""
    return {name: value for name, _, value in (pair.partition("=") for pair in pairs)}


def has_app_armor(info: JSON) -> bool:
    """Tell from the engine's information whether its machine has AppArmor (`name=apparmor`, with options or not)."""
    return any("name=apparmor" in str(option).split(",") for option in info.get("SecurityOptions") or ())


def architecture(machine: str) -> str:
    """Return Go's name of a machine's kind, as images and nodes carry it."""
    return {"x86_64": "amd64", "aarch64": "arm64", "armv7l": "arm"}.get(machine, machine)
