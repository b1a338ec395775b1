"""Scenarios on the engine: a fixed sample that has each rule once, and all of them where long tests run.

They run once, in one process and eight at a time; each is then a test of its own.
"""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import TYPE_CHECKING

import images
import pytest
from figures import FIGURES
from heard import Heard
from registry import SlowProxy

from kubelet_emu.cli.suite.docker import open_docker_world
from kubelet_emu.cli.suite.lengths import longest_first
from kubelet_emu.cli.suite.options import SuiteOptions
from kubelet_emu.cli.suite.places import shared_world
from kubelet_emu.images.mirrors import Mirror
from kubelet_emu.scenarios.exclusions import read_exclusions
from kubelet_emu.scenarios.scenario_file import find_scenarios, load_scenario
from runtime.docker import naming

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from docker import APIClient
    from registry import Registry

    from kubelet_emu.scenarios.runner import Outcome

pytestmark = pytest.mark.docker

FOLDER = Path(__file__).resolve().parent.parent.parent / "fixtures" / "scenarios"
PATHS = {path.parent.name: path for path in find_scenarios(FOLDER)}
EXCLUDED = read_exclusions(FOLDER, "docker")
JOBS = 8
SAMPLE = frozenset(line.split()[0] for line in (Path(__file__).parent / "scenario_sample.txt").read_text().splitlines())


@pytest.fixture(scope="session")
def mirrors(engine: APIClient, registry: Registry) -> Iterator[tuple[Mirror, ...]]:
    """Give stand-ins for the registries that the scenarios name, with their images; one of them is slow."""
    for name in (images.BUSYBOX, images.BUSYBOX_2, images.GRPC):
        images.push_as(engine, name, name.replace("127.0.0.1:5000", registry.address))
    with SlowProxy(registry.port) as slow:
        yield Mirror(host="127.0.0.1:5000", target=registry.address), Mirror(host="127.0.0.1:5001", target=slow.address)
        for name in names_of(engine, registry.address, slow.address):
            engine.remove_image(name)


def names_of(engine: APIClient, *registries: str) -> list[str]:
    """Return the names in the engine that begin with a registry's address."""
    names = [name for item in engine.images() for name in item["RepoTags"] or ()]
    return [name for name in names if name.startswith(registries)]


@pytest.fixture(scope="session")
def outcomes(
    request: pytest.FixtureRequest, mirrors: tuple[Mirror, ...], tmp_path_factory: pytest.TempPathFactory
) -> Mapping[str, Outcome]:
    """Run the scenarios of the tests that were selected, the long ones first."""
    wanted = {
        item.callspec.params.get("name")
        for item in request.session.items
        if isinstance(item, pytest.Function) and hasattr(item, "callspec")
    }
    options = SuiteOptions(
        paths=(), runtime="docker", jobs=JOBS, registry_mirrors=mirrors, root_dir=tmp_path_factory.mktemp("root")
    )
    scenarios = [load_scenario(path) for name, path in PATHS.items() if name in wanted]
    heard, begun_at = Heard(), time.perf_counter()
    shared_world(lambda: open_docker_world(options))(longest_first(scenarios), JOBS, heard)
    request.config.stash[FIGURES] = figures(heard.outcomes, time.perf_counter() - begun_at)
    return heard.outcomes


def figures(outcomes: Mapping[str, Outcome], seconds: float) -> str:
    """Return in a line how many scenarios were run and how long that took."""
    life = sum(outcome.virtual_seconds for outcome in outcomes.values())
    held = sum(outcome.passed for outcome in outcomes.values())
    skipped = sum(bool(outcome.skipped) for outcome in outcomes.values())
    return (
        f"{len(outcomes)} scenarios on Docker, {JOBS} at a time: {held} held, {skipped} not tried "
        f"({life:.0f} s of pod life in {seconds:.0f} s)"
    )


def lacks(engine: APIClient) -> set[str]:
    """Return the only reasons for which a scenario may be left out on this engine."""
    info = engine.info()
    return {
        *(["needs cgroup v2, and the engine's machine has v1"] if info["CgroupVersion"] == "1" else []),
        *([] if "name=apparmor" in info["SecurityOptions"] else ["needs AppArmor, and the engine's machine has none"]),
    }


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=() if name in SAMPLE else pytest.mark.long, id=name) for name in PATHS]
)
def test_a_scenario_holds_on_the_engine(engine: APIClient, outcomes: Mapping[str, Outcome], name: str) -> None:
    outcome = outcomes[name]
    failed = [f"{verdict.expectation}: {verdict.because}" for verdict in outcome.verdicts if not verdict.holds]
    if outcome.skipped:
        assert outcome.skipped in lacks(engine)
    elif name in EXCLUDED:
        assert failed or outcome.error, "this scenario holds: take it out of EXCLUDED.yaml"
    else:
        assert (outcome.error, failed) == ("", [])


def test_the_sample_names_scenarios_that_hold() -> None:
    assert PATHS.keys() >= SAMPLE
    assert not SAMPLE & EXCLUDED.keys()


def test_nothing_of_the_scenarios_is_left(engine: APIClient, outcomes: Mapping[str, Outcome]) -> None:
    assert outcomes
    wanted = {"label": f"{naming.PID_LABEL}={os.getpid()}"}
    assert engine.containers(all=True, filters=wanted) == []
    assert engine.volumes(filters=wanted)["Volumes"] == []
    assert not any(
        "kemu/fresh" in name or "kemu/absent-" in name for item in engine.images() for name in item["RepoTags"] or ()
    )
