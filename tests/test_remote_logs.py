"""Whose logs `logs` shows: of a pod, of a workload's best pod or all of them, of all pods with some labels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
import trio
from attrs import evolve
from click.testing import CliRunner
from control_rig import FACTS, a_run
from remote_objects import BARE, JOB, SERVICE, Objects, a_pod

from kubelet_emu.cli.main import main
from kubelet_emu.cli.remote.log_reading import LogsRequest, Shown
from kubelet_emu.cli.remote.log_targets import LogsError, LogTarget, Resource, targets_of
from kubelet_emu.cli.remote.selectors import read_selector
from kubelet_emu.cli.remote.views import LiveView

if TYPE_CHECKING:
    from trio.testing import MockClock


FIRST = a_pod("first")
SAID = 'Defaulted container "a" out of: a, b, i (init)\n'


def asked(word: str = "", **more: Any) -> LogsRequest:  # noqa: ANN401 - fields of all types
    return LogsRequest(resource=Resource.parse(word) if word else None, **more)


CHOSEN: list[tuple[str, list[dict[str, Any]], LogsRequest, list[tuple[str, str]], str]] = [
    ("a pod", [FIRST], asked("first"), [("first", "a")], SAID),
    ("a pod by its type", [FIRST], asked("pod/first", container="b"), [("first", "b")], ""),
    ("all its containers", [FIRST], asked("first", all_containers=True), [("first", n) for n in "iab"], ""),
    ("the only pod of a Job", [FIRST, JOB], asked("job/j"), [("first", "a")], SAID),
    (
        "the one that is ready before one that isn't",
        [FIRST, a_pod("second", ready="05"), JOB],
        asked("jobs.batch/j", container="a"),
        [("second", "a")],
        "Found 2 pods, using pod/second\n",
    ),
    (
        "the one that has been ready for longer",
        [a_pod("first", ready="09"), a_pod("second", ready="05"), SERVICE],
        asked("svc/s", container="a"),
        [("second", "a")],
        "Found 2 pods, using pod/second\n",
    ),
    (
        "one that runs before one that waits",
        [a_pod("first", phase="Pending"), a_pod("second"), JOB],
        asked("job/j", container="a"),
        [("second", "a")],
        "Found 2 pods, using pod/second\n",
    ),
    (
        "one that was restarted before one that wasn't",
        [FIRST, a_pod("second", restarts=3), JOB],
        asked("job/j", container="a"),
        [("second", "a")],
        "Found 2 pods, using pod/second\n",
    ),
    (
        "all pods of a Job",
        [FIRST, a_pod("second", ready="05"), a_pod("third", app="other"), JOB],
        asked("job/j", container="a", all_pods=True),
        [("first", "a"), ("second", "a")],
        "",
    ),
    (
        "those with a label",
        [FIRST, a_pod("second", app="other"), a_pod("third")],
        asked(labels=read_selector("app in (web)"), container="a"),
        [("first", "a"), ("third", "a")],
        "",
    ),
    (
        "none with a label",
        [FIRST],
        asked(labels=read_selector("app=x")),
        [],
        "No resources found in default namespace.\n",
    ),
]


@pytest.mark.parametrize(("why", "objects", "request_", "expected", "said"), CHOSEN, ids=[row[0] for row in CHOSEN])
async def test_the_pods_that_are_meant_are_read(  # noqa: PLR0913, PLR0917 - columns of the table
    why: str,
    objects: list[dict[str, Any]],
    request_: LogsRequest,
    expected: list[tuple[str, str]],
    said: str,
    autojump_clock: MockClock,
    capsys: pytest.CaptureFixture[str],
) -> None:
    found = await targets_of(Objects(objects), "default", request_)
    assert found == tuple(LogTarget(*each) for each in expected), why
    assert capsys.readouterr().err == said


FOLLOWED = (
    "you are attempting to follow 3 log streams, but maximum allowed concurrency is 2, "
    "use --max-log-requests to increase the limit"
)
INVALID = "container x is not valid for pod first out of: a, b, i (init)"
NOT_FOUND = 'error from server (NotFound): {} "gone" not found in namespace "default"'
REFUSED = [
    (
        "a pod that isn't there",
        asked("gone"),
        NOT_FOUND.format("pods"),
    ),
    (
        "a Job that isn't there",
        asked("job/gone"),
        NOT_FOUND.format("jobs.batch"),
    ),
    (
        "a container of nobody",
        asked("first", container="x"),
        INVALID,
    ),
    ("a Service of nobody", asked("svc/bare"), "invalid service 'bare': it is defined without a selector"),
    (
        "more than may be followed",
        asked("first", all_containers=True, follow=True, most_at_once=2),
        FOLLOWED,
    ),
]


@pytest.mark.parametrize(("why", "request_", "text"), REFUSED, ids=[row[0] for row in REFUSED])
async def test_what_cant_be_read_is_refused(
    why: str, request_: LogsRequest, text: str, autojump_clock: MockClock
) -> None:
    with pytest.raises(LogsError) as raised:
        await targets_of(Objects([FIRST, JOB, BARE]), "default", request_)
    assert str(raised.value) == text, why


async def test_a_jobs_first_pod_is_waited_for(autojump_clock: MockClock) -> None:
    found = await targets_of(Objects([JOB], later=[FIRST]), "default", asked("job/j", container="a"))
    assert found == (LogTarget("first", "a"),)
    assert trio.current_time() == 5.0


async def test_but_not_for_ever(autojump_clock: MockClock) -> None:
    with pytest.raises(LogsError, match="timed out waiting for the condition"):
        await targets_of(Objects([JOB]), "default", asked("job/j"))
    assert trio.current_time() == 20.0


WORDS = [
    ("nothing", [], "error: expected 'logs [-f] [-p] (POD | TYPE/NAME) [-c CONTAINER]'.\n"),
    ("a name and labels", ["web", "-l", "a=b"], "error: only a selector (-l) or a POD name is allowed\n"),
    ("an unknown type", ["nodes/n"], 'error: the server doesn\'t have a resource type "nodes"\n'),
    ("a type without pods", ["cm/x"], "error: cannot get the logs from *.ConfigMap: it has no pods\n"),
    (
        "two slashes",
        ["pod/a/b"],
        "error: arguments in resource/name form must have a single resource and name",
    ),
]


@pytest.mark.parametrize(("why", "words", "text"), WORDS, ids=[row[0] for row in WORDS])
def test_words_that_mean_no_logs_are_refused(why: str, words: list[str], text: str) -> None:
    result = CliRunner().invoke(main, ["logs", *words])
    assert result.exit_code == 1
    assert result.output.startswith(text), why


async def test_logs_of_several_pods_are_shown_one_after_the_other(autojump_clock: MockClock) -> None:
    written: list[str] = []
    async with a_run() as rig:
        await rig.running()
        await trio.sleep(1)
        request = asked("web", prefix=True, all_containers=True, tail=1)
        view = LiveView(rig.client, FACTS, rig.connect)
        targets = await targets_of(view, "default", request)
        shown = Shown(view=view, namespace="default", request=request, write=written.append)
        assert await shown.all_of(targets)
        followed = Shown(view=view, namespace="default", request=evolve(request, follow=True), write=written.append)
        with trio.move_on_after(2):
            await followed.all_of(targets[1:])
    expected = ["[pod/web/setup] ready\n", "[pod/web/app] up\n", "[pod/web/helper] three\n"]
    assert written[:3] == expected
    assert sorted(written[3:]) == expected[1:]
