"""Timelines as SVG, and as one HTML page that needs nothing from anywhere. Pure.

Kinds are told apart by shape and height as well as by colour (Okabe and Ito's, which colour-blind readers can tell
apart). Text is set in a monospaced font, so that its width is known and no label touches another.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import define, field, frozen

from kubelet_emu.lifecycle.drawing.scale import Scale
from kubelet_emu.lifecycle.drawing.timeline import BarKind, MarkKind
from kubelet_emu.markup.text import xml_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kubelet_emu.lifecycle.drawing.timeline import Bar, Mark, Row, Timeline

CHARACTER = 6.7
LINE, ROW, GAP = 16, 24, 12
TICK_SPACE = 64
LEAST_TRACK = 200


@frozen
class _Look:
    """How a bar is drawn: its class in the style sheet, its height, and how far it is above the row's middle."""

    name: str
    height: float
    up: float = 0.0


_LOOKS = {
    BarKind.GRACE: _Look("grace", 4, -9),
    BarKind.PULL: _Look("pull", 6),
    BarKind.BACK_OFF: _Look("backoff", 2),
    BarKind.RUN: _Look("run", 8),
    BarKind.READY: _Look("ready", 14),
    BarKind.STOPPING: _Look("stopping", 14),
    BarKind.POST_START: _Look("hook", 6),
    BarKind.PRE_STOP: _Look("hook", 6),
}
_STYLE = """
svg{font:11px ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;background:#fff;--ink:#222;--soft:#888;--rule:#ddd}
text{fill:var(--ink)} .soft{fill:var(--soft)} .rule{stroke:var(--rule)} .cut{stroke:var(--soft);stroke-dasharray:2 2}
.pull{fill:#bbb} .backoff{fill:#999} .run{fill:#56b4e9} .ready{fill:#0072b2} .stopping{fill:#e69f00}
.hook{fill:#f0e442;stroke:#222;stroke-width:.5} .grace{fill:#cc79a7}
.term,.exit,.deleted{fill:#222} .kill,.bad{fill:#d55e00} .mark{stroke:#fff;stroke-width:1}
@media (prefers-color-scheme:dark){svg{background:#16181c;--ink:#e8e8e8;--soft:#9a9a9a;--rule:#3a3d42}
.term,.exit,.deleted{fill:#fff} .mark{stroke:#16181c}}
"""
_LEGEND = (
    ("run", "runs"),
    ("ready", "ready"),
    ("stopping", "is stopped"),
    ("hook", "hook"),
    ("backoff", "back-off"),
    ("pull", "pull"),
    ("grace", "grace"),
    ("term", "TERM"),
    ("kill", "KILL"),
    ("exit", "exit 0"),
    ("bad", "bad exit"),
)
_SIGNS = {
    "term": "l-5 -9h10z",
    "kill": "m-5 -7l2 -2l3 3l3 -3l2 2l-3 3l3 3l-2 2l-3 -3l-3 3l-2 -2l3 -3z",
    "exit": "m-5 -4a5 5 0 1 0 10 0a5 5 0 1 0 -10 0z",
    "bad": "m0 -10l6 6l-6 6l-6 -6z",
}
"""Paths from a mark's foot."""


@frozen
class Label:
    """A text and the box that it takes: what a test needs to know to say that none touches another."""

    text: str
    x: float
    y: float

    @property
    def right(self) -> float:
        """Return where it ends."""
        return self.x + len(self.text) * CHARACTER


@define(eq=False)
class _Picture:
    """What has been drawn so far."""

    width: float
    parts: list[str] = field(factory=list)
    labels: list[Label] = field(factory=list)
    height: float = GAP

    def text(self, x: float, y: float, text: str, style: str = "") -> None:
        self.labels.append(Label(text, x, y))
        self.parts.append(f'<text x="{x:.1f}" y="{y:.1f}"{_class(style)}>{xml_text(text)}</text>')

    def box(self, x: float, y: float, width: float, height: float, style: str, title: str) -> None:
        size = f'width="{max(1.0, width):.1f}" height="{height:g}"'
        self.parts.append(
            f'<rect x="{x:.1f}" y="{y:.1f}" {size}{_class(style)}><title>{xml_text(title)}</title></rect>'
        )

    def line(self, x1: float, y1: float, x2: float, y2: float, style: str) -> None:
        self.parts.append(f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"{_class(style)}/>')

    def shape(self, path: str, style: str, title: str) -> None:
        self.parts.append(f'<path d="{path}"{_class(f"{style} mark")}><title>{xml_text(title)}</title></path>')


def _class(name: str) -> str:
    return f' class="{name}"' if name else ""


def as_svg(timelines: Sequence[Timeline], width: float) -> str:
    """Return timelines as one SVG picture of so many pixels in width."""
    picture = draw(timelines, width)
    size = f'width="{picture.width:.0f}" height="{picture.height:.0f}"'
    box = f'viewBox="0 0 {picture.width:.0f} {picture.height:.0f}"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {size} {box} role="img">'
    return "\n".join([head, f"<style>{_STYLE}</style>", *picture.parts, "</svg>", ""])


def as_html(timelines: Sequence[Timeline], width: float) -> str:
    """Return timelines as one page: a wheel with Ctrl zooms, hovering tells; nothing is loaded from anywhere."""
    policy = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'"
    title = xml_text(", ".join(timeline.title for timeline in timelines))
    return f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<title>{title}</title>
<style>body{{margin:1em;font:14px sans-serif}} #view{{overflow:auto}} svg{{display:block}}
@media (prefers-color-scheme:dark){{body{{background:#16181c;color:#e8e8e8}}}}</style></head>
<body><p><button id="in">larger</button> <button id="out">smaller</button></p>
<div id="view">
{as_svg(timelines, width)}</div>
<script>
const picture = document.querySelector("svg");
const width = picture.width.baseVal.value, height = picture.height.baseVal.value;
let zoom = 1;
function set(next) {{
  zoom = Math.min(16, Math.max(0.5, next));
  picture.setAttribute("width", width * zoom);
  picture.setAttribute("height", height * zoom);
}}
document.getElementById("in").onclick = () => set(zoom * 1.5);
document.getElementById("out").onclick = () => set(zoom / 1.5);
document.getElementById("view").addEventListener("wheel", (event) => {{
  if (event.ctrlKey) {{ event.preventDefault(); set(zoom * (event.deltaY < 0 ? 1.2 : 1 / 1.2)); }}
}}, {{passive: false}});
</script></body></html>
"""


def draw(timelines: Sequence[Timeline], width: float) -> _Picture:
    """Return the picture with its labels: one timeline below the other, then what the colours mean."""
    picture = _Picture(width)
    for timeline in timelines:
        _draw(picture, timeline)
    _legend(picture)
    return picture


def _draw(picture: _Picture, timeline: Timeline) -> None:
    names = [_name(row) for row in timeline.rows]
    ends = [_end(row) for row in timeline.rows]
    left = GAP + max(map(len, names), default=0) * CHARACTER + GAP
    right = GAP + max(map(len, ends), default=0) * CHARACTER + GAP
    picture.width = max(picture.width, left + LEAST_TRACK + right)
    track = picture.width - left - right
    scale = Scale.of(timeline, track)
    top = picture.height
    for i, (row, name, end) in enumerate(zip(timeline.rows, names, ends, strict=True)):
        middle = top + i * ROW + ROW / 2
        picture.text(GAP, middle + 4, name)
        picture.text(left + track + GAP, middle + 4, end)
        _draw_row(picture, row, scale, left, middle)
    bottom = top + len(timeline.rows) * ROW
    for first, last in scale.breaks:
        at = left + (first + last) / 2
        picture.line(at, top, at, bottom, "cut")
    _axis(picture, timeline, scale, left, bottom)
    picture.height = bottom + LINE + GAP


def _name(row: Row) -> str:
    return row.name if row.kind == "pod" else f"{row.name} ({row.kind})"


def _end(row: Row) -> str:
    if row.kind == "pod":
        return next((bar.label for bar in reversed(row.bars) if bar.kind is BarKind.PHASE), "")
    ends = [mark.label for mark in row.marks if mark.kind in {MarkKind.EXIT, MarkKind.BAD_EXIT}]
    return ends[-1] if ends else ""


def _draw_row(picture: _Picture, row: Row, scale: Scale, left: float, middle: float) -> None:
    picture.line(left, middle, left + scale.places[-1], middle, "rule")
    for kind, look in _LOOKS.items():
        for bar in row.bars:
            if bar.kind is kind:
                _bar(picture, bar, look, scale, (left, middle))
    for mark in sorted(row.marks, key=lambda each: each.kind in {MarkKind.TERM, MarkKind.KILL}):
        _mark(picture, mark, left + scale.place(mark.at), middle)


def _bar(picture: _Picture, bar: Bar, look: _Look, scale: Scale, origin: tuple[float, float]) -> None:
    x, end = origin[0] + scale.place(bar.start), origin[0] + scale.place(bar.end)
    title = f"{bar.label} ({bar.start:.2f} s to {'the end of the log' if bar.is_open else f'{bar.end:.2f} s'})"
    picture.box(x, origin[1] + look.up - look.height / 2, end - x, look.height, look.name, title)


def _mark(picture: _Picture, mark: Mark, x: float, y: float) -> None:
    title = f"{mark.label} at {mark.at:.2f} s"
    match mark.kind:
        case MarkKind.TERM:
            picture.shape(f"M{x:.1f} {y - 2:.1f}{_SIGNS['term']}", "term", title)
        case MarkKind.KILL:
            picture.shape(f"M{x:.1f} {y - 3:.1f}{_SIGNS['kill']}", "kill", title)
        case MarkKind.DELETED:
            picture.shape(f"M{x - 1:.1f} {y - 11:.1f}h2v22h-2z", "deleted", title)
        case MarkKind.BAD_EXIT:
            picture.shape(f"M{x:.1f} {y + 4:.1f}{_SIGNS['bad']}", "bad", title)
        case _:
            picture.shape(f"M{x:.1f} {y + 4:.1f}{_SIGNS['exit']}", "exit", title)


def _axis(picture: _Picture, timeline: Timeline, scale: Scale, left: float, bottom: float) -> None:
    free = left
    for at in sorted({timeline.start, *timeline.times()}):
        x, text = left + scale.place(at), f"{at - timeline.start:.1f}s"
        if x >= free and x + len(text) * CHARACTER <= picture.width:
            picture.text(x, bottom + 12, text, "soft")
            free = x + max(TICK_SPACE, len(text) * CHARACTER + GAP)


def _legend(picture: _Picture) -> None:
    x, y = float(GAP), picture.height + 10
    for name, text in _LEGEND:
        needed = 18 + len(text) * CHARACTER + GAP
        if x + needed > picture.width:
            x, y = float(GAP), y + LINE
        if name in _SIGNS:
            picture.shape(f"M{x + 6:.1f} {y:.1f}{_SIGNS[name]}", name, text)
        else:
            picture.box(x, y - 8, 12, 8, name, text)
        picture.text(x + 18, y, text, "soft")
        x += needed
    picture.height = y + GAP
