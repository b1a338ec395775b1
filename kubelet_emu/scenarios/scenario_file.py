"""A scenario file, read and checked together with its manifests: every fault at once, with its place.

A scenario is a folder with `scenario.yaml` and `manifest.yaml`, or one `*.scenario.yaml` whose `manifest` is inline or
a relative path. See docs/SCENARIOS.md.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from attrs import define, evolve, field, frozen

from kubelet_emu.config.features import DEFAULTS_V1_36
from kubelet_emu.config.kubelet_configuration import ConfigurationError
from kubelet_emu.manifests import load, load_within
from kubelet_emu.manifests.plain import read_plain
from kubelet_emu.manifests.problems import Problem, format_problem
from kubelet_emu.manifests.validation import validate
from kubelet_emu.scenarios.expectations import ExpectationError, parse_expectation, parse_moment
from kubelet_emu.scenarios.needs import read_needs, unknown_needs
from kubelet_emu.scenarios.step_shapes import action_faults, proposal

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from kubelet_emu.config.features import FeatureGates
    from kubelet_emu.manifests import Loaded
    from kubelet_emu.manifests.plain import PlainDocument
    from kubelet_emu.scenarios.expectations import MomentExpression

T = TypeVar("T")
DEFAULT_TIMEOUT_SECONDS = 180.0
KEYS = (
    "about",
    "source",
    "needs",
    "images",
    "seccompProfileRoot",
    "steps",
    "end",
    "timeout",
    "expect",
    "unordered",
    "only_in_one_run",
    "linger",
    "verified",
    "observed",
    "group",
    "confidence",
    "manifest",
)


@frozen(kw_only=True)
class Step:
    """One thing the driver does: at a time after creation, or some seconds after a moment; `line` of the file."""

    action: str
    parameters: Mapping[str, object] = field(factory=dict)
    argument: object = None
    at: float | None = None
    after: MomentExpression | None = None
    plus: float = 0.0
    n: int = 1
    line: int = 0

    def __str__(self) -> str:
        """Return which one it is."""
        return f"step {self.n} ({self.action})"


@frozen(kw_only=True)
class End:
    """What ends a scenario: `condition` (pod terminal, pod deleted), a moment and some seconds, or seconds alone."""

    condition: str = ""
    after: MomentExpression | None = None
    plus: float = 0.0
    seconds: float | None = None

    def __str__(self) -> str:
        """Return it as it is written."""
        if self.after is not None:
            return f"{self.after.source} plus {self.plus:g} s" if self.plus else self.after.source
        return self.condition or f"{self.seconds:g} s"


@frozen(kw_only=True)
class Scenario:
    """One scenario. `objects` are those of its manifests, `folder` is where its other files are.

    `seccomp_profile_root` is the folder with the node's seccomp profiles, None for a node that has none.
    `expect_lines` are the lines of the expectations in the file.
    """

    name: str
    path: Path
    about: str = ""
    source: str = ""
    needs: tuple[str, ...] = ()
    fresh_images: Mapping[str, int] = field(factory=dict)
    seccomp_profile_root: Path | None = None
    steps: tuple[Step, ...] = ()
    end: End = field(factory=End)
    timeout_seconds: float = DEFAULT_TIMEOUT_SECONDS
    linger_seconds: float = 0.0
    expect: tuple[str, ...] = ()
    expect_lines: tuple[int, ...] = ()
    unordered: tuple[tuple[str, str], ...] = ()
    only_in_one_run: tuple[str, ...] = ()
    objects: tuple[Loaded, ...] = field(default=(), repr=False)

    @property
    def folder(self) -> Path:
        """Return the folder of the scenario's files."""
        return self.path.parent


class ScenarioError(Exception):
    """A scenario can't be read; `problems` are all its faults, `sources` the texts of their files."""

    def __init__(self, problems: tuple[Problem, ...], sources: Mapping[str, str] | None = None) -> None:
        """Show every fault with its place."""
        self.problems = problems
        self.sources = sources or {}
        super().__init__("\n".join(self.shown()))

    def shown(self) -> tuple[str, ...]:
        """Return each fault as text, with its source line."""
        return tuple(format_problem(problem, self.sources.get(problem.file, "")) for problem in self.problems)


def find_scenarios(path: Path) -> tuple[Path, ...]:
    """Return the scenario files at or below a path, in the order of their names."""
    if path.is_file():
        return (path,)
    if (path / "scenario.yaml").is_file():
        return (path / "scenario.yaml",)
    return tuple(sorted([*path.rglob("scenario.yaml"), *path.rglob("*.scenario.yaml")]))


def load_scenario(path: Path) -> Scenario:
    """Read one scenario file and its manifests; ScenarioError."""
    try:
        data = path.read_bytes()
    except OSError as error:
        fault = Problem(file=str(path), line=1, column=1, path="", type="Unreadable", text=error.strerror or str(error))
        raise ScenarioError((fault,)) from error
    documents, problems = read_plain(str(path), data)
    sources = {str(path): data.decode("utf-8-sig", "replace")}
    if problems or len(documents) != 1 or not isinstance(documents[0].value, dict):
        fault = Problem(file=str(path), line=1, column=1, path="", type="Invalid", text="one mapping is needed")
        raise ScenarioError(problems or (fault,), sources)
    reader = _Reader(path, documents[0], sources=sources)
    scenario = reader.scenario(documents[0].value)
    if reader.problems:
        raise ScenarioError(tuple(sorted(reader.problems, key=reader.rank)), reader.sources)
    return scenario


@define
class _Reader:
    """Turns plain values into a scenario and gathers what is wrong."""

    path: Path
    document: PlainDocument
    sources: dict[str, str] = field(factory=dict)
    problems: list[Problem] = field(factory=list)

    def scenario(self, raw: Mapping[str, object]) -> Scenario:
        """Return the scenario; what is wrong lands in `problems`."""
        self._only(raw, KEYS, "")
        scenario = self._scenario(raw)
        for need in unknown_needs(scenario.needs):
            self._fault("needs", f"there is no need {need!r}{proposal(need, DEFAULTS_V1_36)}")
        try:
            features = read_needs(scenario.needs).features
        except ConfigurationError as error:
            self._fault("needs", "; ".join(problem.text for problem in error.problems))
            return scenario
        return evolve(scenario, objects=self._objects(raw.get("manifest"), features))

    def rank(self, problem: Problem) -> tuple[bool, str, int, int]:
        """Return what orders problems: those of the scenario's own file first, in the order of its lines."""
        return problem.file != str(self.path), problem.file, problem.line, problem.column

    def _scenario(self, raw: Mapping[str, object]) -> Scenario:
        images = self._mapping(raw.get("images"), "images")
        return Scenario(
            name=name_of(self.path),
            path=self.path,
            about=str(raw.get("about") or ""),
            source=str(raw.get("source") or ""),
            needs=tuple(map(str, self._list(raw.get("needs"), "needs"))),
            fresh_images={
                k: int(self._number(v, "images.fresh"))
                for k, v in self._mapping(images.get("fresh"), "images.fresh").items()
            },
            seccomp_profile_root=self._folder(raw.get("seccompProfileRoot"), "seccompProfileRoot"),
            steps=tuple(self._step(step, n) for n, step in enumerate(self._list(raw.get("steps"), "steps"), start=1)),
            end=self._end(raw.get("end")),
            timeout_seconds=self._number(raw.get("timeout", DEFAULT_TIMEOUT_SECONDS), "timeout"),
            linger_seconds=self._number(raw.get("linger", 0), "linger"),
            expect=(expectations := self._expectations(raw.get("expect"))),
            expect_lines=tuple(self.document.positions.find(f"expect[{i}]")[0] for i in range(len(expectations))),
            unordered=tuple(
                self._pair(pair, f"unordered[{i}]")
                for i, pair in enumerate(self._list(raw.get("unordered"), "unordered"))
            ),
            only_in_one_run=tuple(map(str, self._list(raw.get("only_in_one_run"), "only_in_one_run"))),
        )

    def _objects(self, given: object, features: FeatureGates) -> tuple[Loaded, ...]:
        """Return the objects of the manifests beside the file, at a relative path, or inline."""
        if given is None or (isinstance(given, str) and "\n" not in given):
            file = self.path.parent / (given or "manifest.yaml")
            if not file.exists():
                self._fault("manifest", f"{file}: no such file; write it, or the manifest itself under manifest:")
                return ()
            found = load((str(file),), letters_are_text=True)
        else:
            found = load_within(self.document, "manifest")
        self.sources = {**found.sources, **self.sources}
        problems = (*found.problems, *validate(found.objects, features))
        errors = dict.fromkeys(problem for problem in problems if problem.severity == "error")
        self.problems += errors
        if not found.objects and not errors:
            self._fault("manifest", "there is no object to create")
        return found.objects

    def _step(self, raw: object, n: int) -> Step:
        path = f"steps[{n - 1}]"
        step = self._mapping(raw, path)
        self._only(step, ("at", "after", "plus", "do"), path)
        action, argument = self._action(step.get("do"), f"{path}.do")
        if ("at" in step) == ("after" in step):
            self._fault(path, "exactly one of at and after is needed")
        return Step(
            action=action,
            parameters=argument if isinstance(argument, dict) else {},
            argument=argument,
            at=self._number(step["at"], f"{path}.at") if "at" in step else None,
            after=self._moment(step["after"], f"{path}.after") if "after" in step else None,
            plus=self._number(step.get("plus", 0), f"{path}.plus"),
            n=n,
            line=self.document.positions.find(path)[0],
        )

    def _action(self, raw: object, path: str) -> tuple[str, object]:
        if isinstance(raw, str):
            raw = {raw: {}}
        if not isinstance(raw, dict) or len(raw) != 1:
            self._fault(path, "one action is needed, as in {delete: {}}")
            return "wait", {}
        ((action, argument),) = raw.items()
        for at, text in action_faults(action, argument):
            self._fault(f"{path}.{at}", text)
        if action == "create" and isinstance(argument, dict):
            created = load_within(self.document, f"{path}.create")
            self.problems += [problem for problem in created.problems if problem.severity == "error"]
        written = argument.get("write") if action == "static" and isinstance(argument, dict) else None
        if isinstance(written, str) and not (self.path.parent / written).is_file():
            self._fault(f"{path}.static.write", f"{self.path.parent / written}: no such file")
        return action, argument

    def _end(self, raw: object) -> End:
        if isinstance(raw, str) and raw in {"pod terminal", "pod deleted"}:
            return End(condition=raw)
        end = raw if isinstance(raw, dict) else {}
        if "seconds" in end:
            return End(seconds=self._number(end["seconds"], "end.seconds"))
        if "after" in end:
            return End(after=self._moment(end["after"], "end.after"), plus=self._number(end.get("plus", 0), "end.plus"))
        self._fault("end", 'one of "pod terminal", "pod deleted", {seconds: N}, {after: MOMENT, plus: N} is needed')
        return End()

    def _expectations(self, raw: object) -> tuple[str, ...]:
        texts = tuple(map(str, self._list(raw, "expect")))
        if not texts:
            self._fault("expect", "a scenario without expectations proves nothing")
        for i, text in enumerate(texts):
            self._parsed(parse_expectation, text, f"expect[{i}]")
        return texts

    def _moment(self, raw: object, path: str) -> MomentExpression | None:
        return self._parsed(parse_moment, str(raw), path)

    def _parsed(self, parse: Callable[[str], T], text: str, path: str) -> T | None:
        try:
            return parse(text)
        except ExpectationError as error:
            self._point(path, text, error)
            return None

    def _point(self, path: str, text: str, error: ExpectationError) -> None:
        """Point into a text of the file; one that goes over several lines is shown beside its fault."""
        place = self.document.positions.inside(path, len(text) - len(text.lstrip()) + error.column - 1)
        if place is None:
            self._fault(path, str(error))
        else:
            self.problems.append(self._problem(place, path, error.why))

    def _pair(self, raw: object, path: str) -> tuple[str, str]:
        pair = self._list(raw, path)
        if len(pair) != 2:
            self._fault(path, "a pair of entries is needed")
            return "", ""
        return str(pair[0]), str(pair[1])

    def _mapping(self, raw: object, path: str) -> Mapping[str, object]:
        if raw is None or isinstance(raw, dict):
            return raw or {}
        self._fault(path, f"a mapping is needed, not {raw!r}")
        return {}

    def _list(self, raw: object, path: str) -> list[object]:
        if raw is None or isinstance(raw, list):
            return raw or []
        self._fault(path, f"a list is needed, not {raw!r}")
        return []

    def _folder(self, raw: object, path: str) -> Path | None:
        """Return a folder, relative to that of the file."""
        if raw is None:
            return None
        folder = self.path.parent / str(raw)
        if not folder.is_dir():
            self._fault(path, f"{folder}: no such folder")
        return folder

    def _number(self, raw: object, path: str) -> float:
        if isinstance(raw, int | float) and not isinstance(raw, bool):
            return float(raw)
        self._fault(path, f"a number is needed, not {raw!r}")
        return 0.0

    def _only(self, raw: Mapping[str, object], known: tuple[str, ...], path: str) -> None:
        for key in raw:
            if key not in known:
                self._fault(f"{path}.{key}".lstrip("."), f"no such key{proposal(key, known)}")

    def _fault(self, path: str, text: str) -> None:
        self.problems.append(self._problem(self.document.positions.find(path), path, text))

    def _problem(self, place: tuple[int, int], path: str, text: str) -> Problem:
        line, column = place
        return Problem(file=str(self.path), line=line, column=column, path=path, type="Invalid", text=text)


def name_of(path: Path) -> str:
    """Return the name of a scenario: its folder's, or its file's."""
    return path.parent.name if path.name == "scenario.yaml" else path.name.removesuffix(".scenario.yaml")
