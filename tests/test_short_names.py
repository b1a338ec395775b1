"""Two pods of one name in two namespaces are two, wherever they are told of."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

import kubelet_emu
from kubelet_emu.cli.main import main
from kubelet_emu.embedding import blocking
from kubelet_emu.journal.records import NoteRecord, ObjectRef
from kubelet_emu.journal.short_names import ShortNames

if TYPE_CHECKING:
    from pathlib import Path

POD = """\
apiVersion: v1
kind: Pod
metadata: {{name: p, namespace: {namespace}}}
spec:
  restartPolicy: Never
  containers: [{{name: m, image: busybox, command: [sh, -c, "echo {namespace}; sleep {seconds}; exit {code}"]}}]
"""
TWO = f"{POD.format(namespace='a', seconds=2, code=0)}---\n{POD.format(namespace='b', seconds=5, code=3)}"


def test_the_first_namespace_has_the_plain_name() -> None:
    names = ShortNames()
    told = [names.label("Pod", namespace, "p") for namespace in ("a", "b", "a", "b")]
    assert told == ["p", "b/p", "p", "b/p"]
    assert names.label("Job", "b", "p") == "p"


def test_a_record_is_told_under_the_short_name() -> None:
    names = ShortNames()
    first, second = (
        NoteRecord(ref=ObjectRef(namespace=namespace, name="p", uid=namespace), text="x") for namespace in "ab"
    )
    assert names.told(first) is first
    assert names.told(second) == NoteRecord(ref=ObjectRef(namespace="b", name="b/p", uid="b"), text="x")
    nobody = NoteRecord(text="x")
    assert names.told(nobody) is nobody


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the log and the trace of two pods of one name."""
    folder = tmp_path_factory.mktemp("two")
    (folder / "two.yaml").write_text(TWO)
    log, trace = folder / "log", folder / "trace"
    words = ["run", "--runtime", "simulated", "--seed", "1", "--log", str(log), "--trace", str(trace)]
    ran = CliRunner().invoke(main, [*words, str(folder / "two.yaml")])
    (folder / "err").write_text(ran.stderr)
    (folder / "out").write_text(ran.stdout)
    return folder


def test_a_run_tells_them_apart(folder: Path) -> None:
    told = (folder / "err").read_text()
    assert "p/m exited 0 (Completed)\n" in told
    assert "b/p/m exited 3 (Error)\n" in told
    assert "\np  Succeeded\n" in told
    assert "\nb/p  Failed\n" in told
    assert [line.split()[0] for line in (folder / "out").read_text().splitlines()] == ["p", "b/p"]
    pods = {json.loads(line).get("pod") for line in (folder / "trace").read_text().splitlines()}
    assert pods - {None} == {"p", "b/p"}


@pytest.mark.parametrize("name", ["log", "trace"])
def test_what_is_asked_of_a_log_is_answered_for_each(folder: Path, name: str) -> None:
    why = CliRunner().invoke(main, ["why", str(folder / name)]).stdout
    assert "p: Succeeded" in why
    assert "b/p: Failed: m exited 3" in why
    verified = CliRunner().invoke(main, ["verify", str(folder / name), "-f", str(folder / "two.yaml")])
    assert "broken" not in verified.stdout, verified.stdout
    drawn = CliRunner().invoke(main, ["timeline", str(folder / name)]).stdout
    assert [line.split()[0] for line in drawn.splitlines() if "Running" in line] == ["p", "b/p"]


def test_a_node_tells_them_apart() -> None:
    with kubelet_emu.node() as node:
        first, second = (handle for handle in node.apply(TWO) if isinstance(handle, blocking.BlockingPod))
        assert (first.wait_for_end(), second.wait_for_end()) == ("Succeeded", "Failed")
        first.log.expect("exitcode(m) == 0")
        second.log.expect("exitcode(m) == 3")
