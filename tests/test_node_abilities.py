"""What a node is said to have, from option or file to pod: AppArmor, strict groups, seccomp profiles."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

import kubelet_emu
from kubelet_emu.cli.emulator import make_node
from kubelet_emu.cli.main import main
from kubelet_emu.cli.options import RunOptions
from kubelet_emu.config.kubelet_configuration import KubeletConfiguration
from kubelet_emu.scenarios.scenario_file import ScenarioError, load_scenario
from kubelet_emu.simulation.values import NodeEntry, Simulation
from runtime.api import RuntimeStatus

if TYPE_CHECKING:
    from pathlib import Path

POD = """\
apiVersion: v1
kind: Pod
metadata: {name: p}
spec:
  restartPolicy: Never
  securityContext: {%s}
  containers:
  - {name: main, image: busybox, command: [echo, ran]}
"""
ARMOUR = "appArmorProfile: {type: RuntimeDefault}"
OWN_ARMOUR = "appArmorProfile: {type: Localhost, localhostProfile: own}"
STRICT = "supplementalGroupsPolicy: Strict"
SECCOMP = "seccompProfile: {type: Localhost, localhostProfile: a.json}"
NO_ARMOUR = "AppArmor: Cannot enforce AppArmor: AppArmor is not enabled on the host"
NO_STRICT = "SupplementalGroupsPolicyNotSupported: SupplementalGroupsPolicy=Strict is not supported in this node"
NOT_LOADED = (
    "Error: failed to get container spec opts: failed to generate apparmor spec opts: apparmor profile not found own"
)

RUNS = [
    ("a node without AppArmor refuses", ARMOUR, "", NO_ARMOUR),
    ("one that has it runs", ARMOUR, "node: {appArmor: true}", "main exited 0"),
    ("a profile is there unless some are named", OWN_ARMOUR, "node: {appArmor: true}", "main exited 0"),
    ("a profile that is loaded", OWN_ARMOUR, "node: {appArmor: [own]}", "main exited 0"),
    ("a profile that isn't", OWN_ARMOUR, "node: {appArmor: [other]}", NOT_LOADED),
    ("no profile at all is loaded", OWN_ARMOUR, "node: {appArmor: []}", NOT_LOADED),
    ("AppArmor that is off", ARMOUR, "node: {appArmor: false}", NO_ARMOUR),
    ("strict groups", STRICT, "", "main exited 0"),
    ("a runtime that doesn't know them", STRICT, "node: {supplementalGroupsPolicy: false}", NO_STRICT),
]


@pytest.mark.parametrize(("why", "context", "simulate", "told"), RUNS, ids=[row[0] for row in RUNS])
def test_simulate_yaml_says_what_the_node_can_do(
    tmp_path: Path, why: str, context: str, simulate: str, told: str
) -> None:
    (tmp_path / "pod.yaml").write_text(POD % context)
    if simulate:
        (tmp_path / "simulate.yaml").write_text(simulate)
    words = ["run", "--runtime", "simulated", "--until", "5", str(tmp_path / "pod.yaml")]
    result = CliRunner().invoke(main, words)
    assert told in result.stderr


def test_an_earlier_file_decides_what_the_node_can_do() -> None:
    first = Simulation(node=NodeEntry(app_armor=False))
    second = Simulation(node=NodeEntry(app_armor=("a",), supplemental_groups_policy=False))
    assert (first + second).node == NodeEntry(app_armor=False, supplemental_groups_policy=False)
    assert (second + first).node == second.node


@pytest.mark.parametrize("has", [True, False])
def test_the_node_is_what_its_runtime_says(has: bool) -> None:  # noqa: FBT001 - a table
    status = RuntimeStatus(
        ready=True, network_ready=True, has_app_armor=has, supports_supplemental_groups_policy=not has
    )
    facts = make_node(RunOptions(manifests=()), KubeletConfiguration(), status).facts()
    assert (facts.has_app_armor, facts.supports_supplemental_groups_policy) == (has, not has)


@pytest.fixture
def profiles(tmp_path: Path) -> Path:
    """Give a folder with the profile a.json."""
    folder = tmp_path / "profiles"
    folder.mkdir()
    (folder / "a.json").write_text("{}")
    return folder


@pytest.mark.parametrize("command", [["validate"], ["run", "--runtime", "simulated", "--until", "5"]])
def test_a_profile_is_only_warned_of_where_it_is_missing(tmp_path: Path, profiles: Path, command: list[str]) -> None:
    manifest = tmp_path / "pod.yaml"
    manifest.write_text(POD % SECCOMP)
    warned = "spec.securityContext.seccompProfile: Not emulated: seccompProfile 'a.json' can't be read"
    missing = CliRunner().invoke(main, [*command, str(manifest)])
    there = CliRunner().invoke(main, [*command, "--seccomp-profile-root", str(profiles), str(manifest)])
    assert (warned in missing.output, "seccompProfile" in there.output) == (True, False)
    assert there.exit_code == 0


def test_a_folder_that_there_is_not_is_refused(tmp_path: Path) -> None:
    result = CliRunner().invoke(main, ["validate", "--seccomp-profile-root", str(tmp_path / "no"), "pod.yaml"])
    assert result.exit_code == 2
    assert f"there is no folder {str(tmp_path / 'no')!r}" in result.output


def test_a_node_in_a_program_has_the_profiles_of_a_folder(tmp_path: Path, profiles: Path) -> None:
    manifest = tmp_path / "pod.yaml"
    manifest.write_text(POD % SECCOMP)
    [log] = kubelet_emu.run(manifest, folder=tmp_path, seccomp_profile_root="profiles")
    assert log.holds("phase == Succeeded")


SCENARIO = """\
seccompProfileRoot: %s
manifest: pod.yaml
end: {seconds: 3}
expect: ['some main exited(0)']
"""


def test_a_scenario_brings_its_profiles(tmp_path: Path, profiles: Path) -> None:
    (tmp_path / "pod.yaml").write_text(POD % SECCOMP)
    (tmp_path / "own.scenario.yaml").write_text(SCENARIO % profiles.name)
    (tmp_path / "other.scenario.yaml").write_text(SCENARIO.partition("\n")[2])
    own = CliRunner().invoke(main, ["test", str(tmp_path / "own.scenario.yaml")])
    other = CliRunner().invoke(main, ["test", str(tmp_path / "other.scenario.yaml")])
    given = ["test", "--seccomp-profile-root", str(profiles), str(tmp_path / "other.scenario.yaml")]
    assert [own.exit_code, other.exit_code, CliRunner().invoke(main, given).exit_code] == [0, 1, 0]


def test_a_scenario_whose_profiles_are_nowhere_is_faulty(tmp_path: Path) -> None:
    (tmp_path / "pod.yaml").write_text(POD % SECCOMP)
    path = tmp_path / "s.scenario.yaml"
    path.write_text(SCENARIO % "gone")
    with pytest.raises(ScenarioError, match=r"1:1: error: seccompProfileRoot: Invalid: .*gone: no such folder"):
        load_scenario(path)
