"""How options are read: moments, capacities, lists, labels."""

from __future__ import annotations

import re
from contextlib import nullcontext
from pathlib import Path

import pytest
from click.testing import CliRunner
from journal_makers import accepted, container, end, entries, running, start, status

from kubelet_emu.api.batch_v1 import Job, JobSpec
from kubelet_emu.api.meta import ObjectMeta
from kubelet_emu.api.v1 import Container, Pod, PodSpec, PodTemplateSpec
from kubelet_emu.cli.exit_status import FailOn
from kubelet_emu.cli.main import main
from kubelet_emu.cli.options import NodeCapacity, read_address, read_fail_on, read_label, read_node_name
from kubelet_emu.cli.triggers import Trigger
from kubelet_emu.embedding.instances import SYSTEM_ROOT, Instance, default_root, new_instance_id
from kubelet_emu.journal.fold import facts_of
from kubelet_emu.journal.records import ManifestRecord, ObjectRef, Record

MOMENTS = {
    "ready": Trigger(what="ready"),
    "running+2": Trigger(what="running", plus=2),
    "12": Trigger(seconds=12),
    "1.5s": Trigger(seconds=1.5),
    "main started": Trigger(what="started", name="main"),
    "web/main exited + 0.5": Trigger(what="exited", name="web/main", plus=0.5),
    " main ready ": Trigger(what="ready", name="main"),
}


@pytest.mark.parametrize(("text", "expected"), MOMENTS.items(), ids=MOMENTS.keys())
def test_a_moment_is_read(text: str, expected: Trigger) -> None:
    assert Trigger.parse(text) == expected


@pytest.mark.parametrize("text", ["", "soon", "main", "main stopped", "two words ready", "+3", "-1", "ready+x"])
def test_what_is_no_moment_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is no moment"):
        Trigger.parse(text)


CREATED = accepted(containers=[container("main")])
OTHER = ObjectRef(namespace="default", name="other", uid="uid-2")
BOTH = (CREATED, accepted(containers=[container("side")], ref=OTHER))
COME: dict[str, tuple[str, tuple[Record, ...], bool]] = {
    "seconds alone": ("3", (), True),
    "ready without pods": ("ready", (), False),
    "all pods ready": ("ready", (CREATED, status(1, "Running", ready=True)), True),
    "one of two pods ready": ("ready", (*BOTH, status(1, "Running", ready=True)), False),
    "one pod pending": ("running", (*BOTH, status(1, "Running")), False),
    "all pods running or beyond": ("running", (*BOTH, status(1, "Running"), status(1, "Succeeded", ref=OTHER)), True),
    "a container that started": ("main started", (CREATED, start(1, "main")), True),
    "a container that didn't": ("main started", (CREATED,), False),
    "a container that nobody has": ("nobody started", (CREATED, start(1, "main")), False),
    "a container that exited": ("main exited", (CREATED, start(1, "main"), end(2, "main")), True),
    "a container that runs": ("main exited", (CREATED, start(1, "main")), False),
    "a container that was ready": (
        "main ready",
        (CREATED, status(1, "Running", running("main")), status(2, "Running", running("main", ready=False))),
        True,
    ),
    "a container of this pod": ("web/main started", (CREATED, start(1, "main")), True),
    "a container of another pod": ("other/main started", (CREATED, start(1, "main")), False),
}


@pytest.mark.parametrize(("text", "records", "expected"), COME.values(), ids=COME.keys())
def test_whether_a_moment_has_come(text: str, records: tuple[Record, ...], expected: bool) -> None:  # noqa: FBT001 - a table's column
    assert Trigger.parse(text).has_come(facts_of(entries(records))) is expected


JOB = ObjectRef(namespace="default", name="migrate", uid="job-1", kind="Job")
OF_JOB = accepted(containers=[container("main")])
OF_JOB.manifest["metadata"] = {"ownerReferences": [{"uid": "job-1", "controller": True}]}  # type: ignore[index]


@pytest.mark.parametrize(("name", "expected"), [("migrate/main", True), ("other/main", False), ("web/main", True)])
def test_a_pod_of_a_job_is_found_by_the_jobs_name(name: str, expected: bool) -> None:  # noqa: FBT001 - a table's column
    records = (ManifestRecord(ref=JOB, manifest={"kind": "Job"}), OF_JOB, start(0, "main"))
    assert Trigger.parse(f"{name} started").has_come(facts_of(entries(records))) is expected


A_POD = Pod(
    metadata=ObjectMeta(name="web"),
    spec=PodSpec(init_containers=(Container(name="init"),), containers=(Container(name="main"),)),
)
A_JOB = Job(
    metadata=ObjectMeta(name="migrate"),
    spec=JobSpec(template=PodTemplateSpec(spec=PodSpec(containers=(Container(name="work"),)))),
)
NAMED = {
    "all pods": ("ready", (A_POD,), ""),
    "a container": ("main started", (A_POD,), ""),
    "an init container of one pod": ("web/init exited", (A_POD, A_JOB), ""),
    "a Job's": ("migrate/work exited", (A_POD, A_JOB), ""),
    "a typo": ("mian exited", (A_POD,), "no pod has a container 'mian'; there are init, main"),
    "a typo with two pods": (
        "mian exited",
        (A_POD, A_JOB),
        "no pod has a container 'mian'; there are web/init, web/main, migrate/work",
    ),
    "another pod's": ("migrate/main exited", (A_JOB,), "no pod has a container 'migrate/main'; there are migrate/work"),
}


@pytest.mark.parametrize(("text", "runnables", "error"), NAMED.values(), ids=NAMED.keys())
def test_a_moment_names_what_there_is(text: str, runnables: tuple[Pod | Job, ...], error: str) -> None:
    with pytest.raises(ValueError, match=re.escape(error)) if error else nullcontext():
        Trigger.parse(text).check(runnables)


def test_a_capacity_is_read() -> None:
    assert NodeCapacity.parse("cpu=1500m, memory=2Gi,pods=20,ephemeral-storage=1G") == NodeCapacity(
        milli_cpu=1500, memory_bytes=2 * 1024**3, max_pods=20, ephemeral_storage_bytes=10**9
    )
    assert NodeCapacity.parse("cpu=2") == NodeCapacity(milli_cpu=2000)


WRONG = {
    "an unknown capacity": (NodeCapacity.parse, "gpu=1", "'gpu=1' is no capacity"),
    "a capacity without a value": (NodeCapacity.parse, "cpu", "'cpu' is no capacity"),
    "a capacity that is no quantity": (NodeCapacity.parse, "cpu=x", "'x' is not a quantity"),
    "a negative capacity": (NodeCapacity.parse, "cpu=-1", "less than nothing"),
    "an unknown thing to fail on": (read_fail_on, "killed,tired", "'tired' is not one of killed, restarted, warning"),
    "a label without a value": (read_label, "zone", "is not KEY=VALUE"),
    "a label without a key": (read_label, "=a", "is not KEY=VALUE"),
    "a node name in capitals": (read_node_name, "Node1", "is no node name"),
    "a host name to publish at": (read_address, "localhost", "is no IP address"),
}


@pytest.mark.parametrize(("read", "text", "message"), WRONG.values(), ids=WRONG.keys())
def test_a_wrong_word_is_explained(read: object, text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        read(text)  # type: ignore[operator]


def test_words_are_read() -> None:
    assert read_fail_on("killed, warning,") == {FailOn.KILLED, FailOn.WARNING}
    assert read_fail_on("") == frozenset()
    assert read_label("zone=a=b") == ("zone", "a=b")
    assert read_node_name("node-1.example") == "node-1.example"
    assert read_address("0:0::1") == "::1"


ROOTS = {
    "root's": ({"HOME": "/root"}, 0, SYSTEM_ROOT),
    "a user's": ({"HOME": "/home/me"}, 1000, Path("/home/me/.local/state/kubelet-emu")),
    "a user's own choice": ({"HOME": "/home/me", "XDG_STATE_HOME": "/state"}, 1000, Path("/state/kubelet-emu")),
    "a relative choice counts for nothing": (
        {"HOME": "/home/me", "XDG_STATE_HOME": "state"},
        1000,
        Path("/home/me/.local/state/kubelet-emu"),
    ),
}


@pytest.mark.parametrize(("environ", "uid", "expected"), ROOTS.values(), ids=ROOTS.keys())
def test_where_state_is_kept(environ: dict[str, str], uid: int, expected: Path) -> None:
    assert default_root(environ, uid) == expected


def test_an_instance_has_a_folder_of_its_own(tmp_path: Path) -> None:
    instance = Instance(root=tmp_path / "root", id=new_instance_id())
    instance.create()
    assert instance.path.stat().st_mode & 0o777 == 0o700
    (instance.path / "state").write_text("x")
    instance.remove()
    assert not instance.path.exists()
    instance.remove()


@pytest.mark.parametrize(
    "options",
    [
        ["--until", "nan"],
        ["--until", "inf"],
        ["--speed", "nan"],
        ["--speed", "inf"],
        ["--timeout", "nan"],
        ["--grace-period", "99999999999999999999"],
    ],
    ids=" ".join,
)
def test_a_number_beyond_all_bounds_is_refused(options: list[str]) -> None:
    ran = CliRunner().invoke(main, ["run", "x.yaml", *options])
    assert ran.exit_code == 2
    assert f"Invalid value for '{options[0]}'" in ran.output
