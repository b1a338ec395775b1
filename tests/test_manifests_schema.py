"""The API types are those of the schema that Kubernetes publishes, and the schema accepts what we write."""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

import kubernetes_validate
import pytest

from kubelet_emu import manifests
from kubelet_emu.api.codec import encode
from kubelet_emu.api.kinds import api_type
from kubelet_emu.api.schema import Many, Scalar, fields_of
from kubelet_emu.manifests.kinds import READ_KINDS

if TYPE_CHECKING:
    from collections.abc import Iterator

SCHEMA_VERSION = "1.36.0"
SCHEMAS = files("kubernetes_validate").joinpath("kubernetes-json-schema", f"v{SCHEMA_VERSION}-local-strict")
FIXTURES = Path(__file__).parent.parent / "fixtures" / "manifests"
ROOTS = {
    "Pod": "io.k8s.api.core.v1.Pod",
    "ConfigMap": "io.k8s.api.core.v1.ConfigMap",
    "Secret": "io.k8s.api.core.v1.Secret",
    "Service": "io.k8s.api.core.v1.Service",
    "Job": "io.k8s.api.batch.v1.Job",
    "CronJob": "io.k8s.api.batch.v1.CronJob",
    "Deployment": "io.k8s.api.apps.v1.Deployment",
    "ReplicaSet": "io.k8s.api.apps.v1.ReplicaSet",
    "StatefulSet": "io.k8s.api.apps.v1.StatefulSet",
    "DaemonSet": "io.k8s.api.apps.v1.DaemonSet",
}
# Types of the schema that are scalars here.
SCALARS = {
    "Quantity": Scalar.QUANTITY,
    "IntOrString": Scalar.INT_OR_STRING,
    "Time": Scalar.TIME,
    "FieldsV1": Scalar.ANY,
}
JSON_TYPES = {
    ("string", ""): Scalar.STRING,
    ("string", "byte"): Scalar.BYTES,
    ("integer", "int32"): Scalar.INT,
    ("integer", "int64"): Scalar.LONG,
    ("boolean", ""): Scalar.BOOL,
}
ALWAYS_WRITTEN = "the schema leaves open what names the type; an object here always has it"
NO_ZERO = "required, but there is no value for nothing: None is what isn't written"
# What is not as in the schema, and why. One that is gone fails as well.
DIFFERENCES = {
    "ManagedFieldsEntry.fieldsV1: how many": "the schema has no word for what is in it: a mapping",
    "HTTPGetAction.port: required": NO_ZERO,
    "TCPSocketAction.port: required": NO_ZERO,
    "Condition.lastTransitionTime: required": NO_ZERO,
    **{
        f"{kind}.{field}: required": ALWAYS_WRITTEN
        for kind in (*ROOTS, "PersistentVolumeClaim")
        for field in ("apiVersion", "kind")
    },
}

Schema = dict[str, Any]


@cache
def definitions() -> dict[str, Schema]:
    content = json.loads(SCHEMAS.joinpath("_definitions.json").read_text("utf-8"))
    found: dict[str, Schema] = content["$defs"]
    return found


def shape_of(schema: Schema) -> tuple[Scalar | str, Many]:
    """Return what a property holds: a scalar or the full name of a type, and how many of it."""
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return SCALARS.get(name.rpartition(".")[2], name), Many.ONE
    (kind,) = {*([schema["type"]] if isinstance(schema["type"], str) else schema["type"])} - {"null"}
    if kind == "array":
        return shape_of(schema["items"])[0], Many.LIST
    if kind == "object":
        return shape_of(schema["additionalProperties"])[0], Many.MAP
    return JSON_TYPES[kind, schema.get("format", "")], Many.ONE


@cache
def reached(kind: str) -> tuple[str, ...]:
    """Return the full names of the types that a kind has in it, by the schema."""
    waiting, seen = [ROOTS[kind]], {}
    while waiting:
        name = waiting.pop()
        if name not in seen:
            seen[name] = True
            items = [shape_of(each)[0] for each in definitions()[name].get("properties", {}).values()]
            waiting += [item for item in items if isinstance(item, str)]
    return tuple(seen)


def differences(full_name: str) -> Iterator[str]:
    """Yield in what an API type differs from its definition in the schema."""
    name, definition = full_name.rpartition(".")[2], definitions()[full_name]
    mine, published = fields_of(api_type(name)), definition.get("properties", {})
    yield from (f"{name}.{field}: missing" for field in published.keys() - mine.keys())
    yield from (f"{name}.{field}: not in the schema" for field in mine.keys() - published.keys())
    for field in published.keys() & mine.keys():
        item, many = shape_of(published[field])
        shape = mine[field]
        if shape.item != (item.rpartition(".")[2] if isinstance(item, str) else item):
            yield f"{name}.{field}: type"
        if shape.many is not many:
            yield f"{name}.{field}: how many"
        is_required = field in definition.get("required", ())
        if many is Many.ONE and not isinstance(item, str) and is_required is shape.is_optional:
            yield f"{name}.{field}: required"


def test_every_kind_that_is_read_is_compared() -> None:
    assert ROOTS.keys() == READ_KINDS.keys()


@pytest.mark.parametrize("kind", sorted(ROOTS))
def test_types_are_those_of_the_schema(kind: str) -> None:
    found = {each for name in reached(kind) for each in differences(name)}

    assert found - DIFFERENCES.keys() == set()


def test_known_differences_are_still_there() -> None:
    found = {each for kind in ROOTS for name in reached(kind) for each in differences(name)}

    assert found == DIFFERENCES.keys()


@pytest.mark.parametrize("folder", sorted(path.name for path in FIXTURES.iterdir()))
def test_the_schema_accepts_what_we_write(folder: str) -> None:
    (path,) = (FIXTURES / folder).glob("manifest.*")
    for loaded in manifests.load([str(path)]).objects[:5]:
        if loaded.is_whole:
            written = encode(loaded.object)
            if written.get("status") == {}:
                del written["status"]
            kubernetes_validate.validate(written, SCHEMA_VERSION.rpartition(".")[0], strict=True)
