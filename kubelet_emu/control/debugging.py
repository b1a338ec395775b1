"""The method that adds an ephemeral container to a pod (KEP-277)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import trio
from attrs import frozen

from kubelet_emu.api.v1_ephemeral import EphemeralContainer

if TYPE_CHECKING:
    from kubelet_emu.control.desk import Desk
    from kubelet_emu.control.protocol import Message, Params
    from kubelet_emu.control.server import Exchange


@frozen
class Debugging:
    """The method, over a run."""

    desk: Desk

    async def debug(self, params: Params, _: Exchange) -> Message:
        """Add a container and return its name; NotFoundError, InvalidError, ControlError.

        It gets no rights of its own: those that reach the machine are for who started the run to give.
        """
        await trio.lowlevel.checkpoint()
        pod = self.desk.pod(params)
        container = EphemeralContainer(
            name=params.text("container"),
            image=params.text("image"),
            image_pull_policy=params.optional_text("imagePullPolicy"),
            command=params.words("command") if params.given.get("command") else (),
            args=params.words("args") if params.given.get("args") else (),
            stdin=params.flag("stdin") or None,
            tty=params.flag("tty") or None,
            target_container_name=params.optional_text("target"),
            termination_message_policy="File",
        )
        api, metadata = self.desk.cluster.api, pod.metadata
        api.add_ephemeral_container(metadata.namespace or "", metadata.name or "", container)
        because = {"because": "kubelet-emu debug", "container": container.name}
        self.desk.note_request(pod, f"debug with {container.image}", because)
        return {"container": container.name}
