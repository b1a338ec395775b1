"""The control server in virtual time: every method, what is refused, and readers that don't read."""

from __future__ import annotations

import base64
import json
from contextlib import aclosing
from typing import TYPE_CHECKING, Any

import pytest
import trio
import trio.testing
from control_rig import FACTS, POD, ControlRig, a_run

from kubelet_emu.cli.remote.reasons import explain_entries
from kubelet_emu.control.client import ControlClient
from kubelet_emu.control.errors import ControlError, Reason
from kubelet_emu.control.protocol import MOST_LINE_BYTES, LineReader, Request, to_line
from kubelet_emu.control.server import MOST_CLIENTS

if TYPE_CHECKING:
    from trio.testing import MockClock


async def refused(rig: ControlRig, method: str, **params: object) -> tuple[Reason, str]:
    """Return how a request is refused."""
    with pytest.raises(ControlError) as told:
        await rig.client.call(method, **params)
    return told.value.reason, str(told.value)


async def said(stream: trio.StapledStream, *lines: str | bytes) -> list[dict[str, Any]]:
    """Send lines, end, and return all that comes, the greeting left out."""
    reader = LineReader(stream)
    await reader.next()
    found = []
    for line in lines:
        await stream.send_all(line.encode() if isinstance(line, str) else line)
        answer = await reader.next()
        found += [] if answer is None else [json.loads(answer)]
    return found


async def test_a_run_greets_and_says_who_it_is(autojump_clock: MockClock) -> None:
    async with a_run() as rig:
        assert rig.client.greeting == {"control": "kubelet-emu", "versions": [1], **FACTS.to_json()}
        answer = await rig.client.call("info")
    assert answer["run"] == FACTS.id
    assert str(answer["now"]).endswith("Z")


async def test_pods_are_listed_and_got_as_the_api_has_them(autojump_clock: MockClock) -> None:
    async with a_run() as rig:
        await rig.running()
        (pod,) = (await rig.client.call("list", kind="Pod"))["items"]  # type: ignore[misc]
        got = (await rig.client.call("get", kind="Pod", name="web"))["object"]
        other = await rig.client.call("list", kind="Pod", namespace="other")
    assert got == pod
    assert (pod["apiVersion"], pod["kind"], pod["status"]["phase"]) == ("v1", "Pod", "Running")
    assert [each["name"] for each in pod["status"]["containerStatuses"]] == ["app", "helper"]
    assert other["items"] == []


async def test_objects_are_shown_without_what_nobody_may_see(autojump_clock: MockClock) -> None:
    async with a_run(clean=lambda obj: {**obj, "status": {"message": "***"}}) as rig:
        await rig.running()
        (pod,) = (await rig.client.call("list", kind="Pod"))["items"]  # type: ignore[misc]
        shown = [(await rig.client.call("get", kind="Pod", name="web"))["object"], pod]
        async with aclosing(rig.client.events("watch", kind="Pod", name="web")) as events:
            async for event in events:
                if event["type"] == "SYNCED":
                    await (await rig.connect()).call("delete", pod="web", gracePeriodSeconds=3)
                    continue
                shown.append(event["object"])
                if event["type"] == "DELETED":
                    break
    assert len(shown) > 4
    assert {each["status"]["message"] for each in shown} == {"***"}  # type: ignore[index]  # objects all


async def test_events_have_the_form_of_their_api(autojump_clock: MockClock) -> None:
    async with a_run() as rig:
        await rig.running()
        events: Any = (await rig.client.call("list", kind="Event"))["items"]
        one = (await rig.client.call("get", kind="Event", name=events[1]["metadata"]["name"]))["object"]
    assert one == events[1]
    assert [each["reason"] for each in events][:3] == ["Scheduled", "Pulling", "Pulled"]
    scheduled, pulling = events[:2]
    assert (scheduled["source"], scheduled["lastTimestamp"], "count" in scheduled) == ({}, None, False)
    assert scheduled["reportingInstance"] == "default-scheduler-node1"
    assert (pulling["count"], pulling["source"]) == (1, {"component": "kubelet", "host": "node1"})
    assert pulling["involvedObject"]["fieldPath"] == "spec.initContainers{setup}"


REFUSED = [
    ("a pod that isn't there", "get", {"kind": "Pod", "name": "x"}, Reason.NOT_FOUND, 'pods "x" not found'),
    ("a log of it", "logs", {"pod": "x", "container": "a"}, Reason.NOT_FOUND, 'pods "x" not found'),
    ("a deletion of it", "delete", {"pod": "x"}, Reason.NOT_FOUND, 'pods "x" not found'),
    ("a pod without a name", "delete", {}, Reason.BAD_REQUEST, "pod must be a text"),
    ("a name that is a number", "get", {"name": 5}, Reason.BAD_REQUEST, "name must be a text"),
    (
        "a grace below nothing",
        "delete",
        {"pod": "web", "gracePeriodSeconds": -1},
        Reason.BAD_REQUEST,
        "gracePeriodSeconds must be a whole number from 0 on",
    ),
    (
        "a container that isn't the pod's",
        "exec",
        {"pod": "web", "container": "x", "command": ["ls"]},
        Reason.BAD_REQUEST,
        "container x is not valid for pod web",
    ),
    (
        "one that doesn't run",
        "exec",
        {"pod": "web", "container": "setup", "command": ["ls"]},
        Reason.NOT_RUNNING,
        'container not found ("setup")',
    ),
    (
        "a command without words",
        "exec",
        {"pod": "web", "container": "app", "command": []},
        Reason.BAD_REQUEST,
        "command must be a list of texts",
    ),
    (
        "a flag that is a text",
        "logs",
        {"pod": "web", "container": "app", "follow": "yes"},
        Reason.BAD_REQUEST,
        "follow must be true or false",
    ),
    (
        "a time that is none",
        "logs",
        {"pod": "web", "container": "app", "sinceTime": "noon"},
        Reason.BAD_REQUEST,
        "sinceTime: 'noon' is not an RFC 3339 time",
    ),
    (
        "a run that never was",
        "logs",
        {"pod": "web", "container": "app", "previous": True},
        Reason.BAD_REQUEST,
        'previous terminated container "app" in pod "web" not found',
    ),
]


async def test_what_can_not_be_is_refused_in_the_words_of_a_server(autojump_clock: MockClock) -> None:
    async with a_run() as rig:
        await rig.running()
        for why, method, params, reason, text in REFUSED:
            assert await refused(rig, method, **params) == (reason, text), why
        kind, text = await refused(rig, "list", kind="Node")
        assert (kind, text[:15]) == (Reason.BAD_REQUEST, "no kind 'Node';")
        kind, text = await refused(rig, "kill", pod="web", container="app", signal="FOO")
        assert (kind, text[:20]) == (Reason.BAD_REQUEST, "'FOO' is no signal: ")
        kind, text = await refused(rig, "reboot")
        assert (kind, text) == (
            Reason.UNKNOWN_METHOD,
            "no method 'reboot'; there are attach, debug, delete, exec, get, info, kill, list, logs, pulls, watch",
        )


async def test_lines_that_are_no_requests_are_told_and_the_next_one_is_answered(autojump_clock: MockClock) -> None:
    async with a_run() as rig:
        answers = await said(
            rig.raw(),
            "nonsense\n",
            "[]\n",
            '{"version":2,"method":"info"}\n',
            '{"version":1,"method":7}\n',
            '{"version":1,"method":"info","params":[]}\n',
            b"\xff\xfe\n",
            "[" * 100_000 + "\n",
            '{"version":1,"method":"info"}\n',
        )
    reasons = [each.get("error", {}).get("reason", "fine") for each in answers]
    bad = ["BadRequest"] * 2
    assert reasons == [*bad, "UnsupportedVersion", *bad, *bad, "fine"]
    assert answers[2]["error"]["message"] == "version 2 is not spoken here: use 1"


async def test_a_line_that_is_too_long_ends_the_connection(autojump_clock: MockClock) -> None:
    async with a_run() as rig:
        stream = rig.raw()
        answers = await said(stream, b"x" * (MOST_LINE_BYTES + 70_000))
        assert answers[0]["error"]["message"] == f"a line has more than {MOST_LINE_BYTES} bytes"
        assert await stream.receive_some(10) == b""


async def test_one_client_too_many_is_told_so(autojump_clock: MockClock) -> None:
    async with a_run() as rig:
        others = [await rig.connect() for _ in range(MOST_CLIENTS - 1)]
        with pytest.raises(ControlError, match=f"{MOST_CLIENTS} clients are connected already") as told:
            await rig.connect()
        assert told.value.reason is Reason.TOO_MANY
        await others[0].aclose()
        await trio.testing.wait_all_tasks_blocked()
        assert (await (await rig.connect()).call("info"))["run"] == FACTS.id


async def test_a_watch_shows_what_there_is_then_each_change(autojump_clock: MockClock) -> None:
    async with a_run() as rig:
        await rig.running()
        seen: list[tuple[object, object]] = []
        async with aclosing(rig.client.events("watch", kind="Pod", name="web")) as events:
            async for event in events:
                pod: Any = event.get("object", {})
                seen.append((event["type"], pod.get("metadata", {}).get("deletionGracePeriodSeconds")))
                if event["type"] == "SYNCED":
                    await (await rig.connect()).call("delete", pod="web", gracePeriodSeconds=3)
                if event["type"] == "DELETED":
                    break
    assert seen[:3] == [("ADDED", None), ("SYNCED", None), ("MODIFIED", 3)]
    assert seen[-1] == ("DELETED", 0)


async def test_a_watch_of_events_shows_those_that_come_again(autojump_clock: MockClock) -> None:
    async with a_run() as rig:
        await rig.running()
        watcher = await rig.connect()
        async with aclosing(watcher.events("watch", kind="Event")) as events:
            async for event in events:
                if event["type"] == "SYNCED":
                    await rig.client.call("kill", pod="web", container="helper", signal="KILL")
                    break
            types = {}
            async for event in events:
                obj: Any = event["object"]
                types[obj["reason"]] = (event["type"], obj["involvedObject"].get("fieldPath"))
                if obj["reason"] == "Started":
                    break
    assert types["Started"] == ("MODIFIED", "spec.containers{helper}")


async def test_a_reader_that_sleeps_is_told_that_it_has_missed_something(autojump_clock: MockClock) -> None:
    async with a_run() as rig:
        await rig.running()
        stream = rig.raw()
        sleeper = await ControlClient.greet(stream)
        events = sleeper.events("watch", kind="Pod")
        first = await anext(events)
        assert first["type"] == "ADDED"
        api = rig.node.cluster.api
        for n in range(2000):  # more than may wait; nothing of it waits for the reader
            api.patch("Pod", "default", "web", {"metadata": {"annotations": {"n": str(n)}}})
        with pytest.raises(ControlError, match="more than 1024 changes waited") as told:
            async for _ in events:
                pass
        assert told.value.reason is Reason.EXPIRED


async def test_logs_are_read_from_the_runtime(autojump_clock: MockClock) -> None:
    async with a_run() as rig:
        await rig.running()
        await trio.sleep(20)
        where = {"pod": "web", "container": "helper"}
        assert [each["line"] for each in await rig.events("logs", **where)] == ["one", "two", "three"]
        (last,) = await rig.events("logs", **where, tail=1)
        assert last["line"] == "three"
        assert len(str(last["at"])) == len("2026-01-01T00:00:00.000000000Z")
        assert await rig.events("logs", **where, sinceSeconds=5) == []
        assert await rig.events("logs", **where, tail=0) == []
        assert [e["line"] for e in await rig.events("logs", pod="web", container="setup")] == ["ready"]


async def test_a_followed_log_ends_with_its_container(autojump_clock: MockClock) -> None:
    async with a_run() as rig:
        await rig.running()
        lines = []
        async for event in rig.client.events("logs", pod="web", container="app", follow=True):
            lines.append(event["line"])
            if event["line"] == "up":
                await (await rig.connect()).call("delete", pod="web")
    assert lines == ["up", "bye"]


async def test_a_command_gives_its_output_and_its_code(autojump_clock: MockClock) -> None:
    async with a_run() as rig:
        await rig.running()
        command = ["sh", "-c", "echo out; echo err >&2; exit 3"]
        pieces = await rig.events("exec", pod="web", container="app", command=command, stdin=True, rows=10, columns=20)
        assert rig.client.result == {"exitCode": 3}
        (because,) = [line for line in rig.node.log_lines() if '"kind":"request"' in line]
    decoded = [{name: base64.b64decode(str(data)).decode() for name, data in piece.items()} for piece in pieces]
    assert decoded == [{"stdout": "out\n"}, {"stderr": "err\n"}]
    assert "exec in app: sh" in because


READS = """\
apiVersion: v1
kind: Pod
metadata: {name: reads}
spec:
  initContainers:
  - {name: setup, image: busybox, command: [sh, -c, "exit 0"]}
  containers:
  - {name: app, image: busybox, stdin: true, STDIN_ONCE command: [sh, -c, "cat; echo end; exit 1"]}
"""


async def test_a_restarted_container_has_an_input_anew(autojump_clock: MockClock) -> None:
    async with a_run() as rig:
        await rig.node.run(READS.replace("STDIN_ONCE", "stdinOnce: true,"))
        for word in ("one", "two"):
            await trio.sleep(30)
            client, shown = await rig.connect(), b""
            async with trio.open_nursery() as nursery:

                async def send(client: ControlClient = client, word: str = word) -> None:
                    await client.send({"rows": 10, "columns": 20})
                    await client.send({"stdin": base64.b64encode(word.encode()).decode()})
                    await client.send({"eof": True})

                nursery.start_soon(send)
                async for event in client.events("attach", pod="reads", container="app", stdin=True):
                    shown += base64.b64decode(str(event["stdout"]))
            assert (shown.decode(), client.result) == (f"{word}end\n", {})
        because = [line for line in rig.node.log_lines() if "kubelet-emu attach" in line]
        pod = rig.node.cluster.api.get("Pod", "default", "reads")
    assert len(because) == 2
    assert pod is not None
    assert pod.status.container_statuses[0].restart_count >= 1


async def test_without_stdin_once_the_end_of_the_input_ends_the_session(autojump_clock: MockClock) -> None:
    async with a_run() as rig:
        await rig.running(READS.replace("STDIN_ONCE", ""))
        events = rig.client.events("attach", pod="reads", container="app", stdin=True)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(rig.client.send, {"eof": True})
            assert [event async for event in events] == []
        status = (await rig.node.cluster.observe(rig.node.pod("reads").uid)).find("app")
    assert status is not None
    assert status.exit_code is None


@pytest.mark.parametrize(
    ("container", "reason", "text"),
    [
        ("setup", Reason.NOT_RUNNING, "container setup not found in pod reads_default"),
        ("other", Reason.BAD_REQUEST, "container other is not valid for pod reads"),
    ],
)
async def test_who_attaches_to_what_does_not_run_is_told_so(
    autojump_clock: MockClock, container: str, reason: Reason, text: str
) -> None:
    async with a_run() as rig:
        await rig.running(READS.replace("STDIN_ONCE", ""))
        assert await refused(rig, "attach", pod="reads", container=container) == (reason, text)


async def test_a_signal_reaches_the_container_and_the_kubelet_restarts_it(autojump_clock: MockClock) -> None:
    async with a_run() as rig:
        await rig.running()
        assert await rig.client.call("kill", pod="web", container="app", signal="term") == {"signal": "SIGTERM"}
        await trio.sleep(30)
        pod = rig.node.cluster.api.get("Pod", "default", "web")
        assert pod is not None
        assert [each.restart_count for each in pod.status.container_statuses] == [1, 0]


async def test_a_deletion_is_a_deletion_and_says_who_asked(autojump_clock: MockClock) -> None:
    async with a_run() as rig:
        await rig.running()
        answer = await rig.client.call("delete", pod="web")
        assert answer["gone"] is False
        await trio.sleep(30)
        assert (await rig.client.call("list", kind="Pod"))["items"] == []
        assert any("kubelet-emu delete" in line for line in rig.node.log_lines())


async def test_a_client_that_leaves_ends_its_request_and_nothing_else(autojump_clock: MockClock) -> None:
    async with a_run() as rig:
        await rig.running()
        watcher = await rig.connect()
        events = watcher.events("watch", kind="Pod")
        await anext(events)
        await watcher.aclose()
        await events.aclose()
        await trio.testing.wait_all_tasks_blocked()
        for _ in range(3):
            rig.node.cluster.api.patch("Pod", "default", "web", {"metadata": {"annotations": {"a": str(_)}}})
        assert (await rig.client.call("info"))["run"] == FACTS.id


@pytest.mark.parametrize("method", ["watch", "events", "list"])
async def test_a_client_that_listens_no_more_ends_its_request_and_nothing_else(
    method: str, autojump_clock: MockClock
) -> None:
    async with a_run() as rig:
        await rig.running()
        stream = rig.raw()
        await stream.receive_some()
        await stream.receive_stream.aclose()  # it has not hung up: only sending finds out
        params = {"kind": "Pod"} if method == "watch" else {}
        await stream.send_all(to_line(Request(method=method, params=params).to_message()))
        await trio.testing.wait_all_tasks_blocked()
        assert (await rig.client.call("info"))["run"] == FACTS.id


async def test_a_method_that_breaks_is_an_answer(autojump_clock: MockClock, monkeypatch: pytest.MonkeyPatch) -> None:
    async with a_run() as rig:

        async def breaks(*_: object) -> dict[str, object]:
            raise KeyError("oh")

        rig.server.methods = {**rig.server.methods, "info": breaks}
        assert await refused(rig, "info") == (Reason.INTERNAL, "KeyError: 'oh'")
        assert (await rig.client.call("list"))["items"] == []


async def test_a_run_of_another_version_is_named(autojump_clock: MockClock) -> None:
    near, far = trio.testing.memory_stream_pair()
    await far.send_all(b'{"control":"kubelet-emu","versions":[7],"program":"9.0"}\n')
    with pytest.raises(ControlError, match=r"the run is of kubelet-emu 9\.0 and speaks \[7\], not 1") as told:
        await ControlClient.greet(near)
    assert told.value.reason is Reason.UNSUPPORTED_VERSION


async def test_a_run_that_does_not_answer_is_not_waited_for(autojump_clock: MockClock) -> None:
    near, far = trio.testing.memory_stream_pair()
    with pytest.raises(ControlError, match="the run has not answered for 10 s"):
        await ControlClient.greet(near)
    await far.aclose()
    with pytest.raises(ControlError, match="the run has just ended"):
        await ControlClient.greet(near)


STUCK = """\
apiVersion: v1
kind: Pod
metadata: {name: stuck}
spec:
  containers:
  - {name: app, image: busybox, command: [sleep, "1000"], envFrom: [{configMapRef: {name: settings}}]}
"""


async def test_why_says_what_a_pod_waits_for_what_shows_it_and_what_mends_it(autojump_clock: MockClock) -> None:
    async with a_run() as rig:
        await rig.node.run(STUCK)
        await rig.node.run(POD)
        await trio.sleep(30)
        found = explain_entries(tuple(rig.node.entries), rig.node.cluster.timebase.now())
    stuck, web = found
    assert stuck.answer.text == 'app can\'t start: configmap "settings" not found'
    assert stuck.answer.is_stuck
    assert stuck.pod.ended_at == pytest.approx(30, abs=1)
    assert [line.partition("s ")[2] for line in stuck.seen] == [
        'event Failed (x4) app: Error: configmap "settings" not found',
        "Ready is False: containers with unready status: [app]",
    ]
    mends = "run it together with the manifest that has the ConfigMap or Secret, or set optional: true"
    assert stuck.fix == (f"stuck/app can't be made: {mends}",)
    assert (web.seen, web.fix, web.answer.is_stuck) == ((), (), False)
