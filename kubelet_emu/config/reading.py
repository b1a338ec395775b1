"""KubeletConfiguration files to flat values by dotted name, each checked for its type and placed in the file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import define, field

from kubelet_emu.config.durations import parse_duration
from kubelet_emu.config.features import DEFAULTS_V1_36
from kubelet_emu.config.fields import FIELDS, SECTIONS, USED, Kind
from kubelet_emu.manifests.advice import nearest
from kubelet_emu.manifests.decoder import Decoder, TooMuchError
from kubelet_emu.manifests.documents import read_roots
from kubelet_emu.manifests.nodes import MappingNode, ScalarNode, entries, plain_value
from kubelet_emu.manifests.positions import Positions
from kubelet_emu.manifests.problems import Problem, format_problem

if TYPE_CHECKING:
    from kubelet_emu.manifests.nodes import Document, Node
    from kubelet_emu.manifests.problems import Severity

API_VERSION = "kubelet.config.k8s.io/v1beta1"
KIND = "KubeletConfiguration"


class ConfigurationError(Exception):
    """A configuration file that no kubelet starts with; says every fault with its place."""

    def __init__(self, problems: tuple[Problem, ...], source_text: str = "") -> None:
        """Keep the problems, and the text of the file for showing them."""
        super().__init__("\n".join(format_problem(problem, source_text) for problem in problems))
        self.problems = problems
        self.source_text = source_text

    @classmethod
    def unreadable(cls, file: str, text: str) -> ConfigurationError:
        """Return the error for a file that can't be read."""
        return cls((Problem(file=file, line=1, column=1, path="", type="Unreadable", text=text),))


@define
class RawConfiguration:
    """The values of a file by dotted field name, and what is wrong with it."""

    file: str
    text: str
    values: dict[str, object] = field(factory=dict)
    problems: list[Problem] = field(factory=list)
    positions: Positions | None = None

    @property
    def warnings(self) -> tuple[Problem, ...]:
        """What the user should know, though the file is accepted."""
        return tuple(problem for problem in self.problems if problem.severity == "warning")

    def raise_errors(self) -> None:
        """Raise ConfigurationError if anything is wrong."""
        if any(problem.severity == "error" for problem in self.problems):
            raise ConfigurationError(tuple(self.problems), self.text)

    def number(self, name: str, default: int) -> int:
        """Return a whole number, the default where it isn't given (or isn't a number: that is reported already)."""
        value = self.values.get(name)
        return value if isinstance(value, int) else default

    def seconds(self, name: str) -> float:
        """Return a duration in seconds, 0 where it isn't given."""
        value = self.values.get(name)
        return parse_duration(value) if isinstance(value, str) else 0.0

    def invalid(self, name: str, text: str) -> None:
        """Report what the kubelet refuses."""
        self.refuse(name, f"invalid configuration: {text}")

    def refuse(self, name: str, text: str) -> None:
        """Report what the kubelet refuses, in its whole text."""
        self.report(name, "Invalid configuration", text)

    def report(self, path: str, type_: str, text: str, *, hint: str = "", severity: Severity = "error") -> None:
        """Add a problem at a field."""
        line, column = self.positions.find(path) if self.positions else (1, 1)
        self.problems.append(
            Problem(
                file=self.file, line=line, column=column, path=path, type=type_, text=text, hint=hint, severity=severity
            )
        )


def read_configuration(file: str, data: bytes) -> RawConfiguration:
    """Read a file; faults are collected in the result. An empty file is a configuration of defaults."""
    raw = RawConfiguration(file=file, text=data.decode("utf-8", "replace"))
    roots = read_roots(file, data, raw.problems)
    if not roots:
        raw.report("", "Empty", "the file sets nothing", severity="warning")
        return raw
    document, root = roots[0]
    raw.positions = Positions(document, root)
    if len(roots) > 1:
        raw.report("", "Wrong type", "a configuration file has one document")
    if not isinstance(root, MappingNode):
        raw.report("", "Wrong type", f"a {KIND} is needed")
        return raw
    _read_kind(raw, root)
    _read_section(raw, document, root, "")
    return raw


def _read_kind(raw: RawConfiguration, root: MappingNode) -> None:
    found = entries(root).by_key
    for key, wanted in (("apiVersion", API_VERSION), ("kind", KIND)):
        node = found[key].value if key in found else None
        given = node.value if isinstance(node, ScalarNode) else "a list or mapping" if node is not None else None
        if given is None:
            text = f"{key} is missing, taken as {wanted}; a kubelet refuses the file without it"
            raw.report(key, "Required value", text, hint=f"write {key}: {wanted}", severity="warning")
        elif given != wanted:
            raw.report(key, "Unknown kind", f"{given!r} is not {wanted}", hint=f"write {key}: {wanted}")


def _read_section(raw: RawConfiguration, document: Document, node: MappingNode, prefix: str) -> None:
    found = entries(node)
    for entry in found.duplicates:
        raw.report(
            prefix + entry.key,
            "Duplicate key",
            f"key {entry.key!r} stands twice, the last one wins",
            severity="warning",
        )
    for key, entry in found.by_key.items():
        name = prefix + key
        if not prefix and key in ("apiVersion", "kind"):
            continue
        if name in SECTIONS and isinstance(entry.value, MappingNode):
            _read_section(raw, document, entry.value, name + ".")
        elif name in FIELDS:
            _read_value(raw, document, name, entry.value)
        elif name in SECTIONS and isinstance(entry.value, ScalarNode) and plain_value(entry.value) is None:
            continue
        elif name in SECTIONS:
            raw.report(name, "Wrong type", "a mapping is needed")
        else:
            _report_unknown(raw, name, prefix)


def _report_unknown(raw: RawConfiguration, name: str, prefix: str) -> None:
    known = {each.removeprefix(prefix).partition(".")[0] for each in FIELDS if each.startswith(prefix)}
    likely = nearest(name.removeprefix(prefix), known)
    hint = f"did you mean {likely!r}?" if likely else ""
    raw.report(name, "Unknown field", f"{KIND} has no field {name!r}", hint=hint)


def _read_value(raw: RawConfiguration, document: Document, name: str, node: Node) -> None:
    try:
        value = Decoder(document, problems=raw.problems).plain(node, name)
    except TooMuchError as error:
        raw.report(name, "Too much", str(error))
        return
    if value is None:
        return
    fitting = _fit(FIELDS[name], value)
    if fitting is None:
        raw.report(name, "Wrong type", f"{value!r} is not {FIELDS[name].value}")
        return
    raw.values[name] = fitting
    if name == "featureGates":
        _read_gates(raw, fitting)
    if name not in USED:
        raw.report(name, "No effect", f"{name} has no effect here", severity="warning")


def _fit(kind: Kind, value: object) -> object:
    match kind:
        case Kind.BOOL:
            return value if isinstance(value, bool) else None
        case Kind.INT:
            is_whole = isinstance(value, int | float) and not isinstance(value, bool) and value == value // 1
            return int(value) if is_whole and isinstance(value, int | float) else None
        case Kind.NUMBER:
            return value if isinstance(value, int | float) and not isinstance(value, bool) else None
        case Kind.TEXT:
            return value if isinstance(value, str) else None
        case Kind.DURATION:
            return _fit_duration(value)
        case Kind.LIST:
            return value if isinstance(value, list) else None
        case Kind.MAP:
            return value if isinstance(value, dict) else None


def _fit_duration(value: object) -> str | None:
    try:
        parse_duration(value if isinstance(value, str) else "")
    except ValueError:
        return None
    return str(value)


def _read_gates(raw: RawConfiguration, gates: object) -> None:
    for name, value in (gates if isinstance(gates, dict) else {}).items():
        path = f"featureGates.{name}"
        if not isinstance(value, bool):
            raw.report(path, "Wrong type", f"{value!r} is not {Kind.BOOL.value}")
        elif name not in DEFAULTS_V1_36:
            likely = nearest(name, DEFAULTS_V1_36, cutoff=0.8)
            hint = f"did you mean {likely!r}?" if likely else ""
            raw.report(path, "No effect", f"feature gate {name} is not known here", hint=hint, severity="warning")
