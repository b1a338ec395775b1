"""All rules with their codes. A code never gets another meaning; a rule that is given up keeps its code unused."""

from __future__ import annotations

from kubelet_emu.lifecycle.verification import back_off, node, outcomes, restarts, signals, starts, stop_order
from kubelet_emu.lifecycle.verification.verdicts import Rule, each_pod

ORDERED_STOP_SINCE = 29

RULES: tuple[Rule, ...] = (
    Rule(
        code="KE101",
        title="init containers run one after another",
        source="kubelet computeInitContainerActions",
        judge=each_pod(starts.init_order),
        needs_kinds=True,
    ),
    Rule(
        code="KE102",
        title="a sidecar starts before what follows it",
        source="KEP-753",
        judge=each_pod(starts.sidecar_first),
        needs_kinds=True,
    ),
    Rule(
        code="KE103",
        title="what follows a sidecar waits for its startup probe",
        source="KEP-753",
        judge=each_pod(starts.startup_gate),
        needs_kinds=True,
    ),
    Rule(
        code="KE104",
        title="nothing starts while a postStart hook runs",
        source="kubelet startContainer",
        judge=each_pod(starts.post_start_gate),
        needs_kinds=True,
    ),
    Rule(
        code="KE105",
        title="no main starts before the pod is initialized",
        source="kubelet computePodActions",
        judge=each_pod(starts.main_after_init),
        needs_kinds=True,
    ),
    Rule(
        code="KE201",
        title="the preStop hook runs before the stop signal",
        source="kubelet killContainer",
        judge=each_pod(signals.pre_stop_first),
        needs_kinds=True,
    ),
    Rule(
        code="KE202",
        title="SIGKILL is not early",
        source="kubelet killContainer",
        judge=each_pod(signals.kill_not_early),
    ),
    Rule(
        code="KE203",
        title="SIGKILL is not late",
        source="kubelet killContainer",
        judge=each_pod(signals.kill_not_late),
    ),
    Rule(
        code="KE204",
        title="the stop call gives what is left of the grace",
        source="kubelet killContainer",
        judge=each_pod(signals.stop_timeout),
    ),
    Rule(
        code="KE205",
        title="sidecars stop last and in reverse order",
        source="KEP-753",
        judge=each_pod(stop_order.sidecars_in_turn),
        since=ORDERED_STOP_SINCE,
        needs_kinds=True,
    ),
    Rule(
        code="KE206",
        title="when the grace is spent, all are signalled at once",
        source="kubelet waitForTurn",
        judge=each_pod(stop_order.all_at_once),
        since=ORDERED_STOP_SINCE,
        needs_kinds=True,
    ),
    Rule(
        code="KE207",
        title="sidecars of a finished pod stop after its mains",
        source="KEP-753",
        judge=each_pod(stop_order.mains_end_first),
        needs_kinds=True,
    ),
    Rule(
        code="KE208",
        title="nothing starts once the pod is terminating",
        source="kubelet pod worker",
        judge=each_pod(stop_order.nothing_starts),
    ),
    Rule(
        code="KE301",
        title="only what may run again is restarted",
        source="kubelet ShouldContainerBeRestarted",
        judge=each_pod(restarts.may_restart),
        needs_kinds=True,
    ),
    Rule(
        code="KE302",
        title="restarts wait for the crash-loop back-off",
        source="kubelet doBackOff",
        judge=each_pod(back_off.back_off),
    ),
    Rule(
        code="KE303",
        title="a container has one run at a time",
        source="kubelet SyncPod",
        judge=each_pod(restarts.one_run_at_a_time),
    ),
    Rule(
        code="KE304",
        title="restartCount never falls",
        source="kubelet startContainer",
        judge=each_pod(restarts.restart_count_rises),
    ),
    Rule(
        code="KE305",
        title="no more images are pulled at a time than configured",
        source="kubelet image puller",
        judge=node.parallel_pulls,
    ),
    Rule(
        code="KE401",
        title="a pod's phase is decided by its mains",
        source="KEP-753, kubelet getPhase",
        judge=each_pod(outcomes.pod_by_mains),
        needs_kinds=True,
    ),
    Rule(
        code="KE402",
        title="a Job's verdict is decided by its pods' mains",
        source="KEP-753, Job controller",
        judge=outcomes.job_by_mains,
        needs_kinds=True,
    ),
)
