"""Problems of manifests as a SARIF log."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import quote

from kubelet_emu.markup import sarif
from kubelet_emu.markup.sarif import Descriptor, Place, location, result

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from kubelet_emu.manifests.problems import Problem

_CODE = re.compile(r"KE\d+")


def as_sarif(problems: Iterable[Problem], titles: Mapping[str, str], version: str) -> str:
    """Return problems as a SARIF log; `titles` are those of the codes of advice."""
    given = tuple(problems)
    types = dict.fromkeys((each.type, each.severity) for each in given)
    rules: dict[str, Descriptor] = {}
    for type_, severity in types:
        title = titles.get(type_, type_)
        rules.setdefault(rule_id(type_), Descriptor(id=rule_id(type_), title=title, text=title, level=severity))
    return sarif.as_sarif(version, tuple(rules.values()), [_result(each) for each in given])


def rule_id(type_: str) -> str:
    """Return the id of a type of problem: a code as it is, `Unknown field` as unknown-field."""
    return type_ if _CODE.fullmatch(type_) else re.sub(r"[^a-z0-9]+", "-", type_.lower()).strip("-")


def _result(problem: Problem) -> dict[str, object]:
    text = f"{problem.type}: {problem.text}" if problem.text and not _CODE.fullmatch(problem.type) else problem.text
    words = text or problem.type
    hint = f" ({problem.hint})" if problem.hint else ""
    uri = quote(problem.file, safe="/")
    place = Place(uri=uri, line=max(1, problem.line), column=max(1, problem.column))
    return result(rule_id(problem.type), problem.severity, words + hint, [location(place, problem.path)])
