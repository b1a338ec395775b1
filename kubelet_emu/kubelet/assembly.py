"""Putting a kubelet's parts together: one place where each gets what it needs."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, cast

import trio
from attrs import define

from kubelet_emu.api import reasons
from kubelet_emu.api.root_ca import ROOT_CA_CONFIG_MAP, stand_in_root_ca
from kubelet_emu.images.manager import ImageManager
from kubelet_emu.images.outcome import PullConfig
from kubelet_emu.images.pulling import Puller
from kubelet_emu.images.verification import PullRecords, VerificationPolicy
from kubelet_emu.journal.records import EffectRecord, ObjectRef
from kubelet_emu.kubelet.config_maker import NodeConfigMaker
from kubelet_emu.kubelet.container_manager import ContainerManager
from kubelet_emu.kubelet.hooks import run_handler
from kubelet_emu.kubelet.hosts_files import HostsFiles
from kubelet_emu.kubelet.killer import Killer
from kubelet_emu.kubelet.node_files import NodeFiles
from kubelet_emu.kubelet.pleg import PLEG
from kubelet_emu.kubelet.prober import ProbeManager, ProbeResultsStore
from kubelet_emu.kubelet.recorder import Recorder
from kubelet_emu.kubelet.remover import Remover
from kubelet_emu.kubelet.resizer import Resizer
from kubelet_emu.kubelet.runtime_state import RuntimeState
from kubelet_emu.kubelet.services import NodeServices
from kubelet_emu.kubelet.static_pods import StaticPods
from kubelet_emu.kubelet.status_manager import StatusManager
from kubelet_emu.kubelet.timebase import Lane
from kubelet_emu.rules.backoff import crash_loop_backoff
from kubelet_emu.rules.downward_api import RuntimeFacts
from kubelet_emu.rules.observed import ProbeKind, ProbeResult
from kubelet_emu.rules.probes import runtime_id
from kubelet_emu.volumes.kubelet_files import KubeletFiles
from kubelet_emu.volumes.manager import VolumeManager, VolumeSources
from runtime.api import CRIError, SandboxID

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from kubelet_emu.api.v1 import ConfigMap, Container, EphemeralContainer, Pod, Secret
    from kubelet_emu.api.v1_handlers import LifecycleHandler
    from kubelet_emu.apiserver.store import APIServer
    from kubelet_emu.kubelet.hooks import HookOutcome
    from kubelet_emu.kubelet.kubelet import Kubelet
    from runtime.api import ContainerID

VOLUME_POLL_SECONDS = 0.3


def assemble(kubelet: Kubelet, nursery: trio.Nursery) -> NodeServices:
    """Return the parts of a kubelet; their background tasks live in `nursery`."""
    settings, runtime, emit = kubelet.settings, kubelet.runtime, kubelet.emit
    recorder = Recorder(emit=emit, timebase=kubelet.timebase, host=kubelet.node.name)
    statuses = StatusManager(api=kubelet.api, now=kubelet.timebase.now, features=settings.features, log=kubelet.log)
    hooks = RecordedHooks(kubelet=kubelet, recorder=recorder)
    killer = Killer(
        runtime=runtime,
        timebase=kubelet.timebase,
        emit=emit,
        recorder=recorder,
        run_hook=hooks,
        background=nursery,
    )
    files = KubeletFiles(runtime)
    volumes = _volumes(kubelet, recorder, files)
    node_files = NodeFiles(runtime=runtime, configuration=settings.configuration)
    hosts = HostsFiles(
        api=kubelet.api,
        files=files,
        timebase=kubelet.timebase,
        node=kubelet.node,
        node_files=node_files,
        log=kubelet.log,
    )
    nursery.start_soon(hosts.run)
    configs = NodeConfigMaker(
        runtime=runtime,
        api=kubelet.api,
        node=kubelet.node,
        features=settings.features,
        volumes=volumes,
        files=files,
        hosts=hosts,
        node_files=node_files,
        recorder=recorder,
        publish_address=settings.publish_address,
    )
    pleg = PLEG(
        runtime=runtime,
        timebase=kubelet.timebase,
        timing=settings.timing,
        emit=emit,
        runs=kubelet.runs,
        on_change=kubelet.wake,
        read_termination_message=configs.read_termination_message,
        state=RuntimeState(emit),
    )
    probes = _probes(kubelet, recorder, statuses, nursery)

    async def before_remove(container_id: ContainerID) -> None:
        await kubelet.logs.drained(container_id)
        await pleg.look_before_removal(container_id)

    resizer = Resizer(
        runtime=runtime,
        recorder=recorder,
        statuses=statuses,
        allocations=kubelet.allocations,
        container_resources=configs.container_resources,
    )
    containers = ContainerManager(
        runtime=runtime,
        timebase=kubelet.timebase,
        emit=emit,
        recorder=recorder,
        killer=killer,
        images=_images(kubelet, recorder),
        configs=configs,
        run_hook=hooks,
        resizer=resizer,
        backoff=crash_loop_backoff(settings.features, settings.configuration.max_container_restart_period_seconds),
        on_sandbox_ready=statuses.set_ready_to_start_containers,
        on_started=kubelet.follow_log,
        before_remove=before_remove,
    )
    return NodeServices(
        api=kubelet.api,
        timebase=kubelet.timebase,
        timing=settings.timing,
        features=settings.features,
        emit=emit,
        recorder=recorder,
        pleg=pleg,
        probes=probes,
        statuses=statuses,
        killer=killer,
        containers=containers,
        resizer=resizer,
        remover=Remover(runtime=runtime, volumes=volumes, before_remove=before_remove, log=kubelet.log),
        volumes=volumes,
        host_ips=lambda: kubelet.node.host_ips,
        log=kubelet.log,
        reconcile_mirror=kubelet.static_pods.reconcile_mirror,
    )


def make_static_pods(kubelet: Kubelet) -> StaticPods:
    """Make what reads the folder of static pods; it is asked once the kubelet runs."""

    def tell(pod: Pod, message: str) -> None:
        kubelet.services.recorder.event(pod, None, reasons.WARNING, reasons.FAILED_VALIDATION, message)

    return StaticPods(
        folder=kubelet.static_folder,
        api=kubelet.api,
        node_name=lambda: kubelet.node.name,
        now=kubelet.timebase.now,
        log=kubelet.log,
        tell=tell,
        refuses_references=kubelet.settings.features.enabled("PreventStaticPodAPIReferences"),
    )


def _volumes(kubelet: Kubelet, recorder: Recorder, files: KubeletFiles) -> VolumeManager:
    api, node = kubelet.api, kubelet.node
    return VolumeManager(
        runtime=kubelet.runtime,
        files=files,
        timebase=kubelet.timebase,
        event=recorder.event,
        sources=VolumeSources(
            config_map=_config_maps(api),
            secret=_secrets(api),
            facts=lambda pod: RuntimeFacts(
                node_name=node.name,
                pod_ips=tuple(ip.ip for ip in pod.status.pod_ips if ip.ip),
                host_ips=node.host_ips,
            ),
            allocatable=node.allocatable(),
        ),
        host_paths=kubelet.settings.host_paths,
        poll_seconds=0.0 if kubelet.settings.timing.relist_on_events else VOLUME_POLL_SECONDS,
        turn=_worker_turn(kubelet),
    )


def _images(kubelet: Kubelet, recorder: Recorder) -> ImageManager:
    settings, configuration = kubelet.settings, kubelet.settings.configuration

    return ImageManager(
        puller=Puller(runtime=kubelet.runtime, mirrors=settings.mirrors, node=settings.node_credentials),
        timebase=kubelet.timebase,
        event=recorder.event,
        emit=kubelet.emit,
        secret=_secrets(kubelet.api),
        config=PullConfig(
            serialize=configuration.serialize_image_pulls,
            max_parallel=configuration.max_parallel_image_pulls,
            registry_qps=configuration.registry_pull_qps,
            registry_burst=configuration.registry_burst,
            override=settings.pull_override,
        ),
        turn=_worker_turn(kubelet),
        records=PullRecords(
            policy=VerificationPolicy(configuration.image_pull_credentials_verification_policy),
            allowlist=configuration.preloaded_images_verification_allowlist,
        ),
        verifies_access=settings.features.enabled("KubeletEnsureSecretPulledImages"),
        progress=settings.on_pull,
    )


def _worker_turn(kubelet: Kubelet) -> Callable[[str], Awaitable[None]]:
    async def turn(key: str) -> None:
        await kubelet.timebase.turn(Lane.WORKER, key)

    return turn


def _config_maps(api: APIServer) -> Callable[[str, str], ConfigMap | None]:
    def config_map(namespace: str, name: str) -> ConfigMap | None:
        found = cast("ConfigMap | None", api.get("ConfigMap", namespace, name))
        return stand_in_root_ca(namespace) if found is None and name == ROOT_CA_CONFIG_MAP else found

    return config_map


def _secrets(api: APIServer) -> Callable[[str, str], Secret | None]:
    def secret(namespace: str, name: str) -> Secret | None:
        return cast("Secret | None", api.get("Secret", namespace, name))

    return secret


def _probes(kubelet: Kubelet, recorder: Recorder, statuses: StatusManager, nursery: trio.Nursery) -> ProbeManager:
    store = ProbeResultsStore()

    def on_result(uid: str, kind: ProbeKind) -> None:
        pod = kubelet.pod(uid)
        if pod is not None and kind is not ProbeKind.LIVENESS:
            _publish_results(statuses, store, pod, kind)
        kubelet.wake(uid)

    return ProbeManager(
        runtime=kubelet.runtime,
        timebase=kubelet.timebase,
        recorder=recorder,
        emit=kubelet.emit,
        store=store,
        on_result=on_result,
        pod_status=statuses.latest,
        rng=random.Random(f"{kubelet.seed}/probes"),  # noqa: S311
        features=kubelet.settings.features,
        nursery=nursery,
        spread_first_attempts=kubelet.is_restarted,
    )


def _publish_results(statuses: StatusManager, store: ProbeResultsStore, pod: Pod, kind: ProbeKind) -> None:
    """Bring `ready` or `started` of a pod's containers in line with the stored results (syncLoopIteration)."""
    status = statuses.get(pod)
    for container in (*status.init_container_statuses, *status.container_statuses):
        container_id = runtime_id(container.container_id)
        result = store.get(kind, container_id) if container_id is not None else None
        if result is None:
            continue
        is_success = result is ProbeResult.SUCCESS
        if kind is ProbeKind.READINESS:
            statuses.set_container_readiness(pod, container.name, ready=is_success)
        else:
            statuses.set_container_startup(pod, container.name, started=is_success)


@define(eq=False, kw_only=True)
class RecordedHooks:
    """Runs lifecycle hooks and records how long they took."""

    kubelet: Kubelet
    recorder: Recorder

    async def __call__(
        self,
        pod: Pod,
        container: Container | EphemeralContainer,
        container_id: ContainerID,
        handler: LifecycleHandler,
        *,
        hook: str,
        run: int,
    ) -> HookOutcome:
        """Run one handler to its end; never raises a CRIError."""
        ref = ObjectRef.of(pod.metadata)
        effect = EffectRecord(ref=ref, call=hook, what="started", container=container.name, run=run)
        self.kubelet.emit(effect)
        started_at = trio.current_time()
        sandbox_id, pod_ip = await self._address(container_id) if handler.http_get else (SandboxID(""), "")
        outcome = await run_handler(
            self.kubelet.runtime,
            pod,
            container,
            container_id,
            handler,
            pod_ip=pod_ip,
            sandbox_id=sandbox_id,
            recorder=self.recorder,
        )
        seconds = trio.current_time() - started_at
        await self.kubelet.timebase.turn(Lane.WORKER, f"{ref.namespace}/{ref.name}/{container.name}/{hook}")
        self.kubelet.emit(
            EffectRecord(
                ref=ref,
                call=hook,
                what="finished" if outcome.ok else "failed",
                container=container.name,
                run=run,
                seconds=seconds,
                error=outcome.message,
            )
        )
        return outcome

    async def _address(self, container_id: ContainerID) -> tuple[SandboxID, str]:
        """Return the sandbox and the IP of a container's pod, empty when the runtime can't say."""
        try:
            status = await self.kubelet.runtime.container_status(container_id)
            sandbox = await self.kubelet.runtime.pod_sandbox_status(status.sandbox_id)
        except CRIError:
            return SandboxID(""), ""
        return sandbox.id, sandbox.ip
