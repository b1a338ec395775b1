"""The running total of what a node's pods take (scheduler NodeInfo)."""

from __future__ import annotations

from pod_makers import a_container, a_pod, a_sidecar, requesting

from kubelet_emu.api.v1 import ContainerPort
from kubelet_emu.rules.node_usage import HostPort, NodeUsage, usage_of

CPU = a_pod(a_container("a", resources=requesting({"cpu": "1"})), overhead={"cpu": "1m", "memory": "1Mi"})
GPU = a_pod(
    a_container("a", resources=requesting({"example.com/gpu": "1"})),
    init=[
        a_sidecar("s", resources=requesting({"cpu": "500m"}), ports=(ContainerPort(container_port=1, host_port=80),)),
        a_container("i", ports=(ContainerPort(container_port=2, host_port=81),)),
    ],
)
WHOLE = a_pod(a_container("a", resources=requesting({"cpu": "1"})), resources=requesting({"cpu": "2", "memory": "1Ki"}))


def test_pods_add_up() -> None:
    assert usage_of((CPU, GPU, WHOLE)) == NodeUsage(
        pods=3,
        requests={"cpu": 1001 + 500 + 2000, "memory": (1 << 20) + 1024, "example.com/gpu": 1},
        host_ports=(HostPort(port=80),),
    )


def test_a_pod_that_goes_takes_all_of_its_own_away() -> None:
    usage = usage_of((CPU, GPU)).without_pod(GPU)
    assert usage.pods == 1
    assert {name: value for name, value in usage.requests.items() if value} == usage_of((CPU,)).requests
    assert usage.host_ports == ()
