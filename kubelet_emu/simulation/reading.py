"""simulate.yaml and the annotations of pods to values, with every fault at its place.

A file's fault is told with line and column of the field; an annotation's with those of the annotation in the manifest.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, cast

from attrs import evolve, field, frozen

from kubelet_emu.manifests.plain import read_plain
from kubelet_emu.manifests.problems import Problem
from kubelet_emu.simulation.fields import BEHAVIOUR, DOCUMENT
from kubelet_emu.simulation.shapes import FAULTY, Faults
from kubelet_emu.simulation.values import Behaviour, Simulation

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from kubelet_emu.manifests.loading import Loaded
    from kubelet_emu.manifests.plain import PlainDocument
    from kubelet_emu.simulation.shapes import Fault

ANNOTATION_PREFIX = "simulate.kubelet-emu/"
_NAMES = ("simulate.yaml", "simulate.yml")
_SUFFIXES = (".simulate.yaml", ".simulate.yml")


@frozen(kw_only=True)
class SimulationFile:
    """What was read of one file; `document` is None for an empty one."""

    file: str
    value: Simulation = field(factory=Simulation)
    problems: tuple[Problem, ...] = ()
    text: str = ""
    document: PlainDocument | None = None

    def problem_at(self, path: str, type_: str, text: str, hint: str) -> Problem:
        """Return a warning about a field."""
        line, column = (1, 1) if self.document is None else self.document.positions.find(path)
        return Problem(
            file=self.file,
            line=line,
            column=column,
            path=path,
            type=type_,
            text=text,
            hint=hint,
            severity="warning",
        )


def files_beside(manifests: Iterable[str]) -> tuple[Path, ...]:
    """Return the files that belong to manifest files: NAME.simulate.yaml before the folder's simulate.yaml."""
    own: list[Path] = []
    shared: list[Path] = []
    for manifest in map(Path, manifests):
        own += [manifest.with_name(manifest.stem + suffix) for suffix in _SUFFIXES]
        shared += [manifest.with_name(name) for name in _NAMES]
    return tuple(path for path in dict.fromkeys((*own, *shared)) if path.is_file())


def read_file(path: Path) -> SimulationFile:
    """Read a file; never raises for what it contains or for one that can't be read."""
    file = str(path)
    try:
        data = path.read_bytes()
    except OSError as error:
        text = error.strerror or str(error)
        problem = Problem(file=file, line=1, column=1, path="", type="Unreadable", text=text)
        return SimulationFile(file=file, problems=(problem,))
    return read_bytes(file, data)


def read_bytes(file: str, data: bytes) -> SimulationFile:
    """Read the content of a file."""
    documents, problems = read_plain(file, data)
    read = SimulationFile(file=file, problems=problems, text=data.decode("utf-8-sig", "replace"))
    if not documents or any(problem.severity == "error" for problem in problems):
        return read
    document, faults = documents[0], Faults()
    value = DOCUMENT.read(document.value, "", faults)
    if len(documents) > 1:
        faults.add("", "Too much", "a simulate.yaml has one document")
    found = tuple(_place(fault, document) for fault in faults.found)
    simulation = Simulation() if value is FAULTY else cast("Simulation", value)
    return evolve(read, value=simulation, problems=(*problems, *found), document=document)


def _place(fault: Fault, document: PlainDocument) -> Problem:
    line, column = document.positions.find(fault.path)
    return Problem(
        file=document.file,
        line=line,
        column=column,
        path=fault.path,
        type=fault.type,
        text=fault.text,
        hint=fault.hint,
    )


def read_annotation(text: str) -> tuple[Behaviour | None, tuple[Fault, ...]]:
    """Return what an annotation says of its container, and what is wrong with it."""
    documents, problems = read_plain("annotation", text.encode())
    faults = Faults()
    for problem in problems:
        faults.add("", problem.type, f"{problem.text} (line {problem.line} of the annotation)", problem.hint)
    if faults.found:
        return None, tuple(faults.found)
    raw = documents[0].value if documents else {}
    value = BEHAVIOUR.read(raw, "", faults)
    return (None if value is FAULTY else cast("Behaviour", value)), tuple(faults.found)


def annotation_of(annotations: Mapping[str, str], container: str) -> Behaviour | None:
    """Return what a pod's annotations say of a container, None when they say nothing that can be read."""
    text = annotations.get(ANNOTATION_PREFIX + container)
    return None if text is None else read_annotation(text)[0]


def check_annotations(
    loaded: Loaded, annotations: Mapping[str, str], path: str, containers: Sequence[str]
) -> tuple[Problem, ...]:
    """Return what is wrong with the annotations of a pod or a template whose metadata stand at `path`."""
    problems: list[Problem] = []
    for key, text in annotations.items():
        if not key.startswith(ANNOTATION_PREFIX):
            continue
        name, where = key.removeprefix(ANNOTATION_PREFIX), f"{path}.annotations[{key}]"
        if name not in containers:
            listed = ", ".join(containers)
            problems.append(_annotation_problem(loaded, where, ("No container", f"no container {name!r}", listed)))
        for fault in read_annotation(text)[1]:
            inner = f"{where}: {fault.path}" if fault.path else where
            words = (fault.type, fault.text, fault.hint)
            problems.append(evolve(_annotation_problem(loaded, where, words), path=inner, severity="error"))
    return tuple(problems)


def _annotation_problem(loaded: Loaded, where: str, words: tuple[str, str, str]) -> Problem:
    kind, text, hint = words
    return loaded.problem(where, kind, text, hint=hint, severity="warning")
