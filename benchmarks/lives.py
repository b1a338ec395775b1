"""One pod's life in virtual time, in variants that differ in what runs in its containers. Pure but for `live_bare`.

Each pod has an init container that takes a second, two sidecars that a startup probe gates and a readiness probe
watches, and two mains. It is deleted after a while: the mains end on TERM, then the second sidecar, then the first.
"""

from __future__ import annotations

import textwrap

import trio
from attrs import frozen

LIFE_SECONDS = 15.0
STARTUP_PERIOD = 1
READINESS_PERIOD = 5
CONTAINERS = 5
PROBES = 4


@frozen(kw_only=True)
class Life:
    """What the containers run: each text is the part of a container in YAML that says so."""

    init: str
    other: str
    probe: str

    def manifest(self, name: str) -> str:
        """Return one pod as YAML."""
        startup = f"startupProbe: {{{self.probe}, periodSeconds: {STARTUP_PERIOD}, failureThreshold: 30}}"
        readiness = f"readinessProbe: {{{self.probe}, periodSeconds: {READINESS_PERIOD}}}"
        sidecar = f"restartPolicy: Always\n{self.other}\n{startup}\n{readiness}"
        inits = _containers(init=self.init, side_1=sidecar, side_2=sidecar)
        mains = _containers(main_1=self.other, main_2=self.other)
        head = f"apiVersion: v1\nkind: Pod\nmetadata: {{name: {name}}}\nspec:\n"
        return f"{head}  initContainers:\n{inits}  containers:\n{mains}"


def _containers(**containers: str) -> str:
    return "".join(
        textwrap.indent(f"- name: {name.replace('_', '-')}\n{textwrap.indent(rest, '  ')}\n", "  ")
        for name, rest in containers.items()
    )


_APP, _BUSYBOX = "image: registry.example/app:1", "image: busybox:1"
_SCRIPT = "trap 'echo bye; exit 0' TERM; echo up; touch /tmp/up; sleep 3600 & wait"

LIVES = {
    "no shell, exec probes": Life(
        init=f'{_BUSYBOX}\ncommand: [sleep, "1"]', other=_APP, probe="exec: {command: [check]}"
    ),
    "no shell, HTTP probes": Life(init=f'{_BUSYBOX}\ncommand: [sleep, "1"]', other=_APP, probe="httpGet: {port: 8080}"),
    "shell scripts": Life(
        init=f'{_BUSYBOX}\ncommand: [sh, -c, "echo begin; sleep 1; echo end"]',
        other=f'{_BUSYBOX}\ncommand: [sh, -c, "{_SCRIPT}"]',
        probe="exec: {command: [sh, -c, 'test -f /tmp/up']}",
    ),
}


async def live_bare(pods: int) -> int:
    """Let as many tasks wait as the pods have containers and probes, on Trio alone, and decide nothing; return 0."""
    async with trio.open_nursery() as nursery:
        for _ in range(pods):
            nursery.start_soon(_live_bare)
    return 0


async def _live_bare() -> None:
    async with trio.open_nursery() as nursery:
        for _ in range(CONTAINERS):
            nursery.start_soon(trio.sleep, LIFE_SECONDS)
        for n in range(PROBES):
            nursery.start_soon(_probe, STARTUP_PERIOD if n % 2 else READINESS_PERIOD)
        await trio.sleep(LIFE_SECONDS)
        nursery.cancel_scope.cancel()


async def _probe(period: float) -> None:
    """Make a task for each attempt, as an exec in a container is one."""
    while True:
        with trio.fail_after(1):
            async with trio.open_nursery() as attempt:
                attempt.start_soon(trio.lowlevel.checkpoint)
        await trio.sleep(period)
