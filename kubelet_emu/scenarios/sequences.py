"""A trace as sequences of entries, spelled as scenarios name what two recordings did not agree on.

Each pod has a sequence of runs (starts, ends, signals), one of events, one of phase and conditions, and one of states
for each container. What differs from run to run by nature (names, addresses, ids, durations, a runtime's own words) is
masked. Values only.
"""

from __future__ import annotations

import enum
import re
from typing import TYPE_CHECKING

from attrs import define, evolve, field, frozen

from kubelet_emu.lifecycle.raw_records import containers_of, mapping_of, time_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from kubelet_emu.lifecycle.raw_records import RawRecord

SANDBOX = "POD"
_TOLD_BY_MESSAGE = frozenset({"Failed", "BackOff", "Killing", "Unhealthy"})
_MESSAGE_LENGTH = 70
_VOLATILE = re.compile(r" in pod .*|[0-9a-f]{8,}|[0-9]+(\.[0-9]+)?m?s|:[0-9]+->")
_RUNTIMES_OWN = (
    (re.compile(r'(Failed to pull image "[^"]*").*'), r"\1"),
    (re.compile(r"(Error: )(failed to|Error response|context deadline|OCI).*"), r"\1*"),
    (re.compile(r"(probe (?:failed|errored)).*"), r"\1"),
    (re.compile(r"( in (?:Secret|ConfigMap) )[^ /]+/"), r"\1*/"),
)
_OF_THE_CLUSTER = (
    (re.compile(r"assigned \S+ to \S+"), "assigned *"),
    (re.compile(r"in pod \S+|\(pod: \S+"), "in pod *"),
    (re.compile(r"rpc error: code = \w+ desc = "), ""),
    (re.compile(r"\b[0-9a-f]{8}-[0-9a-f-]{27}\b|\b[0-9a-f]{12,}\b"), "*"),
    (re.compile(r"\b[0-9]+(\.[0-9]+){3}(:[0-9]+)?"), "*"),
    (re.compile(r"\b[0-9.]+(ms|µs|s)\b"), "*"),
    (re.compile(r"(size: |capacity: )[0-9]+"), r"\1*"),
)
"""Names, addresses, times and sizes of the machine that a message was written on."""
_RUN_WORDS = {"start": "started", "started": "started", "exit": "exited", "exited": "exited"}
_SIGNALS = {"killed": "SIGKILL", "terminated": "SIGTERM"}
_NOT_THE_KUBELETS = frozenset({"TaintManagerEviction"})
_TOKEN_VOLUME = "kube-api-access"  # noqa: S105 - a volume's name
_SEEN_SIGNALS = frozenset({"SIGTERM", "SIGKILL"})


class Thread(enum.Enum):
    """What a sequence tells of; only within one is the order of a recording to be relied on."""

    RUNS = "runs"
    EVENTS = "events"
    POD = "phase and conditions"
    STATES = "states"


@frozen(order=True)
class ThreadKey:
    """One sequence: of the `pod`-th pod to appear (from 1), for STATES of one container."""

    pod: int
    thread: Thread = field(order=lambda thread: thread.value)
    container: str = ""

    def __str__(self) -> str:
        """Return the words of a diff's heading."""
        of = f" of {self.container}" if self.container else ""
        return f"pod @{self.pod}: {self.thread.value}{of}"


@frozen(kw_only=True)
class Entry:
    """One entry: `text` without its occurrence, `kind` of it (a word of its own thread), and when.

    `message` is an event's whole one, with what belongs to its cluster masked.
    """

    text: str
    at: float
    message: str = ""
    container: str = ""
    kind: str = ""
    occurrence: int = 1

    @property
    def name(self) -> str:
        """Return the text with its occurrence, as scenarios spell it."""
        return self.text if self.occurrence == 1 else f"{self.text} ({self.occurrence})"


def sequences(records: Iterable[RawRecord]) -> Mapping[ThreadKey, tuple[Entry, ...]]:
    """Return the sequences of a trace."""
    reader = _Reader()
    for record in sorted(records, key=time_of):
        if record.get("pod"):
            reader.read(record)
    return {key: _numbered(entries) for key, entries in reader.found.items()}


def canonical(text: str) -> str:
    """Return an entry as it is compared: a runtime's own words and random names masked."""
    for pattern, kept in _RUNTIMES_OWN:
        text = pattern.sub(kept, text)
    return text


def masked(message: str) -> str:
    """Return an event's message without what another cluster, node or run would say in another way."""
    for pattern, kept in (*_OF_THE_CLUSTER, *_RUNTIMES_OWN):
        message = pattern.sub(kept, message)
    return message


def _numbered(entries: Iterable[Entry]) -> tuple[Entry, ...]:
    seen: dict[str, int] = {}
    numbered = []
    for entry in entries:
        seen[entry.text] = seen.get(entry.text, 0) + 1
        numbered.append(evolve(entry, occurrence=seen[entry.text]))
    return tuple(numbered)


@define
class _Reader:
    """Sorts records into threads."""

    found: dict[ThreadKey, list[Entry]] = field(factory=dict)
    _pods: dict[str, int] = field(factory=dict)
    _starts: dict[tuple[int, str], int] = field(factory=dict)
    _last: dict[ThreadKey, str] = field(factory=dict)

    def read(self, record: RawRecord) -> None:
        pod = self._pods.setdefault(str(record["pod"]), len(self._pods) + 1)
        match record.get("kind"):
            case "runtime" | "run":
                self._run(pod, record)
            case "cri" if record.get("what") == "signal":
                self._signal(pod, record)
            case "event" if record["reason"] not in _NOT_THE_KUBELETS:
                self._event(pod, record)
            case "status":
                self._status(pod, record)

    def _add(self, key: ThreadKey, entry: Entry) -> None:
        self.found.setdefault(key, []).append(evolve(entry, text=canonical(entry.text)))

    def _run(self, pod: int, record: RawRecord) -> None:
        word, container = _RUN_WORDS.get(str(record["what"])), str(record["container"])
        if word is None or container == SANDBOX:
            return
        if word == "started":
            self._starts[pod, container] = self._starts.get((pod, container), 0) + 1
        code = f"({record.get('exitCode', record.get('code')) or 0})" if word == "exited" else ""
        text = f"{container}#{self._starts.get((pod, container), 1)} {word}{code}"
        self._add(ThreadKey(pod, Thread.RUNS), Entry(text=text, at=time_of(record), container=container, kind=word))

    def _signal(self, pod: int, record: RawRecord) -> None:
        """Add a signal; the recordings have no others than TERM and KILL."""
        container, signal = str(record["container"]), _SIGNALS.get(str(record["signal"]), str(record["signal"]))
        if container == SANDBOX or signal not in _SEEN_SIGNALS:
            return
        text = f"{container}#{self._starts.get((pod, container), 1)} signal {signal}"
        self._add(ThreadKey(pod, Thread.RUNS), Entry(text=text, at=time_of(record), container=container, kind="signal"))

    def _event(self, pod: int, record: RawRecord) -> None:
        """Add an event, unless it is of the volume that a cluster gives each pod for its API token."""
        reason, container = str(record["reason"]), str(record.get("container") or "pod")
        message = ""
        if _TOKEN_VOLUME in str(record.get("message")):
            return
        if reason in _TOLD_BY_MESSAGE:
            message = _VOLATILE.sub("*", str(record.get("message") or ""))[:_MESSAGE_LENGTH]
        text = f"event({reason}) {container} {message}".strip()
        entry = Entry(
            text=text,
            at=time_of(record),
            message=masked(str(record.get("message") or "")),
            container=container,
            kind=reason,
        )
        self._add(ThreadKey(pod, Thread.EVENTS), entry)

    def _status(self, pod: int, record: RawRecord) -> None:
        at = time_of(record)
        for name, status in containers_of(record).items():
            started = bool(status["started"])
            flags = f"ready={status['ready']} started={started} restarts={status['restartCount']}"
            text = f"{name} {status['state']} {flags}"
            self._changed(ThreadKey(pod, Thread.STATES, name), Entry(text=text, at=at, container=name))
        conditions = ",".join(f"{key}={value}" for key, value in sorted(mapping_of(record, "conditions").items()))
        self._changed(ThreadKey(pod, Thread.POD), Entry(text=f"pod {record['phase']} {conditions}", at=at))

    def _changed(self, key: ThreadKey, entry: Entry) -> None:
        if self._last.get(key) != entry.text:
            self._last[key] = entry.text
            self._add(key, entry)
