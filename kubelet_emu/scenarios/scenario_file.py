"""A scenario file, read and checked: every fault at once, with its line.

A scenario is a folder with `scenario.yaml` and `manifest.yaml`, or one `*.scenario.yaml` whose `manifest` is inline or
a relative path. See docs/SCENARIOS.md.
"""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING, TypeVar

from attrs import define, field, frozen

from kubelet_emu.manifests.plain import read_plain
from kubelet_emu.manifests.problems import Problem
from kubelet_emu.scenarios.expectations import ExpectationError, parse_expectation, parse_moment

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from kubelet_emu.manifests.plain import PlainDocument
    from kubelet_emu.scenarios.expectations import MomentExpression

T = TypeVar("T")
DEFAULT_TIMEOUT_SECONDS = 180.0
ACTIONS = (
    "delete",
    "exec",
    "patch",
    "ephemeral",
    "condition",
    "evict",
    "create",
    "kill",
    "sh",
    "wait",
    "kubelet",
    "static",
    "runtime",
    "node",
)
_KEYS = (
    "about",
    "source",
    "needs",
    "images",
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
    """One thing the driver does: at a time after creation, or some seconds after a moment."""

    action: str
    parameters: Mapping[str, object] = field(factory=dict)
    argument: object = None
    at: float | None = None
    after: MomentExpression | None = None
    plus: float = 0.0


@frozen(kw_only=True)
class End:
    """What ends a scenario: `condition` (pod terminal, pod deleted), a moment and some seconds, or seconds alone."""

    condition: str = ""
    after: MomentExpression | None = None
    plus: float = 0.0
    seconds: float | None = None


@frozen(kw_only=True)
class Scenario:
    """One scenario. `manifest` is the text of its manifests, `folder` where its other files are.

    `expect_lines` are the lines of the expectations in the file.
    """

    name: str
    path: Path
    about: str = ""
    source: str = ""
    needs: tuple[str, ...] = ()
    fresh_images: Mapping[str, int] = field(factory=dict)
    steps: tuple[Step, ...] = ()
    end: End = field(factory=End)
    timeout_seconds: float = DEFAULT_TIMEOUT_SECONDS
    linger_seconds: float = 0.0
    expect: tuple[str, ...] = ()
    expect_lines: tuple[int, ...] = ()
    unordered: tuple[tuple[str, str], ...] = ()
    only_in_one_run: tuple[str, ...] = ()
    manifest: str = ""
    manifest_file: str = ""

    @property
    def folder(self) -> Path:
        """Return the folder of the scenario's files."""
        return self.path.parent


class ScenarioError(Exception):
    """A scenario can't be read; `problems` are all its faults."""

    def __init__(self, problems: tuple[Problem, ...]) -> None:
        """Show every fault with its place."""
        super().__init__("\n".join(f"{p.file}:{p.line}:{p.column}: {p.path}: {p.text}" for p in problems))
        self.problems = problems


def find_scenarios(path: Path) -> tuple[Path, ...]:
    """Return the scenario files at or below a path, in the order of their names."""
    if path.is_file():
        return (path,)
    if (path / "scenario.yaml").is_file():
        return (path / "scenario.yaml",)
    return tuple(sorted([*path.rglob("scenario.yaml"), *path.rglob("*.scenario.yaml")]))


def load_scenario(path: Path) -> Scenario:
    """Read one scenario file; ScenarioError."""
    documents, problems = read_plain(str(path), path.read_bytes())
    if problems or len(documents) != 1 or not isinstance(documents[0].value, dict):
        fault = Problem(file=str(path), line=1, column=1, path="", type="Invalid", text="one mapping is needed")
        raise ScenarioError(problems or (fault,))
    reader = _Reader(path, documents[0])
    scenario = reader.scenario(documents[0].value)
    if reader.problems:
        raise ScenarioError(tuple(reader.problems))
    return scenario


@define
class _Reader:
    """Turns plain values into a scenario and gathers what is wrong."""

    path: Path
    document: PlainDocument
    problems: list[Problem] = field(factory=list)

    def scenario(self, raw: Mapping[str, object]) -> Scenario:
        self._only(raw, _KEYS, "")
        manifest_file, manifest = self._manifest(raw.get("manifest"))
        images = self._mapping(raw.get("images"), "images")
        return Scenario(
            name=_name_of(self.path),
            path=self.path,
            about=str(raw.get("about") or ""),
            source=str(raw.get("source") or ""),
            needs=tuple(map(str, self._list(raw.get("needs"), "needs"))),
            fresh_images={
                k: int(self._number(v, "images.fresh"))
                for k, v in self._mapping(images.get("fresh"), "images.fresh").items()
            },
            steps=tuple(
                self._step(step, f"steps[{i}]") for i, step in enumerate(self._list(raw.get("steps"), "steps"))
            ),
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
            manifest=manifest,
            manifest_file=manifest_file,
        )

    def _manifest(self, given: object) -> tuple[str, str]:
        """Return name and text of the manifests: beside the file, inline, or at a relative path."""
        if isinstance(given, str) and "\n" in given:
            return f"{self.path}#manifest", given
        file = self.path.parent / (given if isinstance(given, str) else "manifest.yaml")
        try:
            return str(file), file.read_text(encoding="utf-8")
        except OSError as error:
            self._fault("manifest", f"{file}: {error.strerror}")
            return str(file), ""

    def _step(self, raw: object, path: str) -> Step:
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
        )

    def _action(self, raw: object, path: str) -> tuple[str, object]:
        if isinstance(raw, str):
            raw = {raw: {}}
        if not isinstance(raw, dict) or len(raw) != 1:
            self._fault(path, "one action is needed, as in {delete: {}}")
            return "wait", {}
        ((action, argument),) = raw.items()
        if action not in ACTIONS:
            self._fault(f"{path}.{action}", f"no such action{_proposal(action, ACTIONS)}")
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
            self._fault(path, str(error))
            return None

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

    def _number(self, raw: object, path: str) -> float:
        if isinstance(raw, int | float) and not isinstance(raw, bool):
            return float(raw)
        self._fault(path, f"a number is needed, not {raw!r}")
        return 0.0

    def _only(self, raw: Mapping[str, object], known: tuple[str, ...], path: str) -> None:
        for key in raw:
            if key not in known:
                self._fault(f"{path}.{key}".lstrip("."), f"no such key{_proposal(key, known)}")

    def _fault(self, path: str, text: str) -> None:
        line, column = self.document.positions.find(path)
        self.problems.append(
            Problem(file=str(self.path), line=line, column=column, path=path, type="Invalid", text=text)
        )


def _name_of(path: Path) -> str:
    return path.parent.name if path.name == "scenario.yaml" else path.name.removesuffix(".scenario.yaml")


def _proposal(word: str, known: tuple[str, ...]) -> str:
    near = difflib.get_close_matches(word, known, n=1)
    return f"; did you mean {near[0]!r}?" if near else f"; known are {', '.join(known)}"
