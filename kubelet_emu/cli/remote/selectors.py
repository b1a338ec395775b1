"""`-l` and `--field-selector` as kubectl takes them. Pure.

Source: apimachinery v1.36 pkg/labels Parse, pkg/fields ParseSelector; the fields are those of each kind's strategy in
the API server.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, cast

from attrs import define, field, frozen

from kubelet_emu.api.gotext import quote
from kubelet_emu.api.meta import LabelSelector, LabelSelectorRequirement
from kubelet_emu.cli.remote.pod_cells import part
from kubelet_emu.cli.remote.words import Refusal
from kubelet_emu.manifests.validation.metadata import selector_matches
from kubelet_emu.manifests.validation.names import label_value_errors, qualified_name_errors

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kubelet_emu.cli.remote.views import Object

FORMS = "KEY=VALUE, KEY!=VALUE, KEY in (A,B), KEY notin (A,B), KEY>N, KEY<N, KEY or !KEY, with commas between"
ANY = LabelSelector()
_TOKEN = re.compile(r"\s*(==|!=|[=!<>(),]|[^\s=!<>(),]+)")
_SIGNS = frozenset({"=", "==", "!=", "!", "<", ">", "(", ")", ","})
_OPERATORS = {"=": "In", "==": "In", "!=": "NotIn", "in": "In", "notin": "NotIn", ">": "Gt", "<": "Lt"}


def labels_match(selector: LabelSelector, obj: Object) -> bool:
    """Tell whether an object has the labels of a selector."""
    labels = cast("Mapping[str, str]", part(part(obj, "metadata"), "labels"))
    return selector_matches(selector, labels)


def read_selector(text: str | None) -> LabelSelector:
    """Read a label selector; Refusal."""
    return LabelSelector(match_expressions=tuple(_Reader(text or "").requirements()))


@define(eq=False)
class _Reader:
    """A selector on its way from words to requirements."""

    text: str
    _tokens: list[str] = field(init=False)

    def __attrs_post_init__(self) -> None:
        """Cut the text into signs and words."""
        self._tokens = _TOKEN.findall(self.text.rstrip())

    def requirements(self) -> list[LabelSelectorRequirement]:
        """Read all of them; Refusal."""
        found: list[LabelSelectorRequirement] = []
        while self._tokens:
            found.append(self._requirement())
            if self._tokens:
                self._take(",")
                if not self._tokens:
                    raise self._refusal("a label after the comma")
        return found

    def _requirement(self) -> LabelSelectorRequirement:
        is_denied = self._next == "!"
        if is_denied:
            self._take("!")
        key = self._word("a label")
        self._hold(qualified_name_errors(key), key)
        if is_denied or self._next in {"", ","}:
            return LabelSelectorRequirement(key=key, operator="DoesNotExist" if is_denied else "Exists")
        sign = self._next
        if sign not in _OPERATORS:
            raise self._refusal("one of =, ==, !=, in, notin, < and >")
        self._tokens.pop(0)
        values = self._set() if sign in {"in", "notin"} else (self._value(),)
        for value in values:
            self._hold(label_value_errors(value), value)
        if sign in {"<", ">"} and not re.fullmatch(r"[-+]?\d+", values[0]):
            raise Refusal(f"-l {quote(self.text)}: {sign} compares whole numbers, and {quote(values[0])} is none")
        return LabelSelectorRequirement(key=key, operator=_OPERATORS[sign], values=values)

    def _value(self) -> str:
        """Return the value behind a sign; an empty one may be left out."""
        return "" if self._next in {"", ","} else self._word("a value")

    def _set(self) -> tuple[str, ...]:
        self._take("(")
        values = []
        while True:
            values.append("" if self._next in {",", ")"} else self._word("a value or )"))
            if self._next != ",":
                break
            self._take(",")
        self._take(")")
        if values == [""]:
            raise Refusal(f"-l {quote(self.text)}: the brackets are empty; name one value or more")
        return tuple(values)

    @property
    def _next(self) -> str:
        return self._tokens[0] if self._tokens else ""

    def _take(self, sign: str) -> None:
        if self._next != sign:
            raise self._refusal(sign if sign != "," else "a comma or the end")
        self._tokens.pop(0)

    def _word(self, what: str) -> str:
        if self._next in _SIGNS or not self._next:
            raise self._refusal(what)
        return self._tokens.pop(0)

    def _refusal(self, expected: str) -> Refusal:
        found = quote(self._next) if self._next else "the end"
        return Refusal(f"-l {quote(self.text)}: {found} where {expected} should be; write {FORMS}")

    def _hold(self, errors: list[str], word: str) -> None:
        if errors:
            raise Refusal(f"-l {quote(self.text)}: {quote(word)}: {errors[0]}")


_EVERYWHERE = ("metadata.name", "metadata.namespace")
_FIELDS: dict[str, tuple[str, ...]] = {
    "Pod": (
        "spec.nodeName",
        "spec.restartPolicy",
        "spec.schedulerName",
        "spec.serviceAccountName",
        "spec.hostNetwork",
        "status.phase",
        "status.podIP",
        "status.nominatedNodeName",
    ),
    "Event": (
        "involvedObject.kind",
        "involvedObject.namespace",
        "involvedObject.name",
        "involvedObject.uid",
        "involvedObject.apiVersion",
        "involvedObject.resourceVersion",
        "involvedObject.fieldPath",
        "reason",
        "reportingComponent",
        "source",
        "type",
    ),
    "Job": ("status.successful",),
    "ReplicaSet": ("status.replicas",),
    "Secret": ("type",),
    "Service": ("spec.clusterIP", "spec.type"),
}
_TERM = re.compile(r"((?:\\.|[^\\=!])*)(!=|==|=)((?:\\.|[^\\=])*)", re.DOTALL)
_DEFAULTS = {"spec.hostNetwork": "false"}


@frozen
class FieldTerm:
    """A field that has a value, or hasn't."""

    name: str
    value: str
    is_equal: bool

    def holds(self, obj: Object) -> bool:
        """Tell whether it is so."""
        return (_field_of(obj, self.name) == self.value) is self.is_equal


def read_fields(text: str | None, kind: str) -> tuple[FieldTerm, ...]:
    """Read a field selector for objects of a kind; Refusal."""
    return tuple(_term(word, kind) for word in re.findall(r"(?:\\.|[^\\,])+", text or ""))


def _term(word: str, kind: str) -> FieldTerm:
    found = _TERM.fullmatch(word)
    if found is None:
        raise Refusal(f"--field-selector {word}: use FIELD=VALUE or FIELD!=VALUE")
    name, sign, value = found[1].strip(), found[2], re.sub(r"\\(.)", r"\1", found[3])
    known = (*_EVERYWHERE, *_FIELDS.get(kind, ()))
    if name not in known:
        raise Refusal(f"--field-selector {name}: field label not supported; there are {', '.join(known)}")
    return FieldTerm(name, value, sign != "!=")


def _field_of(obj: Object, name: str) -> str:
    if name == "status.successful":
        return str(part(obj, "status").get("succeeded") or 0)
    if name == "source":
        return str(part(obj, "source").get("component") or obj.get("reportingComponent") or "")
    *path, last = name.split(".")
    for each in path:
        obj = part(obj, each)
    value = obj.get(last)
    return str(value).lower() if isinstance(value, bool) else _DEFAULTS.get(name, "") if value is None else str(value)
