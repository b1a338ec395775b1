"""`get` and `events`, byte by byte what kubectl v1.36 printed of a node: fixtures/kubectl/printed.jsonl.

A line has the objects of a state, and of each case the words, the time at which kubectl ran, and what it printed.
"""

from __future__ import annotations

import json
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from given_run import Given

from kubelet_emu.cli.remote.kinds import TIMELINE, kind_of
from kubelet_emu.cli.remote.requests import GetRequest, read_kinds, requests_of
from kubelet_emu.cli.remote.showing import show_of
from kubelet_emu.cli.remote.words import Refusal

if TYPE_CHECKING:
    from kubelet_emu.cli.remote.views import Object

RECORDED = Path(__file__).resolve().parent.parent / "fixtures" / "kubectl" / "printed.jsonl"
STATES = [json.loads(line) for line in RECORDED.read_text().splitlines()]
CASES = [(each, case) for each in STATES for case in each["cases"]]


async def printed(given: Given, words: list[str], namespace: str | None = None, **options: object) -> tuple[str, bool]:
    """Return what is printed for the words of `get`, or of `events`, and if all was there."""
    asked = [(TIMELINE, ())] if words == ["timeline"] else read_kinds(words)
    written: list[str] = []
    is_whole = await show_of(given, namespace, requests_of(asked, options), written.append)
    return "".join(written), is_whole


@pytest.mark.parametrize(
    ("state", "case"),
    CASES,
    ids=[f"{each['state']}: {' '.join(case['words'])} {' '.join(case['options'])}" for each, case in CASES],
)
async def test_a_table_is_what_kubectl_printed(state: dict[str, Any], case: dict[str, Any]) -> None:
    given = Given(state["objects"], datetime.fromisoformat(case["now"]))
    assert await printed(given, case["words"], **case["options"]) == (case["text"], True)


def a_pod(name: str, namespace: str = "default", *, cpu: object = None, **labels: str) -> Object:
    metadata = {"name": name, "namespace": namespace, "labels": labels, "creationTimestamp": "2026-12-02T04:00:00Z"}
    spec = {"containers": [{"name": "a", "image": "x", "cpu": cpu}]}
    status = {"phase": "Running" if name < "c" else "Pending"}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec, "status": status}


NOW = datetime.fromisoformat("2026-12-02T04:00:05Z")
PODS = [
    a_pod("b10", app="web", tier="front", cpu="1500m"),
    a_pod("b9", app="web", cpu="2"),
    a_pod("c", app="db", weight="7"),
    a_pod("a", "other"),
    {
        "kind": "Job",
        "metadata": {"name": "j", "namespace": "default", "creationTimestamp": "2026-12-02T04:00:00Z"},
        "spec": {"completions": 1},
    },
]

CHOSEN = [
    ("a server lists by name, not by age", {}, "b10 b9 c"),
    ("a value", {"selector": "app=web"}, "b10 b9"),
    ("a value, as in programs", {"selector": "app==web,tier=front"}, "b10"),
    ("another value, or none", {"selector": "tier!=front"}, "b9 c"),
    ("one of several values", {"selector": "app in (web, db),tier notin (front)"}, "b9 c"),
    ("a label of any value", {"selector": "tier"}, "b10"),
    ("no such label", {"selector": "!tier , app"}, "b9 c"),
    ("a number above", {"selector": "weight>6"}, "c"),
    ("a number not below", {"selector": "weight<7"}, ""),
    ("an empty value", {"selector": "app="}, ""),
    ("a phase", {"field_selector": "status.phase=Running"}, "b10 b9"),
    ("another phase and a name", {"field_selector": "status.phase!=Running,metadata.name==c"}, "c"),
    ("a default that isn't written", {"field_selector": "spec.hostNetwork=false"}, "b10 b9 c"),
    ("numbers in names count as numbers", {"sort_by": ".metadata.name"}, "b9 b10 c"),
    ("amounts are amounts, none comes first", {"sort_by": "{.spec.containers[0].cpu}"}, "c b10 b9"),
    ("several of a label's columns", {"label_columns": ("app", "tier,x")}, "b10 b9 c"),
]


@pytest.mark.parametrize(("why", "options", "names"), CHOSEN, ids=[row[0] for row in CHOSEN])
async def test_objects_are_chosen_and_in_order(why: str, options: dict[str, object], names: str) -> None:
    output = "custom-columns=N:metadata.name"
    text, _ = await printed(Given(PODS, NOW), ["pods"], "default", output=output, no_headers=True, **options)
    assert text.split() == names.split(), why


TEXTS = [
    (
        "labels as columns",
        ["pods"],
        {"label_columns": ("app,k8s.io/x",), "no_headers": True, "selector": "app=db"},
        "c     0/1   Pending   0     5s    db    \n",
    ),
    ("names in the order of the words", ["pods", "c", "b9", "c"], {"output": "name"}, "pod/c\npod/b9\n"),
    ("names of several kinds", ["pod/c", "job/j"], {"output": "name"}, "pod/c\njob.batch/j\n"),
    ("all that runs something", ["all"], {"output": "name"}, "pod/b10\npod/b9\npod/c\njob.batch/j\n"),
    ("one object for one name", ["pod", "c"], {"output": "jsonpath={.kind}"}, "Pod"),
    ("a list for all", ["pods"], {"output": "jsonpath={.items[*].metadata.name}"}, "b10 b9 c"),
    (
        "columns of one's own",
        ["pods"],
        {"output": "custom-columns=NAME:.metadata.name,L:.metadata.labels,C:.spec.containers[*].name,X:.x"},
        """\
NAME   L                         C     X
b10    map[app:web tier:front]   a     <none>
b9     map[app:web]              a     <none>
c      map[app:db weight:7]      a     <none>
""",
    ),
    (
        "columns of nothing have their head",
        ["pods"],
        {"output": "custom-columns=A:a,B:b", "selector": "x"},
        "A     B\n",
    ),
]


@pytest.mark.parametrize(("why", "words", "options", "expected"), TEXTS, ids=[row[0] for row in TEXTS])
async def test_a_form_has_its_text(why: str, words: list[str], options: dict[str, object], expected: str) -> None:
    text, is_whole = await printed(Given(PODS, NOW), words, "default", **options)
    assert (text.splitlines(), is_whole) == (expected.splitlines(), True), why


async def test_tables_of_several_kinds_stand_apart(capsys: pytest.CaptureFixture[str]) -> None:
    text, is_whole = await printed(Given(PODS, NOW), ["pod/c", "job/j", "pod/nobody"], "default")
    assert text.splitlines() == [
        "NAME    READY   STATUS    RESTARTS   AGE",
        "pod/c   0/1     Pending   0          5s",
        "",
        "NAME          STATUS    COMPLETIONS   DURATION   AGE",
        "job.batch/j   Running   0/1                      5s",
    ]
    assert not is_whole
    assert capsys.readouterr().err == 'Error from server (NotFound): pods "nobody" not found\n'


async def test_what_is_not_there_may_be_no_error(capsys: pytest.CaptureFixture[str]) -> None:
    given = Given(PODS, NOW)
    assert await printed(given, ["pods", "nobody"], "default", ignore_not_found=True) == ("", True)
    assert await printed(given, ["pods"], "empty", ignore_not_found=True) == ("", True)
    assert capsys.readouterr().err == ""
    assert await printed(given, ["pods"], "other", selector="app") == ("", True)
    assert capsys.readouterr().err == (
        "No resources found in other namespace.\nhint: there are some in default: -n NAMESPACE, or -A for all\n"
    )
    assert await printed(given, ["timeline"], "default") == ("", True)
    assert capsys.readouterr().err == "No events found in default namespace.\n"


REFUSED = [
    (["pods"], {"selector": "a=b=c"}, '-l "a=b=c": "=" where a comma or the end should be; write KEY=VALUE,'),
    (["pods"], {"selector": "a in b"}, '"b" where ( should be'),
    (["pods"], {"selector": "a in ()"}, "the brackets are empty; name one value or more"),
    (["pods"], {"selector": "a in (b"}, "the end where ) should be"),
    (["pods"], {"selector": "a,"}, "the end where a label after the comma should be"),
    (["pods"], {"selector": "a b"}, '"b" where one of =, ==, !=, in, notin, < and > should be'),
    (["pods"], {"selector": "=b"}, '"=" where a label should be'),
    (["pods"], {"selector": "a=b c"}, '"c" where a comma or the end should be'),
    (["pods"], {"selector": "a>b"}, '> compares whole numbers, and "b" is none'),
    (["pods"], {"selector": "-x"}, '-l "-x": "-x": name part must consist of'),
    (["pods"], {"selector": "x=a_"}, '"a_": a valid label must be an empty string or consist of'),
    (["pods"], {"field_selector": "spec.foo=1"}, "--field-selector spec.foo: field label not supported; there are"),
    (["pods"], {"field_selector": "phase"}, "--field-selector phase: use FIELD=VALUE or FIELD!=VALUE"),
    (
        ["pods"],
        {"output": "xml"},
        'unable to match a printer suitable for the output format "xml", there are wide, json',
    ),
    (["pods"], {"output": "jsonpath="}, "jsonpath format specified but no jsonpath template given"),
    (["pods"], {"output": "jsonpath={.a"}, "-o jsonpath: unclosed action"),
    (["pods"], {"output": "jsonpath={.items[7]}"}, 'error executing jsonpath "{.items[7]}": array index out of bounds'),
    (["pods"], {"output": "jsonpath-file=gone"}, "gone: it can't be read: No such file or directory"),
    (["pods"], {"output": "custom-columns="}, "custom-columns format specified but no custom columns given"),
    (["pods"], {"output": "custom-columns=a"}, "unexpected custom-columns spec: a, expected <header>:<json-path-expr>"),
    (["pods"], {"output": "custom-columns=A:{a}{b}"}, "unexpected path string, expected a 'name1.name2' or"),
    (["pods"], {"output": "custom-columns=A:.kind[0]"}, "column A: Pod is not array or slice"),
    (["pods"], {"sort_by": ".gone"}, 'couldn\'t find any field with path ".gone" in the list of objects'),
    (["pods"], {"sort_by": ".spec"}, "--sort-by .spec: lists and mappings have no order; name a field in them"),
    (["pods"], {"sort_by": "{a"}, "--sort-by {a: unexpected path string"),
    (["pods", "c"], {"selector": "a"}, "name cannot be provided when a selector is specified"),
    (["pods,jobs"], {"watch": True}, "you may only specify a single resource type"),
    (["pods"], {"watch": True}, "a run that has ended can't be watched"),
    (["pods"], {"types": "Normal"}, "--for and --types are for events"),
    (["events"], {"types": "Odd"}, "valid --types are Normal or Warning, not odd"),
    (["events"], {"about": "x/y"}, "--for x/y: use NAME or TYPE/NAME"),
    (["pods", "job/j"], {}, "there is no need to specify a resource type as a separate argument"),
    (["pod/c", "j"], {}, "arguments in resource/name form must have a single resource and name"),
    (["pods,x"], {}, 'the server doesn\'t have a resource type "x"'),
]


@pytest.mark.parametrize(("words", "options", "text"), REFUSED, ids=[f"{' '.join(row[0])} {row[1]}" for row in REFUSED])
async def test_what_can_not_be_read_is_told(words: list[str], options: dict[str, object], text: str) -> None:
    with pytest.raises(Refusal) as caught:
        await printed(Given(PODS, NOW), words, "default", **options)
    assert text in str(caught.value)


async def test_forms_come_from_files(tmp_path: Path) -> None:
    (tmp_path / "columns").write_text("NAME PHASE\nmetadata.name {.status.phase}\n")
    (tmp_path / "template").write_text("{.items[0].kind}\n")
    (tmp_path / "uneven").write_text("NAME PHASE\nmetadata.name\n")
    given = Given(PODS, NOW)
    columns = await printed(given, ["pods"], output=f"custom-columns-file={tmp_path / 'columns'}", selector="weight")
    assert columns == ("NAME   PHASE\nc      Pending\n", True)
    assert await printed(given, ["pods"], output=f"jsonpath-file={tmp_path / 'template'}") == ("Pod\n", True)
    with pytest.raises(Refusal, match=r"number of headers \(2\) and field specifications \(1\) don't match"):
        await printed(given, ["pods"], output=f"custom-columns-file={tmp_path / 'uneven'}")


def test_events_of_a_series_count_it() -> None:
    series = {"count": 4, "lastObservedTime": (NOW - timedelta(seconds=1)).isoformat()}
    event = {
        "kind": "Event",
        "metadata": {"name": "e"},
        "involvedObject": {"kind": "Pod", "name": "web"},
        "type": "Normal",
        "reason": "R",
        "message": "m",
        "eventTime": (NOW - timedelta(seconds=9)).isoformat(),
        "series": series,
    }
    events = kind_of("events")
    assert events is not None
    assert events.cells(event, NOW, is_wide=False)[0] == "1s"
    assert events.cells(event, NOW, is_wide=True)[7:9] == ("9s", "4")
    assert TIMELINE.cells(event, NOW, is_wide=False) == ("1s (x4 over 9s)", "Normal", "R", "Pod/web", "m")


def test_a_request_without_words_is_for_all_pods() -> None:
    assert GetRequest().wants(PODS[0])
