"""A pod with sidecars is killed: who is signalled when, who is gone when."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kubelet_emu.api.v1 import Container, Pod, PodSpec
from kubelet_emu.rules.termination import ContainerStop, plan_stop, termination_prerequisites

if TYPE_CHECKING:
    from collections.abc import Mapping

    from table_rows import Fields


def check(row: Fields, shared: Mapping[str, Any]) -> None:
    given = row.part("in")
    mains, sidecars, inits = (_stops(given.take(key, [])) for key in ("mains", "sidecars", "running_inits"))
    pod = Pod(
        spec=PodSpec(
            containers=tuple(Container(name=stop.name) for stop in mains),
            init_containers=(
                *(Container(name=stop.name, restart_policy="Always") for stop in sidecars),
                *(Container(name=stop.name) for stop in inits),
            ),
        )
    )
    stops = [*mains, *sidecars, *inits]
    calls = plan_stop(given.take("G"), stops, termination_prerequisites(pod, [stop.name for stop in stops]))
    out = row.part("out")
    for name in out.values:
        call = calls[name]
        out.part(name).check(
            {"signal": round(call.signal_at, 6), "gone": round(call.gone_at, 6), "killed": call.killed}
        )


def _stops(containers: list[tuple[str, float | None, float | None]]) -> list[ContainerStop]:
    return [ContainerStop(name=name, exits_after=exits, pre_stop=hook) for name, exits, hook in containers]
