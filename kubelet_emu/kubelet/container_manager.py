"""Carrying out what a sync decided: the numbered steps of the runtime's SyncPod.

Owns the crash-loop back-off and the attempt numbers. Steps run one after another and every start is awaited with its
postStart hook, so a pod's containers never start side by side. Expected failures are results, not exceptions.
Nothing here is interrupted by a pod's deletion. Source: kubelet v1.36 kuberuntime_manager.go SyncPod,
kuberuntime_container.go startContainer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from attrs import define, field, frozen

from kubelet_emu.api import labels, reasons
from kubelet_emu.api.v1 import ResourceRequirements
from kubelet_emu.kubelet.killer import Kill
from kubelet_emu.kubelet.sandbox_config import ConfigError
from kubelet_emu.rules.backoff import Backoff, backoff_key
from kubelet_emu.rules.container_statuses import next_attempt
from kubelet_emu.rules.observed import StartFailure
from kubelet_emu.rules.probes import find_status
from runtime.api import ContainerState, CRIError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from datetime import datetime

    from kubelet_emu.api.v1 import AnyContainer, Pod
    from kubelet_emu.images.outcome import ImageOutcome
    from kubelet_emu.journal.records import Record
    from kubelet_emu.kubelet.killer import HookRunner, Killer
    from kubelet_emu.kubelet.recorder import Recorder
    from kubelet_emu.kubelet.resizer import Resizer
    from kubelet_emu.kubelet.timebase import Timebase
    from kubelet_emu.rules.actions import PodActions
    from kubelet_emu.rules.observed import ObservedPod
    from runtime.api import ContainerConfig, ContainerID, ContainerStatus, PodSandboxConfig, Runtime, SandboxID


@frozen(kw_only=True)
class SyncResult:
    """Outcome of one step; `reason` is empty when it went well.

    `retry_at` is when a back-off that refused the start ends.
    """

    action: str
    target: str
    reason: str = ""
    message: str = ""
    retry_at: datetime | None = None

    @property
    def failed(self) -> bool:
        """Tell whether the step failed or was refused."""
        return bool(self.reason)


class ConfigMaker(Protocol):
    """Turns a pod spec into what the runtime is given."""

    async def pod_sandbox_config(self, pod: Pod, attempt: int) -> PodSandboxConfig:
        """Return the sandbox's config; ConfigError."""

    async def container_config(
        self, pod: Pod, container: AnyContainer, *, attempt: int, image: ImageOutcome, sandbox: StartedSandbox
    ) -> ContainerConfig | StartFailure:
        """Return the container's config, or why there is none (CreateContainerConfigError)."""


class ImagePuller(Protocol):
    """Makes images present."""

    def tell_missing_pull_secrets(self, pod: Pod) -> None:
        """Send an event when the pod names pull secrets that don't exist."""

    def collect_garbage(self, now: datetime) -> None:
        """Forget back-offs that are over."""

    def give_up(self) -> None:
        """End every pull that runs or waits, and each that comes."""

    async def ensure_image_exists(self, pod: Pod, container: AnyContainer) -> ImageOutcome:
        """Return the image to run, or why there is none."""


@frozen(kw_only=True)
class StartedSandbox:
    """The sandbox that this sync starts containers in."""

    id: SandboxID
    config: PodSandboxConfig
    ips: tuple[str, ...]
    observed: ObservedPod


@define(eq=False, kw_only=True)
class ContainerManager:
    """Executes PodActions on the runtime."""

    runtime: Runtime
    timebase: Timebase
    emit: Callable[[Record], None]
    recorder: Recorder
    killer: Killer
    images: ImagePuller
    configs: ConfigMaker
    run_hook: HookRunner
    resizer: Resizer
    backoff: Backoff
    on_sandbox_ready: Callable[[Pod], None]
    on_started: Callable[[Pod, str, int, ContainerID], None]
    before_remove: Callable[[ContainerID], Awaitable[None]]
    _attempts: dict[tuple[str, str], int] = field(factory=dict, init=False)

    async def sync_pod(
        self, pod: Pod, actions: PodActions, observed: ObservedPod, is_ending: Callable[[], bool]
    ) -> tuple[SyncResult, ...]:
        """Carry out the decisions of one sync in the kubelet's order and say how each ended.

        `is_ending` tells whether the pod's end was asked for meanwhile: then a sandbox that can't be made is no fault.
        """
        results: list[SyncResult] = []
        self.images.tell_missing_pull_secrets(pod)
        if actions.sandbox_changed:
            self.recorder.event(pod, None, reasons.NORMAL, reasons.SANDBOX_CHANGED, reasons.POD_SANDBOX_CHANGED)
        ready_to_start = await self._clear_the_way(pod, actions, observed, results)
        if not ready_to_start:
            return tuple(results)
        sandbox = await self._sandbox(pod, actions, observed, results, is_ending)
        if sandbox is None:
            return tuple(results)
        for index in actions.ephemeral_containers_to_start:
            await self._start(pod, pod.spec.ephemeral_containers[index], sandbox, results)
        for index in actions.init_containers_to_start:
            container = pod.spec.init_containers[index]
            started = await self._start(pod, container, sandbox, results)
            if not started and container.restart_policy != "Always":
                return tuple(results)
        if actions.memory_updates or actions.cpu_updates:
            error = await self.resizer.apply(pod, actions, observed)
            reason = "ResizePodInPlaceError" if error else ""
            results.append(SyncResult(action="ResizePod", target=pod.metadata.name or "", reason=reason, message=error))
        for index in actions.containers_to_start:
            await self._start(pod, pod.spec.containers[index], sandbox, results)
        return tuple(results)

    async def _clear_the_way(
        self, pod: Pod, actions: PodActions, observed: ObservedPod, results: list[SyncResult]
    ) -> bool:
        """Kill and remove what stands in the way of the starts; False when the sync ends here."""
        if actions.kill_pod:
            errors = await self.killer.kill_pod(pod, observed)
            results += [
                SyncResult(action="KillPod", target=pod.metadata.name or "", reason="KillPodError", message=e)
                for e in errors
            ]
            if errors:
                return False
            results.append(SyncResult(action="KillPod", target=pod.metadata.name or ""))
            if actions.create_sandbox:
                await self._purge_init_containers(pod, observed)
        elif not await self._kill_and_reset(pod, actions, observed, results):
            return False
        await self._prune_init_containers(pod, observed)
        return True

    async def _kill_and_reset(
        self, pod: Pod, actions: PodActions, observed: ObservedPod, results: list[SyncResult]
    ) -> bool:
        """Kill single containers one after another, then reset for RestartAllContainers (KEP-5532)."""
        by_id = {status.id: status for status in observed.containers}
        for target in actions.containers_to_kill:
            kill = Kill(
                container=_container_named(pod, target.name),
                status=by_id[target.id],
                message=target.message,
                reason=target.reason,
            )
            error = await self.killer.kill_container(pod, kill)
            reason = "KillContainerError" if error else ""
            results.append(SyncResult(action="KillContainer", target=target.name, reason=reason, message=error))
            if error:
                return False
        for reset in actions.containers_to_reset:
            if error := await self._reset(pod, by_id[reset.id], kill=reset.kill):
                results.append(
                    SyncResult(action="RemoveContainer", target=reset.name, reason="ResetContainerError", message=error)
                )
                return False
            results.append(SyncResult(action="RemoveContainer", target=reset.name))
        return True

    async def _reset(self, pod: Pod, status: ContainerStatus, *, kill: bool) -> str:
        """Stop a container with no grace of its own and remove it, its logs and attempt number kept."""
        if kill:
            order = Kill(
                container=_container_named(pod, status.metadata.name),
                status=status,
                message=reasons.RESTART_ALL_KILL,
                grace_override=0,
            )
            if error := await self.killer.kill_container(pod, order):
                return error
        key = (pod.metadata.uid or "", status.metadata.name)
        self._attempts[key] = max(self._attempts.get(key, 0), status.metadata.attempt)
        return await self._remove(status, keep_logs=True)

    async def _purge_init_containers(self, pod: Pod, observed: ObservedPod) -> None:
        """Remove every init container instance (kubelet v1.36 purgeInitContainers)."""
        names = {c.name for c in pod.spec.init_containers}
        for status in observed.containers:
            if status.metadata.name in names:
                await self._remove(status)

    async def _prune_init_containers(self, pod: Pod, observed: ObservedPod) -> None:
        """Keep the newest dead instance of each init container (kubelet v1.36 pruneInitContainersBeforeStart)."""
        dead = {ContainerState.EXITED, ContainerState.UNKNOWN}
        for container in pod.spec.init_containers:
            instances = [status for status in observed.instances(container.name) if status.state in dead]
            for status in instances[1:]:
                await self._remove(status)

    async def _remove(self, status: ContainerStatus, *, keep_logs: bool = False) -> str:
        await self.before_remove(status.id)
        try:
            await self.runtime.remove_container(status.id, keep_logs=keep_logs)
        except CRIError as error:
            return f"failed to remove container {status.metadata.name!r}: {error}"
        return ""

    async def _sandbox(
        self,
        pod: Pod,
        actions: PodActions,
        observed: ObservedPod,
        results: list[SyncResult],
        is_ending: Callable[[], bool],
    ) -> StartedSandbox | None:
        """Return the sandbox to start containers in, made if need be; None when it failed or none is wanted."""
        if not actions.create_sandbox and (actions.sandbox_id is None or actions.kill_pod):
            return None
        failed = reasons.FAILED_CREATE_POD_SANDBOX, reasons.failed_create_pod_sandbox
        try:
            config = await self.configs.pod_sandbox_config(pod, actions.attempt)
            if not actions.create_sandbox and actions.sandbox_id is not None:
                return self._known_sandbox(actions.sandbox_id, config, observed)
            sandbox_id = await self.runtime.run_pod_sandbox(config)
            failed = reasons.FAILED_POD_SANDBOX_STATUS, reasons.failed_pod_sandbox_status
            status = await self.runtime.pod_sandbox_status(sandbox_id)
        except (CRIError, ConfigError) as error:
            reason, text = failed
            if reason == reasons.FAILED_POD_SANDBOX_STATUS or not is_ending():
                self._tell_no_sandbox(pod, reason, text(str(error)), results)
            return None
        results.append(SyncResult(action="CreatePodSandbox", target=pod.metadata.name or ""))
        self.on_sandbox_ready(pod)
        ips = status.ip, *status.additional_ips
        return StartedSandbox(id=sandbox_id, config=config, ips=tuple(filter(None, ips)), observed=observed)

    def _tell_no_sandbox(self, pod: Pod, reason: str, message: str, results: list[SyncResult]) -> None:
        """Say that a sandbox could not be made, or that nothing is known of the one that was."""
        self.recorder.event(pod, None, reasons.WARNING, reason, message)
        name = pod.metadata.name or ""
        results.append(
            SyncResult(action="CreatePodSandbox", target=name, reason="CreatePodSandboxError", message=message)
        )

    def _known_sandbox(self, sandbox_id: SandboxID, config: PodSandboxConfig, observed: ObservedPod) -> StartedSandbox:
        ips = observed.sandboxes[0].ip, *observed.sandboxes[0].additional_ips
        return StartedSandbox(id=sandbox_id, config=config, ips=tuple(filter(None, ips)), observed=observed)

    async def _start(
        self, pod: Pod, container: AnyContainer, sandbox: StartedSandbox, results: list[SyncResult]
    ) -> bool:
        """Start one container unless its back-off forbids it; add the result and tell whether it went well."""
        result = self._back_off(pod, container, sandbox.observed)
        if result is None:
            result = await self.start_container(pod, container, sandbox)
        results.append(result)
        return not result.failed

    def _back_off(self, pod: Pod, container: AnyContainer, observed: ObservedPod) -> SyncResult | None:
        """Refuse a start that comes too early after the newest exit (kubelet v1.36 doBackOff)."""
        exited = next((s for s in observed.instances(container.name) if s.state is ContainerState.EXITED), None)
        if exited is None or exited.finished_at is None:
            return None
        key, now = backoff_key(pod, container), self.timebase.now()
        retry_at = self.backoff.refused_until(key, exited.finished_at, now)
        if retry_at is None:
            self.backoff = self.backoff.next(key, exited.finished_at, now)
            return None
        message = reasons.back_off_waiting(self.backoff.delay(key), container.name, labels.format_pod(pod))
        self.recorder.event(
            pod,
            container.name,
            reasons.WARNING,
            reasons.BACK_OFF,
            reasons.back_off_restarting(container.name, labels.format_pod(pod)),
        )
        return SyncResult(
            action="StartContainer",
            target=container.name,
            reason=reasons.CRASH_LOOP_BACK_OFF,
            message=message,
            retry_at=retry_at,
        )

    async def start_container(self, pod: Pod, container: AnyContainer, sandbox: StartedSandbox) -> SyncResult:
        """Bring one container up: image, config, create, start, postStart.

        Returns when the postStart hook has ended, however long that takes. Source: kubelet v1.36 startContainer.
        """
        image = await self.images.ensure_image_exists(pod, container)
        if image.failure is not None:
            return self._failed(container, image.failure.reason, image.failure.message)
        attempt = self._attempt(pod, container, sandbox.observed)
        config = await self.configs.container_config(pod, container, attempt=attempt, image=image, sandbox=sandbox)
        if isinstance(config, StartFailure):
            self._tell_failure(pod, container, config.message)
            return self._failed(container, config.reason, config.message)
        self.resizer.applied(pod, container.name, container.resources or ResourceRequirements())
        try:
            container_id = await self.runtime.create_container(sandbox.id, config, sandbox.config)
        except CRIError as error:
            self._tell_failure(pod, container, str(error))
            return self._failed(container, reasons.CREATE_CONTAINER_ERROR, str(error))
        self._attempts[(pod.metadata.uid or "", container.name)] = attempt
        self.recorder.event(pod, container.name, reasons.NORMAL, reasons.CREATED, reasons.CONTAINER_CREATED)
        try:
            await self.runtime.start_container(container_id)
        except CRIError as error:
            self._tell_failure(pod, container, str(error))
            return self._failed(container, reasons.RUN_CONTAINER_ERROR, str(error))
        self.recorder.event(pod, container.name, reasons.NORMAL, reasons.STARTED, reasons.CONTAINER_STARTED)
        self.on_started(pod, container.name, attempt + 1, container_id)
        return await self._post_start(pod, container, container_id, attempt + 1)

    async def _post_start(self, pod: Pod, container: AnyContainer, container_id: ContainerID, run: int) -> SyncResult:
        """Run the postStart hook; a container whose hook fails is stopped, its preStop first."""
        handler = container.lifecycle.post_start if container.lifecycle else None
        if handler is None:
            return SyncResult(action="StartContainer", target=container.name)
        outcome = await self.run_hook(pod, container, container_id, handler, hook="postStart", run=run)
        if outcome.ok:
            return SyncResult(action="StartContainer", target=container.name)
        self.recorder.event(
            pod, container.name, reasons.WARNING, reasons.FAILED_POST_START_HOOK, reasons.POST_START_HOOK_FAILED
        )
        try:
            status = await self.runtime.container_status(container_id)
        except CRIError as error:
            return self._failed(container, reasons.POST_START_HOOK_ERROR, str(error))
        kill = Kill(container=container, status=status, message=reasons.FAILED_POST_START_HOOK_KILL)
        await self.killer.kill_container(pod, kill)
        return self._failed(container, reasons.POST_START_HOOK_ERROR, outcome.message)

    def _attempt(self, pod: Pod, container: AnyContainer, observed: ObservedPod) -> int:
        """Return the restart count of the next instance (kubelet v1.36 startContainer, calcRestartCountByLogDir)."""
        newest = observed.find(container.name)
        if newest is not None:
            return newest.metadata.attempt + 1
        seen = self._attempts.get((pod.metadata.uid or "", container.name), -1) + 1
        return max(seen, next_attempt(find_status(pod.status, container.name)))

    def _tell_failure(self, pod: Pod, container: AnyContainer, message: str) -> None:
        self.recorder.event(pod, container.name, reasons.WARNING, reasons.FAILED, reasons.start_error(message))

    def _failed(self, container: AnyContainer, reason: str, message: str) -> SyncResult:
        return SyncResult(action="StartContainer", target=container.name, reason=reason, message=message)

    def collect_garbage(self) -> None:
        """Forget back-offs that are long over (kubelet v1.36 HandlePodCleanups, backOff.GC)."""
        now = self.timebase.now()
        self.backoff = self.backoff.collect_garbage(now)
        self.images.collect_garbage(now)

    def forget(self, uid: str) -> None:
        """Drop what is known of a pod that is over for good."""
        for key in [key for key in self._attempts if key[0] == uid]:
            del self._attempts[key]


def _container_named(pod: Pod, name: str) -> AnyContainer:
    everything: tuple[AnyContainer, ...] = (
        *pod.spec.init_containers,
        *pod.spec.containers,
        *pod.spec.ephemeral_containers,
    )
    return next(c for c in everything if c.name == name)
