"""What the header of a log tells of the kubelet's configuration."""

from __future__ import annotations

import pytest

from kubelet_emu.config.kubelet_configuration import KubeletConfiguration
from kubelet_emu.config.told import hear, tell

TOLD = [
    ("the defaults", KubeletConfiguration()),
    ("parallel pulls", KubeletConfiguration(serialize_image_pulls=False)),
    ("parallel pulls with a bound", KubeletConfiguration(serialize_image_pulls=False, max_parallel_image_pulls=3)),
    ("a shorter back-off", KubeletConfiguration(max_container_restart_period_seconds=20.0)),
]
STRANGE: list[tuple[str, dict[str, object]]] = [
    ("nothing", {}),
    ("a word instead of a boolean", {"serializeImagePulls": "true"}),
]


@pytest.mark.parametrize("configuration", [row[1] for row in TOLD], ids=[row[0] for row in TOLD])
def test_what_is_told_is_heard(configuration: KubeletConfiguration) -> None:
    assert hear(tell(configuration)) == configuration


@pytest.mark.parametrize("fields", [row[1] for row in STRANGE], ids=[row[0] for row in STRANGE])
def test_a_header_that_tells_nothing(fields: dict[str, object]) -> None:
    assert hear(fields) is None


def test_numbers_that_make_no_sense_are_left_out() -> None:
    fields = {"serializeImagePulls": False, "maxParallelImagePulls": "2", "maxContainerRestartPeriodSeconds": -1}
    assert hear(fields) == KubeletConfiguration(serialize_image_pulls=False)
