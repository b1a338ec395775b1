"""Restart decisions and sandboxes, where the decision tables say nothing (kubelet v1.36)."""

from __future__ import annotations

import pytest
from pod_makers import a_container, a_pod, a_sandbox, exited, gates, seen

from kubelet_emu.api.v1 import ContainerRestartRule, ContainerRestartRuleOnExitCodes
from kubelet_emu.api.v1_status import PodStatus
from kubelet_emu.rules.restart import should_all_containers_restart
from kubelet_emu.rules.restart_policy import (
    all_containers_could_restart,
    container_should_restart,
    find_matching_container_restart_rule,
)
from kubelet_emu.rules.sandbox import SandboxChange, pod_sandbox_changed
from runtime.api import NamespaceMode, SandboxID

WITHOUT_CODES = ContainerRestartRule(action="Restart")
RESTART_ALL = ContainerRestartRule(
    action="RestartAllContainers", exit_codes=ContainerRestartRuleOnExitCodes(operator="In", values=(42,))
)


def test_a_rule_without_exit_codes_is_skipped() -> None:
    container = a_container("c", restart_policy="Never", restart_policy_rules=(WITHOUT_CODES, RESTART_ALL))
    assert find_matching_container_restart_rule(container, 42) is RESTART_ALL
    assert find_matching_container_restart_rule(container, 1) is None


@pytest.mark.parametrize(("policy", "restarts"), [("Never", False), ("OnFailure", True)])
def test_without_the_gate_a_rule_for_all_containers_leaves_it_to_the_policy(policy: str, *, restarts: bool) -> None:
    container = a_container("c", restart_policy=policy, restart_policy_rules=(RESTART_ALL,))
    off = gates(RestartAllContainersOnContainerExits=False)
    assert container_should_restart(container, a_pod(), 42, off) is restarts


def test_a_pod_without_a_policy_restarts_always() -> None:
    assert container_should_restart(a_container("c"), a_pod(restart_policy=None), 0, gates())


def test_the_trigger_does_not_ask_for_the_containers_policy() -> None:
    pod = a_pod(a_container("c", restart_policy_rules=(RESTART_ALL,)))
    assert should_all_containers_restart(pod, seen(exited("c", 42)), PodStatus())
    assert not should_all_containers_restart(pod, seen(exited("c", 41)), PodStatus())
    assert not should_all_containers_restart(pod, seen(), PodStatus())


def test_both_gates_are_needed_to_restart_all_containers() -> None:
    pod = a_pod(a_container("c", restart_policy="Never", restart_policy_rules=(RESTART_ALL,)))
    assert all_containers_could_restart(pod, gates())
    assert not all_containers_could_restart(pod, gates(ContainerRestartRules=False))
    assert not all_containers_could_restart(pod, gates(RestartAllContainersOnContainerExits=False))
    assert not all_containers_could_restart(a_pod(a_container("c")), gates())


def test_the_newest_sandbox_decides_even_when_an_older_one_is_ready() -> None:
    observed = seen(sandboxes=[a_sandbox(1, ready=False), a_sandbox()])
    change = SandboxChange(changed=True, attempt=2, sandbox_id=SandboxID("sandbox-1"))
    assert pod_sandbox_changed(a_pod(), observed) == change


def test_a_pod_that_left_the_nodes_network_needs_a_new_sandbox_and_forgets_the_old_one() -> None:
    observed = seen(sandboxes=[a_sandbox(ip="", network=NamespaceMode.NODE)])
    assert pod_sandbox_changed(a_pod(), observed) == SandboxChange(changed=True, attempt=1, sandbox_id=None)
    assert not pod_sandbox_changed(a_pod(host_network=True), observed).changed
