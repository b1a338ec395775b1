"""docs/PYTHON.md names what there is: every public method of a node, a pod, a Job and a log, and every option."""

from __future__ import annotations

from pathlib import Path

import attrs
import pytest

import kubelet_emu
from kubelet_emu.embedding.blocking import BlockingJob, BlockingNode, BlockingPod
from kubelet_emu.embedding.options import NodeOptions
from kubelet_emu.embedding.pod_log import PodLog

TEXT = (Path(__file__).parent.parent / "docs" / "PYTHON.md").read_text()
UNSAID = {
    "close",
    "failures",
    "log_lines",
    "options",
    "find",
    "count",
    "seconds",
    "records",
    "on_failure",
    "simulation",
}


def public(cls: type) -> set[str]:
    """Return the public names of a class."""
    return {name for name in vars(cls) if not name.startswith("_")} - UNSAID


@pytest.mark.parametrize("cls", [BlockingNode, BlockingPod, BlockingJob, PodLog], ids=lambda cls: str(cls.__name__))
def test_every_call_is_named(cls: type) -> None:
    missing = {name for name in public(cls) if f".{name}" not in TEXT} - {"name", "namespace"}
    assert missing == set()


def test_every_option_of_a_node_is_named() -> None:
    assert {field.name for field in attrs.fields(NodeOptions) if f"`{field.name}`" not in TEXT} - UNSAID == set()


def test_every_public_function_is_named() -> None:
    functions = {name for name in kubelet_emu.__all__ if name.islower() and not name.startswith("__")}
    assert {name for name in functions if f"{name}(" not in TEXT} == set()
