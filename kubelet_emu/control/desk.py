"""What the methods of the control socket work with: the run's cluster, its events and its clock."""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import frozen

from kubelet_emu.api.codec import encode
from kubelet_emu.apiserver.errors import NotFoundError
from kubelet_emu.control.errors import ControlError, Reason
from kubelet_emu.journal.records import ObjectRef, RequestRecord
from runtime.api import ContainerState

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from kubelet_emu.api.v1 import Pod
    from kubelet_emu.apiserver.objects import APIObject
    from kubelet_emu.cluster.cluster import Cluster
    from kubelet_emu.control.event_log import EventLog
    from kubelet_emu.control.protocol import Params
    from runtime.api import ContainerID

DEFAULT_NAMESPACE = "default"
EVENT = "Event"


@frozen(kw_only=True)
class Desk:
    """One run, as its methods see it; `clean` takes the values of Secrets out of an object that is shown."""

    cluster: Cluster
    events: EventLog
    clean: Callable[[Mapping[str, object]], dict[str, object]] = dict

    def now(self) -> str:
        """Return the run's time, RFC 3339 with microseconds."""
        return self.cluster.timebase.now().isoformat().replace("+00:00", "Z")

    def pod(self, params: Params) -> Pod:
        """Return the pod that a request names; NotFoundError."""
        namespace, name = params.text("namespace", DEFAULT_NAMESPACE), params.text("pod")
        found = self.cluster.api.get("Pod", namespace, name)
        if found is None:
            raise NotFoundError("Pod", namespace, name)
        return found

    async def running(self, pod: Pod, container: str, missing: str = "") -> ContainerID:
        """Return the running container of a name; ControlError when it isn't the pod's or doesn't run, CRIError.

        `missing` is what is said of one that doesn't run.
        """
        spec = pod.spec
        known = {each.name for each in (*spec.init_containers, *spec.containers)}
        if container not in known | {each.name for each in spec.ephemeral_containers}:
            text = f"container {container} is not valid for pod {pod.metadata.name}"
            raise ControlError(Reason.BAD_REQUEST, text)
        status = (await self.cluster.observe(pod.metadata.uid or "")).find(container)
        if status is None or status.state is not ContainerState.RUNNING:
            raise ControlError(Reason.NOT_RUNNING, missing or f'container not found ("{container}")')
        return status.id

    def shown(self, obj: APIObject) -> dict[str, object]:
        """Return an object as a second terminal may see it."""
        return self.clean(to_json(obj))

    def note_request(self, pod: Pod, what: str, details: Mapping[str, object]) -> None:
        """Record that a second terminal asked for something."""
        self.cluster.emit(RequestRecord(ref=ObjectRef.of(pod.metadata), what=what, details=details))


def to_json(obj: APIObject) -> dict[str, object]:
    """Return an object as the API has it."""
    return {"apiVersion": obj.api_version, "kind": obj.kind, **encode(obj)}
