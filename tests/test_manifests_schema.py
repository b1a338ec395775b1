"""The API types have every field of the published v1.36 schema, and the schema accepts what we write."""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
from pathlib import Path

import kubernetes_validate
import pytest

from kubelet_emu import manifests
from kubelet_emu.api.codec import encode
from kubelet_emu.api.kinds import api_type
from kubelet_emu.api.schema import Many, Scalar, fields_of

SCHEMAS = files("kubernetes_validate").joinpath("kubernetes-json-schema", "v1.36.0-local-strict")
FIXTURES = Path(__file__).parent.parent / "fixtures" / "manifests"
ROOTS = {
    "pod-v1.json": "Pod",
    "job-batch-v1.json": "Job",
    "cronjob-batch-v1.json": "CronJob",
    "deployment-apps-v1.json": "Deployment",
    "replicaset-apps-v1.json": "ReplicaSet",
    "statefulset-apps-v1.json": "StatefulSet",
    "daemonset-apps-v1.json": "DaemonSet",
    "configmap-v1.json": "ConfigMap",
    "secret-v1.json": "Secret",
    "service-v1.json": "Service",
}
SCALAR_TYPES = {
    "string": {Scalar.STRING, Scalar.TIME, Scalar.BYTES, Scalar.QUANTITY},
    "integer": {Scalar.INT, Scalar.LONG},
    "boolean": {Scalar.BOOL},
    "number": {Scalar.FLOAT},
}


@cache
def definitions() -> dict[str, dict[str, object]]:
    content = json.loads(SCHEMAS.joinpath("_definitions.json").read_text("utf-8"))
    found: dict[str, dict[str, object]] = content["$defs"]
    return found


def types_reached(root: str) -> list[str]:
    waiting, seen = [root], {}
    while waiting:
        name = waiting.pop()
        if name not in seen:
            seen[name] = True
            waiting += [shape.item for shape in fields_of(api_type(name)).values() if isinstance(shape.item, str)]
    return list(seen)


REACHED = sorted({name for root in ROOTS.values() for name in types_reached(root)})


def published(name: str) -> dict[str, object]:
    content = definitions()
    exact = [key for key in content if key.rpartition(".")[2] == name and ("core.v1" in key or "meta.v1" in key)]
    exact = exact or [key for key in content if key.rpartition(".")[2] == name and key.split(".")[-2] == "v1"]
    if name == "ResourceClaim":
        exact = ["io.k8s.api.core.v1.ResourceClaim"]
    properties: dict[str, object] = content[exact[0]]["properties"]  # type: ignore[assignment]
    return properties


@pytest.mark.parametrize("name", REACHED)
def test_no_field_of_the_schema_is_missing(name: str) -> None:
    assert set(fields_of(api_type(name))) == set(published(name))


@pytest.mark.parametrize("name", REACHED)
def test_scalars_have_the_schemas_type(name: str) -> None:
    shapes = fields_of(api_type(name))
    for field, schema in published(name).items():
        kinds = schema.get("type") if isinstance(schema, dict) else None
        kind = next((each for each in kinds if each != "null"), None) if isinstance(kinds, list) else kinds
        if kind in SCALAR_TYPES and shapes[field].many is Many.ONE:
            assert shapes[field].item in SCALAR_TYPES[kind], field


@pytest.mark.parametrize("folder", sorted(path.name for path in FIXTURES.iterdir()))
def test_the_schema_accepts_what_we_write(folder: str) -> None:
    (path,) = (FIXTURES / folder).glob("manifest.*")
    for loaded in manifests.load([str(path)]).objects[:5]:
        if loaded.is_whole:
            written = encode(loaded.object)
            if written.get("status") == {}:
                del written["status"]
            kubernetes_validate.validate(written, "1.36", strict=True)
