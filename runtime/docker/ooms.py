"""Whose memory ran out, where several containers share the limit of their pod.

With version 1 of cgroups the kernel tells every cgroup below the one that is full, so the engine takes all containers
of the pod for killed. The one that was is the one that dies of it; the others are spared.
"""

from __future__ import annotations

from typing import Any

from attrs import define, field

from runtime.docker import naming

JSON = Any
SIGKILL_CODE = 137
_SIGKILL = {"9", "SIGKILL", "KILL"}


@define(eq=False)
class SharedOOMs:
    """Holds the engine's `oom` messages back until the container's end; `are_told_to_all` is that of cgroup v1."""

    are_told_to_all: bool = False
    _waiting: dict[str, JSON] = field(factory=dict, init=False)
    _spared: set[str] = field(factory=set, init=False)

    def settle(self, message: JSON) -> tuple[JSON, ...]:
        """Return the messages that go on now that this one is here."""
        actor = message.get("Actor") or {}
        action, container_id, attributes = message.get("Action"), actor.get("ID", ""), actor.get("Attributes") or {}
        match action:
            case "oom" if self.are_told_to_all and naming.POD_CGROUP_LABEL in attributes:
                self._waiting[container_id] = message
                return ()
            case "kill" if attributes.get("signal") in _SIGKILL and self._waiting.pop(container_id, None):
                self._spared.add(container_id)
            case "die" if waiting := self._waiting.pop(container_id, None):
                if attributes.get("exitCode") == str(SIGKILL_CODE):
                    return waiting, message
                self._spared.add(container_id)
            case "start" | "destroy":
                self._waiting.pop(container_id, None)
                self._spared.discard(container_id)
            case _:
                pass
        return (message,)

    def corrected(self, inspected: JSON) -> JSON:
        """Return an inspect that calls a container killed by the kernel only if it was."""
        state, labels = inspected["State"], inspected["Config"].get("Labels") or {}
        if not (self.are_told_to_all and state.get("OOMKilled") and naming.POD_CGROUP_LABEL in labels):
            return inspected
        if state.get("ExitCode") == SIGKILL_CODE and inspected["Id"] not in self._spared:
            return inspected
        return {**inspected, "State": {**state, "OOMKilled": False}}
