"""Arguments of the Python API that are of a wrong kind are told at once, by their names."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

import kubelet_emu
from kubelet_emu.embedding.options import NodeOptions
from kubelet_emu.images.mirrors import Mirror

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from kubelet_emu.embedding.blocking import BlockingNode, BlockingPod

POD = """\
apiVersion: v1
kind: Pod
metadata: {name: p}
spec:
  initContainers: [{name: side, image: app, restartPolicy: Always}]
  containers: [{name: main, image: app}]
"""
JOB = """\
apiVersion: batch/v1
kind: Job
metadata: {name: j}
spec: {template: {spec: {restartPolicy: Never, containers: [{name: work, image: app}]}}}
"""
OF_A_POD: list[tuple[str, Callable[[Any], object], type[Exception], str]] = [
    ("no text", lambda pod: pod.wait_for(3), TypeError, "moment is a text, not 3"),
    ("text for seconds", lambda pod: pod.wait_for("Ready", timeout="5"), TypeError, "timeout is a number of seconds"),
    ("below 0", lambda pod: pod.wait_for_end(timeout=-1), ValueError, "timeout is a number of seconds from 0 on"),
    ("not a number", lambda pod: pod.wait_for_end(timeout=float("nan")), ValueError, "from 0 on, not nan"),
    ("a negative grace", lambda pod: pod.delete(grace_period_seconds=-1), ValueError, "grace_period_seconds is"),
    ("half a second", lambda pod: pod.delete(grace_period_seconds=0.5), TypeError, "a whole number of seconds"),
    ("a boolean", lambda pod: pod.delete(grace_period_seconds=True), TypeError, "a whole number of seconds"),
    ("time of exec", lambda pod: pod.exec("main", "true", timeout="1"), TypeError, "timeout is a number"),
    ("a word of exec", lambda pod: pod.exec("main", 3), TypeError, "command is a text, not 3"),
    ("a signal", lambda pod: pod.kill("main", 9), TypeError, "signal is a text, not 9"),
    (
        "a container that isn't there",
        lambda pod: pod.wait_for("nosuch started"),
        LookupError,
        "p has no container 'nosuch'; it has side, main",
    ),
]


@pytest.fixture(scope="module")
def node() -> Iterator[BlockingNode]:
    """Give a node."""
    with kubelet_emu.node() as node:
        yield node


@pytest.fixture(scope="module")
def pod(node: BlockingNode) -> BlockingPod:
    """Give a pod that runs."""
    pod = node.run(POD)
    pod.wait_for("Ready")
    return pod


@pytest.mark.parametrize(("call", "error", "text"), [row[1:] for row in OF_A_POD], ids=[row[0] for row in OF_A_POD])
def test_what_a_pod_is_asked(
    pod: BlockingPod, call: Callable[[BlockingPod], object], error: type[Exception], text: str
) -> None:
    with pytest.raises(error) as raised:
        call(pod)
    assert text in str(raised.value)


def test_what_a_job_is_asked(node: BlockingNode) -> None:
    (job,) = node.apply(JOB)
    with pytest.raises(LookupError, match="j has no container 'nosuch'; it has work"):
        job.wait_for("nosuch started")
    waits: Any = job.wait_for
    with pytest.raises(TypeError, match="moment is a text, not None"):
        waits(None)
    assert job.wait_for("work exited(0)") > 0


def test_what_a_node_is_given(node: BlockingNode) -> None:
    wrong: Any = 3
    with pytest.raises(TypeError, match="manifest is a path or the text of one, not 3"):
        node.run(wrong)
    with pytest.raises(ValueError, match="seconds is a number of seconds from 0 on, not -1"):
        node.sleep(-1)
    with pytest.raises(TypeError, match="timeout is a number of seconds, not 'x'"):
        NodeOptions(timeout="x")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"^seed is a whole number, not 'x'$"):
        NodeOptions(seed="x")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"^kubernetes is a text, not 1\.36$"):
        NodeOptions(kubernetes=1.36)  # type: ignore[arg-type]


def test_a_folder_may_be_a_text(tmp_path: Path) -> None:
    (tmp_path / "pod.yaml").write_text(POD)
    (pod,) = kubelet_emu.load("pod.yaml", folder=str(tmp_path))
    assert pod.metadata.name == "p"


def test_mirrors_are_texts_as_on_the_command_line_or_a_file_of_containerds(tmp_path: Path) -> None:
    (tmp_path / "hosts.toml").write_text('server = "https://q.io"\n[host."https://m.io"]\ncolour = 1\n')
    assert NodeOptions(registry_mirrors=["cgr.dev=m.io/x"]).registry_mirrors == (
        Mirror(host="cgr.dev", target="m.io", prefix="x"),
    )
    with pytest.raises(ValueError, match="expected HOST=HOST2"):
        NodeOptions(registry_mirrors=["cgr.dev"])
    with pytest.raises(TypeError, match=r"registry_mirrors is a list of HOST=HOST2\[/PREFIX\], not 'cgr.dev=m.io'"):
        NodeOptions(registry_mirrors="cgr.dev=m.io")
    with kubelet_emu.node(registry_hosts="hosts.toml", folder=tmp_path, registry_mirrors=["cgr.dev=m.io"]) as node:
        node.sleep(1)
        told = "".join(node.log_lines())
    assert f"{tmp_path}/hosts.toml: https://m.io: colour is not known" in told
