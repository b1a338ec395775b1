"""A KubeletConfiguration file: read, checked as the kubelet checks it, with the kubelet's defaults.

Every field of the v1beta1 kind is accepted; one without effect here is named in a warning.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from attrs import field, frozen

from kubelet_emu.api import reasons_configuration, sysctls
from kubelet_emu.api.image_names import InvalidImageNameError, parse_image_name
from kubelet_emu.api.quantity import parse_quantity
from kubelet_emu.config.durations import parse_duration
from kubelet_emu.config.features import FeatureGates
from kubelet_emu.config.reading import ConfigurationError, RawConfiguration, read_configuration

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from kubelet_emu.manifests.problems import Problem

__all__ = ["ConfigurationError", "KubeletConfiguration", "ShutdownGracePeriodByPodPriority", "load", "load_text"]

_LONGEST_RESTART_PERIOD = 300.0
_POLICY, _ALLOWLIST = "imagePullCredentialsVerificationPolicy", "preloadedImagesVerificationAllowlist"
_VERIFICATION_GATE, _ALLOWLISTED = "KubeletEnsureSecretPulledImages", "NeverVerifyAllowlistedImages"
_VERIFICATION_POLICIES = ("NeverVerify", "NeverVerifyPreloadedImages", _ALLOWLISTED, "AlwaysVerify")


@frozen(kw_only=True)
class ShutdownGracePeriodByPodPriority:
    """How long pods of at least this priority get at a node's shutdown (KEP-2712)."""

    priority: int
    shutdown_grace_period_seconds: int


@frozen(kw_only=True)
class KubeletConfiguration:
    """What of a kubelet's configuration matters here, with the kubelet's defaults; lengths are seconds.

    `warnings` are what the user should know about the file. Source: kubelet.config.k8s.io/v1beta1, v1.36.
    """

    serialize_image_pulls: bool = True
    max_parallel_image_pulls: int | None = None
    registry_pull_qps: int = 5
    registry_burst: int = 10
    image_pull_credentials_verification_policy: str = "NeverVerifyPreloadedImages"
    preloaded_images_verification_allowlist: tuple[str, ...] = ()
    sync_frequency_seconds: float = 60.0
    runtime_request_timeout_seconds: float = 120.0
    max_container_restart_period_seconds: float | None = None
    shutdown_grace_period_seconds: float = 0.0
    shutdown_grace_period_critical_pods_seconds: float = 0.0
    shutdown_grace_period_by_pod_priority: tuple[ShutdownGracePeriodByPodPriority, ...] = ()
    container_log_max_size: str = "10Mi"
    container_log_max_files: int = 5
    event_record_qps: int = 50
    event_burst: int = 100
    max_pods: int = 110
    pod_pids_limit: int = -1
    cpu_cfs_quota: bool = True
    cluster_dns: tuple[str, ...] = ()
    cluster_domain: str = ""
    allowed_unsafe_sysctls: tuple[str, ...] = ()
    seccomp_default: bool = False
    eviction_hard: Mapping[str, str] = field(factory=dict)
    kube_reserved: Mapping[str, str] = field(factory=dict)
    system_reserved: Mapping[str, str] = field(factory=dict)
    feature_gates: FeatureGates = field(factory=FeatureGates)
    warnings: tuple[Problem, ...] = ()


def load(path: str) -> KubeletConfiguration:
    """Read a configuration file; ConfigurationError with every fault, also for a file that can't be read."""
    return _build(read_configuration(path, _read_bytes(path)))


def load_text(text: str, *, file: str = "kubelet-config.yaml") -> KubeletConfiguration:
    """Read a configuration from text; ConfigurationError with every fault."""
    return _build(read_configuration(file, text.encode("utf-8", "surrogatepass")))


def _read_bytes(path: str) -> bytes:
    try:
        return Path(path).read_bytes()
    except (OSError, ValueError) as error:
        raise ConfigurationError.unreadable(path, str(getattr(error, "strerror", "") or error)) from error


def _build(raw: RawConfiguration) -> KubeletConfiguration:
    _check(raw)
    raw.raise_errors()
    given = {key: convert(raw.values[key]) for key, (_, convert) in _FIELDS.items() if key in raw.values}
    arguments = {_FIELDS[key][0]: value for key, value in given.items() if value or key not in _UNSET_WHEN_ZERO}
    if "serializeImagePulls" not in raw.values and raw.number("maxParallelImagePulls", 0) > 1:
        arguments["serialize_image_pulls"] = False
    return KubeletConfiguration(**arguments, warnings=raw.warnings)  # type: ignore[arg-type]


def _same(value: object) -> object:
    return value


def _verification_policy(value: object) -> object:
    return value or _VERIFICATION_POLICIES[1]


def _seconds(value: object) -> float:
    return parse_duration(str(value))


def _texts(value: object) -> tuple[str, ...]:
    return tuple(str(each) for each in value) if isinstance(value, list) else ()


def _text_map(value: object) -> dict[str, str]:
    return {str(key): str(each) for key, each in value.items()} if isinstance(value, dict) else {}


def _gates(value: object) -> FeatureGates:
    return FeatureGates(overrides=dict(value) if isinstance(value, dict) else {})


def _by_priority(value: object) -> tuple[ShutdownGracePeriodByPodPriority, ...]:
    return tuple(
        ShutdownGracePeriodByPodPriority(
            priority=each.get("priority") or 0,
            shutdown_grace_period_seconds=each.get("shutdownGracePeriodSeconds") or 0,
        )
        for each in (value if isinstance(value, list) else ())
    )


_FIELDS: dict[str, tuple[str, Callable[[object], object]]] = {
    "serializeImagePulls": ("serialize_image_pulls", _same),
    "maxParallelImagePulls": ("max_parallel_image_pulls", _same),
    "registryPullQPS": ("registry_pull_qps", _same),
    "registryBurst": ("registry_burst", _same),
    "imagePullCredentialsVerificationPolicy": ("image_pull_credentials_verification_policy", _verification_policy),
    "preloadedImagesVerificationAllowlist": ("preloaded_images_verification_allowlist", _texts),
    "syncFrequency": ("sync_frequency_seconds", _seconds),
    "runtimeRequestTimeout": ("runtime_request_timeout_seconds", _seconds),
    "crashLoopBackOff.maxContainerRestartPeriod": ("max_container_restart_period_seconds", _seconds),
    "shutdownGracePeriod": ("shutdown_grace_period_seconds", _seconds),
    "shutdownGracePeriodCriticalPods": ("shutdown_grace_period_critical_pods_seconds", _seconds),
    "shutdownGracePeriodByPodPriority": ("shutdown_grace_period_by_pod_priority", _by_priority),
    "containerLogMaxSize": ("container_log_max_size", _same),
    "containerLogMaxFiles": ("container_log_max_files", _same),
    "eventRecordQPS": ("event_record_qps", _same),
    "eventBurst": ("event_burst", _same),
    "maxPods": ("max_pods", _same),
    "podPidsLimit": ("pod_pids_limit", _same),
    "cpuCFSQuota": ("cpu_cfs_quota", _same),
    "clusterDNS": ("cluster_dns", _texts),
    "clusterDomain": ("cluster_domain", _same),
    "allowedUnsafeSysctls": ("allowed_unsafe_sysctls", _texts),
    "seccompDefault": ("seccomp_default", _same),
    "evictionHard": ("eviction_hard", _text_map),
    "kubeReserved": ("kube_reserved", _text_map),
    "systemReserved": ("system_reserved", _text_map),
    "featureGates": ("feature_gates", _gates),
}


_UNSET_WHEN_ZERO = frozenset(
    {"registryBurst", "eventBurst", "maxPods", "syncFrequency", "runtimeRequestTimeout", "containerLogMaxSize"}
)
"""Fields whose zero value means the default. Source: kubelet v1.36 SetDefaults_KubeletConfiguration."""


def _check(raw: RawConfiguration) -> None:
    """Report what a kubelet refuses to start with. Source: kubelet v1.36 ValidateKubeletConfiguration."""
    _check_pulls(raw)
    _check_shutdown(raw)
    _check_restart_period(raw)
    _check_amounts(raw)
    if (value := raw.number("registryPullQPS", 0)) < 0:
        raw.refuse("registryPullQPS", reasons_configuration.REGISTRY_QPS_NEGATIVE.format(value=value))
    for name, flag in (
        ("registryBurst", "registry-burst"),
        ("eventBurst", "event-burst"),
    ):
        if (value := raw.number(name, 0)) < 0:
            raw.invalid(name, f"{name} (--{flag}) {value} must not be a negative number")
    if (value := raw.number("maxPods", 0)) < 0:
        raw.invalid("maxPods", f"maxPods (--max-pods) {value} must not be a negative number")
    if (value := raw.number("containerLogMaxFiles", 2)) < 2:
        raw.invalid("containerLogMaxFiles", f"containerLogMaxFiles {value} must be greater than 1")
    _check_verification(raw)
    _check_sysctls(raw)


def _check_sysctls(raw: RawConfiguration) -> None:
    """Report settings that can't be a pod's own (kubelet v1.36 sysctl NewAllowlist)."""
    for index, text in enumerate(_texts(raw.values.get("allowedUnsafeSysctls"))):
        at, name = f"allowedUnsafeSysctls[{index}]", sysctls.normalize_name(text)
        if len(text) > sysctls.LONGEST_NAME or not re.fullmatch(sysctls.PATTERN, text):
            raw.invalid(
                at,
                f'sysctl "{text}" must have at most {sysctls.LONGEST_NAME} characters and match regex'
                f" ^{sysctls.PATTERN}$",
            )
        elif not sysctls.namespaced_by(name.removesuffix("*")):
            kind = "sysctls" if name.endswith("*") else "sysctl"
            raw.invalid(at, f'the {kind} "{name}" are not known to be namespaced')


def _check_pulls(raw: RawConfiguration) -> None:
    if "maxParallelImagePulls" not in raw.values:
        return
    value = raw.number("maxParallelImagePulls", 1)
    is_serial = raw.values.get("serializeImagePulls") is True
    if value < 1:
        raw.refuse("maxParallelImagePulls", reasons_configuration.PARALLEL_PULLS_NOT_POSITIVE.format(value=value))
    elif value > 1 and is_serial:
        raw.refuse("maxParallelImagePulls", reasons_configuration.SERIAL_WITH_PARALLEL)


def _check_verification(raw: RawConfiguration) -> None:
    """Check who may use images that are there (KEP-2535)."""
    policy, allowlist = raw.values.get(_POLICY), _texts(raw.values.get(_ALLOWLIST))
    gates = raw.values.get("featureGates")
    is_off = isinstance(gates, dict) and gates.get(_VERIFICATION_GATE) is False
    for name in (_POLICY, _ALLOWLIST):
        if is_off and raw.values.get(name):
            raw.invalid(name, f"`{name}` must not be set if `{_VERIFICATION_GATE}` feature gate is not enabled")
    if policy not in (None, "", *_VERIFICATION_POLICIES):
        raw.invalid(_POLICY, f"{policy!r} is not one of {', '.join(_VERIFICATION_POLICIES)}")
    elif allowlist and policy != _ALLOWLISTED:
        raw.invalid(_ALLOWLIST, f'can\'t set `{_ALLOWLIST}` if `{_POLICY}` is not "{_ALLOWLISTED}"')
    for index, pattern in enumerate(allowlist):
        if fault := _pattern_fault(pattern):
            raw.invalid(f"{_ALLOWLIST}[{index}]", f"{pattern!r}: {fault}")


def _pattern_fault(pattern: str) -> str:
    """Return why a pattern can't be one of images, empty where it can."""
    if "*" in pattern.removesuffix("/*"):
        return "a wildcard stands only at the end, as /*"
    try:
        name = parse_image_name(pattern.removesuffix("/*"))
    except InvalidImageNameError as error:
        return str(error)
    return "a tag or a digest has no place in it" if name.tag or name.digest else ""


def _check_shutdown(raw: RawConfiguration) -> None:
    whole, critical = raw.seconds("shutdownGracePeriod"), raw.seconds("shutdownGracePeriodCriticalPods")
    if critical > whole:
        raw.invalid("shutdownGracePeriodCriticalPods", "shutdownGracePeriodCriticalPods must be <= shutdownGracePeriod")
    for name, seconds in (("shutdownGracePeriod", whole), ("shutdownGracePeriodCriticalPods", critical)):
        if seconds < 0 or 0 < seconds < 1:
            raw.invalid(name, f"{name} must be either zero or otherwise >= 1 sec")
    name = "shutdownGracePeriodByPodPriority"
    entries = raw.values.get(name)
    if entries and (whole or critical):
        raw.invalid(name, f"cannot specify both {name} and shutdownGracePeriod or shutdownGracePeriodCriticalPods")
    for index, entry in enumerate(entries if isinstance(entries, list) else ()):
        if not _is_priority_entry(entry):
            raw.report(
                f"{name}[{index}]", "Wrong type", "priority and shutdownGracePeriodSeconds, whole numbers, are needed"
            )


def _is_priority_entry(entry: object) -> bool:
    names = {"priority", "shutdownGracePeriodSeconds"}
    if not isinstance(entry, dict) or not set(entry) <= names:
        return False
    return all(isinstance(each, int) and not isinstance(each, bool) for each in entry.values())


def _check_amounts(raw: RawConfiguration) -> None:
    """Report reservations and thresholds that are no amounts.

    Source: kubelet v1.36 parseResourceList, ParseThresholdConfig.
    """
    for name in ("kubeReserved", "systemReserved", "evictionHard"):
        for key, text in _text_map(raw.values.get(name)).items():
            is_share = name == "evictionHard" and text.endswith("%")
            if not _is_amount(text.removesuffix("%") if is_share else text):
                raw.invalid(name, f"{key}: {text!r} is no amount such as 100Mi")


def _is_amount(text: str) -> bool:
    try:
        return parse_quantity(text) >= 0
    except ValueError:
        return False


def _check_restart_period(raw: RawConfiguration) -> None:
    name = "crashLoopBackOff.maxContainerRestartPeriod"
    if name not in raw.values:
        return
    seconds = raw.seconds(name)
    if not 1 <= seconds <= _LONGEST_RESTART_PERIOD:
        text = f"CrashLoopBackOff.MaxContainerRestartPeriod (got: {seconds:g} seconds) must be set between 1s and 300s"
        raw.invalid(name, text)
