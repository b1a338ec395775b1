"""A node inside a program: blocking and in Trio, in virtual time."""

from __future__ import annotations

import json
import random
import signal
import stat
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
import trio

import kubelet_emu
from kubelet_emu.config.features import FeatureGates
from kubelet_emu.embedding.blocking import BlockingJob, BlockingNode, BlockingPod
from kubelet_emu.embedding.manifests import read_manifests
from kubelet_emu.embedding.options import NodeOptions
from kubelet_emu.embedding.pod_log import PodLog, told
from kubelet_emu.manifests.safety import SafetyPolicy
from kubelet_emu.simulation.values import FailCalls, ImageEntry, PullEnd, Simulation
from runtime.api import RuntimeUnavailableError

if TYPE_CHECKING:
    from pathlib import Path

POD = """\
apiVersion: v1
kind: Pod
metadata: {name: web}
spec:
  terminationGracePeriodSeconds: 7
  initContainers:
  - {name: setup, image: busybox, command: [sh, -c, "echo hello; sleep 3"]}
  - name: sidecar
    image: busybox
    restartPolicy: Always
    command: [sh, -c, "trap 'echo bye; exit 0' TERM; while :; do sleep 1; done"]
  containers:
  - {name: main, image: busybox, command: [sh, -c, "trap 'exit 0' TERM; sleep 100 & wait"]}
"""
JOB = """\
apiVersion: batch/v1
kind: Job
metadata: {name: work}
spec:
  backoffLimit: 0
  template:
    spec:
      restartPolicy: Never
      containers:
      - {name: main, image: busybox, command: [sh, -c, "sleep 2; exit %d"]}
"""
CRASHES = """\
apiVersion: v1
kind: Pod
metadata: {name: crash}
spec:
  containers:
  - {name: main, image: busybox, command: [sh, -c, "exit 3"]}
"""
MISSING = """\
apiVersion: v1
kind: Pod
metadata: {name: waits}
spec:
  containers:
  - {name: main, image: busybox, envFrom: [{configMapRef: {name: none}}]}
"""


def test_a_pod_is_run_deleted_and_asked() -> None:
    with kubelet_emu.node() as node:
        pod = node.run(POD)
        ready_at = pod.wait_for("Ready")
        pod.delete(grace_period_seconds=5)
        log = pod.log
    assert 3 < ready_at < 6
    assert log.order("setup exited(0)", "sidecar started", "main started")
    assert log.order("main sigterm", "sidecar sigterm")
    assert log.lines("setup") == ("hello",)
    assert log.lines("sidecar", run=1) == ("bye",)
    assert log.events()[0] == "Scheduled Successfully assigned default/web to node1"
    assert log.seconds >= ready_at


def test_virtual_time_stands_still_between_calls() -> None:
    with kubelet_emu.node() as node:
        pod = node.run(POD)
        at = pod.wait_for("Ready")
        assert pod.log.seconds == pytest.approx(at)
        node.sleep(10)
        assert pod.phase == "Running"
        assert pod.exec("main", "echo", "hello") == (0, "hello\n")


def test_an_answer_that_is_no_says_why_and_what_happened() -> None:
    with kubelet_emu.node() as node:
        pod = node.run(POD)
        pod.wait_for("Ready")
        answer = pod.log.order("main started", "setup exited(0)")
        assert node.failures == (answer,)
    assert not answer
    assert repr(answer).startswith("<main started < setup exited(0): does not hold: main#1 started at")
    assert "what happened to web" in str(answer)
    assert "setup#1 exited(0)" in str(answer)


def test_an_answer_that_is_yes_is_one_line() -> None:
    with kubelet_emu.node() as node:
        pod = node.run(POD)
        pod.wait_for("Ready")
        answer = pod.log.holds("phase == Running")
        assert node.failures == ()
    assert answer
    assert str(answer).startswith("phase == Running: ")


def test_expect_names_each_expectation_that_does_not_hold() -> None:
    with kubelet_emu.node() as node:
        pod = node.run(POD)
        pod.wait_for("Ready")
        with pytest.raises(AssertionError, match=r"phase == Failed\n  does not hold(.|\n)*restarts\(main\) == 2"):
            pod.log.expect("phase == Failed", "phase == Running", "restarts(main) == 2")


@pytest.mark.parametrize(
    ("moment", "text"),
    [
        ("main exited(9)", r"main exited\(9\): did not come in 30 s\n  what happened to web:"),
        ("pod phase(Failed)", r"pod phase\(Failed\): did not come in 30 s"),
    ],
)
def test_a_moment_that_does_not_come_in_time_is_an_error(moment: str, text: str) -> None:
    with kubelet_emu.node(timeout=30) as node, pytest.raises(kubelet_emu.WaitError, match=text):
        node.run(POD).wait_for(moment)


def test_a_moment_that_cant_come_any_more_is_told_at_once() -> None:
    with kubelet_emu.node() as node:
        pod = node.run(POD)
        pod.wait_for("Ready")
        pod.delete()
        with pytest.raises(kubelet_emu.WaitError, match="can't come any more"):
            pod.wait_for("main exited(9)")
        assert pod.status is None
        pod.delete()


def test_a_word_that_is_no_moment_is_refused() -> None:
    with kubelet_emu.node() as node, pytest.raises(ValueError, match="did you mean 'Ready'"):
        node.run(POD).wait_for("Redy")


def test_a_crash_loop_of_half_an_hour_is_waited_for() -> None:
    with kubelet_emu.node() as node:
        pod = node.run(CRASHES)
        at = pod.wait_for("main#8 started")
        assert pod.wait_for("main waiting(CrashLoopBackOff)") < at
    assert at > 600


@pytest.mark.parametrize(("code", "verdict"), [(0, "Complete"), (1, "Failed")])
def test_a_job_has_its_verdict(code: int, verdict: str) -> None:
    with kubelet_emu.node() as node:
        (job,) = node.apply(JOB % code)
        assert isinstance(job, BlockingJob)
        assert job.wait_for_end() == verdict
        assert job.wait_for(verdict) > 2
        assert [pod.wait_for_end() for pod in job.pods] == ["Succeeded" if code == 0 else "Failed"]
        assert job.name == node.job("work").name == "work"
        job.delete()
        job.wait_for("deleted")
        assert job.wait_for_end() == verdict


def test_run_gives_the_first_pod_of_a_job() -> None:
    with kubelet_emu.node() as node:
        pod = node.run(JOB % 0)
        assert isinstance(pod, BlockingPod)
        assert pod.name.startswith("work-")
        assert pod.namespace == "default"
        assert pod.wait_for_end() == "Succeeded"
        assert [each.name for each in node.pods] == [pod.name]
        assert node.pod(pod.name).phase == "Succeeded"


def test_run_to_the_end_in_one_call() -> None:
    (log,) = kubelet_emu.run(JOB % 0)
    assert isinstance(log, PodLog)
    log.expect("phase == Succeeded")
    assert log.order("main exited(0)", "job condition(Complete=True)")


def test_a_signal_from_outside_ends_a_container() -> None:
    with kubelet_emu.node() as node:
        pod = node.run(POD)
        pod.wait_for("Ready")
        pod.kill("main")
        pod.wait_for("main exited(137)")
        pod.wait_for("main#2 started")


def test_a_container_that_does_not_run_takes_no_command() -> None:
    with kubelet_emu.node() as node:
        pod = node.run(POD)
        pod.wait_for("Ready")
        with pytest.raises(LookupError, match="container 'setup' of pod 'web' does not run"):
            pod.exec("setup", "true")


def test_unknown_names_say_which_there_are() -> None:
    with kubelet_emu.node() as node:
        node.run(POD)
        with pytest.raises(LookupError, match="no pod 'wep'; there are web"):
            node.pod("wep")
        with pytest.raises(LookupError, match="no Job 'x' in namespace 'default'"):
            node.job("x")


@pytest.mark.parametrize(
    ("manifest", "text"),
    [
        ("kind: Pod\napiVersion: v1\nmetadata: {name: a}\nspec: {containerz: []}\n", "containers"),
        (
            POD + "---\n" + CRASHES,
            "one Pod or Job is taken at a time, and this has 2: Pod default/web, Pod default/crash",
        ),
        ("# nothing\n", "no document"),
        ("apiVersion: v1\nkind: Namespace\nmetadata: {name: s}\n", "nothing to run"),
        ("no-such-file.yaml", "no-such-file.yaml"),
    ],
)
def test_a_manifest_that_cant_be_run_is_an_error_that_names_the_fault(manifest: str, text: str) -> None:
    with kubelet_emu.node() as node, pytest.raises(kubelet_emu.ManifestError, match=text):
        node.run(manifest)


def test_a_manifest_that_would_reach_the_machine_is_refused_on_an_engine_alone() -> None:
    shared = CRASHES.replace("containers:", "hostNetwork: true\n  containers:")
    rng = random.Random(1)  # noqa: S311 - names
    with pytest.raises(kubelet_emu.ManifestError, match="--allow-host-namespaces allows it"):
        read_manifests(shared, NodeOptions(runtime="docker"), FeatureGates(), rng)
    allowed = NodeOptions(runtime="docker", safety=SafetyPolicy(allow_host_namespaces=True))
    for options in (allowed, NodeOptions()):
        assert len(read_manifests(shared, options, FeatureGates(), rng).runnables) == 1


def test_objects_that_pods_refer_to_are_made_first(tmp_path: Path) -> None:
    (tmp_path / "pod.yaml").write_text(MISSING)
    (tmp_path / "map.yaml").write_text("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: none}\ndata: {a: b}\n")
    with kubelet_emu.node(folder=tmp_path) as node:
        waiting = node.run("pod.yaml")
        waiting.wait_for("main waiting(CreateContainerConfigError)")
        assert node.apply("map.yaml") == ()
        waiting.wait_for("main started")


def test_load_gives_objects_with_their_defaults() -> None:
    (pod,) = kubelet_emu.load(POD)
    assert pod.kind == "Pod"
    assert pod.metadata.name == "web"


def test_a_log_is_written_as_a_trace(tmp_path: Path) -> None:
    with kubelet_emu.node() as node:
        pod = node.run(POD)
        pod.wait_for("Ready")
        pod.log.write(tmp_path / "trace.jsonl")
    records = [json.loads(line) for line in (tmp_path / "trace.jsonl").read_text().splitlines()]
    assert {"status", "event", "run"} <= {record["kind"] for record in records}
    assert records[0]["t"] == 0
    assert stat.S_IMODE((tmp_path / "trace.jsonl").stat().st_mode) == 0o600


def test_a_closed_node_takes_no_call() -> None:
    node = kubelet_emu.node()
    pod = node.run(POD)
    node.close()
    node.close()
    with pytest.raises(RuntimeError, match="the node is closed"):
        pod.wait_for("Ready")
    unused = kubelet_emu.node()
    unused.close()
    assert unused.failures == ()
    with pytest.raises(RuntimeError, match="the node is closed"):
        unused.run(POD)


def test_without_an_engine_the_error_is_the_runtimes(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/none.sock")
    with pytest.raises(RuntimeUnavailableError), BlockingNode(NodeOptions(runtime="docker")):
        pass


async def test_in_a_trio_program_the_calls_are_awaited(autojump_clock: trio.testing.MockClock) -> None:
    async with kubelet_emu.open_node() as node:
        pod = await node.run(POD)
        await pod.wait_for("Ready")
        assert await pod.exec("main", "echo", "x") == (0, "x\n")
        await pod.kill("main", "SIGTERM")
        await pod.wait_for("main#2 started")
        await pod.delete(wait=False)
        assert await pod.wait_for_end() in {"Succeeded", "Failed"}
        await pod.wait_for("deleted")
        pod.log.expect("main#2 sigterm < sidecar sigterm")


async def test_an_interrupt_of_any_task_comes_in_no_group(autojump_clock: trio.testing.MockClock) -> None:
    async def interrupted() -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        async with kubelet_emu.open_node(), trio.open_nursery() as nursery:
            nursery.start_soon(interrupted)


async def test_an_interrupt_with_another_error_hides_nothing(autojump_clock: trio.testing.MockClock) -> None:
    with pytest.raises(BaseExceptionGroup) as raised:
        async with kubelet_emu.open_node():
            raise BaseExceptionGroup("both", [KeyboardInterrupt(), ValueError("mine")])
    assert raised.group_contains(ValueError, match="mine")


def test_what_a_simulation_says_of_images_and_of_faults_holds() -> None:
    images = {"busybox": ImageEntry(pulls=(PullEnd.NOT_FOUND, PullEnd.OK))}
    simulation = Simulation(images=images, faults=(FailCalls(call="RunPodSandbox", error="no room", times=1),))
    with BlockingNode(NodeOptions(simulation=simulation)) as node:
        pod = node.run(POD)
        pod.wait_for("setup waiting(ErrImagePull)")
        assert "no room" in pod.log.story()
        pod.wait_for("Ready")


async def test_two_nodes_of_one_seed_tell_the_same(autojump_clock: trio.testing.MockClock) -> None:
    logs = []
    for _ in range(2):
        async with kubelet_emu.open_node(seed=7) as node:
            pod = await node.run(POD)
            await pod.wait_for("Ready")
            logs.append(pod.log.records)
    assert logs[0] == logs[1]


def test_a_long_story_shows_its_beginning_and_its_end() -> None:
    records = tuple(
        {"t": float(n), "kind": "run", "pod": "p", "container": "c", "run": n, "what": "start"} for n in range(1, 101)
    )
    lines = PodLog(name="p", records=records).story().splitlines()
    assert lines[0].endswith("c#1 started")
    assert lines[30].strip() == "... 40 more ..."
    assert lines[-1].endswith("c#100 started")
    assert told("p", "") == "  what happened to p:\n    nothing"


def test_importing_the_package_imports_no_other() -> None:
    code = (
        "import sys, kubelet_emu;"
        "print(sorted({'attr', 'click', 'docker', 'runtime', 'structlog', 'trio', 'yaml'} & set(sys.modules)));"
        "print(dir(kubelet_emu) == sorted(kubelet_emu.__all__))"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.splitlines() == ["[]", "True"]


def test_a_name_that_there_is_not_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        _ = kubelet_emu.nothing  # type: ignore[attr-defined]


def test_what_is_not_known_has_the_defaults_of_a_simulated_run() -> None:
    manifest = """
apiVersion: v1
kind: Pod
metadata:
  name: app
  annotations: {simulate.kubelet-emu/main: "{seconds: 2, exit: 4}"}
spec:
  restartPolicy: Never
  initContainers: [{name: setup, image: "example.com/setup:1"}]
  containers: [{name: main, image: "example.com/app:1"}]
"""
    [log] = kubelet_emu.run(manifest)
    assert log.order("setup exited(0)", "main started", "main exited(4)")


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"runtime": "dokcer"}, "'runtime' must be in .*'simulated', 'docker'.*got 'dokcer'"),
        ({"timing": "slow"}, "'timing' must be in .*'fast', 'kubelet'"),
        ({"kubernetes": "1.12"}, "version '1.12' is not one of"),
    ],
)
def test_a_word_that_no_option_has_is_refused(options: dict[str, str], text: str) -> None:
    with pytest.raises(ValueError, match=text):
        kubelet_emu.node(**options)  # type: ignore[arg-type]


def test_a_manifest_without_a_name_is_refused() -> None:
    with pytest.raises(kubelet_emu.ManifestError, match="no manifest is named"):
        kubelet_emu.load("")


def test_ctrl_c_ends_a_wait_and_the_node() -> None:
    old = signal.signal(signal.SIGALRM, signal.default_int_handler)
    signal.setitimer(signal.ITIMER_REAL, 0.2)  # as an interrupt does, it comes while the thread of the node is at work
    try:
        with pytest.raises(KeyboardInterrupt), kubelet_emu.node(timeout=1e9) as node:
            node.run(POD).wait_for("deleted")
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, old)
    with pytest.raises(RuntimeError, match="the node is closed"):
        node.run(POD)
