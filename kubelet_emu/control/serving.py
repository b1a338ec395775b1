"""The control socket of a run from its opening to its end."""

from __future__ import annotations

from typing import TYPE_CHECKING

import trio
from attrs import frozen

from kubelet_emu.control.debugging import Debugging
from kubelet_emu.control.desk import Desk
from kubelet_emu.control.execs import Execs
from kubelet_emu.control.logs import Logs
from kubelet_emu.control.objects import Objects
from kubelet_emu.control.places import SOCKET
from kubelet_emu.control.server import ControlServer, Streaming
from kubelet_emu.journal.records import NoteRecord

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable, Iterable, Mapping
    from pathlib import Path

    from kubelet_emu.cluster.cluster import Cluster
    from kubelet_emu.control.event_log import EventLog
    from kubelet_emu.control.places import RunFacts
    from kubelet_emu.control.protocol import Message, Params
    from kubelet_emu.control.server import Exchange

    Pulls = Callable[[], Iterable[Message]]
    Clean = Callable[[Mapping[str, object]], dict[str, object]]


@frozen(kw_only=True)
class Control:
    """What a run needs to be reached: its state folder, who it is, its events, and the pulls that have not ended.

    `place` is the socket, or why there is none. `clean` takes the values of Secrets out of an object that is shown.
    """

    folder: Path
    place: socket.socket | OSError
    facts: RunFacts
    events: EventLog
    pulls: Pulls = tuple
    clean: Clean = dict

    async def serve(self, cluster: Cluster, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Serve the socket until cancelled; where there can be none, say so and do without."""
        if isinstance(self.place, OSError):
            text = f"no second terminal can reach this run: {self.folder / SOCKET}: {self.place.strerror or self.place}"
            cluster.emit(NoteRecord(level="warning", text=text))
            task_status.started()
            return
        listener = trio.SocketListener(trio.socket.from_stdlib_socket(self.place))
        try:
            await make_server(cluster, self.facts, self.events, self.pulls, self.clean).run(
                listener, task_status=task_status
            )
        finally:
            self.close()

    def close(self) -> None:
        """Leave the socket, served or not."""
        if not isinstance(self.place, OSError):
            (self.folder / SOCKET).unlink(missing_ok=True)
            self.place.close()


def make_server(
    cluster: Cluster, facts: RunFacts, events: EventLog, pulls: Pulls = tuple, clean: Clean = dict
) -> ControlServer:
    """Return the server of a run, with all its methods."""
    desk = Desk(cluster=cluster, events=events, clean=clean)
    objects, execs = Objects(desk), Execs(desk)

    async def info(params: Params, _: Exchange) -> Message:
        del params
        await trio.lowlevel.checkpoint()
        return {**facts.to_json(), "now": desk.now()}

    async def pulled(params: Params, _: Exchange) -> Message:
        del params
        await trio.lowlevel.checkpoint()
        return {"items": list(pulls()), "now": desk.now()}

    return ControlServer(
        greeting=facts.to_json,
        methods={
            "info": info,
            "pulls": pulled,
            "list": objects.listed,
            "get": objects.get,
            "watch": Streaming(objects.watch),
            "delete": objects.delete,
            "logs": Streaming(Logs(desk).read),
            "exec": Streaming(execs.exec),
            "attach": Streaming(execs.attach),
            "kill": execs.kill,
            "debug": Debugging(desk).debug,
        },
    )
