"""What the steps of a scenario do to a cluster."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING, cast

import trio
from attrs import define

from kubelet_emu.api.codec import DecodeError, decode_mapping
from kubelet_emu.api.kinds import api_type
from kubelet_emu.apiserver.errors import NotFoundError
from kubelet_emu.journal.records import RequestRecord
from kubelet_emu.kubelet.timebase import Lane
from kubelet_emu.manifests import load_text
from runtime.api import CRIError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from kubelet_emu.api.v1 import EphemeralContainer, Pod
    from kubelet_emu.apiserver.objects import APIObject
    from kubelet_emu.cluster.cluster import Cluster
    from kubelet_emu.rules.observed import ObservedPod
    from kubelet_emu.scenarios.scenario_file import Step
    from runtime.api import ContainerStatus

DEFAULT_NAMESPACE = "default"


class StepError(Exception):
    """A step can't be done; the text says which and why."""


@define(eq=False, kw_only=True)
class Steps:
    """Carries out steps; `create` applies defaults and admits an object as a user's request does.

    `pods_seen` names the pods in the order in which they appeared.
    """

    cluster: Cluster
    folder: Path
    create: Callable[[APIObject], object]
    pods_seen: Callable[[], tuple[str, ...]]

    async def __call__(self, step: Step) -> None:
        """Do one step; StepError."""
        self.cluster.emit(RequestRecord(what=step.action, details=dict(step.parameters)))
        try:
            await self._do(step)
        except (NotFoundError, CRIError, DecodeError) as error:
            raise StepError(str(error)) from error

    async def _do(self, step: Step) -> None:
        given = step.parameters
        match step.action:
            case "kubelet":
                await self._kubelet(str(step.argument))
            case "kill":
                await self._kill(given)
            case "exec":
                await self._exec(given)
            case "runtime":
                await self._runtime(given)
            case "node":
                self._node(given)
            case "static":
                self._static(given)
            case "sh":
                await self._shell(str(given["command"]))
            case action:
                self._ask_api(action, given)

    async def _shell(self, script: str) -> None:
        """Run a script on the machine; virtual time stands still meanwhile, which it would not for a waiting task."""
        command = ["sh", "-c", script]
        try:
            if self.cluster.timebase.is_virtual:
                subprocess.run(command, cwd=self.folder, stdout=subprocess.DEVNULL, check=True)  # noqa: ASYNC221, S603
            else:
                await trio.run_process(command, cwd=self.folder, stdout=subprocess.DEVNULL)
        except subprocess.CalledProcessError as error:
            raise StepError(f"the command ended with {error.returncode}") from error

    def _ask_api(self, action: str, given: Mapping[str, object]) -> None:
        match action:
            case "wait":
                return
            case "delete":
                self._delete(given)
            case "patch":
                self._patch(given)
            case "evict":
                pod = self._pod(given)
                self.cluster.api.evict(pod.metadata.namespace or "", pod.metadata.name or "")
            case "ephemeral":
                self._add_ephemeral(given)
            case "create":
                self.create(decode_mapping(api_type(str(given["kind"])), given))
            case "condition":
                self._set_condition(given)
            case _:
                raise StepError(f"{action} can't be done here")

    # -- objects

    def _pod(self, given: Mapping[str, object]) -> Pod:
        """Return the pod that is meant: by name, "@k", or the only one."""
        pods = {pod.metadata.name: pod for pod in self.cluster.api.list("Pod")}
        wanted = given.get("pod", given.get("name"))
        if isinstance(wanted, str) and wanted.startswith("@"):
            seen = self.pods_seen()
            wanted = seen[int(wanted[1:]) - 1] if int(wanted[1:]) <= len(seen) else wanted
        if wanted is None and len(pods) == 1:
            return next(iter(pods.values()))
        if wanted not in pods:
            raise StepError(f"no pod {wanted!r}; there are {', '.join(map(str, pods)) or 'none'}")
        return pods[str(wanted)]

    def _object(self, given: Mapping[str, object]) -> APIObject:
        kind = str(given.get("kind", "Pod"))
        if kind == "Pod":
            return self._pod(given)
        name = given.get("name")
        found = [obj for obj in self.cluster.api.list(kind) if name in {None, obj.metadata.name}]
        if len(found) != 1:
            raise StepError(f"one {kind} is meant, but there are {len(found)} with name {name!r}")
        return found[0]

    def _delete(self, given: Mapping[str, object]) -> None:
        target = self._object(given)
        grace = given.get("gracePeriodSeconds")
        self.cluster.api.delete(
            target.kind,
            target.metadata.namespace or "",
            target.metadata.name or "",
            grace_period_seconds=None if grace is None else cast("int", grace),
            propagation=str(given.get("propagation", "Background")),
        )

    def _patch(self, given: Mapping[str, object]) -> None:
        target = self._object(given)
        self.cluster.api.patch(
            target.kind,
            target.metadata.namespace or "",
            target.metadata.name or "",
            cast("dict[str, object]", given["body"]),
            type=given.get("type", "strategic"),  # type: ignore[arg-type]
            subresource=str(given.get("subresource", "")),
        )

    def _add_ephemeral(self, given: Mapping[str, object]) -> None:
        pod = self._pod({"pod": given["pod"]} if "pod" in given else {})
        raw = cast("Mapping[str, object]", given["container"])
        container = cast("EphemeralContainer", decode_mapping(api_type("EphemeralContainer"), raw))
        self.cluster.api.add_ephemeral_container(pod.metadata.namespace or "", pod.metadata.name or "", container)

    def _set_condition(self, given: Mapping[str, object]) -> None:
        pod = self._pod(given)
        condition = {"type": given["type"], "status": str(given["status"])}
        self.cluster.api.patch(
            "Pod",
            pod.metadata.namespace or "",
            pod.metadata.name or "",
            {"status": {"conditions": [condition]}},
            subresource="status",
        )

    # -- the node

    async def _kubelet(self, what: str) -> None:
        match what:
            case "start":
                await self._start_kubelet()
            case "stop":
                await self.cluster.stop_kubelet()
            case "restart" | "kill":  # what supervises a kubelet starts a killed one again
                await self.cluster.stop_kubelet()
                await self._start_kubelet()
            case _:
                raise StepError(f"{what}: expected start, stop, restart or kill")

    async def _start_kubelet(self) -> None:
        """Start a kubelet, which takes its time until it watches."""
        timing = self.cluster.settings.timing
        if timing.kubelet_start_seconds:
            await trio.sleep(timing.kubelet_start_seconds)
            await self.cluster.timebase.turn(Lane.CONTROLLER, "kubelet")
        await self.cluster.start_kubelet()

    async def _observed(self, pod: Pod) -> ObservedPod:
        """Look at the runtime itself: the kubelet may be stopped."""
        return await self.cluster.observe(pod.metadata.uid or "")

    async def _container(self, given: Mapping[str, object]) -> ContainerStatus:
        pod = self._pod({key: value for key, value in given.items() if key == "pod"})
        status = (await self._observed(pod)).find(str(given["container"]))
        if status is None:
            raise StepError(f"pod {pod.metadata.name} has no container {given['container']!r}")
        return status

    async def _kill(self, given: Mapping[str, object]) -> None:
        status = await self._container(given)
        await self.cluster.runtime.kill_container(status.id, str(given.get("signal", "SIGKILL")))

    async def _exec(self, given: Mapping[str, object]) -> None:
        status = await self._container(given)
        command = cast("list[str]", given["command"])
        await self.cluster.runtime.exec_sync(status.id, tuple(command))

    def _node(self, given: Mapping[str, object]) -> None:
        """Label the node, or begin or cancel its shutdown."""
        if "label" in given:
            labels = cast("Mapping[str, str | None]", given["label"])
            self.cluster.label_node({key: None if value is None else str(value) for key, value in labels.items()})
        elif given.get("shutdown") is True:
            self.cluster.kubelet.shutdown.begin()
        elif given.get("shutdown") is False:
            self.cluster.kubelet.shutdown.cancel()
        else:
            raise StepError(f"{dict(given)}: expected label, or shutdown: true or false")

    def _static(self, given: Mapping[str, object]) -> None:
        """Write a file of the scenario into the folder of static pods, or remove the one of a pod's name."""
        folder = self.cluster.static_folder
        if "remove" in given:
            name = f"{given['remove']}.yaml"
            if name not in folder.files:
                raise StepError(f"no pod {given['remove']!r} was written")
            folder.remove(name)
            return
        path = self.folder / str(given.get("write", ""))
        try:
            text = path.read_text(encoding="utf-8")
        except OSError as error:
            raise StepError(f"{path}: {error.strerror}") from error
        loaded = load_text(text, file=str(path), letters_are_text=True)
        if loaded.has_errors or len(loaded.objects) != 1:
            raise StepError(f"{path} is not the manifest of one pod")
        folder.write(f"{loaded.objects[0].object.metadata.name}.yaml", text)

    async def _runtime(self, given: Mapping[str, object]) -> None:
        observed = await self._observed(self._pod({}))
        if "remove" in given:
            for status in observed.instances(str(given["remove"])):
                if status.finished_at is not None:
                    await self.cluster.runtime.remove_container(status.id)
            return
        for sandbox in observed.sandboxes:
            await self.cluster.runtime.stop_pod_sandbox(sandbox.id)
