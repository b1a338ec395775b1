"""KubeletConfiguration files and feature gates."""

from __future__ import annotations

import contextlib
from pathlib import Path

import pytest
from attrs import evolve
from examples import examples
from hypothesis import given
from hypothesis import strategies as st

from kubelet_emu.config.durations import parse_duration
from kubelet_emu.config.features import DEFAULTS_V1_36, FeatureGates, gates_for
from kubelet_emu.config.fields import FIELDS
from kubelet_emu.config.kubelet_configuration import (
    ConfigurationError,
    KubeletConfiguration,
    ShutdownGracePeriodByPodPriority,
    load,
    load_text,
)

FIXTURES = Path(__file__).parent.parent / "fixtures"
HEAD = "apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n"


def test_slide_5_is_accepted_with_a_warning_for_each_missing_line() -> None:
    configuration = load(str(FIXTURES / "slides" / "slide-05-kubelet-config.yaml"))

    assert (configuration.serialize_image_pulls, configuration.max_parallel_image_pulls) == (False, 2)
    assert [warning.path for warning in configuration.warnings] == ["apiVersion", "kind"]


def test_the_kubelets_defaults_stand_for_what_is_not_said() -> None:
    assert load_text(HEAD) == KubeletConfiguration()


SERIAL_REFUSAL = (
    "invalid configuration: maxParallelImagePulls cannot be larger than 1 unless SerializeImagePulls "
    "(--serialize-image-pulls) is set to false"
)

PULLERS = [
    ("unset and unset: serial", "", (True, None)),
    ("one alone: serial", "maxParallelImagePulls: 1", (True, 1)),
    ("two alone: parallel", "maxParallelImagePulls: 2", (False, 2)),
    ("true alone: serial", "serializeImagePulls: true", (True, None)),
    ("true and one: serial", "serializeImagePulls: true\nmaxParallelImagePulls: 1", (True, 1)),
    ("false alone: no limit", "serializeImagePulls: false", (False, None)),
    ("false and three: limit 3", "serializeImagePulls: false\nmaxParallelImagePulls: 3", (False, 3)),
]


@pytest.mark.parametrize(("why", "text", "expected"), PULLERS, ids=[row[0] for row in PULLERS])
def test_which_puller_the_two_fields_choose(why: str, text: str, expected: tuple[bool, int | None]) -> None:
    configuration = load_text(HEAD + text)

    assert (configuration.serialize_image_pulls, configuration.max_parallel_image_pulls) == expected


LISTED = "imagePullCredentialsVerificationPolicy: NeverVerifyAllowlistedImages\npreloadedImagesVerificationAllowlist:"
REFUSED = [
    ("serial with two", "serializeImagePulls: true\nmaxParallelImagePulls: 2", 4, SERIAL_REFUSAL),
    ("zero pulls", "maxParallelImagePulls: 0", 3, "invalid configuration: maxParallelImagePulls 0 must be a positive"),
    ("unknown field", "maxParallelImagePull: 2", 3, "did you mean 'maxParallelImagePulls'?"),
    ("unknown nested field", "crashLoopBackOff:\n  maxContainerRestartPeriods: 1s", 4, "'maxContainerRestartPeriod'"),
    ("a duration without a unit", "syncFrequency: 60", 3, "60 is not a duration such as 1m30s"),
    ("text for a boolean", 'serializeImagePulls: "false"', 3, "'false' is not true or false"),
    ("period too long", "crashLoopBackOff: {maxContainerRestartPeriod: 301s}", 3, "between 1s and 300s"),
    ("period too short", "crashLoopBackOff: {maxContainerRestartPeriod: 500ms}", 3, "between 1s and 300s"),
    ("critical above whole", "shutdownGracePeriodCriticalPods: 5s", 3, "must be <= shutdownGracePeriod"),
    ("half a second", "shutdownGracePeriod: 500ms", 3, "either zero or otherwise >= 1 sec"),
    ("negative rate", "registryPullQPS: -1", 3, "registryPullQPS (--registry-qps) -1 must not be a negative number"),
    ("negative pods", "maxPods: -1", 3, "maxPods (--max-pods) -1 must not be a negative number"),
    ("a reservation without a number", "kubeReserved: {memory: much}", 3, "memory: 'much' is no amount such as 100Mi"),
    ("less than nothing", "systemReserved: {cpu: -1}", 3, "cpu: '-1' is no amount"),
    ("a share of a reservation", "kubeReserved: {memory: 5%}", 3, "memory: '5%' is no amount"),
    ("a threshold without a number", "evictionHard: {memory.available: '%'}", 3, "'%' is no amount"),
    ("a setting of the whole node", "allowedUnsafeSysctls: [vm.swappiness]", 3, 'the sysctl "vm.swappiness" are not'),
    (
        "settings of the whole node",
        "allowedUnsafeSysctls: [net.*, 'kernel.*']",
        3,
        'the sysctls "kernel.*" are not known',
    ),
    ("no setting", "allowedUnsafeSysctls: [Net.x]", 3, 'sysctl "Net.x" must have at most 253 characters and match'),
    ("any setting", "allowedUnsafeSysctls: ['*']", 3, 'the sysctls "*" are not known to be namespaced'),
    ("a setting that is too long", f"allowedUnsafeSysctls: [net.{'x' * 250}]", 3, "must have at most 253 characters"),
    ("one log file", "containerLogMaxFiles: 1", 3, "containerLogMaxFiles 1 must be greater than 1"),
    ("unknown policy", "imagePullCredentialsVerificationPolicy: Never", 3, "'Never' is not one of NeverVerify"),
    ("an allowlist without its policy", "preloadedImagesVerificationAllowlist: [r.io/x]", 3, "can't set `preloaded"),
    ("a wildcard in the middle", f"{LISTED} [r.io/*/x]", 4, "a wildcard stands only at the end"),
    ("an allowlist with a tag", f"{LISTED} ['r.io/x:1']", 4, "a tag or a digest has no place"),
    ("an allowlist with no name", f"{LISTED} [UP]", 4, "must be lowercase"),
    (
        "a policy without its gate",
        "imagePullCredentialsVerificationPolicy: AlwaysVerify\nfeatureGates: {KubeletEnsureSecretPulledImages: false}",
        3,
        "must not be set if `KubeletEnsureSecretPulledImages` feature gate is not enabled",
    ),
    ("a gate with text", "featureGates: {SidecarContainers: on please}", 3, "'on please' is not true or false"),
    ("a section that is no mapping", "crashLoopBackOff: 1", 3, "a mapping is needed"),
    ("broken YAML", "a: b: c", 3, "can't hold `key: value` here"),
    ("two documents", "---\nmaxPods: 1", 1, "one document"),
    (
        "both ways of shutdown",
        "shutdownGracePeriod: 5s\nshutdownGracePeriodByPodPriority: [{priority: 0, shutdownGracePeriodSeconds: 5}]",
        4,
        "cannot specify both",
    ),
]


@pytest.mark.parametrize(("why", "text", "line", "said"), REFUSED, ids=[row[0] for row in REFUSED])
def test_what_a_kubelet_would_not_start_with(why: str, text: str, line: int, said: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        load_text(HEAD + text)

    assert said in str(caught.value)
    assert f"kubelet-config.yaml:{line}:" in str(caught.value)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("apiVersion: v1\nkind: KubeletConfiguration\n", "write apiVersion: kubelet.config.k8s.io/v1beta1"),
        ("apiVersion: kubelet.config.k8s.io/v1beta1\nkind: Kubelet\n", "write kind: KubeletConfiguration"),
        ("- a", "a KubeletConfiguration is needed"),
    ],
)
def test_a_file_of_another_kind_is_refused(text: str, said: str) -> None:
    with pytest.raises(ConfigurationError, match=said):
        load_text(text)


def test_a_missing_file_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="No such file"):
        load("/nowhere/kubelet.yaml")


def test_an_allowlist_has_names_and_whole_branches() -> None:
    configuration = load_text(f"{HEAD}{LISTED} [busybox, r.io/team/*]")
    assert configuration.preloaded_images_verification_allowlist == ("busybox", "r.io/team/*")
    assert configuration.image_pull_credentials_verification_policy == "NeverVerifyAllowlistedImages"


def test_an_empty_policy_is_the_default() -> None:
    configuration = load_text(f'{HEAD}imagePullCredentialsVerificationPolicy: ""')
    assert configuration.image_pull_credentials_verification_policy == "NeverVerifyPreloadedImages"


def test_values_arrive_with_their_units() -> None:
    text = """
    syncFrequency: 1m30s
    crashLoopBackOff: {maxContainerRestartPeriod: 10s}
    shutdownGracePeriod: 30s
    shutdownGracePeriodCriticalPods: 10s
    clusterDNS: [10.0.0.10]
    kubeReserved: {cpu: 500m}
    featureGates: {ContainerStopSignals: true}
    """
    configuration = load_text(HEAD + text.replace("\n    ", "\n"))

    assert configuration.sync_frequency_seconds == 90.0
    assert configuration.max_container_restart_period_seconds == 10.0
    assert configuration.shutdown_grace_period_critical_pods_seconds == 10.0
    assert configuration.cluster_dns == ("10.0.0.10",)
    assert configuration.kube_reserved == {"cpu": "500m"}
    assert configuration.feature_gates.enabled("ContainerStopSignals")
    assert [problem.path for problem in configuration.warnings] == ["syncFrequency"]


def test_shutdown_by_priority_is_read() -> None:
    text = HEAD + "shutdownGracePeriodByPodPriority: [{priority: 100, shutdownGracePeriodSeconds: 7}]"

    read = load_text(text).shutdown_grace_period_by_pod_priority

    assert read == (ShutdownGracePeriodByPodPriority(priority=100, shutdown_grace_period_seconds=7),)


def test_fields_without_effect_and_unknown_gates_are_named() -> None:
    text = HEAD + "cgroupDriver: systemd\nlogging: {verbosity: 3}\nfeatureGates: {SidecarContainer: true}\nmaxPods:\n"

    warnings = load_text(text).warnings

    assert [warning.path for warning in warnings] == [
        "cgroupDriver",
        "logging.verbosity",
        "featureGates.SidecarContainer",
    ]
    assert warnings[2].hint == "did you mean 'SidecarContainers'?"


def test_a_key_given_twice_is_named_and_the_last_wins() -> None:
    configuration = load_text(HEAD + "maxPods: 5\nmaxPods: 6\n")

    assert configuration.max_pods == 6
    assert [warning.type for warning in configuration.warnings] == ["Duplicate key"]


def test_an_empty_file_sets_nothing() -> None:
    assert [warning.type for warning in load_text("# nothing\n").warnings] == ["Empty"]


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("0", 0.0), ("1m30s", 90.0), ("1.5h", 5400.0), ("500ms", 0.5), ("-2s", -2.0), ("+1us", 1e-6), (".5s", 0.5)],
)
def test_durations_are_gos(text: str, seconds: float) -> None:
    assert parse_duration(text) == seconds


@pytest.mark.parametrize("text", ["", "1", "s", "1d", "1m 30s", "1s1"])
def test_what_is_no_duration(text: str) -> None:
    with pytest.raises(ValueError, match="not a duration"):
        parse_duration(text)


GATES = [
    ("1.28", "SidecarContainers", False),
    ("1.29", "SidecarContainers", True),
    ("1.34", "ContainerRestartRules", False),
    ("1.35", "ContainerRestartRules", True),
    ("v1.36.2", "RestartAllContainersOnContainerExits", True),
    ("1.36", "ContainerStopSignals", False),
]


@pytest.mark.parametrize(("version", "name", "expected"), GATES)
def test_gates_by_version(version: str, name: str, expected: bool) -> None:  # noqa: FBT001 - a column
    assert gates_for(version).enabled(name) is expected


def test_an_override_wins_over_the_version() -> None:
    assert gates_for("1.28", {"SidecarContainers": True}).enabled("SidecarContainers")


def test_the_newest_version_has_the_default_table() -> None:
    assert gates_for("1.36").defaults == DEFAULTS_V1_36
    with pytest.raises(KeyError):
        FeatureGates().enabled("NoSuchGate")


@pytest.mark.parametrize("version", ["1.27", "1.37", "2.0", "latest"])
def test_other_versions_are_refused(version: str) -> None:
    with pytest.raises(ValueError, match=r"not one of 1\.28 to 1\.36"):
        gates_for(version)


@pytest.mark.parametrize(
    "entry", ["{priority: high}", "{shutdownGracePeriodSeconds: 5s}", "{priority: true}", "{prio: 1}", "7"]
)
def test_priorities_are_whole_numbers(entry: str) -> None:
    with pytest.raises(ConfigurationError, match="whole numbers, are needed"):
        load_text(HEAD + f"shutdownGracePeriodByPodPriority: [{entry}]")


def test_an_empty_section_sets_nothing() -> None:
    assert load_text(HEAD + "crashLoopBackOff:\n") == KubeletConfiguration()


def test_a_kind_that_is_a_mapping_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="write kind: KubeletConfiguration"):
        load_text("apiVersion: kubelet.config.k8s.io/v1beta1\nkind: {a: b}\n")


FIELD_NAMES = st.sampled_from(sorted(FIELDS))
VALUES = st.sampled_from(
    ["~", "[]", "{}", "[1]", "{a: 1}", "1", "-1", ".nan", "1.5", "x", "true", "5s", "1e400", "&a [*a]"]
)


@examples(200)
@given(st.lists(st.tuples(FIELD_NAMES, VALUES), max_size=5))
def test_any_value_gives_an_answer(pairs: list[tuple[str, str]]) -> None:
    lines = []
    for name, value in pairs:
        section, _, last = name.rpartition(".")
        lines.append("".join(f"{each}: {{" for each in section.split(".") if each) + f"{last}: {value}")
        lines[-1] += "}" * len([each for each in section.split(".") if each])
    with contextlib.suppress(ConfigurationError):
        load_text(HEAD + "\n".join(lines))


@pytest.mark.parametrize(
    "line",
    [
        "registryBurst: 0",
        "eventBurst: 0",
        "maxPods: 0",
        "syncFrequency: 0s",
        "runtimeRequestTimeout: 0s",
        'containerLogMaxSize: ""',
        "serializeImagePulls: null",
    ],
)
def test_a_zero_is_the_default_where_the_api_cannot_tell_it_from_nothing(line: str) -> None:
    assert evolve(load_text(HEAD + line), warnings=()) == KubeletConfiguration()


def test_a_rate_of_zero_is_none() -> None:
    assert load_text(HEAD + "registryPullQPS: 0\n").registry_pull_qps == 0


def test_two_lines_are_enough_for_parallel_pulls() -> None:
    unset = load_text(HEAD + "serializeImagePulls: null\nmaxParallelImagePulls: 2\n")
    assert (unset.serialize_image_pulls, unset.max_parallel_image_pulls) == (False, 2)
