"""The import contracts and the table of the layers name every package, so that a new one can't be forgotten."""

from __future__ import annotations

import re
import tomllib
from graphlib import TopologicalSorter
from pathlib import Path

import grimp
import pytest

ROOT = Path(__file__).parent.parent
PACKAGES = {path.parent.name for path in ROOT.glob("kubelet_emu/*/__init__.py")}
CONTRACTS = {
    contract["name"]: contract
    for contract in tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
}
ALL_BUT = [
    ("the kubelet knows the runtime by its interface", {"cli", "embedding", "simulator"}),
    ("only manifests read YAML", {"manifests"}),
]


@pytest.mark.parametrize(("contract", "free"), ALL_BUT, ids=[row[0] for row in ALL_BUT])
def test_a_rule_binds_every_package_but_those_it_frees(contract: str, free: set[str]) -> None:
    bound = {name.removeprefix("kubelet_emu.") for name in CONTRACTS[contract]["source_modules"]}
    assert bound - {"runtime"} == PACKAGES - free


@pytest.mark.parametrize("contract", [name for name, each in CONTRACTS.items() if each["type"] == "layers"])
def test_layers_have_every_module(contract: str) -> None:
    assert CONTRACTS[contract]["exhaustive"] is True


def test_the_table_of_layers_is_that_of_the_contract() -> None:
    text = (ROOT / "docs" / "ARCHITECTURE.md").read_text()
    layers = CONTRACTS["kubelet_emu is layered"]["layers"]
    shown = re.search(r"^\| Layer .*?\n\|[-| ]+\n(.*?)\n\n", text, flags=re.DOTALL | re.MULTILINE)
    assert shown is not None
    rows = [re.findall(r"`(\w+)`", row.split("|")[1]) for row in shown[1].splitlines()]
    assert rows == [layer.split(" | ") for layer in layers]


def test_no_modules_import_each_other_in_a_circle() -> None:
    graph = grimp.build_graph("kubelet_emu", "runtime", exclude_type_checking_imports=True, cache_dir=None)
    imported = {module: graph.find_modules_directly_imported_by(module) for module in graph.modules}
    assert len(tuple(TopologicalSorter(imported).static_order())) == len(imported)
