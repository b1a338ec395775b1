"""What the user asked for, as one value; and how the words of options are read. Pure.

Every reader raises ValueError with a text for the user.
"""

from __future__ import annotations

import ipaddress
import re
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from attrs import field, frozen

from kubelet_emu.api.quantity import milli_value, quantity_value
from kubelet_emu.cli.exit_status import FailOn
from kubelet_emu.manifests.safety import SafetyPolicy

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from kubelet_emu.cli.triggers import Trigger
    from kubelet_emu.images.mirrors import Mirror
    from kubelet_emu.images.outcome import PullOverride

_NAME = re.compile(r"[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?")
_CAPACITY = frozenset({"cpu", "memory", "pods", "ephemeral-storage"})


@frozen(kw_only=True)
class NodeCapacity:
    """What the node has; None is the engine's own. Memory and storage in bytes."""

    milli_cpu: int | None = None
    memory_bytes: int | None = None
    ephemeral_storage_bytes: int | None = None
    max_pods: int | None = None

    @classmethod
    def parse(cls, text: str) -> NodeCapacity:
        """Read `cpu=4,memory=8Gi,pods=110`; ValueError."""
        values: dict[str, str] = {}
        for part in text.split(","):
            name, equals, value = part.strip().partition("=")
            if name not in _CAPACITY or not equals:
                raise ValueError(f"{part.strip()!r} is no capacity: use cpu=, memory=, ephemeral-storage= or pods=")
            values[name] = value
        return cls(
            milli_cpu=_amount(values.get("cpu"), milli_value),
            memory_bytes=_amount(values.get("memory"), quantity_value),
            ephemeral_storage_bytes=_amount(values.get("ephemeral-storage"), quantity_value),
            max_pods=_amount(values.get("pods"), quantity_value),
        )


def _amount(text: str | None, read: Callable[[str], int]) -> int | None:
    if text is None:
        return None
    amount = read(text)
    if amount < 0:
        raise ValueError(f"{text!r} is less than nothing")
    return amount


def read_fail_on(text: str) -> frozenset[FailOn]:
    """Read `killed,restarted,warning`."""
    words = [word.strip() for word in text.split(",") if word.strip()]
    known = {kind.value: kind for kind in FailOn}
    for word in words:
        if word not in known:
            raise ValueError(f"{word!r} is not one of {', '.join(known)}")
    return frozenset(known[word] for word in words)


def read_label(text: str) -> tuple[str, str]:
    """Read `KEY=VALUE`."""
    key, equals, value = text.partition("=")
    if not key or not equals:
        raise ValueError(f"{text!r} is not KEY=VALUE")
    return key, value


def read_node_name(text: str) -> str:
    """Read a node's name, a DNS subdomain."""
    if not _NAME.fullmatch(text):
        raise ValueError(f"{text!r} is no node name: lower-case letters, digits, '-' and '.'")
    return text


def read_address(text: str) -> str:
    """Read an IP address to publish host ports at."""
    try:
        return str(ipaddress.ip_address(text))
    except ValueError as error:
        raise ValueError(f"{text!r} is no IP address") from error


def read_picture(text: str) -> Path:
    """Read the name of a picture, which tells its kind; ValueError."""
    path = Path(text)
    if path.suffix not in {".svg", ".html"}:
        raise ValueError(f"{text!r} is neither a .svg nor a .html file")
    if not path.parent.is_dir():
        raise ValueError(f"{text!r}: there is no folder {str(path.parent)!r}")
    return path


def read_on_term(text: str) -> int | None:
    """Read `0`, `143` or `ignore` (None); ValueError."""
    if text == "ignore":
        return None
    if text.isdecimal() and int(text) < 256:
        return int(text)
    raise ValueError(f"{text!r} is neither an exit code nor 'ignore'")


@frozen(kw_only=True)
class RunOptions:
    """The options of `run`. Times are seconds."""

    manifests: tuple[str, ...]
    runtime: str = "docker"
    log: Path | None = None
    config: Path | None = None
    timeout: float | None = None
    grace_period: int | None = None
    delete_when: Trigger | None = None
    pull: PullOverride | None = None
    registry_mirrors: tuple[Mirror, ...] = ()
    registry_hosts: Path | None = None
    fail_on: frozenset[FailOn] = frozenset()
    output: Literal["text", "json"] = "text"
    trace: Path | None = None
    timeline: Path | None = None
    keep: bool = False
    replace: bool = False
    root_dir: Path | None = None
    node_name: str = ""
    node_capacity: NodeCapacity = field(factory=NodeCapacity)
    node_labels: Mapping[str, str] = field(factory=dict)
    seccomp_profile_root: Path | None = None
    timing: str | None = None
    until: float = 3600.0
    speed: float | None = None
    sim_on_term: int | None = 0
    simulate: tuple[Path, ...] = ()
    strict: bool = False
    safety: SafetyPolicy = field(factory=SafetyPolicy)
    publish_address: str = "127.0.0.1"
    log_values: bool = False
    seed: int | None = None
    now: bool = False
    kubernetes: str = "1.36"
    watch: bool = False
    plain: bool = False

    @property
    def is_simulated(self) -> bool:
        """Tell whether the run is in virtual time."""
        return self.runtime == "simulated"

    @property
    def timing_name(self) -> str:
        """Return the timing: a simulated run has a real node's delays unless told otherwise."""
        return self.timing or ("kubelet" if self.is_simulated else "fast")
