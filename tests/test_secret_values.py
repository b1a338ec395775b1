"""Values of Secrets never stand in what is recorded."""

from __future__ import annotations

import io
import json
from base64 import b64encode
from datetime import UTC, datetime

import pytest

from kubelet_emu.api.v1_status import ContainerState, ContainerStateTerminated, ContainerStatus, PodStatus
from kubelet_emu.journal.deferred import Deferred
from kubelet_emu.journal.encode import to_line
from kubelet_emu.journal.journal import Journal, LogWriter
from kubelet_emu.journal.records import (
    DeletedRecord,
    EffectRecord,
    EventRecord,
    LogRecord,
    ManifestRecord,
    NoteRecord,
    ObjectRef,
    ObservedRecord,
    ProbeRecord,
    StatusRecord,
    SyncRecord,
)
from kubelet_emu.journal.secret_values import SecretValues
from kubelet_emu.rules.observed import ObservedPod

POD = ObjectRef(namespace="ns", name="p", uid="u")
SECRET = ObjectRef(namespace="ns", name="s", uid="s", kind="Secret")
EPOCH = datetime(2026, 1, 1, tzinfo=UTC)
VALUE = "CANARY-7"


def a_secret(**data: str) -> ManifestRecord:
    """Return the record of a Secret."""
    encoded = {key: b64encode(value.encode()).decode() for key, value in data.items()}
    return ManifestRecord(ref=SECRET, manifest={"kind": "Secret", "data": encoded})


def lines_of(*records: object) -> list[str]:
    """Return the lines that a journal writes of records."""
    out, secrets = io.StringIO(), SecretValues()
    writer = LogWriter(out, EPOCH, secrets.scrub)
    journal = Journal(now=lambda: EPOCH, sinks=(writer,), secrets=secrets)
    for record in records:
        journal.emit(record)  # type: ignore[arg-type]  # records all
    return out.getvalue().splitlines()


TERMINATED = ContainerStateTerminated(exit_code=1, message=f"it was {VALUE}")
STATUS = PodStatus(container_statuses=(ContainerStatus(name="c", state=ContainerState(terminated=TERMINATED)),))


@pytest.mark.parametrize(
    "record",
    [
        pytest.param(record, id=record.kind)
        for record in (
            EventRecord(ref=POD, type="Warning", reason="Failed", message=f'Error: exec: "{VALUE}"'),
            ProbeRecord(
                ref=POD, container="c", run=1, probe="liveness", outcome="failure", stored="failure", message=VALUE
            ),
            EffectRecord(ref=POD, call="exec", what="postStart", error=f"hook said {VALUE}"),
            NoteRecord(level="warning", text=VALUE),
            StatusRecord(ref=POD, status=STATUS),
            ObservedRecord(ref=POD, observed=ObservedPod(uid="u", termination_messages={"c1": VALUE})),
            SyncRecord(ref=POD, n=1, step="sync", results=(f"kill: {VALUE}",)),
            SyncRecord(ref=POD, n=1, step="sync", input=Deferred(lambda: {"startFailures": {"c": {"message": VALUE}}})),
            LogRecord(ref=POD, container="c", run=1, line=f"token {VALUE}"),
        )
    ],
)
def test_no_record_of_any_kind_has_the_value(record: object) -> None:
    before, line = lines_of(record), lines_of(a_secret(token=VALUE), record)[1]
    assert VALUE in before[0]
    assert VALUE not in line
    assert line == before[0].replace(VALUE, "***")


@pytest.mark.parametrize(
    ("value", "text", "left"),
    [
        ("one-line\nand-another\n", "read one-line, then and-another", "read ***, then ***"),
        ("one-line\nand-another", "quoted one-line\\nand-another", "quoted ***"),
        ('with "quotes"', 'message: "with \\"quotes\\""', 'message: "***"'),
        ("  spaces-around ", "trimmed: spaces-around.", "trimmed: ***."),
        ("longer-value", "longer-value, longer-val", "***, longer-val"),
        ("abc", "too short to be told from chance: abc", "too short to be told from chance: abc"),
        (
            '{"auths": {"h": {"username": "u", "password": "pass-word", "auth": "dTpw"}}}',
            "pass-word dTpw u",
            "*** *** u",
        ),
        ("{no json", "it is {no json", "it is ***"),
    ],
)
def test_forms_of_a_value_in_a_text(value: str, text: str, left: str) -> None:
    secrets = SecretValues()
    secrets.learn(a_secret(key=value).manifest, {})
    assert secrets.scrub(text) == left


def test_messages_in_the_status_of_an_object_have_no_value() -> None:
    status = {"phase": "Failed", "containerStatuses": [{"state": {"terminated": {"message": f"key {VALUE}"}}}]}
    obj = {"kind": "Pod", "metadata": {"name": VALUE}, "status": {**status, "podIPs": [{"ip": VALUE}], "message": None}}
    secrets = SecretValues()
    assert secrets.clean_object(obj) == obj
    secrets.learn(a_secret(token=VALUE).manifest, {})
    cleaned = secrets.clean_object(obj)
    terminated = {"terminated": {"message": "key ***"}}
    expected = {"phase": "Failed", "containerStatuses": [{"state": terminated}], "podIPs": [{"ip": VALUE}]}
    assert cleaned == {**obj, "status": {**expected, "message": None}}
    assert secrets.clean_object({"kind": "Secret", "data": VALUE}) == {"kind": "Secret", "data": VALUE}


@pytest.mark.parametrize("is_first", [True, False], ids=["the pod first", "the secret first"])
def test_what_a_manifest_shows_anyway_is_left(is_first: bool) -> None:  # noqa: FBT001 - a table's column
    pod = ManifestRecord(ref=POD, manifest={"kind": "Pod", "spec": {"containers": [{"image": "postgres:16"}]}})
    event = EventRecord(ref=POD, type="Normal", reason="Pulling", message='Pulling image "postgres:16" with hunter2')
    secret = a_secret(user="postgres", key="hunter2")
    *_, line = lines_of(*((pod, secret) if is_first else (secret, pod)), event)
    assert json.loads(line)["message"] == 'Pulling image "postgres:16" with ***'


def test_what_a_manifest_shows_counts_as_long_as_its_object_exists() -> None:
    def lines(*between: object) -> str:
        pod = ManifestRecord(ref=POD, manifest={"kind": "Pod", "metadata": {"uid": "u"}, "spec": {"image": "postgres"}})
        return lines_of(pod, *between, a_secret(user="postgres"), NoteRecord(text="postgres"))[-1]

    assert json.loads(lines())["text"] == "postgres"
    assert json.loads(lines(DeletedRecord(ref=POD)))["text"] == "***"


def test_a_plain_value_of_an_environment_is_not_shown_so_it_stays_secret() -> None:
    env = [{"name": "A", "value": VALUE}]
    pod = ManifestRecord(ref=POD, manifest={"kind": "Pod", "spec": {"containers": [{"env": env}]}})
    assert not any(VALUE in line for line in lines_of(a_secret(token=VALUE), pod, NoteRecord(text=VALUE)))


def test_without_secrets_a_record_is_the_same_object() -> None:
    seen: list[object] = []
    record = NoteRecord(text=VALUE)
    journal = Journal(now=lambda: EPOCH, sinks=(lambda entry: seen.append(entry.record),))
    journal.emit(record)
    assert seen[0] is record


def test_what_a_container_prints_reaches_other_readers_as_it_is() -> None:
    seen: list[str] = []
    journal = Journal(now=lambda: EPOCH, sinks=(lambda entry: seen.append(to_line(entry, EPOCH)),))
    journal.emit(a_secret(token=VALUE))
    journal.emit(LogRecord(ref=POD, container="c", run=1, line=VALUE))
    assert json.loads(seen[-1])["line"] == VALUE
