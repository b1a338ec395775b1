"""`describe` from its words to its page."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest
from click.testing import CliRunner
from given_run import Given

from kubelet_emu.cli.main import main
from kubelet_emu.cli.remote.describing import describe_of, page_of, request_of
from kubelet_emu.cli.remote.words import Refusal

NOW = datetime(2026, 1, 1, tzinfo=UTC)

DESCRIBED = Path(__file__).resolve().parent.parent / "fixtures" / "describe"
READ = [
    ("a name alone is a pod's", ("web",), "Pod web"),
    ("a kind before it", ("job", "demo"), "Job demo"),
    ("a kind and a name in one word", ("po/web",), "Pod web"),
    ("several names", ("pod", "a", "b"), "Pod a b"),
    ("several kinds with names", ("pod/a", "job/b", "po/c"), "Pod a c, Job b"),
    ("a kind alone is all of it", ("jobs",), "Job"),
    ("several kinds", ("pod,job",), "Pod, Job"),
    ("nothing is all pods", (), "Pod"),
]
REFUSED = [
    ("no kind that is known", ("planet/x",), {}, "doesn't have a resource type"),
    ("no kind before a name", ("planet", "x"), {}, "doesn't have a resource type"),
    ("a kind that has no page", ("events", "x"), {}, "describe shows pods and Jobs: NAME, pod/NAME or job/NAME"),
    ("words behind a whole one", ("pod/a", "b"), {}, "must have a single resource and name"),
    ("a selector and a name", ("a",), {"selector": "x"}, "name cannot be provided when a selector is specified"),
]


@pytest.mark.parametrize(("why", "words", "expected"), READ, ids=[row[0] for row in READ])
def test_words_name_objects(why: str, words: tuple[str, ...], expected: str) -> None:
    asked = request_of(words, {}).asked
    assert ", ".join(" ".join([kind.name, *names]) for kind, names in asked) == expected, why


@pytest.mark.parametrize(("why", "words", "given", "told"), REFUSED, ids=[row[0] for row in REFUSED])
def test_other_words_are_refused(why: str, words: tuple[str, ...], given: dict[str, object], told: str) -> None:
    with pytest.raises(Refusal, match=told):
        request_of(words, given)


def recorded(*states: str) -> tuple[Given, list[str]]:
    """Return a run with the pods of some states, and the page of each."""
    cases = [json.loads((DESCRIBED / state / "pod.json").read_text()) for state in states]
    objects = [
        obj for case in cases for obj in (case["object"], *({"kind": "Event", **each} for each in case["events"]))
    ]
    pages = [(DESCRIBED / state / "pod.txt").read_text() for state in states]
    return Given(objects, datetime.fromisoformat(cases[0]["now"])), pages


async def described(given: Given, *words: str, **options: object) -> tuple[str, bool]:
    written: list[str] = []
    request = request_of(words, {"show_events": True, **options})
    is_whole = await describe_of(given, None, request, written.append)
    return "".join(written), is_whole


async def test_pages_stand_apart() -> None:
    given, (page,) = recorded("running")
    twin = {**given.objects[0], "metadata": {**given.objects[0]["metadata"], "name": "twin"}}  # type: ignore[dict-item]
    both = Given([twin, *given.objects], given.time)
    other = page.replace("Name:             tidy", "Name:             twin")
    assert await described(both, "pods") == (f"{page}\n\n{other}", True)
    assert await described(both, selector="app=tidy,tier") == (f"{page}\n\n{other}", True)
    assert await described(both, "pod", "twin", "tidy") == (f"{other}\n\n{page}", True)
    assert await described(both, "pod/tidy") == (page, True)


async def test_the_beginning_of_a_name_stands_for_all_that_begin_so() -> None:
    given, (page,) = recorded("running")
    assert await described(given, "ti") == (f"{page}\n", True)


async def test_what_is_not_there_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    given, (page,) = recorded("running")
    assert await described(given, "pod", "tidy", "ti") == (page, False)
    assert await described(given, "job/x") == ("", False)
    assert await described(given, "jobs") == ("", True)
    assert capsys.readouterr().err.splitlines() == [
        'Error from server (NotFound): pods "ti" not found',
        'Error from server (NotFound): jobs.batch "x" not found',
        "No resources found",
    ]


async def test_events_may_be_left_out() -> None:
    given, (page,) = recorded("running")
    assert await described(given, "tidy", show_events=False) == (page[: page.index("Events:")], True)


def test_each_kind_has_its_page() -> None:
    pod = page_of("Pod", {"metadata": {"name": "p"}, "spec": {}}, None, NOW)
    job = page_of("Job", {"metadata": {"name": "j"}, "spec": {}}, [], NOW)

    assert "\nQoS Class:" in pod
    assert "\nPods Statuses:  0 Active / 0 Succeeded / 0 Failed\n" in job


def test_without_a_run_there_is_nothing_to_describe(tmp_path: object) -> None:
    result = CliRunner().invoke(main, ["describe", "web", "--root-dir", str(tmp_path)])

    assert result.exit_code == 2
