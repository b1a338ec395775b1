"""Runtime configs from a pod spec (kubelet v1.36 kuberuntime)."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from attrs import evolve

from kubelet_emu.api.labels import parse_container_annotations, parse_container_labels
from kubelet_emu.api.meta import ObjectMeta
from kubelet_emu.api.quantity import Quantity
from kubelet_emu.api.v1 import Container, ContainerPort, EphemeralContainer, Pod, PodSpec, ResourceRequirements
from kubelet_emu.api.v1_handlers import ExecAction, Lifecycle, LifecycleHandler
from kubelet_emu.api.v1_security import PodSecurityContext, SecurityContext, Sysctl
from kubelet_emu.api.v1_status import PodStatus
from kubelet_emu.config.features import FeatureGates
from kubelet_emu.images.outcome import ImageOutcome
from kubelet_emu.kubelet.container_config import (
    ContainerInput,
    command_and_args,
    generate_container_config,
    qos_class,
    stop_signal,
)
from kubelet_emu.kubelet.sandbox_config import ConfigError, generate_pod_sandbox_config, port_mappings
from kubelet_emu.rules.observed import StartFailure
from kubelet_emu.rules.resources import NodeResources
from runtime.api import (
    ContainerConfig,
    ContainerMetadata,
    DNSConfig,
    Image,
    ImageID,
    Mount,
    NamespaceMode,
    PodSandboxMetadata,
    PortMapping,
    VolumeHandle,
)

EPOCH = datetime(2026, 1, 1, tzinfo=UTC)
IMAGE = ImageOutcome(image_id=ImageID("sha256:1"), image=Image(id=ImageID("sha256:1")))
NODE = NodeResources(memory_bytes=2**30, allocatable={"cpu": Quantity("2")})
FILES = VolumeHandle("u/kubelet.files")


def a_pod(*containers: Container, name: str = "p", **spec: object) -> Pod:
    meta = ObjectMeta(name=name, namespace="ns", uid="u", labels={"app": "x"}, annotations={"note": "y"})
    return Pod(metadata=meta, spec=PodSpec(containers=containers, **spec))  # type: ignore[arg-type]


def made(container: Container | EphemeralContainer, pod: Pod | None = None, **given: object) -> ContainerConfig:
    values = {"environment": {}, "mounts": (), "node": NODE, "attempt": 3, "image": IMAGE, **given}
    config = generate_container_config(ContainerInput(pod=pod or a_pod(), container=container, **values))  # type: ignore[arg-type]
    assert isinstance(config, ContainerConfig)
    return config


def test_a_sandbox_has_the_pods_identity_and_host_name() -> None:
    dns = DNSConfig(servers=("1.1.1.1",))
    pod = a_pod(
        Container(name="c", security_context=SecurityContext(privileged=True)),
        hostname="me",
        share_process_namespace=True,
        security_context=PodSecurityContext(sysctls=(Sysctl(name="net/ipv4/conf/a.b/x", value="1"),), run_as_user=5),
    )
    config = generate_pod_sandbox_config(pod, 2, dns=dns, cluster_domain="cluster.local")
    assert config.metadata == PodSandboxMetadata(name="p", namespace="ns", uid="u", attempt=2)
    assert (config.hostname, config.dns, config.privileged) == ("me", dns, True)
    assert config.labels["app"] == "x"
    assert config.labels["io.kubernetes.pod.uid"] == "u"
    assert config.annotations == {"note": "y"}
    assert config.sysctls == {"net.ipv4.conf.a/b.x": "1"}
    assert config.namespaces.pid is NamespaceMode.POD
    assert config.security is not None
    assert config.security.run_as_user == 5


def test_a_sandbox_on_the_nodes_network_has_no_name_and_no_ports() -> None:
    ports = (ContainerPort(container_port=80, host_port=80),)
    pod = a_pod(Container(name="c", ports=ports), host_network=True)
    config = generate_pod_sandbox_config(pod, 0, dns=None, cluster_domain="cluster.local")
    assert (config.hostname, config.port_mappings, config.sysctls) == ("", (), {})
    assert config.namespaces.network is NamespaceMode.NODE


def test_a_full_name_that_is_too_long_is_refused() -> None:
    pod = a_pod(set_hostname_as_fqdn=True, hostname="a" * 40, subdomain="b" * 30)
    with pytest.raises(ConfigError, match="is too long"):
        generate_pod_sandbox_config(pod, 0, dns=None, cluster_domain="cluster.local")


@pytest.mark.parametrize(
    ("wanted", "publish_address", "expected"),
    [
        (None, "127.0.0.1", "127.0.0.1"),
        ("0.0.0.0", "127.0.0.1", "127.0.0.1"),  # noqa: S104
        ("192.0.2.1", "127.0.0.1", "127.0.0.1"),
        ("127.0.0.2", "127.0.0.1", "127.0.0.2"),
        ("::1", "127.0.0.1", "::1"),
        (None, "192.0.2.7", "192.0.2.7"),
        ("192.0.2.1", "192.0.2.7", "192.0.2.1"),
    ],
)
def test_a_host_port_stays_on_the_machine_unless_told_otherwise(
    wanted: str | None, publish_address: str, expected: str
) -> None:
    ports = (ContainerPort(container_port=80, host_port=8080, host_ip=wanted), ContainerPort(container_port=81))
    assert port_mappings(a_pod(Container(name="c", ports=ports)), publish_address) == (
        PortMapping(container_port=80, host_port=8080, host_ip=expected, protocol="TCP"),
    )


def test_only_regular_containers_publish_ports() -> None:
    ports = (ContainerPort(container_port=80, host_port=80, protocol="UDP"),)
    pod = a_pod(Container(name="c"), init_containers=(Container(name="s", ports=ports, restart_policy="Always"),))
    assert port_mappings(pod, "127.0.0.1") == ()


def test_a_container_config_has_what_the_spec_says() -> None:
    pre_stop = LifecycleHandler(exec=ExecAction(command=("bye",)))
    container = Container(
        name="c",
        image="busybox:1",
        command=("run", "$(X)"),
        args=("$$(X)", "$(NO)"),
        working_dir="/w",
        stdin=True,
        stdin_once=True,
        tty=True,
        termination_message_path="/dev/x",
        lifecycle=Lifecycle(pre_stop=pre_stop, stop_signal="SIGUSR1"),
        resources=ResourceRequirements(limits={"cpu": Quantity("500m")}),
        security_context=SecurityContext(run_as_user=7),
    )
    pod = evolve(a_pod(container, termination_grace_period_seconds=9), status=PodStatus(qos_class="Burstable"))
    mounts = (Mount(container_path="/m", host_path="/h"),)
    config = made(container, pod, environment={"X": "1"}, mounts=mounts)
    assert (config.metadata, config.image, config.image_name) == (
        ContainerMetadata(name="c", attempt=3),
        "sha256:1",
        "busybox:1",
    )
    assert (config.command, config.args, config.working_dir) == (("run", "1"), ("$(X)", "$(NO)"), "/w")
    assert (config.envs, config.mounts) == ({"X": "1"}, mounts)
    assert (config.stdin, config.stdin_once, config.tty, config.stop_signal) == (True, True, True, None)
    assert config.resources.cpu_quota == 50000
    assert config.security.run_as_user == 7
    facts = parse_container_annotations(config.annotations)
    assert (facts.restart_count, facts.termination_message_path, facts.pre_stop) == (3, "/dev/x", pre_stop)
    assert facts.termination_grace_period_seconds == 9
    assert parse_container_labels(config.labels).container_name == "c"


@pytest.mark.parametrize(
    ("command", "args", "expected"),
    [
        ((), (), (None, None)),
        (("a",), (), (("a",), ())),
        ((), ("b",), (None, ("b",))),
        (("a",), ("b",), (("a",), ("b",))),
    ],
)
def test_a_command_drops_the_images_arguments(
    command: tuple[str, ...], args: tuple[str, ...], expected: tuple[object, object]
) -> None:
    assert command_and_args(Container(name="c", command=command, args=args), {}) == expected


def test_the_stop_signal_needs_its_gate() -> None:
    container = Container(name="c", lifecycle=Lifecycle(stop_signal="SIGUSR1"))
    assert stop_signal(container, FeatureGates()) is None
    assert stop_signal(container, FeatureGates({"ContainerStopSignals": True})) == "SIGUSR1"
    assert stop_signal(Container(name="c"), FeatureGates({"ContainerStopSignals": True})) is None


def test_the_stored_class_counts_before_the_computed_one() -> None:
    assert qos_class(a_pod(Container(name="c")), FeatureGates()) == "BestEffort"
    assert qos_class(evolve(a_pod(), status=PodStatus(qos_class="Guaranteed")), FeatureGates()) == "Guaranteed"


def test_a_container_that_must_not_be_root_is_refused() -> None:
    container = Container(name="c", security_context=SecurityContext(run_as_non_root=True))
    given = ContainerInput(
        pod=a_pod(), container=container, attempt=0, image=IMAGE, environment={}, mounts=(), node=NODE
    )
    assert generate_container_config(given) == StartFailure(
        reason="CreateContainerConfigError",
        message='container has runAsNonRoot and image will run as root (pod: "p_ns(u)", container: c)',
    )


def test_a_config_without_an_image_is_a_bug() -> None:
    with pytest.raises(ValueError, match="no image to run"):
        made(Container(name="c"), image=ImageOutcome())
