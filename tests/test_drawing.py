"""Timelines: what is drawn of recordings of a real node and of logs as text, on terminals, pages and for machines."""

from __future__ import annotations

import itertools
import json
from functools import cache
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from click.testing import CliRunner

from kubelet_emu.cli.main import main
from kubelet_emu.lifecycle.drawing import Bar, BarKind, Mark, MarkKind, Row, Timeline, timeline_of
from kubelet_emu.lifecycle.drawing.machine import as_json
from kubelet_emu.lifecycle.drawing.pages import as_html, as_svg, draw
from kubelet_emu.lifecycle.drawing.scale import Scale
from kubelet_emu.lifecycle.drawing.term import format_timeline
from kubelet_emu.lifecycle.reading import read_logs
from kubelet_emu.lifecycle.recounting import recount
from kubelet_emu.manifests import load

ROOT = Path(__file__).parent.parent
FOLDER = ROOT / "fixtures" / "scenarios"
RECORDINGS = sorted(path.parent.name for path in FOLDER.glob("*/trace.jsonl"))[::4]
SVG = "{http://www.w3.org/2000/svg}"


@cache
def drawn(scenario: str) -> tuple[Timeline, ...]:
    """Return the timelines of a recording."""
    folder = FOLDER / scenario
    objects = [loaded.object for loaded in load((str(folder / "manifest.yaml"),)).objects]
    return tuple(map(timeline_of, recount(read_logs([folder / "trace.jsonl"], manifests=objects)).pods))


JOB = """\
export-pprmf      Pending─────────────Running━━━━━━━━━━──────────────────────────────────  Succeeded
uploader sidecar                  ─━━━━━━━━━━━━━━━━━━━╌╌▒▒▒▒▒▒▒▒▒▒▒▒▒T●                    0
export main                           ━━━━━━━━━━━━━●                                       0
                  0s              3s               5s                8s          10s
─ runs  ━ ready  ╌ is stopped  ▒ hook  · back-off  ░ pull  T TERM  K KILL  ● exit 0  ✗ bad exit
≈ cut
"""


def test_a_job_with_a_sidecar_on_a_terminal() -> None:
    (timeline,) = drawn("case-36-sidecar-prestop-runs-at-job-end")
    assert format_timeline(timeline, 100) == JOB


def test_a_crash_loop_shows_its_back_offs_and_presses_quiet_together() -> None:
    (timeline,) = drawn("crashloop-sidecar")
    text = format_timeline(timeline, 100)
    sidecar = next(line for line in text.splitlines() if line.startswith("s1 sidecar"))
    assert "✗···" in sidecar
    assert "≈" in sidecar
    assert sidecar.endswith("… 1 1 1")


def test_a_kill_is_marked() -> None:
    (timeline,) = drawn("sidecar-prestop-exceeds-grace")
    text = format_timeline(timeline, 100)
    assert next(line for line in text.splitlines() if line.startswith("sidecar-2")).split()[-2:][1] == "137"
    assert "K✗" in text
    assert "Running" not in text.splitlines()[0].partition("D")[2]


@pytest.mark.parametrize("width", [40, 80, 200])
@pytest.mark.parametrize("scenario", RECORDINGS)
def test_no_line_is_wider_than_the_terminal(scenario: str, width: int) -> None:
    for timeline in drawn(scenario):
        lines = format_timeline(timeline, width).splitlines()
        assert max(map(len, lines)) <= width
        assert len(lines) >= len(timeline.rows) + 2


@pytest.mark.parametrize("scenario", RECORDINGS)
def test_no_label_of_a_picture_touches_another(scenario: str) -> None:
    picture = draw(drawn(scenario), 700)
    rows: dict[float, list[tuple[float, float]]] = {}
    for label in picture.labels:
        rows.setdefault(label.y, []).append((label.x, label.right))
    for spans in rows.values():
        for before, after in itertools.pairwise(sorted(spans)):
            assert before[1] <= after[0]
    assert all(label.right <= picture.width and label.y <= picture.height for label in picture.labels)


@pytest.mark.parametrize("scenario", RECORDINGS)
def test_a_picture_is_well_formed_and_within_its_frame(scenario: str) -> None:
    root = ET.fromstring(as_svg(drawn(scenario), 900))  # noqa: S314 - our own
    width = float(root.get("width", 0))
    for box in root.iter(f"{SVG}rect"):
        assert 0 <= float(box.get("x", -1)) <= width


def test_text_of_a_log_is_escaped() -> None:
    row = Row(name="<b>", kind="main", bars=(Bar(kind=BarKind.RUN, start=0, end=1, label="<script>&"),))
    timeline = Timeline(title="</title><script>", rows=(row,), start=0, end=1)
    page = as_html([timeline], 500)
    assert page.count("<script>") == 1
    assert "&lt;script&gt;&amp;" in page
    assert "default-src 'none'" in page
    assert "http" not in page.replace('xmlns="http://www.w3.org/2000/svg"', "").replace("http-equiv", "")


def test_a_picture_is_xml_whatever_a_log_says() -> None:
    odd = "\x1b[31m\ud800"
    row = Row(name=odd, kind="main", bars=(Bar(kind=BarKind.RUN, start=0, end=1, label=odd),))
    root = ET.fromstring(as_svg([Timeline(title=odd, rows=(row,), start=0, end=1)], 500))  # noqa: S314 - our own
    assert "\\x1b[31m\\xd800 (main)" in [element.text for element in root.iter(f"{SVG}text")]


def test_every_mark_has_a_sign_of_its_own() -> None:
    marks = tuple(Mark(kind=kind, at=float(n), label=kind.value) for n, kind in enumerate(MarkKind))
    timeline = Timeline(title="p", rows=(Row(name="c", kind="main", marks=marks),), start=0, end=10)
    text = format_timeline(timeline, 100).splitlines()[0]
    assert [sign for sign in text if sign in "DTK●✗'!"] == ["D", "T", "K", "●", "✗", "'", "!"]
    assert as_svg([timeline], 500).count('mark"><title>') == len(marks) + 4


def test_marks_of_one_moment_stand_side_by_side() -> None:
    marks = (Mark(kind=MarkKind.TERM, at=5.0), Mark(kind=MarkKind.EXIT, at=5.0))
    timeline = Timeline(title="p", rows=(Row(name="c", kind="main", marks=marks),), start=0, end=10)
    assert "T●" in format_timeline(timeline, 100)


def test_colours_are_put_around_signs() -> None:
    (timeline,) = drawn("case-36-sidecar-prestop-runs-at-job-end")
    text = format_timeline(timeline, 100, lambda sign, colour: f"[{colour}{sign}]")
    assert "[blue━]" in text
    assert "[cyan▒]" in text


def test_a_long_quiet_stretch_is_pressed_together() -> None:
    bars = (Bar(kind=BarKind.RUN, start=0, end=1), Bar(kind=BarKind.RUN, start=1000, end=1001))
    timeline = Timeline(title="p", rows=(Row(name="c", kind="main", bars=bars),), start=0, end=1001)
    scale = Scale.of(timeline, 100)
    assert scale.place(-5) == 0
    assert scale.place(2000) == 100
    assert scale.place(1) == pytest.approx(100 / 22)
    assert len(scale.breaks) == 1
    assert Scale.of(Timeline(title="p", rows=(), start=3, end=3), 100).place(3) == 0


def test_json_has_every_bar_and_mark() -> None:
    timelines = drawn("case-36-sidecar-prestop-runs-at-job-end")
    (pod,) = json.loads(as_json(timelines))
    names = [row["name"] for row in pod["rows"]]
    assert names == ["export-pprmf", "uploader", "export"]
    kinds = {bar["kind"] for bar in pod["rows"][1]["bars"]}
    assert {"run", "ready", "stopping", "preStop"} <= kinds
    assert {mark["kind"] for mark in pod["rows"][1]["marks"]} == {"TERM", "exit"}


@pytest.mark.parametrize("slide", ["slide-16.log", "slide-18.log", "slide-20.log"])
def test_container_lines_alone_are_drawn(slide: str) -> None:
    ran = CliRunner().invoke(main, ["timeline", str(ROOT / "fixtures" / "slides" / slide), "--width", "80"])
    assert ran.exit_code == 0
    assert "sidecar-1" in ran.output


@pytest.mark.parametrize(("output", "start"), [("svg", "<svg"), ("html", "<!doctype html>"), ("json", "[")])
def test_the_command_draws_each_form(output: str, start: str) -> None:
    slide = str(ROOT / "fixtures" / "slides" / "slide-20.log")
    ran = CliRunner().invoke(main, ["timeline", slide, "-o", output])
    assert (ran.exit_code, ran.output.startswith(start)) == (0, True)


def test_a_pod_that_is_not_in_the_log_is_named() -> None:
    slide = str(ROOT / "fixtures" / "slides" / "slide-20.log")
    ran = CliRunner().invoke(main, ["timeline", slide, "--pod", "other"])
    assert ran.exit_code == 2
    assert "no pod other in this log; there are pod-with-sidecar-nn4zh" in ran.output


PICTURES = [
    ("slide-15", ["slide-15-pod.yaml", "--delete-when", "ready+5"]),
    ("slide-17", ["slide-17-pod.yaml", "--delete-when", "ready+5"]),
    ("slide-19", ["slide-19-job.yaml"]),
]


@pytest.mark.parametrize(("name", "arguments"), PICTURES, ids=[row[0] for row in PICTURES])
def test_the_pictures_of_the_docs_are_up_to_date(name: str, arguments: list[str], tmp_path: Path) -> None:
    """`kubelet-emu run --runtime simulated --seed 1 SLIDE [--delete-when ready+5] --timeline FILE` makes them."""
    slide, *more = arguments
    file = tmp_path / f"{name}.svg"
    command = ["run", "--runtime", "simulated", "--seed", "1", str(ROOT / "fixtures" / "slides" / slide), *more]
    CliRunner().invoke(main, [*command, "--timeline", str(file)])
    assert file.read_text() == (ROOT / "docs" / "pictures" / f"{name}.svg").read_text()


def test_a_picture_of_no_known_kind_is_refused() -> None:
    ran = CliRunner().invoke(main, ["run", "x.yaml", "--timeline", "a.png"])
    assert ran.exit_code == 2
    assert "neither a .svg nor a .html file" in ran.output


def test_a_picture_in_a_folder_that_there_is_not_is_refused_before_the_run(tmp_path: Path) -> None:
    ran = CliRunner().invoke(main, ["run", "x.yaml", "--timeline", str(tmp_path / "none" / "a.svg")])
    assert ran.exit_code == 2
    assert "there is no folder" in ran.output


def test_a_picture_that_cant_be_written_is_said(tmp_path: Path) -> None:
    slide = str(ROOT / "fixtures" / "slides" / "slide-19-job.yaml")
    file = tmp_path / "a.svg"
    file.mkdir()
    ran = CliRunner().invoke(main, ["run", "--runtime", "simulated", slide, "--timeline", str(file)])
    assert ran.exit_code == 1
    assert f"--timeline {file}: Is a directory" in ran.output
