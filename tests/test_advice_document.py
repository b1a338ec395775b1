"""docs/ADVICE.md has a section for each code of advice, with an example that it is given for and one that it isn't."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from advice_makers import DEPLOYMENT, JOB, POD, advice_of, manifest, subject_of

from kubelet_emu.advice.advising import IGNORE_ANNOTATION
from kubelet_emu.advice.catalogue import CODES, RULES
from kubelet_emu.advice.machine import as_object
from kubelet_emu.advice.plan import plan_of
from kubelet_emu.lifecycle.verification import RULES as VERIFY_RULES
from kubelet_emu.rehearsal.confirming import Claim, ClaimKind, Outcome
from kubelet_emu.rehearsal.grace import Solution
from kubelet_emu.rehearsal.machine import claims_as_objects, solution_as_object

ROOT = Path(__file__).parent.parent
TEXT = (ROOT / "docs" / "ADVICE.md").read_text()
SECTIONS = dict(re.findall(r"^### (KE\d+ .*?)\n(.*?)(?=^##)", TEXT, flags=re.MULTILINE | re.DOTALL))


def examples(code: str) -> list[str]:
    """Return the examples of a section as manifests."""
    body = next(body for title, body in SECTIONS.items() if title.startswith(code))
    return [_manifest(spec) for spec in re.findall(r"```yaml\n(.*?)```", body, flags=re.DOTALL)]


def _manifest(spec: str) -> str:
    first, *rest = spec.splitlines()
    if first == "# of a Job":
        return manifest(JOB, *rest)
    if first == "# of a Deployment with 12 replicas":
        return manifest(DEPLOYMENT.replace("replicas: 4", "replicas: 12"), *rest)
    return manifest(POD, first, *rest)


def test_there_is_a_section_for_each_code_with_its_title() -> None:
    assert list(SECTIONS) == [f"{rule.code} {rule.title}" for rule in RULES]


@pytest.mark.parametrize("code", sorted(CODES))
def test_the_first_example_is_advised_about_and_the_second_is_better(code: str) -> None:
    bad, good = examples(code)
    assert code in {each.code for each in advice_of(bad)}
    assert [each.code for each in advice_of(good)] == []


def test_no_code_has_two_meanings() -> None:
    assert not CODES & {rule.code for rule in VERIFY_RULES}
    assert len(CODES) == len(RULES)


def test_the_annotation_is_named() -> None:
    assert f"{IGNORE_ANNOTATION}: KE701, KE703" in TEXT


def test_the_fields_of_the_json_are_those_of_the_table() -> None:
    rows = re.findall(r"^\| (`.*?) \| ", TEXT.partition("## JSON")[2], flags=re.MULTILINE)
    told = [name for row in rows for name in re.findall(r"`(\w+)`", row)]
    plan = as_object(plan_of(subject_of(examples("KE501")[0])))
    assert told == [*plan, "confirmed", "grace"]


def fields_of(field: str) -> set[str]:
    """Return the words that the table has for what a field holds."""
    row = re.search(rf"^\| `{field}` \| (.*) \|$", TEXT, flags=re.MULTILINE)
    assert row is not None
    return set(re.findall(r"`(\w+)`", row[1]))


def test_the_fields_of_inner_objects_are_told() -> None:
    plan = as_object(plan_of(subject_of(examples("KE703")[0])))
    inner = json.loads(json.dumps(plan))
    for field in ("start", "stop", "advice"):
        assert set(inner[field][0]) <= fields_of(field), field
    assert set(inner["end"]) <= fields_of("end")
    assert set(inner["resources"]) <= fields_of("resources")
    (claim,) = claims_as_objects([Claim(kind=ClaimKind.END, text="x", outcome=Outcome.CONFIRMED)])
    assert set(claim) <= fields_of("confirmed")
    solution = solution_as_object(Solution(seconds=1, killed=()))
    assert set(solution or {}) == fields_of("grace") - {"grace"}


def test_the_example_is_what_plan_prints() -> None:
    shown = TEXT.partition("$ kubelet-emu plan fixtures/plans/shop.yaml\n")[2].partition("```")[0]
    assert shown == (ROOT / "fixtures" / "plans" / "shop.txt").read_text()
