"""Makes live.svg: a run of live.yaml in virtual time, its terminal as it is after MOMENT seconds. `make pictures`."""

from __future__ import annotations

import io
import re
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import trio
from attrs import define, evolve, field
from rich.console import Console as Printer
from rich.terminal_theme import MONOKAI
from rich.text import Text

from kubelet_emu.cli.execution import execute
from kubelet_emu.cli.live.drawing import lay_out, show
from kubelet_emu.cli.live.facts import LiveFacts
from kubelet_emu.cli.live.fitting import fit
from kubelet_emu.cli.live.rows import rows_of
from kubelet_emu.cli.options import RunOptions
from kubelet_emu.cli.outputs import Streams
from kubelet_emu.cli.pull_watch import PullWatch
from kubelet_emu.cli.simulation import open_simulated
from kubelet_emu.cli.sinks import InOrder
from kubelet_emu.journal.console import Console, Stream
from kubelet_emu.journal.fold import Facts

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from kubelet_emu.cli.emulator import ClusterEmulator
    from kubelet_emu.cli.run_plan import Running
    from kubelet_emu.journal.encode import Entry

FOLDER = Path(__file__).resolve().parent
PICTURE = FOLDER / "live.svg"
MOMENT = 17.3
WIDTH = 118
LINES_ABOVE = 9


@define(eq=False)
class Scene:
    """A run, and what its terminal shows at the moment."""

    live: LiveFacts = field(factory=lambda: LiveFacts(Facts()))
    text: io.StringIO = field(factory=io.StringIO)
    view: list[Text] = field(factory=list)
    _console: InOrder = field(init=False)

    def __attrs_post_init__(self) -> None:
        """Write what happens, in colour."""
        stream = Stream(self.text, has_colour=True)
        self._console = InOrder(Console(logs=stream, changes=stream))

    def __call__(self, entry: Entry) -> None:
        """Take an entry, up to the moment."""
        if not self.view:
            self.live.facts.feed(entry)
            self.live(entry)
            self._console(entry)

    @asynccontextmanager
    async def open(self, running: Running) -> AsyncIterator[ClusterEmulator]:
        """Give the simulated node, with somebody who looks at the moment."""
        pulls = PullWatch(None)

        async def look() -> None:
            await trio.sleep(MOMENT)
            self._console.flush()
            rows = rows_of(self.live, pulls.views(), running.timebase.now())
            self.view = lay_out(fit(rows, 20), WIDTH)

        async with open_simulated(evolve(running, on_pull=pulls)) as emulator, trio.open_nursery() as nursery:
            nursery.start_soon(look)
            yield emulator
            nursery.cancel_scope.cancel()

    def print(self) -> Printer:
        """Return a console that has printed it."""
        printer = Printer(
            record=True, file=io.StringIO(), width=WIDTH, color_system="standard", force_terminal=True, _environ={}
        )
        show(printer, [Text("$ kubelet-emu run docs/pictures/live.yaml", style="bold")])
        show(printer, [Text.from_ansi(line) for line in self.text.getvalue().splitlines()[-LINES_ABOVE:]])
        show(printer, self.view)
        return printer


def scene() -> Scene:
    """Run the manifest and return what is seen."""
    found = Scene()
    options = RunOptions(manifests=(str(FOLDER / "live.yaml"),), runtime="simulated", seed=1, until=30.0)
    execute(options, Streams(out=io.StringIO(), err=io.StringIO(), listeners=(found,)), found.open)
    return found


def picture(found: Scene) -> str:
    """Return the picture; its fonts are the reader's own, its blanks stay."""
    svg = found.print().export_svg(title="kubelet-emu", theme=MONOKAI, unique_id="live")
    without_fonts = re.sub(r"\s*@font-face \{.*?\}", "", svg, flags=re.DOTALL)
    return without_fonts.replace("<svg ", '<svg xml:space="preserve" ', 1)


if __name__ == "__main__":
    PICTURE.write_text(picture(scene()), encoding="utf-8")
