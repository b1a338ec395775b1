"""ConfigMaps, Secrets and namespaces' names, as the API server checks them."""

from __future__ import annotations

import base64

import pytest

from kubelet_emu.config.features import FeatureGates
from kubelet_emu.manifests import load_text
from kubelet_emu.manifests.validation import validate

KEY_RULE = (
    "a valid config key must consist of alphanumeric characters, '-', '_' or '.'"
    " (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')"
)
LABEL_RULE = (
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with"
    " an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is"
    " '[a-z0-9]([-a-z0-9]*[a-z0-9])?')"
)
LONG = "k" * 254


def told(kind: str, fields: str, namespace: str = "default") -> list[str]:
    """Return the errors of an object whose fields stand on lines from 4 on, as `LINE PATH: TYPE: TEXT`."""
    text = f"apiVersion: v1\nkind: {kind}\nmetadata: {{name: a, namespace: {namespace}}}\n{fields}"
    problems = validate(load_text(text).objects, FeatureGates())
    return [f"{p.line} {p.path}: {p.type}" + (f": {p.text}" if p.text else "") for p in problems]


def secret(kind: str, **data: str) -> str:
    lines = "".join(f"  {key.replace('_', '.')}: {value!r}\n" for key, value in data.items())
    return f"type: kubernetes.io/{kind}\nstringData:\n{lines or '  {}'}"


FAULTS: dict[str, tuple[str, str, list[str]]] = {
    "all is well": ("ConfigMap", "data: {a.b-c_D: x}\nbinaryData: {e: AA==}", []),
    "a blank in a key": ("ConfigMap", 'data:\n  "a b": x', [f'5 data[a b]: Invalid value: "a b": {KEY_RULE}']),
    "a slash in a key of binaryData": (
        "ConfigMap",
        "binaryData: {a/b: AA==}",
        [f'4 binaryData[a/b]: Invalid value: "a/b": {KEY_RULE}'],
    ),
    "the folder itself": ("ConfigMap", 'data: {".": x}', ["4 data[.]: Invalid value: \".\": must not be '.'"]),
    "the folder above": ("ConfigMap", 'data: {"..": x}', ["4 data[..]: Invalid value: \"..\": must not be '..'"]),
    "two dots to begin with": (
        "ConfigMap",
        'data: {"..a": x}',
        ["4 data[..a]: Invalid value: \"..a\": must not start with '..'"],
    ),
    "a key that is too long": (
        "Secret",
        f"data: {{{LONG}: AA==}}",
        [f'4 data[{LONG}]: Invalid value: "{LONG}": must be no more than 253 characters'],
    ),
    "a key in both": (
        "ConfigMap",
        "data: {a: x}\nbinaryData: {a: AA==}",
        ['4 data[a]: Invalid value: "a": duplicate of key present in binaryData'],
    ),
    "too much in a ConfigMap": (
        "ConfigMap",
        f"data: {{a: {'x' * (1 << 20)}}}\nbinaryData: {{b: AA==}}",
        ["4 []: Too long: may not be more than 1048576 bytes"],
    ),
    "too much in a Secret": (
        "Secret",
        f"stringData: {{a: {'x' * ((1 << 20) + 1)}}}",
        ["1 data: Too long: may not be more than 1048576 bytes"],
    ),
    "a key of stringData is told as one of data, at its own line": (
        "Secret",
        "data: {a: AA==}\nstringData: {b/c: x}",
        [f'5 data[b/c]: Invalid value: "b/c": {KEY_RULE}'],
    ),
    "a certificate without its parts": (
        "Secret",
        secret("tls"),
        ["1 data[tls.crt]: Required value", "1 data[tls.key]: Required value"],
    ),
    "a certificate with its parts": ("Secret", secret("tls", tls_crt="a", tls_key=""), []),
    "an ssh key that is empty": (
        "Secret",
        secret("ssh-auth", **{"ssh-privatekey": ""}),
        ["6 data[ssh-privatekey]: Required value"],
    ),
    "a login with neither": (
        "Secret",
        secret("basic-auth"),
        ["1 data[username]: Required value", "1 data[password]: Required value"],
    ),
    "a login with one of both": ("Secret", secret("basic-auth", username="me"), []),
    "a token of no account": (
        "Secret",
        secret("service-account-token"),
        ["3 metadata.annotations[kubernetes.io/service-account.name]: Required value"],
    ),
    "registries without their key": (
        "Secret",
        secret("dockerconfigjson"),
        ["1 data[.dockerconfigjson]: Required value"],
    ),
    "registries as an object": ("Secret", secret("dockerconfigjson", _dockerconfigjson='{"auths": {}}'), []),
    "registries as null": ("Secret", secret("dockercfg", _dockercfg="null"), []),
}
NO_JSON = {
    "": "unexpected end of JSON input",
    '{"a": ': "unexpected end of JSON input",
    '{"a': "unexpected end of JSON input",
    "hello": "invalid character 'h' looking for beginning of value",
    "{a: 1}": "invalid character 'a' looking for beginning of object key string",
    '{"a" 1}': "invalid character '1' after object key",
    '{"a": 1 2}': "invalid character '2' after object key:value pair",
    "{} {}": "invalid character '{' after top-level value",
    "[" * 100_000: "exceeded max depth",
    "1" * 5000: "json: cannot unmarshal number into Go value of type map[string]interface {}",
    "[]": "json: cannot unmarshal array into Go value of type map[string]interface {}",
    '"a"': "json: cannot unmarshal string into Go value of type map[string]interface {}",
}


@pytest.mark.parametrize(("kind", "fields", "expected"), FAULTS.values(), ids=FAULTS.keys())
def test_config_maps_and_secrets(kind: str, fields: str, expected: list[str]) -> None:
    assert told(kind, fields) == expected


@pytest.mark.parametrize(("text", "error"), NO_JSON.items(), ids=lambda each: each[:50] or "nothing")
def test_registries_that_are_no_json_keep_what_is_in_them(text: str, error: str) -> None:
    data = base64.b64encode(text.encode()).decode()
    fields = f'type: kubernetes.io/dockerconfigjson\ndata:\n  .dockerconfigjson: "{data}"'
    [line] = told("Secret", fields)
    assert line.endswith(f'data[.dockerconfigjson]: Invalid value: "<secret contents redacted>": {error}')


@pytest.mark.parametrize("kind", ["ConfigMap", "Secret"])
@pytest.mark.parametrize(
    ("namespace", "rule"), [("a.b", "must not contain dots"), ("A", LABEL_RULE), ("-a", LABEL_RULE)]
)
def test_a_namespace_is_a_label(kind: str, namespace: str, rule: str) -> None:
    assert told(kind, "", namespace) == [f'3 metadata.namespace: Invalid value: "{namespace}": {rule}']


@pytest.mark.parametrize("kind", ["Pod", "Job"])
def test_so_it_is_for_what_runs(kind: str) -> None:
    spec = "containers: [{name: a, image: b}]"
    job = f"{{template: {{spec: {{restartPolicy: Never, {spec}}}}}}}"
    version = "v1" if kind == "Pod" else "batch/v1"
    body = f"{{{spec}}}" if kind == "Pod" else job
    text = f"apiVersion: {version}\nkind: {kind}\nmetadata: {{name: a, namespace: a.b}}\nspec: {body}\n"
    paths = [p.path for p in validate(load_text(text).objects, FeatureGates()) if p.severity == "error"]
    assert paths == ["metadata.namespace"]
