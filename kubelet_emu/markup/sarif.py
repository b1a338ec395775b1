"""A log in the Static Analysis Results Interchange Format, SARIF 2.1.0, as code hosts and editors show it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Literal

from attrs import frozen

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

Level = Literal["error", "warning", "note", "none"]

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


@frozen(kw_only=True)
class Descriptor:
    """A rule that results may name: its id, a title, a longer text, and the level of its results."""

    id: str
    title: str
    text: str
    level: Level = "error"


@frozen(kw_only=True)
class Place:
    """Where something is told: a file (a URI reference), a line and column from 1, and what it is."""

    uri: str
    line: int
    column: int | None = None
    label: str = ""


def location(place: Place, logical_name: str = "") -> dict[str, object]:
    """Return a place as a location; `logical_name` is what it is about."""
    region = {"startLine": place.line} | ({} if place.column is None else {"startColumn": place.column})
    found: dict[str, object] = {"physicalLocation": {"artifactLocation": {"uri": place.uri}, "region": region}}
    if place.label:
        found["message"] = {"text": place.label}
    if logical_name:
        found["logicalLocations"] = [{"fullyQualifiedName": logical_name}]
    return found


def result(rule: str, level: Level, text: str, locations: Sequence[Mapping[str, object]]) -> dict[str, object]:
    """Return a result; the locations after the first are related ones."""
    first, *others = locations
    body: dict[str, object] = {"ruleId": rule, "level": level, "message": {"text": text}, "locations": [first]}
    return body | ({"relatedLocations": others} if others else {})


def as_sarif(version: str, rules: Sequence[Descriptor], results: Sequence[Mapping[str, object]]) -> str:
    """Return a log of one run of this program; each result's rule must be among the rules."""
    index = {rule.id: number for number, rule in enumerate(rules)}
    driver = {"name": "kubelet-emu", "version": version, "rules": [_rule(rule) for rule in rules]}
    numbered = [{**each, "ruleIndex": index[str(each["ruleId"])]} for each in results]
    run = {"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": numbered}
    return json.dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2)


def _rule(rule: Descriptor) -> dict[str, object]:
    return {
        "id": rule.id,
        "shortDescription": {"text": rule.title},
        "fullDescription": {"text": rule.text},
        "defaultConfiguration": {"level": rule.level},
    }
