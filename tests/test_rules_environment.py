"""A container's environment (kubelet v1.36 makeEnvironmentVariables, KEP-3721 env files)."""

from __future__ import annotations

import pytest

from kubelet_emu.api.meta import ObjectMeta
from kubelet_emu.api.quantity import Quantity
from kubelet_emu.api.v1 import ConfigMap, Container, Pod, PodSpec, ResourceRequirements, Secret
from kubelet_emu.api.v1_environment import (
    ConfigMapEnvSource,
    ConfigMapKeySelector,
    EnvFromSource,
    EnvVar,
    EnvVarSource,
    FileKeySelector,
    ObjectFieldSelector,
    ResourceFieldSelector,
    SecretEnvSource,
    SecretKeySelector,
)
from kubelet_emu.rules.downward_api import FieldError, RuntimeFacts, field_value, format_map
from kubelet_emu.rules.env_file import EnvFileError, read_key
from kubelet_emu.rules.environment import (
    ContainerEnvironmentError,
    EnvironmentSources,
    VolumeFiles,
    make_environment,
)
from kubelet_emu.rules.service_links import ServiceFacts, ServicePort, service_variables

POD = Pod(
    metadata=ObjectMeta(
        name="p",
        namespace="ns",
        uid="u",
        labels={"b": "2", "a": "1"},
        annotations={"k/x": 'say "hi"\n'},
    ),
    spec=PodSpec(node_name="bound", service_account_name="robot"),
)
FACTS = RuntimeFacts(node_name="node1", pod_ips=("10.0.0.7", "fd::7"), host_ips=("192.0.2.1", "fd::1"))
SOURCES = EnvironmentSources(
    config_maps={"cm": ConfigMap(data={"A": "cm-a", "odd.key": "$(X)"}, binary_data={"BIN": b"x"})},
    secrets={"s": Secret(data={"A": b"secret-a", "B": b"secret-b"})},
    facts=FACTS,
    allocatable={"cpu": Quantity("2"), "memory": Quantity("1Gi")},
    services=(ServiceFacts(name="db", cluster_ip="10.96.0.5", ports=(ServicePort(port=5432),)),),
    volumes={"data": VolumeFiles(path="/vol/data", files={"vars.env": "COLOR='red'\nEMPTY=''\n", "bad.env": "x"})},
)


def a_container(*env: EnvVar, env_from: tuple[EnvFromSource, ...] = ()) -> Container:
    return Container(name="c", env=env, env_from=env_from)


def from_source(name: str = "V", **source: object) -> EnvVar:
    return EnvVar(name=name, value_from=EnvVarSource(**source))  # type: ignore[arg-type]


def own(container: Container, sources: EnvironmentSources = SOURCES) -> dict[str, str]:
    """Return the variables without the services'."""
    variables = make_environment(POD, container, sources)
    return {name: value for name, value in variables.items() if not name.startswith("DB_")}


CM = EnvFromSource(config_map_ref=ConfigMapEnvSource(name="cm"))
SECRET = EnvFromSource(prefix="P_", secret_ref=SecretEnvSource(name="s"))
GONE_CM = ConfigMapEnvSource(name="gone", optional=True)
GONE_SECRET = SecretEnvSource(name="gone", optional=True)


@pytest.mark.parametrize(
    ("container", "expected"),
    [
        pytest.param(
            a_container(env_from=(CM, SECRET)),
            {"A": "cm-a", "odd.key": "$(X)", "P_A": "secret-a", "P_B": "secret-b"},
            id="envFrom takes keys as they are, with the prefix, without binary data and unexpanded",
        ),
        pytest.param(
            a_container(env_from=(CM, EnvFromSource(secret_ref=SecretEnvSource(name="s")))),
            {"A": "secret-a", "odd.key": "$(X)", "B": "secret-b"},
            id="a later source of envFrom wins",
        ),
        pytest.param(
            a_container(EnvVar(name="A", value="env"), EnvVar(name="A", value="last"), env_from=(CM,)),
            {"A": "last", "odd.key": "$(X)"},
            id="env wins over envFrom, and its last entry over the others",
        ),
        pytest.param(
            a_container(
                EnvVar(name="X", value="1"),
                EnvVar(name="Y", value="$(X)/$(LATE)/$$(X)/$(DB_SERVICE_HOST)"),
                EnvVar(name="LATE", value="2"),
            ),
            {"X": "1", "Y": "1/$(LATE)/$(X)/10.96.0.5", "LATE": "2"},
            id="a value sees what comes before it, and services",
        ),
        pytest.param(
            a_container(EnvVar(name="X", value=""), EnvVar(name="Y")),
            {"X": "", "Y": ""},
            id="no value is the empty one",
        ),
        pytest.param(
            a_container(
                from_source("A", config_map_key_ref=ConfigMapKeySelector(name="cm", key="no", optional=True)),
                from_source("B", config_map_key_ref=ConfigMapKeySelector(name="no", key="A", optional=True)),
                from_source("C", secret_key_ref=SecretKeySelector(name="s", key="no", optional=True)),
                from_source("D", secret_key_ref=SecretKeySelector(name="no", key="A", optional=True)),
                env_from=(CM,),
            ),
            {"A": "cm-a", "odd.key": "$(X)"},
            id="what is optional and not there leaves the variable as it was",
        ),
        pytest.param(
            a_container(
                env_from=(
                    EnvFromSource(config_map_ref=GONE_CM),
                    EnvFromSource(secret_ref=GONE_SECRET),
                    EnvFromSource(),
                )
            ),
            {},
            id="optional objects that are not there give nothing",
        ),
        pytest.param(
            a_container(
                from_source("A", config_map_key_ref=ConfigMapKeySelector(name="cm", key="A")),
                from_source("B", secret_key_ref=SecretKeySelector(name="s", key="B")),
                from_source("C", field_ref=ObjectFieldSelector(field_path="metadata.name")),
                from_source("D", resource_field_ref=ResourceFieldSelector(resource="limits.cpu")),
                from_source("E", file_key_ref=FileKeySelector(volume_name="data", path="vars.env", key="COLOR")),
                from_source("F"),
            ),
            {"A": "cm-a", "B": "secret-b", "C": "p", "D": "2", "E": "red", "F": ""},
            id="every source of a value",
        ),
        pytest.param(
            a_container(
                from_source(file_key_ref=FileKeySelector(volume_name="data", path="vars.env", key="NO", optional=True)),
                from_source(
                    "W", file_key_ref=FileKeySelector(volume_name="data", path="vars.env", key="EMPTY", optional=True)
                ),
            ),
            {},
            id="an optional key that is not in the file, or empty, is left out",
        ),
    ],
)
def test_environment(container: Container, expected: dict[str, str]) -> None:
    assert own(container) == expected


@pytest.mark.parametrize(
    ("container", "text"),
    [
        (
            a_container(env_from=(EnvFromSource(config_map_ref=ConfigMapEnvSource(name="gone")),)),
            'configmap "gone" not found',
        ),
        (
            a_container(env_from=(EnvFromSource(secret_ref=SecretEnvSource(name="gone")),)),
            'secret "gone" not found',
        ),
        (
            a_container(from_source(config_map_key_ref=ConfigMapKeySelector(name="gone", key="k"))),
            'configmap "gone" not found',
        ),
        (
            a_container(from_source(config_map_key_ref=ConfigMapKeySelector(name="cm", key="k"))),
            "couldn't find key k in ConfigMap ns/cm",
        ),
        (
            a_container(from_source(secret_key_ref=SecretKeySelector(name="s", key="k"))),
            "couldn't find key k in Secret ns/s",
        ),
        (
            a_container(from_source(file_key_ref=FileKeySelector(volume_name="no", path="x", key="k"))),
            'cannot find the volume "no" referenced by FileKeyRef',
        ),
        (
            a_container(
                from_source(file_key_ref=FileKeySelector(volume_name="data", path="no.env", key="k", optional=True))
            ),
            "couldn't parse env file",
        ),
        (
            a_container(from_source(file_key_ref=FileKeySelector(volume_name="data", path="bad.env", key="k"))),
            "couldn't parse env file",
        ),
        (
            a_container(from_source(file_key_ref=FileKeySelector(volume_name="data", path="vars.env", key="NO"))),
            'environment variable key "NO" not found in file "/vol/data/vars.env"',
        ),
        (
            a_container(from_source(field_ref=ObjectFieldSelector(field_path="status.phase"))),
            "unsupported fieldPath: status.phase",
        ),
        (
            a_container(
                from_source(resource_field_ref=ResourceFieldSelector(container_name="no", resource="limits.cpu"))
            ),
            "container no not found",
        ),
    ],
)
def test_what_is_missing_refuses_the_container(container: Container, text: str) -> None:
    with pytest.raises(ContainerEnvironmentError) as raised:
        make_environment(POD, container, SOURCES)
    assert str(raised.value) == text


def test_service_variables() -> None:
    ports = (ServicePort(name="web-ui", port=80), ServicePort(port=53, protocol="UDP"))
    assert service_variables((ServiceFacts(name="my-db", cluster_ip="10.0.0.1", ports=ports),)) == {
        "MY_DB_SERVICE_HOST": "10.0.0.1",
        "MY_DB_SERVICE_PORT": "80",
        "MY_DB_SERVICE_PORT_WEB_UI": "80",
        "MY_DB_PORT": "tcp://10.0.0.1:80",
        "MY_DB_PORT_80_TCP": "tcp://10.0.0.1:80",
        "MY_DB_PORT_80_TCP_PROTO": "tcp",
        "MY_DB_PORT_80_TCP_PORT": "80",
        "MY_DB_PORT_80_TCP_ADDR": "10.0.0.1",
        "MY_DB_PORT_53_UDP": "udp://10.0.0.1:53",
        "MY_DB_PORT_53_UDP_PROTO": "udp",
        "MY_DB_PORT_53_UDP_PORT": "53",
        "MY_DB_PORT_53_UDP_ADDR": "10.0.0.1",
    }


@pytest.mark.parametrize(
    "service",
    [
        ServiceFacts(name="headless", cluster_ip="None", ports=(ServicePort(port=1),)),
        ServiceFacts(name="pending", cluster_ip="", ports=(ServicePort(port=1),)),
        ServiceFacts(name="portless", cluster_ip="10.0.0.1", ports=()),
    ],
)
def test_a_service_without_address_or_port_is_not_told(service: ServiceFacts) -> None:
    assert service_variables((service,)) == {}


def test_a_service_of_ipv6_has_brackets_in_its_url() -> None:
    variables = service_variables((ServiceFacts(name="a", cluster_ip="fd::1", ports=(ServicePort(port=1),)),))
    assert variables["A_PORT"] == "tcp://[fd::1]:1"
    assert variables["A_SERVICE_HOST"] == "fd::1"


def test_a_container_variable_wins_over_a_service() -> None:
    container = a_container(EnvVar(name="DB_SERVICE_HOST", value="mine"))
    assert make_environment(POD, container, SOURCES)["DB_SERVICE_HOST"] == "mine"


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("metadata.name", "p"),
        ("metadata.namespace", "ns"),
        ("metadata.uid", "u"),
        ("metadata.labels['a']", "1"),
        ("metadata.labels['no']", ""),
        ("metadata.annotations['k/x']", 'say "hi"\n'),
        ("metadata.labels", 'a="1"\nb="2"'),
        ("metadata.annotations", 'k/x="say \\"hi\\"\\n"'),
        ("spec.nodeName", "node1"),
        ("spec.serviceAccountName", "robot"),
        ("status.hostIP", "192.0.2.1"),
        ("status.hostIPs", "192.0.2.1,fd::1"),
        ("status.podIP", "10.0.0.7"),
        ("status.podIPs", "10.0.0.7,fd::7"),
    ],
)
def test_fields(path: str, expected: str) -> None:
    assert field_value(POD, path, FACTS) == expected


def test_fields_without_facts_are_empty_or_the_specs() -> None:
    assert field_value(POD, "status.podIP", RuntimeFacts()) == ""
    assert field_value(POD, "status.hostIP", RuntimeFacts()) == ""
    assert field_value(POD, "spec.nodeName", RuntimeFacts()) == "bound"


def test_a_field_that_is_not_offered_is_refused() -> None:
    with pytest.raises(FieldError):
        field_value(POD, "metadata.generation", FACTS)


def test_an_empty_map_has_no_lines() -> None:
    assert format_map({}) == ""


FILE = "# comment\n\n  COLOR='red' # why\r\nSPLIT='one\ntwo'\nEMPTY= 'x'\nCOLOR='blue'\nLAST='#'"


@pytest.mark.parametrize(
    ("key", "expected"),
    [("COLOR", "red"), ("SPLIT", "one\ntwo"), ("EMPTY", ""), ("LAST", "#"), ("NO", "")],
)
def test_env_files_are_read(key: str, expected: str) -> None:
    assert read_key(FILE, key) == expected


@pytest.mark.parametrize(
    "text",
    ["A", "=x", "A ='x'", 'A="x"', "A=x", "A='x", "A='x' y", "A='x\n\n"],
)
def test_an_env_file_of_another_format_is_an_error(text: str) -> None:
    with pytest.raises(EnvFileError):
        read_key(text, "KEY")


def test_an_env_file_is_read_only_as_far_as_the_key() -> None:
    assert read_key("A='1'\nbroken", "A") == "1"


def test_a_resource_of_another_container_can_be_named() -> None:
    other = Container(name="o", resources=ResourceRequirements(limits={"cpu": Quantity("250m")}))
    pod = Pod(metadata=POD.metadata, spec=PodSpec(containers=(other,)))
    selector = ResourceFieldSelector(container_name="o", resource="limits.cpu", divisor=Quantity("1m"))
    variables = make_environment(pod, a_container(from_source(resource_field_ref=selector)), EnvironmentSources())
    assert variables == {"V": "250"}
