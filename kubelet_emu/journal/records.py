"""The records of a lifecycle log.

One frozen class a kind; `Record` is their union. A record says what was seen, decided or done at `at` (None: the
moment it is emitted). Nothing here drives behaviour.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from attrs import field, frozen

from kubelet_emu.journal.deferred import Deferred  # noqa: TC001 - reading a log looks the types of fields up here

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from kubelet_emu.api.batch_v1 import JobStatus
    from kubelet_emu.api.meta import ObjectMeta
    from kubelet_emu.api.v1_status import PodStatus
    from kubelet_emu.rules.observed import ObservedPod


@frozen(kw_only=True)
class ObjectRef:
    """Which API object a record is about."""

    namespace: str
    name: str
    uid: str
    kind: str = "Pod"

    @classmethod
    def of(cls, metadata: ObjectMeta, kind: str = "Pod") -> ObjectRef:
        """Return which object has this metadata."""
        return cls(namespace=metadata.namespace or "", name=metadata.name or "", uid=metadata.uid or "", kind=kind)


@frozen(kw_only=True)
class HeaderRecord:
    """First line: what is needed to read the rest."""

    kind: ClassVar[str] = "header"
    at: datetime | None = None
    schema: int = 1
    version: str = ""
    kubernetes: str = "v1.36"
    epoch: datetime | None = None
    seed: int = 0
    timing: str = "fast"
    instance: str = ""
    runtime: Mapping[str, str] = field(factory=dict)
    features: Mapping[str, bool] = field(factory=dict)
    config: Mapping[str, object] = field(factory=dict)


@frozen(kw_only=True)
class ManifestRecord:
    """A pod, Job or other object as it was accepted (`kind` "pod" on the wire)."""

    kind: ClassVar[str] = "pod"
    at: datetime | None = None
    ref: ObjectRef
    manifest: Mapping[str, object] = field(factory=dict)
    source: str = ""


@frozen(kw_only=True)
class ObservedRecord:
    """What a relist saw of a pod when it changed."""

    kind: ClassVar[str] = "observed"
    at: datetime | None = None
    ref: ObjectRef
    observed: ObservedPod


@frozen(kw_only=True)
class ProbeRecord:
    """One probe attempt; `outcome` is success, warning, failure or errored, `stored` the result kept after it.

    `seconds` is how long it took; the record's time is its end.
    """

    kind: ClassVar[str] = "probe"
    at: datetime | None = None
    ref: ObjectRef
    container: str
    run: int
    probe: str
    outcome: str
    stored: str
    changed: bool = False
    message: str = ""
    seconds: float = 0.0


@frozen(kw_only=True)
class SyncRecord:
    """One step of a pod worker: what it decided from what it saw; `input` is as `journal.sync_input` has it."""

    kind: ClassVar[str] = "sync"
    at: datetime | None = None
    ref: ObjectRef
    n: int
    step: str
    actions: Mapping[str, object] = field(factory=dict)
    input: Mapping[str, object] | Deferred = field(factory=dict)
    results: tuple[str, ...] = ()


@frozen(kw_only=True)
class EventRecord:
    """A v1 Event as the recorder let it through. `container` is None for events of the whole object."""

    kind: ClassVar[str] = "event"
    at: datetime | None = None
    ref: ObjectRef
    type: str
    reason: str
    message: str
    container: str | None = None
    field_path: str = ""
    count: int = 1
    source: str = "kubelet"


@frozen(kw_only=True)
class StatusRecord:
    """A pod status as it reached the API."""

    kind: ClassVar[str] = "status"
    at: datetime | None = None
    ref: ObjectRef
    status: PodStatus
    deleting: bool = False
    deletion_grace_period_seconds: int | None = None
    generation: int = 1


@frozen(kw_only=True)
class LogRecord:
    """One line that a container wrote; `run` counts from 1."""

    kind: ClassVar[str] = "log"
    at: datetime | None = None
    ref: ObjectRef
    container: str
    run: int
    line: str
    stream: str = "stdout"


@frozen(kw_only=True)
class RunRecord:
    """Start or exit of one run by the runtime's own clock; `what` is start or exit."""

    kind: ClassVar[str] = "run"
    at: datetime | None = None
    ref: ObjectRef
    container: str
    run: int
    what: str
    code: int | None = None
    reason: str = ""


@frozen(kw_only=True)
class StopRecord:
    """A stop call on the runtime (`kind` "cri" on the wire).

    `what` is StopContainer (with its timeout), StopPodSandbox or signal.

    `own` is False for a signal that came from outside.
    """

    kind: ClassVar[str] = "cri"
    at: datetime | None = None
    ref: ObjectRef
    what: str
    container: str = "POD"
    run: int = 1
    timeout: float | None = None
    signal: str = ""
    own: bool = True


@frozen(kw_only=True)
class RequestRecord:
    """Something was asked of us: delete, exec, patch, shutdown."""

    kind: ClassVar[str] = "request"
    at: datetime | None = None
    ref: ObjectRef | None = None
    what: str
    details: Mapping[str, object] = field(factory=dict)


@frozen(kw_only=True)
class EffectRecord:
    """A runtime call or hook; `what` is started, finished or failed."""

    kind: ClassVar[str] = "effect"
    at: datetime | None = None
    ref: ObjectRef
    call: str
    what: str
    container: str = ""
    run: int = 0
    seconds: float | None = None
    error: str = ""


@frozen(kw_only=True)
class DeletedRecord:
    """The object is gone from the API."""

    kind: ClassVar[str] = "deleted"
    at: datetime | None = None
    ref: ObjectRef


@frozen(kw_only=True)
class StepRecord:
    """A scenario's driver performed step n, counted from 1."""

    kind: ClassVar[str] = "step"
    at: datetime | None = None
    n: int
    what: str = ""


@frozen(kw_only=True)
class JobRecord:
    """A Job's status whenever it changed."""

    kind: ClassVar[str] = "job"
    at: datetime | None = None
    ref: ObjectRef
    status: JobStatus | None = None
    deleted: bool = False


@frozen(kw_only=True)
class NoteRecord:
    """A line for the user that explains: a fallback taken, a kind not run."""

    kind: ClassVar[str] = "note"
    at: datetime | None = None
    ref: ObjectRef | None = None
    level: str = "info"
    text: str = ""


@frozen(kw_only=True)
class EndRecord:
    """Last line; `why` says what ended the run."""

    kind: ClassVar[str] = "end"
    at: datetime | None = None
    why: str = ""


Record = (
    HeaderRecord
    | ManifestRecord
    | ObservedRecord
    | ProbeRecord
    | SyncRecord
    | EventRecord
    | StatusRecord
    | LogRecord
    | RunRecord
    | StopRecord
    | RequestRecord
    | EffectRecord
    | DeletedRecord
    | StepRecord
    | JobRecord
    | NoteRecord
    | EndRecord
)
