"""What `get` and `ps` are asked for, from their words.

Source: kubectl v1.36 pkg/cmd/get, cli-runtime pkg/resource Builder.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from attrs import frozen

from kubelet_emu.cli.remote.event_cells import is_about
from kubelet_emu.cli.remote.formats import TABLE, Output, read_output
from kubelet_emu.cli.remote.kinds import EVENTS, KINDS, POD, Kind, kind_of
from kubelet_emu.cli.remote.pod_cells import part
from kubelet_emu.cli.remote.selectors import ANY, FieldTerm, labels_match, read_fields, read_selector
from kubelet_emu.cli.remote.words import Refusal

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from kubelet_emu.api.meta import LabelSelector
    from kubelet_emu.cli.remote.views import Object

_ALL = ("Pod", "Service", "DaemonSet", "Deployment", "ReplicaSet", "StatefulSet", "CronJob", "Job")


@frozen(kw_only=True)
class GetRequest:
    """What was asked for of one kind. `about` (kind, name) keeps events of one object alone."""

    kind: Kind = POD
    names: tuple[str, ...] = ()
    everywhere: bool = False
    output: Output = TABLE
    watches: bool = False
    labels: LabelSelector = ANY
    fields: tuple[FieldTerm, ...] = ()
    about: tuple[str, str] | None = None
    types: frozenset[str] = frozenset()
    has_header: bool = True
    shows_labels: bool = False
    label_columns: tuple[str, ...] = ()
    shows_kind: bool = False
    sort_by: str = ""
    ignores_missing: bool = False

    def wants(self, obj: Object) -> bool:
        """Tell whether an object is among those that were asked for."""
        return (
            (not self.names or part(obj, "metadata").get("name") in self.names)
            and labels_match(self.labels, obj)
            and all(term.holds(obj) for term in self.fields)
            and (self.about is None or is_about(obj, *self.about))
            and (not self.types or str(obj.get("type")).lower() in self.types)
        )


def read_kinds(words: Sequence[str]) -> tuple[tuple[Kind, tuple[str, ...]], ...]:
    """Return kinds with the names of each: `KIND,KIND NAME...` or `KIND/NAME...`; Refusal."""
    split = [word.partition("/") for word in words]
    if not split[0][1]:
        kinds = tuple(dict.fromkeys(found for word in words[0].split(",") for found in _kinds(word)))
        if any(slash for _, slash, _ in split):
            raise Refusal(
                "there is no need to specify a resource type as a separate argument when passing arguments in "
                "resource/name form (e.g. 'kubelet-emu get resource/<resource_name>' instead of "
                "'kubelet-emu get resource resource/<resource_name>')"
            )
        return tuple((kind, tuple(words[1:])) for kind in kinds)
    named: dict[str, tuple[Kind, list[str]]] = {}
    for word, slash, name in split:
        if not slash or not name or "/" in name:
            raise Refusal("arguments in resource/name form must have a single resource and name")
        (kind,) = _kinds(word)[:1]
        named.setdefault(kind.name, (kind, []))[1].append(name)
    return tuple((kind, tuple(names)) for kind, names in named.values())


def _kinds(word: str) -> tuple[Kind, ...]:
    if word.lower() == "all":
        return tuple(kind for name in _ALL for kind in KINDS if kind.name == name)
    found = kind_of(word)
    if found is None:
        raise Refusal(f'the server doesn\'t have a resource type "{word}"')
    return (found,)


def requests_of(asked: Sequence[tuple[Kind, tuple[str, ...]]], given: Mapping[str, object]) -> tuple[GetRequest, ...]:
    """Return what click parsed as one value for each kind; Refusal."""
    if len(asked) > 1 and given.get("watch"):
        raise Refusal("you may only specify a single resource type")
    return tuple(_request(kind, names, given, shows_kind=len(asked) > 1) for kind, names in asked)


def _request(kind: Kind, names: tuple[str, ...], given: Mapping[str, object], *, shows_kind: bool) -> GetRequest:
    about, types = cast("str | None", given.get("about")), cast("str | None", given.get("types"))
    selector, fields = cast("str | None", given.get("selector")), cast("str | None", given.get("field_selector"))
    columns = cast("tuple[str, ...]", given.get("label_columns") or ())
    if (about or types) and kind.name != EVENTS.name:
        raise Refusal("--for and --types are for events")
    if names and (selector or fields):
        raise Refusal("name cannot be provided when a selector is specified")
    return GetRequest(
        kind=kind,
        names=tuple(dict.fromkeys(names)),
        everywhere=bool(given.get("everywhere")),
        output=read_output(cast("str | None", given.get("output"))),
        watches=bool(given.get("watch")),
        labels=read_selector(selector),
        fields=read_fields(fields, kind.name),
        about=None if about is None else read_about(about),
        types=_types(types),
        has_header=not given.get("no_headers"),
        shows_labels=bool(given.get("show_labels")),
        label_columns=tuple(name for each in columns for name in each.split(",") if name),
        shows_kind=shows_kind or bool(given.get("show_kind")),
        sort_by=cast("str | None", given.get("sort_by")) or "",
        ignores_missing=bool(given.get("ignore_not_found")),
    )


def _types(text: str | None) -> frozenset[str]:
    found = frozenset((text or "").lower().split(",")) - {""}
    if wrong := sorted(found - {"normal", "warning"}):
        raise Refusal(f"valid --types are Normal or Warning, not {', '.join(wrong)}")
    return found


def read_about(word: str) -> tuple[str, str]:
    """Return kind and name of `NAME` or `TYPE/NAME`; Refusal."""
    kind, slash, name = word.partition("/")
    if not slash:
        kind, name = "pod", word
    found = kind_of(kind)
    if found is None or not name:
        raise Refusal(f"--for {word}: use NAME or TYPE/NAME")
    return found.name, name
