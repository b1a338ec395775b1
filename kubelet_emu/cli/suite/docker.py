"""Scenarios on a Docker engine.

All scenarios of a process share one connection to the engine with its limits. Each has an instance of its own there,
so its kubelet sees nothing of the others, and whatever happens that instance is removed as a whole.
"""

from __future__ import annotations

import os
import zlib
from contextlib import AsyncExitStack, asynccontextmanager
from typing import TYPE_CHECKING, cast

import click
import trio
from attrs import define, field

from kubelet_emu.cli.suite.claims import Claims, claims_of
from kubelet_emu.cli.suite.given_images import GivenImages, NoRegistryError
from kubelet_emu.cli.suite.host_folders import emptied
from kubelet_emu.cli.suite.node_images import NodeImages
from kubelet_emu.embedding.instances import default_root, new_instance_id
from kubelet_emu.embedding.signals import ended_by_signals
from kubelet_emu.images.docker_config import DockerCredentials, docker_config_path
from kubelet_emu.kubelet.settings import KubeletSettings
from kubelet_emu.kubelet.timebase import Timebase
from kubelet_emu.scenarios.needs import APP_ARMOR, CGROUP_V2, read_needs
from kubelet_emu.scenarios.node import REGISTRY, scenario_node
from kubelet_emu.scenarios.runner import Outcome, World, run_scenario
from kubelet_emu.scenarios.steps import StepError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from kubelet_emu.cli.suite.options import SuiteOptions
    from kubelet_emu.cli.suite.places import RunScenario
    from kubelet_emu.scenarios.scenario_file import Scenario
    from runtime.api import Runtime, RuntimeStatus
    from runtime.docker import DockerRuntime

CLEAN_UP_SECONDS = 60.0


@define(eq=False, kw_only=True)
class DockerWorld:
    """Runs scenarios on one engine, each in an instance of its own."""

    options: SuiteOptions
    runtime: DockerRuntime
    status: RuntimeStatus
    images: NodeImages
    credentials: DockerCredentials
    _claims: Claims = field(factory=Claims, init=False)
    _count: int = field(default=0, init=False)

    async def run(self, scenario: Scenario) -> Outcome:
        """Run one scenario, after those that need the same for themselves alone.

        Its containers, volumes and images are gone afterwards, also when it fails or is cancelled.
        """
        async with self._claims.held(claims_of(scenario)):
            try:
                with emptied(scenario):
                    return await self._run(scenario)
            except StepError as fault:
                return Outcome(name=scenario.name, error=str(fault))

    async def _run(self, scenario: Scenario) -> Outcome:
        if missing := await self._missing(scenario):
            return Outcome(name=scenario.name, skipped=missing)
        try:
            async with self.images.prepared(scenario), self._instance() as runtime:
                return await run_scenario(scenario, self._world(runtime, scenario))
        except NoRegistryError as error:
            return Outcome(name=scenario.name, skipped=f"needs a registry at {REGISTRY} that takes images: {error}")

    async def _missing(self, scenario: Scenario) -> str:
        """Return what a scenario needs and this engine hasn't, as a sentence; empty when nothing is missing."""
        for need in read_needs(scenario.needs).places:
            kind, _, what = need.partition(" ")
            if need == CGROUP_V2:
                if self.status.cgroup_version < 2:
                    return "needs cgroup v2, and the engine's machine has v1"
            elif need == APP_ARMOR:
                if not self.status.has_app_armor:
                    return "needs AppArmor, and the engine's machine has none"
            elif kind == "image":
                if not await self.images.given.has(f"{REGISTRY}/{what}:1"):
                    return f"needs the image {REGISTRY}/{what}:1, which can't be had"
            elif kind != "empty":
                return f"needs {need!r}, which is not known here"
        return ""

    @asynccontextmanager
    async def _instance(self) -> AsyncIterator[DockerRuntime]:
        self._count += 1
        async with self.runtime.sibling(f"{self.runtime.instance}-{self._count}") as runtime:
            try:
                yield runtime
            finally:
                with trio.CancelScope(shield=True, deadline=trio.current_time() + CLEAN_UP_SECONDS):
                    await runtime.remove_all()

    def _world(self, runtime: DockerRuntime, scenario: Scenario) -> World:
        needs = read_needs(scenario.needs)
        return World(
            runtime=cast("Runtime", runtime),
            timebase=Timebase.real(),
            node=scenario_node(
                self.status,
                host_ip=self.status.host_ip,
                has_app_armor=APP_ARMOR in needs.places,
                seccomp_profile_root=scenario.seccomp_profile_root or self.options.seccomp_profile_root,
            ),
            settings=KubeletSettings(
                timing=self.options.timing,
                mirrors=self.options.registry_mirrors,
                node_credentials=self.credentials,
            ),
            seed=self.options.seed + zlib.crc32(scenario.name.encode()),  # so that uids, and thus names, differ
            is_emptied=True,
        )


@asynccontextmanager
async def open_docker_world(options: SuiteOptions) -> AsyncIterator[RunScenario]:
    """Give what runs one scenario on the engine; on leaving nothing of the scenarios is left there.

    What dead runs left is removed first. SIGINT, SIGTERM and SIGHUP end it as KeyboardInterrupt.
    RuntimeUnavailableError when no engine answers.
    """
    from runtime.docker import DockerRuntime

    root = options.root_dir or default_root(os.environ, os.getuid())
    async with AsyncExitStack() as stack:
        await stack.enter_async_context(ended_by_signals())
        runtime = DockerRuntime(new_instance_id(), root=root, on_note=_note)
        await stack.enter_async_context(runtime)
        stack.push_async_callback(_leave, runtime)
        await runtime.sweep_dead_owners()
        given = GivenImages(runtime=runtime, mirrors=options.registry_mirrors, on_note=_note)
        stack.push_async_callback(_remove_made, given)
        images = NodeImages(runtime=runtime, given=given, on_note=_note)
        yield DockerWorld(
            options=options,
            runtime=runtime,
            status=await runtime.status(),
            images=images,
            credentials=DockerCredentials(path=docker_config_path(os.environ), warn=_note),
        ).run


async def _leave(runtime: DockerRuntime) -> None:
    with trio.CancelScope(shield=True, deadline=trio.current_time() + CLEAN_UP_SECONDS):
        await runtime.remove_all()
        await runtime.remove_own_pause_image()


async def _remove_made(given: GivenImages) -> None:
    with trio.CancelScope(shield=True, deadline=trio.current_time() + CLEAN_UP_SECONDS):
        await given.remove_made()


def _note(text: str) -> None:
    click.echo(f"note: {text}", err=True)
