"""Tests of lifecycles in pytest: the fixture `kubelet`, its marker, and scenario files as tests.

Loaded with every pytest where this package is installed, so importing it imports nothing of the emulator: that comes
with the first test that asks for the fixture, and with the first scenario file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator
    from pathlib import Path

    from kubelet_emu.pytest_plugin.fixture import KubeletFixture

MARKER = (
    "kubelet(runtime='simulated', timing=None, version='1.36', seed=1, timeout=None): "
    "the node of the fixture `kubelet`; runtime is simulated or docker, timing fast or kubelet"
)
_FIXTURE = pytest.StashKey["KubeletFixture"]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options."""
    group = parser.getgroup("kubelet-emu")
    group.addoption(
        "--kubelet-runtime",
        choices=("simulated", "docker"),
        help="runtime of the fixture `kubelet` where the marker names none; default: simulated",
    )
    group.addoption(
        "--lifecycle-record",
        action="store_true",
        help="keep the lifecycle log of each test with the fixture `kubelet` in __lifecycle__ beside it",
    )
    group.addoption(
        "--lifecycle-replay",
        action="store_true",
        help="run these tests in virtual time, with containers that behave as in the kept logs",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Register the marker."""
    config.addinivalue_line("markers", MARKER)


@pytest.fixture
def kubelet(request: pytest.FixtureRequest) -> Iterator[KubeletFixture]:
    """Give a node of this test's own: `kubelet.run("pod.yaml")`, or `async with kubelet.open() as node` in a Trio test.

    Paths are relative to the test's file. Skips the test when its marker asks for Docker and no engine answers.
    """
    from kubelet_emu.pytest_plugin.fixture import fixture_for  # noqa: PLC0415 - see above

    with fixture_for(request) as fixture:
        request.node.stash[_FIXTURE] = fixture
        yield fixture


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,
    call: pytest.CallInfo[None],  # noqa: ARG001 - pytest's signature
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Tell with a failed test what its pods did."""
    report = yield
    fixture = item.stash.get(_FIXTURE, None)
    if report.when == "call" and report.failed and fixture is not None:
        report.sections.extend(("kubelet-emu: what did not hold", str(answer)) for answer in fixture.failures)
    return report


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """Collect `*.scenario.yaml`, and the `scenario.yaml` of a scenario folder."""
    is_folder = file_path.name == "scenario.yaml" and _is_ours(file_path)
    if not is_folder and not file_path.name.endswith(".scenario.yaml"):
        return None
    from kubelet_emu.pytest_plugin.scenario_items import ScenarioFile  # noqa: PLC0415 - see above

    file: pytest.Collector = ScenarioFile.from_parent(parent, path=file_path)
    return file


def _is_ours(path: Path) -> bool:
    """Tell whether a scenario.yaml is one of ours: other tools have files of this name."""
    return (path.parent / "manifest.yaml").is_file() and b"\nexpect:" in b"\n" + path.read_bytes()
