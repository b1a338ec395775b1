"""Container statuses as the API shows them, from runtime instances and the statuses before.

The newest instance of a container is its state, the second newest its last state; what the runtime has lost is filled
in from the status before. A container that should run but whose start was refused or failed is Waiting with that
reason. Source: kubelet v1.36 convertToAPIContainerStatuses (pkg/kubelet/kubelet_pods.go).
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, assert_never

from attrs import evolve, frozen

from kubelet_emu.api import reasons
from kubelet_emu.api.image_names import shown_image_name
from kubelet_emu.api.labels import annotated_restart_count
from kubelet_emu.api.v1 import ResourceRequirements
from kubelet_emu.api.v1_status import (
    ContainerState,
    ContainerStateRunning,
    ContainerStateTerminated,
    ContainerStateWaiting,
    ContainerStatus,
    ContainerUser,
    LinuxContainerUser,
    VolumeMountStatus,
)
from kubelet_emu.rules.restart import (
    has_any_regular_container_existed,
    should_all_containers_restart,
    should_container_be_restarted,
)
from kubelet_emu.rules.restart_policy import all_containers_could_restart, is_restartable_init_container
from kubelet_emu.rules.termination_message import limit_message
from runtime import api as runtime_api

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from kubelet_emu.api.v1 import AnyContainer, VolumeMount
    from kubelet_emu.rules.observed import SyncInput

KILLED = 137
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_NO_RESOURCES = ResourceRequirements()
_DONE_INIT = ContainerState(
    terminated=ContainerStateTerminated(reason=reasons.COMPLETED, message=reasons.INIT_STATUS_LOST, exit_code=0)
)
_RESTARTING_ALL = ContainerState(
    terminated=ContainerStateTerminated(
        reason=reasons.RESTARTING_ALL_CONTAINERS, message=reasons.RESTART_ALL_REMOVED, exit_code=KILLED
    )
)
_COUNTED_AHEAD = frozenset({reasons.RESTARTING_ALL_CONTAINERS, reasons.CONTAINER_STATUS_UNKNOWN})


@frozen(kw_only=True)
class ContainerList:
    """One list of a spec with the statuses it had; `is_init` for init containers and sidecars.

    `not_started` is what `started` says of a container that doesn't run.
    """

    containers: Sequence[AnyContainer]
    previous: Mapping[str, ContainerStatus]
    is_init: bool = False
    not_started: bool | None = False

    @classmethod
    def of(
        cls,
        containers: Sequence[AnyContainer],
        previous: Iterable[ContainerStatus],
        *,
        is_init: bool = False,
        is_ephemeral: bool = False,
    ) -> ContainerList:
        """Pair a list of the spec with its statuses."""
        return cls(
            containers=containers,
            previous={status.name: status for status in previous},
            is_init=is_init,
            not_started=None if is_ephemeral else False,
        )


def convert_container_statuses(
    sync: SyncInput, groups: Sequence[ContainerList], runtime_name: str
) -> tuple[tuple[ContainerStatus, ...], ...]:
    """Return the statuses of each list, in spec order, before `started` and `ready` are worked out.

    `started` is that of the status before, which the phase goes by, and so is `ready` of the same instance.
    Source: kubelet v1.36 convertToAPIContainerStatuses.
    """
    is_restarting_all = all_containers_could_restart(sync.pod, sync.features) and should_all_containers_restart(
        sync.pod, sync.observed, sync.previous_status
    )
    return tuple(
        tuple(map(_Converter(sync, group, runtime_name, is_restarting_all).convert, group.containers))
        for group in groups
    )


@frozen
class _Converter:
    sync: SyncInput
    group: ContainerList
    runtime_name: str
    is_restarting_all: bool

    def convert(self, container: AnyContainer) -> ContainerStatus:
        """Return the status of one container."""
        previous = self.group.previous.get(container.name)
        instances = self.sync.observed.instances(container.name)
        if not instances:
            status = self._lost(self._default(container, previous), previous)
            if status.state.waiting is not None and self._is_done_init(container):
                return evolve(status, state=_DONE_INIT)
        else:
            status = self._converted(container, instances, previous)
        return self._with_start_failure(container, status)

    def _default(self, container: AnyContainer, previous: ContainerStatus | None) -> ContainerStatus:
        """Return the status of a container of which the runtime knows nothing."""
        if previous is not None and previous.state.terminated is not None:
            return previous
        has_init = bool(self.sync.pod.spec.init_containers)
        reason = reasons.POD_INITIALIZING if has_init else reasons.CONTAINER_CREATING
        return ContainerStatus(
            name=container.name,
            image=container.image or "",
            state=ContainerState(waiting=ContainerStateWaiting(reason=reason)),
            volume_mounts=self._volume_mounts(container, previous),
            restart_count=previous.restart_count if previous is not None else 0,
            last_state=previous.last_state if previous is not None else ContainerState(),
            started=self.group.not_started,
        )

    def _is_done_init(self, container: AnyContainer) -> bool:
        """Tell whether an init container that is not there must have ended, as a main container was created."""
        if not self.group.is_init or is_restartable_init_container(container):
            return False
        return has_any_regular_container_existed(self.sync.pod, self.sync.observed)

    def _lost(self, status: ContainerStatus, previous: ContainerStatus | None) -> ContainerStatus:
        """Account for an instance that was there and is gone: reset on purpose (KEP-5532), or lost."""
        if previous is None:
            return status
        if self.is_restarting_all and previous.state.waiting is None:
            waiting = ContainerStateWaiting(
                reason=reasons.RESTARTING_ALL_CONTAINERS, message=reasons.RESTART_ALL_REMOVED
            )
            return evolve(
                status,
                state=ContainerState(waiting=waiting),
                last_state=_RESTARTING_ALL,
                restart_count=previous.restart_count + 1,
                ready=previous.ready,
            )
        if previous.state.running is None or status.last_state.terminated is not None:
            return status
        ended = ContainerStateTerminated(
            reason=reasons.CONTAINER_STATUS_UNKNOWN, message=reasons.NOT_LOCATED_WHEN_DELETED, exit_code=KILLED
        )
        is_deleting = self.sync.pod.metadata.deletion_timestamp is not None
        return evolve(
            status,
            last_state=ContainerState(terminated=ended),
            restart_count=status.restart_count + (not is_deleting),
        )

    def _converted(
        self,
        container: AnyContainer,
        instances: tuple[runtime_api.ContainerStatus, ...],
        previous: ContainerStatus | None,
    ) -> ContainerStatus:
        """Return the status that the newest instance makes, after the one before it (convertContainerStatus)."""
        instance, spec = instances[0], container.resources or _NO_RESOURCES
        container_id = self._id(instance)
        is_running = instance.state is runtime_api.ContainerState.RUNNING
        actual = self.sync.actuated.get(container.name, spec) if is_running else spec
        return ContainerStatus(
            name=container.name,
            image=shown_image_name(instance.image_name),
            image_id=instance.image_ref,
            container_id=container_id,
            restart_count=self._restart_count(instance, previous),
            resources=ResourceRequirements(requests=actual.requests, limits=actual.limits),
            allocated_resources=spec.requests,
            volume_mounts=self._volume_mounts(container, previous),
            user=_user(instance) if self.sync.features.enabled("SupplementalGroupsPolicy") else None,
            stop_signal=instance.stop_signal if self.sync.features.enabled("ContainerStopSignals") else None,
            state=self._state(instance, previous),
            last_state=(
                self._state(instances[1], previous) if len(instances) > 1 else self._last_state(container_id, previous)
            ),
            started=previous.started if previous is not None and is_running else self.group.not_started,
            ready=previous is not None and previous.container_id == container_id and previous.ready,
        )

    def _id(self, instance: runtime_api.ContainerStatus) -> str:
        return f"{self.runtime_name}://{instance.id}"

    def _restart_count(self, instance: runtime_api.ContainerStatus, previous: ContainerStatus | None) -> int:
        """Return a restart count that never falls (KEP-5532)."""
        count = _restart_count(instance)
        if previous is None:
            return count
        match instance.state:
            case runtime_api.ContainerState.RUNNING if previous.state.terminated and previous.restart_count >= count:
                # Its instance is gone, so the new one began to count from 0: a run is known to lie before.
                return previous.restart_count + 1
            case runtime_api.ContainerState.UNKNOWN if previous.state.running is not None:
                return previous.restart_count + 1
        is_kept = self.sync.features.enabled("RestartAllContainersOnContainerExits")
        return max(count, previous.restart_count) if is_kept else count

    def _last_state(self, container_id: str, previous: ContainerStatus | None) -> ContainerState:
        """Return how the run before ended, as far as the status has told already (KEP-5532)."""
        if previous is None or not self.sync.features.enabled("RestartAllContainersOnContainerExits"):
            return ContainerState()
        is_another = previous.container_id != container_id and previous.state.terminated is not None
        return ContainerState(terminated=(previous.state if is_another else previous.last_state).terminated)

    def _state(self, instance: runtime_api.ContainerStatus, previous: ContainerStatus | None) -> ContainerState:
        match instance.state:
            case runtime_api.ContainerState.RUNNING:
                return ContainerState(running=ContainerStateRunning(started_at=_whole(instance.started_at)))
            case runtime_api.ContainerState.EXITED:
                return ContainerState(terminated=self._terminated(instance))
            case runtime_api.ContainerState.UNKNOWN if previous is not None and previous.state.running is not None:
                return ContainerState(terminated=self._unknown())
            case runtime_api.ContainerState.CREATED | runtime_api.ContainerState.UNKNOWN:
                return ContainerState(waiting=ContainerStateWaiting())
            case _:
                assert_never(instance.state)

    def _terminated(self, instance: runtime_api.ContainerStatus) -> ContainerStateTerminated:
        observed, spec = self.sync.observed, self.sync.pod.spec
        message = observed.termination_messages.get(instance.id, instance.message)
        containers = len(spec.init_containers) + len(spec.containers) + len(spec.ephemeral_containers)
        return ContainerStateTerminated(
            exit_code=instance.exit_code or 0,
            reason=instance.reason or None,
            message=limit_message(message, containers) or None,
            started_at=_whole(instance.started_at) or _EPOCH,
            finished_at=_whole(instance.finished_at) or _EPOCH,
            container_id=self._id(instance),
        )

    def _unknown(self) -> ContainerStateTerminated:
        reason = reasons.RESTARTING_ALL_CONTAINERS if self.is_restarting_all else reasons.CONTAINER_STATUS_UNKNOWN
        return ContainerStateTerminated(reason=reason, message=reasons.NOT_LOCATED_WHEN_TERMINATED, exit_code=KILLED)

    def _with_start_failure(self, container: AnyContainer, status: ContainerStatus) -> ContainerStatus:
        """Show a container that should run as Waiting when its last start was refused or failed.

        Without such a failure the state stays: it tells more than that the container will run soon.
        """
        failure = self.sync.start_failures.get(container.name)
        if failure is None or not self._is_to_be_started(container):
            return status
        last = status.state if status.state.terminated is not None else status.last_state
        waiting = ContainerStateWaiting(reason=failure.reason, message=failure.message or None)
        return evolve(status, state=ContainerState(waiting=waiting), last_state=last)

    def _is_to_be_started(self, container: AnyContainer) -> bool:
        instance = self.sync.observed.find(container.name)
        is_done = instance is not None and instance.state is runtime_api.ContainerState.EXITED
        if self.group.is_init and instance is not None and is_done and instance.exit_code == 0:
            return False
        return should_container_be_restarted(container, self.sync.pod, self.sync.observed, self.sync.features)

    def _volume_mounts(
        self, container: AnyContainer, previous: ContainerStatus | None
    ) -> tuple[VolumeMountStatus, ...]:
        """Return the mounts as the status shows them; once written they stay (KEP-3857)."""
        if not self.sync.features.enabled("RecursiveReadOnlyMounts"):
            return ()
        if previous is not None and previous.volume_mounts:
            return previous.volume_mounts
        return tuple(_volume_mount(mount) for mount in container.volume_mounts)


def _volume_mount(mount: VolumeMount) -> VolumeMountStatus:
    status = VolumeMountStatus(name=mount.name, mount_path=mount.mount_path)
    if not mount.read_only:
        return status
    is_recursive = mount.recursive_read_only == "Enabled"
    return evolve(status, read_only=True, recursive_read_only="Enabled" if is_recursive else "Disabled")


def _user(instance: runtime_api.ContainerStatus) -> ContainerUser | None:
    """Return who an instance runs as, None where the runtime doesn't tell (KEP-3619, convertContainerStatusUser)."""
    if (user := instance.user) is None:
        return None
    linux = LinuxContainerUser(uid=user.uid, gid=user.gid, supplemental_groups=user.supplemental_groups)
    return ContainerUser(linux=linux)


def _whole(moment: datetime | None) -> datetime | None:
    """Return a time as a status keeps it (kubelet v1.36 normalizeStatus)."""
    return moment.replace(microsecond=0) if moment is not None else None


def _restart_count(instance: runtime_api.ContainerStatus) -> int:
    """Return the restart count that the kubelet wrote on an instance, or else its attempt number."""
    count = annotated_restart_count(instance.annotations)
    return count if count is not None else instance.metadata.attempt


def next_attempt(status: ContainerStatus | None) -> int:
    """Return the number of a container's next instance where no instance and no log tells: what its status says.

    A status that tells of a lost instance counts the next one already.
    Source: kubelet v1.36 startContainer, whose log folders outlive the kubelet.
    """
    if status is None:
        return 0
    ended = status.last_state.terminated or status.state.terminated
    if not status.container_id and ended is None and not status.restart_count:
        return 0
    is_counted = status.state.waiting is not None and ended is not None and ended.reason in _COUNTED_AHEAD
    return status.restart_count + (not is_counted)
