"""Pulls as the control socket tells them, both ways. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from kubelet_emu.cli.pull_lines import PullView
from kubelet_emu.images.outcome import PullState
from runtime.api import PullProgress

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kubelet_emu.control.protocol import Message


def tell(pulls: Mapping[tuple[str, str], PullView]) -> list[Message]:
    """Return pulls, by the uid of the pod and the name of the container, as messages."""
    return [
        {
            "uid": uid,
            "container": container,
            "image": view.image,
            "state": view.state.value,
            "running": view.running,
            "limit": view.limit,
            "doneBytes": None if view.progress is None else view.progress.done_bytes,
            "totalBytes": None if view.progress is None else view.progress.total_bytes,
            "bytesPerSecond": view.bytes_per_second,
        }
        for (uid, container), view in pulls.items()
    ]


def hear(messages: list[Message]) -> Mapping[tuple[str, str], PullView]:
    """Return what messages tell."""
    return {(str(each["uid"]), str(each["container"])): _view(each) for each in messages}


def _view(message: Message) -> PullView:
    done, total = message.get("doneBytes"), message.get("totalBytes")
    is_known = isinstance(done, int) and isinstance(total, int)
    return PullView(
        who="",
        image=str(message.get("image", "")),
        state=PullState.QUEUED if message.get("state") == PullState.QUEUED.value else PullState.RUNNING,
        progress=PullProgress(done_bytes=cast("int", done), total_bytes=cast("int", total)) if is_known else None,
        bytes_per_second=cast("float | None", message.get("bytesPerSecond")),
        limit=cast("int | None", message.get("limit")),
        running=cast("int", message.get("running") or 0),
    )
