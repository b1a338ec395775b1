"""Files, folders and standard input to typed objects, with every fault of every document.

Owns reading and the choice of type by apiVersion and kind; defaults and validation are other modules. One bad document
never hides another.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from attrs import define, field, frozen

from kubelet_emu.api.kinds import api_type
from kubelet_emu.manifests import kinds
from kubelet_emu.manifests.advice import nearest
from kubelet_emu.manifests.decoder import Decoder
from kubelet_emu.manifests.documents import MOST_BYTES, file_fault, read_roots
from kubelet_emu.manifests.nodes import (
    Document,
    Entry,
    MappingNode,
    Node,
    ScalarNode,
    SequenceNode,
    entries,
    plain_value,
)
from kubelet_emu.manifests.positions import Positions
from kubelet_emu.manifests.problems import Problem, Source

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import BinaryIO

    from kubelet_emu.api.apps_v1 import DaemonSet, Deployment, ReplicaSet, StatefulSet
    from kubelet_emu.api.batch_v1 import CronJob, Job
    from kubelet_emu.api.v1 import ConfigMap, Pod, Secret
    from kubelet_emu.api.v1_services import Service
    from kubelet_emu.manifests.plain import PlainDocument
    from kubelet_emu.manifests.problems import Severity

    APIObject = Pod | Job | CronJob | Deployment | ReplicaSet | StatefulSet | DaemonSet | ConfigMap | Secret | Service

STDIN = "<stdin>"
_SUFFIXES = frozenset({".yaml", ".yml", ".json"})
_DEEPEST_LIST = 4
_KUSTOMIZE = ("Kustomization", "Component")


@frozen(kw_only=True)
class Loaded:
    """One object of a manifest: where it and its fields stand, and the paths of fields that could not be read."""

    object: APIObject
    source: Source
    positions: Positions = field(eq=False, repr=False)
    faulty_paths: tuple[str, ...] = ()

    @property
    def is_whole(self) -> bool:
        """Tell whether every field of the document could be read."""
        return not self.faulty_paths

    def problem(self, path: str, kind: str, text: str, *, hint: str = "", severity: Severity = "error") -> Problem:
        """Return a problem with a field of this object, at its place."""
        line, column = self.positions.find(path)
        return Problem(
            file=self.source.file,
            line=line,
            column=column,
            path=path,
            type=kind,
            text=text,
            hint=hint,
            severity=severity,
        )


@frozen(kw_only=True)
class LoadResult:
    """What was read; `sources` has the text of each file, for rendering problems."""

    objects: tuple[Loaded, ...] = ()
    problems: tuple[Problem, ...] = ()
    sources: Mapping[str, str] = field(factory=dict, repr=False)

    @property
    def has_errors(self) -> bool:
        """Tell whether something is wrong, not only doubtful."""
        return any(problem.severity == "error" for problem in self.problems)


def load(
    paths: Sequence[str], *, strict: bool = False, stdin: BinaryIO | None = None, letters_are_text: bool = False
) -> LoadResult:
    """Read manifests; never raises for what they contain or for files that can't be read.

    `-` is standard input; of a folder the *.yaml, *.yml and *.json files are read in the order of their names, without
    its subfolders (kubectl -f), but not simulate.yaml and *.simulate.yaml. `strict` makes errors of duplicate keys,
    `letters_are_text` is as in `read_roots`.
    """
    loading = _Loading(strict=strict, letters_are_text=letters_are_text)
    for path in paths:
        if path == "-":
            loading.read_stdin(stdin or getattr(sys.stdin, "buffer", None))
        else:
            loading.read_path(path if path == "./" else path.removeprefix("./"))
    return loading.result()


def files_of(path: str) -> list[str]:
    """Return what `load` reads for a path: itself, or a folder's manifests by name; OSError, ValueError."""
    if not os.path.isdir(path):
        return [path]
    return sorted(each for name in os.listdir(path) if _is_manifest(each := os.path.join(path, name)))


def load_text(
    text: str, *, file: str = "manifest.yaml", strict: bool = False, letters_are_text: bool = False
) -> LoadResult:
    """Read manifests from text; `file` is the name that problems show, `letters_are_text` as in `read_roots`."""
    loading = _Loading(strict=strict, letters_are_text=letters_are_text)
    loading.read_bytes(file, text.encode("utf-8", "surrogatepass"))
    return loading.result()


def _is_manifest(path: str) -> bool:
    stem, suffix = os.path.splitext(os.path.basename(path))
    is_simulation = stem == "simulate" or stem.endswith(".simulate")
    return suffix in _SUFFIXES and not is_simulation and os.path.isfile(path)


def load_within(content: PlainDocument, path: str) -> LoadResult:
    """Read the manifests that stand in a field of another document: one object, a list of them, or text.

    Their problems have the places of the file around them; in text that isn't a `|` block only its first line.
    """
    loading = _Loading(strict=False, letters_are_text=True)
    node, document = content.positions.value_node(path), content.positions.document
    if isinstance(node, ScalarNode):
        loading.read_bytes(document.file, _in_place(document, node).encode("utf-8", "surrogatepass"))
    elif node is not None:
        for item in node.value if isinstance(node, SequenceNode) else [node]:
            loading.read_object(document, item)
    return loading.result()


def _in_place(document: Document, node: ScalarNode) -> str:
    """Return the text of a `|` block with the lines and columns that it has in its file."""
    line, _ = document.place(node)
    if node.style != "|":
        return "\n" * (line - 1) + str(node.value)
    written = document.text.split("\n")[node.start_mark.line + 1 :]
    first = next((each for each in written if each.strip()), "")
    indent = first[: len(first) - len(first.lstrip(" "))]
    return "\n" * line + "".join(
        part if part.startswith("---") else indent + part for part in str(node.value).splitlines(keepends=True)
    )


@define
class _Loading:
    """What one call of `load` has read so far."""

    strict: bool
    letters_are_text: bool = False
    objects: list[Loaded] = field(factory=list)
    problems: list[Problem] = field(factory=list)
    sources: dict[str, str] = field(factory=dict)

    def result(self) -> LoadResult:
        """Return what was read, the problems of each file in the order of its lines."""
        order = {problem.file: rank for rank, problem in reversed(list(enumerate(self.problems)))}
        problems = sorted(self.problems, key=lambda each: (order[each.file], each.line, each.column))
        return LoadResult(objects=tuple(self.objects), problems=tuple(problems), sources=self.sources)

    def read_path(self, path: str) -> None:
        try:
            if not os.path.isdir(path):
                with open(path, "rb") as stream:
                    self.read_bytes(path, stream.read(MOST_BYTES + 1))
                return
            names = files_of(path)
        except OSError as error:
            self._fault(path, "Unreadable", error.strerror or str(error))
            return
        except ValueError as error:
            self._fault(path, "Unreadable", str(error))
            return
        if not names:
            self._fault(path, "Unreadable", "the folder has no *.yaml, *.yml or *.json file")
        for name in names:
            self.read_path(name)

    def read_stdin(self, stdin: BinaryIO | None) -> None:
        """Read standard input; None when it is closed."""
        if stdin is None:
            self._fault(STDIN, "Unreadable", "standard input is closed")
            return
        try:
            data = stdin.read(MOST_BYTES + 1)
        except OSError as error:
            self._fault(STDIN, "Unreadable", error.strerror or str(error))
            return
        self.read_bytes(STDIN, data)

    def read_bytes(self, file: str, data: bytes) -> None:
        before = len(self.problems)
        self.sources[file] = data.decode("utf-8-sig", "replace")
        roots = read_roots(file, data, self.problems, letters_are_text=self.letters_are_text)
        if not roots and len(self.problems) == before:
            self._fault(file, "Empty", "the file has no document: nothing but blanks and comments")
        for document, root in roots:
            self._read_object(document, root, "", 0)

    def read_object(self, document: Document, node: Node) -> None:
        """Read one object, or the items of a list of them."""
        self._read_object(document, node, "", 0)

    def _read_object(
        self, document: Document, node: Node, path: str, depth: int, inferred: tuple[str, str] = ("", "")
    ) -> None:
        decoder = Decoder(document, strict=self.strict, problems=self.problems)
        if not isinstance(node, MappingNode):
            text = "an object with apiVersion, kind and metadata is needed"
            decoder.report(node, path, "Wrong type", text)
            return
        found = entries(node).by_key
        api_version, kind = (_text(found.get(key)) for key in ("apiVersion", "kind"))
        if not api_version and not kind:
            api_version, kind = inferred
        missing = [key for key, value in (("apiVersion", api_version), ("kind", kind)) if not value]
        for key in missing:
            self._report_missing(decoder, node, path, key)
        if missing:
            return
        if kinds.is_list(kind):
            item_kind = (api_version, kind.removesuffix("List")) if kind != "List" else ("", "")
            self._read_list(decoder, node, path, depth, item_kind)
        elif kind in kinds.READ_KINDS and api_version == kinds.READ_KINDS[kind]:
            self._decode(decoder, kind, node)
        else:
            self._report_kind(decoder, node, api_version, kind)

    def _report_missing(self, decoder: Decoder, node: MappingNode, path: str, key: str) -> None:
        found = entries(node).by_key
        likely = nearest(key, [each for each in found if each not in ("apiVersion", "kind")], cutoff=0.8)
        hint = f"is {likely!r} a typo of {key!r}?" if likely else ""
        if "services" in found and "kind" not in found:
            hint = "this looks like a Compose file: it isn't read"
        if not hint and key == "apiVersion" and (today := kinds.READ_KINDS.get(_text(found.get("kind")))):
            hint = f"write apiVersion: {today}"
        if not hint and _looks_like_pod(found.get("spec")):
            hint = f"is it a Pod? Write {'apiVersion: v1' if key == 'apiVersion' else 'kind: Pod'}"
        decoder.report(node, f"{path}.{key}" if path else key, "Required value", f"{key} is missing", hint=hint)

    def _read_list(
        self, decoder: Decoder, node: MappingNode, path: str, depth: int, item_kind: tuple[str, str]
    ) -> None:
        """Read the items of a list; those of a PodList and the like may leave out their kind."""
        where = f"{path}.items" if path else "items"
        entry = entries(node).by_key.get("items")
        items = entry.value if entry is not None else None
        if items is None or (isinstance(items, ScalarNode) and plain_value(items) is None):
            decoder.report(node, where, "Empty", "this list has no items", severity="warning")
        elif not isinstance(items, SequenceNode):
            decoder.report(items, where, "Wrong type", "items must be a list of objects")
        elif depth >= _DEEPEST_LIST:
            decoder.report(items, where, "Too much", f"lists in lists go deeper than {_DEEPEST_LIST}")
        else:
            if not items.value:
                decoder.report(items, where, "Empty", "this list has no items", severity="warning")
            for index, item in enumerate(items.value):
                self._read_object(decoder.document, item, f"{where}[{index}]", depth + 1, item_kind)

    def _decode(self, decoder: Decoder, kind: str, node: MappingNode) -> None:
        before = len(self.problems)
        obj: APIObject = decoder.decode(api_type(kind), node)
        faulty = tuple(problem.path for problem in self.problems[before:] if problem.severity == "error")
        faulty += tuple(decoder.meant)
        document = decoder.document
        line, _column = document.place(node)
        source = Source(file=document.file, line=line, document=document.number)
        positions = Positions(document, node)
        self.objects.append(Loaded(object=obj, source=source, positions=positions, faulty_paths=faulty))
        if kind == "Service":
            from kubelet_emu.manifests.services import service_note  # noqa: PLC0415 - few have one

            self.problems.append(service_note(self.objects[-1]))

    def _report_kind(self, decoder: Decoder, node: MappingNode, api_version: str, kind: str) -> None:
        found = entries(node).by_key
        metadata = found.get("metadata")
        names = entries(metadata.value).by_key if metadata and isinstance(metadata.value, MappingNode) else {}
        name = _text(names.get("name")) or _text(names.get("generateName"))
        label = f"{kind}/{name}" if name else kind
        at = found["apiVersion"].key_node
        if today := kinds.right_version(kind, api_version):
            removed = kinds.removed_in(api_version)
            text = f"{kind} is not served as {api_version}" + (f" since Kubernetes {removed}" if removed else "")
            decoder.report(at, "apiVersion", "Unknown kind", text, hint=f"write apiVersion: {today}")
            return
        if not kinds.is_built_in(api_version):
            text = f"{label} ({api_version}) is no kind of Kubernetes itself; it is not run"
            hint = "render it first: kubectl kustomize FOLDER" if kind in _KUSTOMIZE else ""
            decoder.report(found["kind"].key_node, "kind", "Unknown kind", text, hint=hint, severity="warning")
            return
        if kind in kinds.KNOWN_KINDS:
            decoder.report(found["kind"].key_node, "kind", "Not run", f"{label} is not run", severity="warning")
            return
        likely = nearest(kind, [*kinds.READ_KINDS, *kinds.KNOWN_KINDS, "List"])
        hint = f"did you mean {likely!r}?" if likely else ""
        decoder.report(found["kind"].key_node, "kind", "Unknown kind", f"{api_version} has no kind {kind!r}", hint=hint)

    def _fault(self, file: str, type_: str, text: str) -> None:
        self.problems.append(file_fault(file, type_, text))


def _looks_like_pod(spec: Entry | None) -> bool:
    return spec is not None and isinstance(spec.value, MappingNode) and "containers" in entries(spec.value).by_key


def _text(entry: object) -> str:
    node = getattr(entry, "value", None)
    return str(node.value) if isinstance(node, ScalarNode) else ""


def pairs(result: LoadResult) -> Iterator[tuple[Problem, str]]:
    """Yield each problem with the text of its file, as `format_problem` takes them."""
    for problem in result.problems:
        yield problem, result.sources.get(problem.file, "")
