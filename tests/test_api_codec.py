"""API objects to and from their JSON form."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest

from kubelet_emu.api.codec import DecodeError, decode_mapping, encode, format_time, parse_time
from kubelet_emu.api.kinds import MODULE_OF_TYPE, api_type
from kubelet_emu.api.schema import _shape, fields_of
from kubelet_emu.api.v1 import ConfigMap, Pod

POD: dict[str, object] = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {
        "name": "p",
        "creationTimestamp": "2026-01-31T12:00:00Z",
        "labels": {"a": "b"},
        "managedFields": [{"fieldsV1": {"f:metadata": {}}}],
    },
    "spec": {
        "containers": [
            {"name": "c", "resources": {"limits": {"cpu": "1"}}, "livenessProbe": {"httpGet": {"port": "web"}}}
        ],
        "hostNetwork": True,
        "terminationGracePeriodSeconds": 5,
        "volumes": [{"name": "v", "emptyDir": {}}],
    },
    "status": {"phase": "Running"},
}


def test_a_pod_survives_the_way_there_and_back() -> None:
    assert encode(decode_mapping(Pod, POD)) == POD


def test_empty_lists_maps_and_none_are_left_out_but_empty_objects_stay() -> None:
    assert encode(Pod()) == {"apiVersion": "v1", "kind": "Pod", "metadata": {}, "spec": {}, "status": {}}


def test_bytes_are_base64() -> None:
    config_map = decode_mapping(ConfigMap, {"binaryData": {"k": "aGkh"}})

    assert config_map.binary_data == {"k": b"hi!"}
    assert encode(config_map)["binaryData"] == {"k": "aGkh"}


def test_null_is_absent_numbers_are_quantities_and_whole_floats_numbers() -> None:
    spec = {
        "hostname": None,
        "terminationGracePeriodSeconds": 30.0,
        "containers": [{"resources": {"limits": {"cpu": 0.5}}}],
    }
    pod = decode_mapping(Pod, {"spec": spec})

    assert pod.spec.termination_grace_period_seconds == 30
    assert pod.spec.containers[0].resources is not None
    assert pod.spec.containers[0].resources.limits == {"cpu": "0.5"}


FAULTS = [
    ({"foo": 1}, 'unknown field "foo"'),
    ({"spec": {"foo": 1}}, 'unknown field "spec.foo"'),
    ({"spec": []}, r"spec: \[\] is not a PodSpec"),
    ({"spec": {"hostNetwork": "yes"}}, "spec.hostNetwork: 'yes' is not bool"),
    ({"spec": {"containers": {}}}, "spec.containers: {} is not a list"),
    ({"spec": {"nodeSelector": []}}, r"spec.nodeSelector: \[\] is not a mapping"),
    ({"spec": {"priority": True}}, "spec.priority: True is not int32"),
    ({"spec": {"priority": 1.5}}, "spec.priority: 1.5 is not int32"),
    ({"metadata": {"creationTimestamp": "now"}}, "metadata.creationTimestamp: 'now' is not an RFC 3339 time"),
    ({"metadata": {"creationTimestamp": "2026-01-31T12:00:00.000"}}, "is not an RFC 3339 time"),
]


@pytest.mark.parametrize(("mapping", "said"), FAULTS, ids=[row[1] for row in FAULTS])
def test_a_fault_names_its_path(mapping: dict[str, object], said: str) -> None:
    with pytest.raises(DecodeError, match=said):
        decode_mapping(Pod, mapping)


def test_bad_base64_is_a_fault() -> None:
    with pytest.raises(DecodeError, match=r"binaryData\[k\]: '!' is not base64"):
        decode_mapping(ConfigMap, {"binaryData": {"k": "!"}})


def test_times_are_whole_seconds_of_utc() -> None:
    moment = datetime(2026, 1, 31, 13, 0, 0, 999_999, tzinfo=timezone(timedelta(hours=1)))

    assert format_time(moment) == "2026-01-31T12:00:00Z"
    assert format_time(datetime(2026, 1, 31, 12)) == "2026-01-31T12:00:00Z"  # noqa: DTZ001 - without a zone
    assert parse_time("2026-01-31T13:00:00+01:00") == datetime(2026, 1, 31, 12, tzinfo=UTC)


@pytest.mark.parametrize("name", sorted(MODULE_OF_TYPE))
def test_every_type_can_be_read_and_written(name: str) -> None:
    api_class = api_type(name)

    assert decode_mapping(api_class, encode(api_class())) == api_class()
    assert len({shape.attribute for shape in fields_of(api_class).values()}) == len(fields_of(api_class))


def test_an_annotation_that_is_not_read_is_a_fault_of_ours() -> None:
    with pytest.raises(TypeError, match="an annotation that is not read"):
        _shape("x", "dict[str, int]", "x")


def test_an_empty_mapping_of_a_field_that_may_be_absent_stays() -> None:
    pod = decode_mapping(Pod, {"metadata": {"managedFields": [{"fieldsV1": {}}]}})

    assert decode_mapping(Pod, encode(pod)) == pod
