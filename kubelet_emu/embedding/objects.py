"""Handles on what runs on a node inside a program: pods and Jobs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import trio
from attrs import define, field

from kubelet_emu.embedding.arguments import check_grace, check_seconds, check_text
from kubelet_emu.embedding.moments import job_moment, pod_moment
from runtime.api import ContainerState

if TYPE_CHECKING:
    from kubelet_emu.api.v1_status import PodStatus
    from kubelet_emu.apiserver.objects import APIObject
    from kubelet_emu.embedding.node import Node
    from kubelet_emu.embedding.pod_log import PodLog
    from kubelet_emu.scenarios.expectations import MomentExpression
    from runtime.api import ContainerID


class WaitError(AssertionError):
    """A moment did not come: in time, or because nothing more can happen. The text tells what did happen."""


@define(eq=False, kw_only=True)
class Pod:
    """A pod on a node. It can be asked after its end, too."""

    name: str
    namespace: str
    uid: str
    node: Node = field(repr=False)

    @property
    def log(self) -> PodLog:
        """Return what has happened to the pod so far."""
        return self.node.log_of(self)

    @property
    def status(self) -> PodStatus | None:
        """Return its status as the API has it, None once the object is gone."""
        pod = self.node.cluster.api.get("Pod", self.namespace, self.name)
        return None if pod is None or pod.metadata.uid != self.uid else pod.status

    @property
    def phase(self) -> str:
        """Return its last phase, also of one that is gone."""
        statuses = [record for record in self.log.records if record.get("kind") == "status"]
        return str(statuses[-1]["phase"]) if statuses else "Pending"

    @property
    def grace_period_seconds(self) -> int:
        """Return the grace that its spec gives, 30 once it is gone."""
        pod = self.node.cluster.api.get("Pod", self.namespace, self.name)
        seconds = None if pod is None else pod.spec.termination_grace_period_seconds
        return 30 if seconds is None else seconds

    @property
    def is_gone(self) -> bool:
        """Tell whether the API has it no more."""
        return self.status is None

    async def wait_for(self, moment: str, *, timeout: float | None = None) -> float:  # noqa: ASYNC109 - seconds of its own clock
        """Wait until a moment was, and return when, in seconds since creation; one that lies behind counts.

        A phase, a condition, `deleted`, or a moment of the grammar, such as `main exited(0)`. WaitError when it does
        not come in time or can't come any more; ValueError for a text that is none, LookupError for a container that
        the pod hasn't. Cancellation changes nothing.
        """
        __tracebackhide__ = True
        check_text("moment", moment)
        return await self.node.wait_for(self, (pod_moment(moment),), timeout)

    async def wait_for_end(self, *, timeout: float | None = None) -> str:  # noqa: ASYNC109 - as above
        """Wait until it has Succeeded or Failed, or is gone, and return its last phase; WaitError."""
        await self.node.wait_for(self, tuple(map(pod_moment, ("Succeeded", "Failed", "deleted"))), timeout)
        return self.phase

    async def delete(self, *, grace_period_seconds: int | None = None, wait: bool = True) -> None:
        """Delete the pod as `kubectl delete` does: with its own grace unless told otherwise, waiting until it is gone.

        Does nothing to one that is gone. WaitError when it is not gone in time.
        """
        check_grace(grace_period_seconds)
        if self.is_gone:
            return
        self.node.cluster.api.delete("Pod", self.namespace, self.name, grace_period_seconds=grace_period_seconds)
        if wait:
            await self.wait_for("deleted")

    async def exec(self, container: str, *command: str, timeout: float = 60.0) -> tuple[int, str]:  # noqa: ASYNC109 - seconds of the runtime
        """Run a command in a running container and return its exit code and output.

        LookupError when the container doesn't run, CRIError when the command can't.
        """
        check_seconds("timeout", timeout)
        for word in command:
            check_text("command", word)
        result = await self.node.cluster.runtime.exec_sync(await self._running(container), command, timeout)
        return result.exit_code, (result.stdout + result.stderr).decode(errors="replace")

    async def kill(self, container: str, signal: str = "SIGKILL") -> None:
        """Send a signal to a running container from outside, as an out-of-memory killer would; LookupError."""
        check_text("signal", signal)
        await self.node.cluster.runtime.kill_container(await self._running(container), signal)

    async def _running(self, container: str) -> ContainerID:
        status = (await self.node.cluster.observe(self.uid)).find(container)
        if status is None or status.state is not ContainerState.RUNNING:
            raise LookupError(f"container {container!r} of pod {self.name!r} does not run")
        return status.id

    @property
    def container_names(self) -> tuple[str, ...]:
        """Return its containers in the order of its spec; none once it is gone."""
        pod = self.node.cluster.api.get("Pod", self.namespace, self.name)
        if pod is None:
            return ()
        spec, debugging = pod.spec, pod.spec.ephemeral_containers
        return (*(c.name for c in (*spec.init_containers, *spec.containers)), *(c.name for c in debugging))

    def can_change(self, moment: MomentExpression) -> bool:
        """Tell whether a moment may still come."""
        return not self.is_gone and (self.phase not in {"Succeeded", "Failed"} or moment.verb in _AFTER_THE_END)


_AFTER_THE_END = frozenset({"deleted", "terminating", "line", "event"})


@define(eq=False, kw_only=True)
class Job:
    """A Job on a node."""

    name: str
    namespace: str
    node: Node = field(repr=False)

    @property
    def log(self) -> PodLog:
        """Return what has happened to the Job and its pods so far."""
        return self.node.log_of(self)

    @property
    def pods(self) -> tuple[Pod, ...]:
        """Return its pods in the order of their creation, also those that are gone."""
        return tuple(
            pod
            for pod in self.node.pods
            if pod.namespace == self.namespace and self.node.owner_of(pod.uid) == self.name
        )

    async def wait_for(self, moment: str, *, timeout: float | None = None) -> float:  # noqa: ASYNC109 - seconds of its own clock
        """Wait until a moment was: `Complete`, `Failed`, another condition, `deleted`, or one of the grammar.

        Returns when, in seconds since creation; WaitError as for pods.
        """
        __tracebackhide__ = True
        check_text("moment", moment)
        return await self.node.wait_for(self, (job_moment(moment),), timeout)

    async def wait_for_end(self, *, timeout: float | None = None) -> str:  # noqa: ASYNC109 - as above
        """Wait until it is Complete or Failed, and return which; empty for one that was deleted before. WaitError."""
        await self.node.wait_for(self, tuple(map(job_moment, ("Complete", "Failed", "deleted"))), timeout)
        log = self.log
        return next((each for each in ("Complete", "Failed") if log.find(job_moment(each)) is not None), "")

    async def delete(self) -> None:
        """Delete the Job and its pods."""
        if self._object() is not None:
            self.node.cluster.api.delete("Job", self.namespace, self.name)
            await trio.lowlevel.checkpoint()

    @property
    def container_names(self) -> tuple[str, ...]:
        """Return the containers of its pods in the order of its template; none once it is gone."""
        job = self.node.cluster.api.get("Job", self.namespace, self.name)
        spec = None if job is None else job.spec.template.spec
        return () if spec is None else tuple(c.name for c in (*spec.init_containers, *spec.containers))

    def _object(self) -> APIObject | None:
        return self.node.cluster.api.get("Job", self.namespace, self.name)

    def can_change(self, moment: MomentExpression) -> bool:  # noqa: ARG002 - as for pods
        """Tell whether a moment may still come."""
        return self._object() is not None
