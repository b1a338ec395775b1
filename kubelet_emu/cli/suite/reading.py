"""From the paths that the user names to scenarios that can run, and results of those that can't be read."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from attrs import evolve, field, frozen

from kubelet_emu.cli.failures import InputError
from kubelet_emu.scenarios.exclusions import COMPARISON, read_exclusions
from kubelet_emu.scenarios.results import Known, Result, unreadable
from kubelet_emu.scenarios.scenario_file import Scenario, ScenarioError, find_scenarios, load_scenario, name_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence


@frozen(kw_only=True)
class Found:
    """What there is to run, what is known of some of it (by path), and what can't be read."""

    scenarios: tuple[Scenario, ...] = ()
    known: Mapping[Path, Known] = field(factory=dict)
    bad: tuple[Result, ...] = ()


def read_all(paths: Sequence[str], wanted: Callable[[str], bool], runtime: str) -> Found:
    """Read the scenarios at and below paths; InputError when there is none. A bad one doesn't hide the others."""
    files = {path.resolve(): path for name in paths for path in _files(name)}
    names = _distinct(files.values())
    chosen = {path: name for path, name in names.items() if wanted(name)}
    if not chosen:
        raise InputError(f"-k: none of {len(names)} scenarios has such a name")
    scenarios: list[Scenario] = []
    bad: list[Result] = []
    for path, name in chosen.items():
        try:
            scenarios.append(evolve(load_scenario(path), name=name))
        except ScenarioError as error:
            bad.append(unreadable(name, path, error.problems, error.sources))
    known, faults = _known(scenarios, runtime)
    return Found(scenarios=tuple(scenarios), known=known, bad=(*bad, *faults))


def _files(name: str) -> tuple[Path, ...]:
    path = Path(name)
    if not path.exists():
        raise InputError(f"{name}: no such file or folder")
    found = find_scenarios(path)
    if not found:
        raise InputError(f"{name}: no scenario here: a scenario.yaml, or a file *.scenario.yaml, at any depth")
    return found


def _distinct(paths: Iterable[Path]) -> Mapping[Path, str]:
    """Return the name of each scenario; one that several have is told apart by the folders above."""
    names = {path: name_of(path) for path in paths}
    folders = {path: list(path.resolve().parts[:-1]) for path in names}
    for path in names:
        if path.name == "scenario.yaml":
            folders[path].pop()
    while repeated := {name for name, count in Counter(names.values()).items() if count > 1}:
        for path in (path for path, name in names.items() if name in repeated):
            names[path] = f"{folders[path].pop()}.{names[path]}"
    return names


def _known(scenarios: Iterable[Scenario], runtime: str) -> tuple[Mapping[Path, Known], tuple[Result, ...]]:
    """Return what the file beside each scenario says of it, and what of these files can't be read."""
    known: dict[Path, Known] = {}
    rows: dict[Path, tuple[Mapping[str, str], Mapping[str, str]]] = {}
    bad: list[Result] = []
    for scenario in scenarios:
        is_file = scenario.path.name != "scenario.yaml"
        folder = scenario.path.resolve().parent if is_file else scenario.path.resolve().parent.parent
        if folder not in rows:
            try:
                rows[folder] = read_exclusions(folder, runtime), read_exclusions(folder, COMPARISON)
            except ScenarioError as error:
                rows[folder] = {}, {}
                bad.append(unreadable("EXCLUDED.yaml", folder / "EXCLUDED.yaml", error.problems, error.sources))
        excluded, unlike = (reasons.get(name_of(scenario.path), "") for reasons in rows[folder])
        known[scenario.path] = Known(excluded=excluded, unlike=unlike)
    return known, tuple(bad)
