"""Reading: scalars, documents, faults and their places."""

from __future__ import annotations

import io
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import yaml
from examples import examples
from hypothesis import given
from hypothesis import strategies as st

from kubelet_emu import manifests
from kubelet_emu.api.codec import encode
from kubelet_emu.manifests.scalars import json_number, resolve_plain

if TYPE_CHECKING:
    from kubelet_emu.api.v1 import ConfigMap, Pod

FIXTURES = Path(__file__).parent.parent / "fixtures" / "manifests"
POD = "apiVersion: v1\nkind: Pod\nmetadata:\n  name: p\nspec:\n  containers:\n  - name: c\n    image: busybox:1\n"

SCALARS = [
    ("22:22", "22:22"),
    ("1:30:00", "1:30:00"),
    ("2026-01-31", "2026-01-31"),
    ("2026-01-31T12:00:00Z", "2026-01-31T12:00:00Z"),
    ("yes", True),
    ("No", False),
    ("on", True),
    ("OFF", False),
    ("y", True),
    ("N", False),
    ("true", True),
    ("tRUE", "tRUE"),
    ("null", None),
    ("~", None),
    ("", None),
    ("nil", "nil"),
    ("0400", 256),
    ("0o400", 256),
    ("08", 8.0),
    ("09.5", 9.5),
    ("007", 7),
    ("0x1F", 31),
    ("-0x1f", -31),
    ("0b101", 5),
    ("1_000", 1000),
    ("1_000.5", 1000.5),
    ("+12", 12),
    ("-7", -7),
    ("1e3", 1000.0),
    ("5e10", 5e10),
    ("1.", 1.0),
    (".5", 0.5),
    ("-.5", -0.5),
    ("1.2.3", "1.2.3"),
    ("1.10", 1.1),
    ("12e", "12e"),
    ("0x", "0x"),
    ("64Mi", "64Mi"),
    ("18446744073709551615", 2**64 - 1),
    ("18446744073709551616", 2.0**64),
    ("1e999", "1e999"),
    (".5e999", ".5e999"),
    (".Infinity", ".Infinity"),
    ("-0b11", -3),
    ("+.inf", float("inf")),
    (".inf", float("inf")),
    ("-.INF", float("-inf")),
    ("=", "="),
    ("<<", "<<"),
]


@pytest.mark.parametrize(("text", "expected"), SCALARS, ids=[row[0] or "nothing" for row in SCALARS])
def test_an_unquoted_scalar_means_what_gos_reader_says(text: str, expected: object) -> None:
    value = resolve_plain(text)

    assert value == expected
    assert type(value) is type(expected)


@pytest.mark.parametrize(
    ("value", "text"),
    [(1.0, "1"), (1.5, "1.5"), (5e10, "50000000000"), (1e21, "1e+21"), (1e-7, "1e-7"), (1.25e-9, "1.25e-9"), (7, "7")],
)
def test_numbers_are_written_as_gos_json_does(value: float, text: str) -> None:
    assert json_number(value) == text


def told(text: str, *, strict: bool = False) -> list[tuple[int, str, str]]:
    result = manifests.load_text(text, strict=strict)
    return [(problem.line, problem.type, problem.path) for problem in result.problems]


FAULTS = [
    ("a typo", POD + "    comand: [a]\n", 9, "Unknown field", "did you mean 'command'?"),
    ("a wrong case", POD + "    Command: [a]\n", 9, "Unknown field", "did you mean 'command'?"),
    ("too far to the right", POD + "    restartPolicie: Never\n", 9, "Unknown field", "restartPolicy"),
    ("a field of the level above", POD + "    nodeSelector: {}\n", 9, "Unknown field", "belongs to PodSpec"),
    ("text for a number", POD + '    ports: [{containerPort: "80"}]\n', 9, "Wrong type", "remove the quotes: 80"),
    ("text for a boolean", POD + '    tty: "yes"\n', 9, "Wrong type", "remove the quotes: true"),
    ("a number for text", POD + "    args: [5]\n", 9, "Wrong type", 'quote it: "5"'),
    (
        "a duration for a number",
        POD + "  terminationGracePeriodSeconds: 2m\n",
        9,
        "Wrong type",
        "number of seconds: 120",
    ),
    ("a fraction for a whole number", POD + "    ports: [{containerPort: 80.5}]\n", 9, "Wrong type", "80.5"),
    ("beyond int32", POD + "    ports: [{containerPort: 99999999999}]\n", 9, "Wrong type", "at most 2147483647"),
    ("a list for a mapping", POD + "  securityContext: []\n", 9, "Wrong type", "a mapping (PodSecurityContext)"),
    ("a mapping for a list", POD + "    args: {a: b}\n", 9, "Wrong type", "a list, each item text"),
    ("text for a mapping", POD + "    resources: {limits: none}\n", 9, "Wrong type", "a mapping of names"),
    ("no number at all", POD + "    resources: {limits: {cpu: .inf}}\n", 9, "Wrong type", "JSON does not have"),
    ("megabytes", POD + "    resources: {limits: {memory: 128MB}}\n", 9, "Wrong type", "write 128M or 128Mi"),
    ("lower-case binary", POD + "    resources: {limits: {memory: 1gib}}\n", 9, "Wrong type", "is not a quantity"),
    ("two dots", POD + "    resources: {limits: {cpu: 1.2.3}}\n", 9, "Wrong type", "is not a quantity"),
    ("a bad time", POD.replace("name: p", "creationTimestamp: today"), 4, "Wrong type", "not a time"),
    ("a list as document", "- a\n- b\n", 1, "Wrong type", "an object with apiVersion"),
    ("no kind", "apiVersion: v1\nmetadata: {}\n", 1, "Required value", "kind is missing"),
    ("no apiVersion", "kind: Job\nmetadata: {}\n", 1, "Required value", "write apiVersion: batch/v1"),
    ("a misspelt kind key", "apiVersion: v1\nkinds: Pod\n", 1, "Required value", "'kinds' a typo of 'kind'"),
    ("a misspelt kind", "apiVersion: v1\nkind: Pods\n", 2, "Unknown kind", "did you mean 'Pod'?"),
    ("an old version", "apiVersion: extensions/v1beta1\nkind: Deployment\n", 1, "Unknown kind", "apps/v1"),
    ("a wrong group", "apiVersion: v1\nkind: Job\n", 1, "Unknown kind", "write apiVersion: batch/v1"),
    ("a Service", "apiVersion: v1\nkind: Service\nmetadata: {name: s}\n", 2, "Not run", "Service/s is not run"),
    (
        "an Ingress",
        "apiVersion: networking.k8s.io/v1\nkind: Ingress\nmetadata: {name: s}\n",
        2,
        "Not run",
        "Ingress/s is",
    ),
    ("an unknown kind", "apiVersion: a.io/v1\nkind: X\n", 2, "Unknown kind", "no kind of Kubernetes itself"),
    ("a tab", POD + "\t  args: []\n", 9, "Syntax", "a tab is used for indentation"),
    ("an unrendered value", POD.replace("busybox:1", "{{ .Values.image }}"), 8, "Template", "helm template"),
    ("an unrendered line", "{{- if .Values.on }}\n" + POD, 1, "Template", "helm template"),
    ("a half rendered value", POD.replace("busybox:1", "{{ .a }}:{{ .b }}"), 8, "Template", "helm template"),
    ("an open quote", POD + '    args: ["a]\n', 9, "Syntax", "a quote isn't closed"),
    ("a value in a value", POD.replace("name: p", "name: a: b"), 4, "Syntax", "check the indentation"),
    ("no alias", POD.replace("name: p", "name: *x"), 4, "Syntax", "no anchor"),
    ("a key that is a list", POD + "  [a]: b\n", 9, "Syntax", "a key must be text"),
    ("an empty key", POD.replace("name: p", "~: p"), 4, "Syntax", "a key is missing before the colon"),
    ("a merge of text", POD + "  <<: b\n", 9, "Syntax", "must be a mapping"),
    ("nothing", "# nothing\n---\n", 1, "Empty", "no document"),
    ("a variable that isn't filled in", POD + "    ports: [{containerPort: ${PORT}}]\n", 9, "Template", "envsubst"),
    ("one as a value", POD + "  terminationGracePeriodSeconds: ${GRACE}\n", 9, "Wrong type", "isn't filled in"),
    ("one as a quantity", POD + "    resources: {limits: {cpu: '${CPU}'}}\n", 9, "Wrong type", "isn't filled in"),
    ("a mark before a value", POD.replace("name: p", "name: @name@"), 4, "Syntax", "can't begin with"),
    ("an open list", POD + "    args: [a, b\n", 10, "Syntax", "the ] of a list is missing"),
    (
        "a kustomization",
        "apiVersion: kustomize.config.k8s.io/v1\nkind: Kustomization\n",
        2,
        "Unknown kind",
        "kubectl kus",
    ),
    ("a list of nothing", "apiVersion: v1\nkind: List\nitems: []\n", 3, "Empty", "no items"),
    ("a list without items", "apiVersion: v1\nkind: List\n", 1, "Empty", "no items"),
    ("a list of text", "apiVersion: v1\nkind: List\nitems: {}\n", 3, "Wrong type", "a list of objects"),
    ("two documents in one", POD + "...\n" + POD, 10, "Syntax", "a second document"),
    ("a control character", POD.replace("name: p", "name: \x07"), 4, "Syntax", "a control character"),
]


@pytest.mark.parametrize(("why", "text", "line", "kind", "said"), FAULTS, ids=[row[0] for row in FAULTS])
def test_a_fault_is_placed_and_explained(why: str, text: str, line: int, kind: str, said: str) -> None:
    problems = manifests.load_text(text).problems

    assert [(problem.line, problem.type) for problem in problems] == [(line, kind)]
    assert said in manifests.format_problem(problems[0], text)


def test_all_faults_of_all_documents_are_told_at_once() -> None:
    text = POD + "    comand: [a]\n    tty: 5\n---\n: {\n---\n" + POD + "  foo: 1\n"

    assert told(text) == [
        (9, "Unknown field", "spec.containers[0].comand"),
        (10, "Wrong type", "spec.containers[0].tty"),
        (12, "Syntax", ""),
        (22, "Unknown field", "spec.foo"),
    ]


def test_a_duplicate_key_is_a_warning_and_an_error_when_strict() -> None:
    text = POD.replace("  name: p\n", "  name: p\n  name: q\n")

    lax, strict = manifests.load_text(text), manifests.load_text(text, strict=True)

    assert [problem.severity for problem in lax.problems] == ["warning"]
    assert [problem.severity for problem in strict.problems] == ["error"]
    assert lax.objects[0].object.metadata.name == "q"


MERGED = """\
apiVersion: v1
kind: ConfigMap
metadata:
  name: m
  labels: &one {a: "1", b: "1"}
  annotations:
    <<: [*one, {b: "2", c: "2"}]
    a: mine
"""


@pytest.mark.parametrize(
    ("key", "expected"),
    [
        ("1.10", "1.1"),
        ("1e3", "1000"),
        ("1e6", "1e+06"),
        ("123456789.0", "1.2345679e+08"),
        ("0.00001", "1e-05"),
        (".inf", ".inf"),
        ("-.inf", "-.inf"),
        (".nan", ".nan"),
        ("1e300", ".inf"),
        ("0x10", "16"),
        ("0400", "256"),
        ("yes", "true"),
        ("'yes'", "yes"),
        ("2026-01-31", "2026-01-31"),
        ("22:22", "22:22"),
        ("!!binary aGk=", "hi"),
    ],
)
def test_a_key_is_written_as_kubernetes_reader_does(key: str, expected: str) -> None:
    text = f"apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: m}}\ndata:\n  {key}: x\n"

    assert list(manifests.load_text(text).objects[0].object.data) == [expected]  # type: ignore[union-attr]


def test_binary_scalars_are_their_text_and_what_is_none_is_left() -> None:
    text = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: m}\ndata: {a: !!binary aGk=, b: !!binary no!}\n"

    assert manifests.load_text(text).objects[0].object.data == {"a": "hi", "b": "no!"}  # type: ignore[union-attr]


def test_compose_files_are_named() -> None:
    text = "version: '3'\nservices: {web: {image: nginx}}\n"

    assert {each.hint for each in manifests.load_text(text).problems} == {
        "this looks like a Compose file: it isn't read"
    }


def test_a_merge_behind_a_key_wins_and_is_told() -> None:
    text = MERGED.replace("    a: mine\n", "").replace("    <<:", "    a: mine\n    <<:")

    lax, strict = manifests.load_text(text), manifests.load_text(text, strict=True)

    assert lax.objects[0].object.metadata.annotations == {"a": "1", "b": "1", "c": "2"}
    assert [(each.line, each.severity, each.path) for each in lax.problems] == [
        (7, "warning", "metadata.annotations.a")
    ]
    assert lax.problems[0].hint == "write the line with << first"
    assert [each.severity for each in strict.problems] == ["error"]


def test_merges_of_merges_and_of_themselves() -> None:
    text = (
        "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: m\n"
        "  labels: &one\n    <<: {b: '2'}\n    a: '1'\n  annotations: &self\n    <<: [*one, *self]\n    c: '3'\n"
    )

    result = manifests.load_text(text)

    assert result.problems == ()
    assert result.objects[0].object.metadata.annotations == {"b": "2", "a": "1", "c": "3"}


def test_merges_that_double_are_read_once_each() -> None:
    doubling = "".join(f"  a{n + 1}: &a{n + 1} {{<<: [*a{n}, *a{n}]}}\n" for n in range(40))
    text = (
        f"apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: m}}\nx:\n  a0: &a0 {{k: v}}\n{doubling}data:\n  <<: *a40\n"
    )

    result = manifests.load_text(text)

    assert result.objects[0].object.data == {"k": "v"}  # type: ignore[union-attr]
    assert [each.path for each in result.problems] == ["x"]


def test_merges_deeper_than_all_bounds_are_refused() -> None:
    nested = "{<<: " * 60 + "{a: b}" + "}" * 60
    text = f"apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: m}}\ndata: {nested}\n"

    result = manifests.load_text(text)

    assert [(each.line, each.path) for each in result.problems] == [(4, "data")]
    assert result.objects[0].object.data == {}  # type: ignore[union-attr]


def test_a_stream_of_json_values_is_read_whole() -> None:
    one = '{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "%s"}}'
    text = f"{one % 'a'}\n{one % 'b'}{one % 'c'}\n{{broken"

    result = manifests.load_text(text)

    assert [each.object.metadata.name for each in result.objects] == ["a", "b", "c"]
    assert [each.source.line for each in result.objects] == [1, 2, 2]
    assert result.objects[2].positions.find("metadata")[1] == len(one % "b") + 37
    assert [(each.line, each.type) for each in result.problems] == [(3, "Syntax")]


def test_items_of_a_typed_list_have_its_kind() -> None:
    text = "apiVersion: v1\nkind: PodList\nitems: [{metadata: {name: a}}, {kind: Pod, metadata: {name: b}}]\n"

    result = manifests.load_text(text)

    assert [(each.object.kind, each.object.metadata.name) for each in result.objects] == [("Pod", "a")]
    assert [each.path for each in result.problems] == ["items[1].apiVersion"]


def test_merges_go_under_the_keys_given_and_the_first_wins() -> None:
    result = manifests.load_text(MERGED)

    assert result.problems == ()
    assert result.objects[0].object.metadata.annotations == {"a": "mine", "b": "1", "c": "2"}


def test_null_is_absent_and_in_a_list_the_zero_value() -> None:
    text = POD + "    args: [~, a]\n    env:\n    -\n    - {name: A, value: }\n  nodeSelector: {a: }\n"

    result = manifests.load_text(text)
    pod: Pod = result.objects[0].object  # type: ignore[assignment]

    assert result.problems == ()
    assert pod.spec.containers[0].args == ("", "a")
    assert [(each.name, each.value) for each in pod.spec.containers[0].env] == [("", None), ("A", None)]
    assert pod.spec.node_selector == {"a": ""}


def test_numbers_become_quantities_octals_and_ports() -> None:
    text = POD + (
        "    resources: {limits: {cpu: 0.5, memory: 1e9}}\n"
        "    livenessProbe: {httpGet: {port: 80}}\n"
        "  volumes: [{name: v, secret: {secretName: s, defaultMode: 0400}}]\n"
    )

    pod: Pod = manifests.load_text(text).objects[0].object  # type: ignore[assignment]
    container = pod.spec.containers[0]

    assert container.resources is not None
    assert container.resources.limits == {"cpu": "0.5", "memory": "1000000000"}
    assert container.liveness_probe is not None
    assert container.liveness_probe.http_get is not None
    assert container.liveness_probe.http_get.port == 80
    assert pod.spec.volumes[0].secret is not None
    assert pod.spec.volumes[0].secret.default_mode == 256


def test_binary_data_is_decoded() -> None:
    text = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: m}\nbinaryData: {k: aGkh}\n"

    config_map: ConfigMap = manifests.load_text(text).objects[0].object  # type: ignore[assignment]

    assert config_map.binary_data == {"k": b"hi!"}


def test_json_with_tabs_and_surrogate_pairs_is_read() -> None:
    text = '{\n"apiVersion": "v1",\n\t"kind": "ConfigMap",\n\t"metadata": {},\n\t"data": {"k": "\\ud83d\\ude00\\/"}\n}'

    config_map: ConfigMap = manifests.load_text(text).objects[0].object  # type: ignore[assignment]

    assert config_map.data == {"k": "\U0001f600/"}


def test_lists_are_flattened_wherever_they_stand() -> None:
    item = '{apiVersion: v1, kind: Pod, metadata: {name: "%s"}}'
    inner = "{apiVersion: v1, kind: PodList, items: [%s]}" % (item % "b")
    text = f"apiVersion: v1\nkind: List\nitems: [{item % 'a'}, {inner}]\n"

    assert [each.object.metadata.name for each in manifests.load_text(text).objects] == ["a", "b"]


def test_crlf_and_a_byte_order_mark_are_nothing() -> None:
    text = "\ufeff" + POD.replace("\n", "\r\n")

    result = manifests.load_text(text)

    assert result.problems == ()
    assert result.objects[0].source.line == 1


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be"])
def test_utf_16_is_refused_with_clear_words(encoding: str, tmp_path: Path) -> None:
    path = tmp_path / "a.yaml"
    path.write_bytes(POD.encode(encoding))

    (problem,) = manifests.load([str(path)]).problems

    assert (problem.type, problem.hint) == ("Encoding", "save it as UTF-8")


def test_a_byte_that_is_not_utf_8_is_placed(tmp_path: Path) -> None:
    path = tmp_path / "a.yaml"
    path.write_bytes(POD.encode() + b"    args: [\xff]\n")

    (problem,) = manifests.load([str(path)]).problems

    assert (problem.line, problem.column, problem.type) == (9, 12, "Encoding")


BOMB = (
    "apiVersion: v1\nkind: Pod\nmetadata:\n  managedFields:\n  - fieldsV1:\n      a: &a [x, x, x, x, x, x, x, x, x]\n"
)


def test_an_alias_bomb_is_refused_before_it_grows() -> None:
    names = "abcdefghij"
    lines = [f"      {new}: &{new} [{', '.join([f'*{old}'] * 9)}]\n" for old, new in pairwise(names)]

    assert [kind for _, kind, _ in told(BOMB + "".join(lines))] == ["Too much"]


@pytest.mark.parametrize(
    "text",
    [
        POD + "  nodeSelector: " + "[" * 20000,
        POD + "  nodeSelector:\n    " + "- " * 20000 + "a\n",
        "apiVersion: v1\nkind: Pod\nmetadata:\n  managedFields:\n  - fieldsV1: {a: " + "[" * 200 + "]" * 200 + "}\n",
        "apiVersion: v1\nkind: Pod\nmetadata:\n  managedFields:\n  - fieldsV1: &x {a: *x}\n",
    ],
)
def test_nesting_beyond_bounds_is_refused(text: str) -> None:
    assert [kind for _, kind, _ in told(text)] in (["Syntax"], ["Too much"])


def test_a_large_file_is_read_whole() -> None:
    result = manifests.load([str(FIXTURES / "23-huge-file" / "manifest.yaml")])

    assert (len(result.objects), result.problems) == (401, ())


def test_folders_files_and_standard_input(tmp_path: Path) -> None:
    for name in ("b.yaml", "a.yml", "c.json", "d.txt"):
        (tmp_path / name).write_text(f"{{apiVersion: v1, kind: Pod, metadata: {{name: {name[0]}}}}}")
    (tmp_path / "sub.yaml").mkdir()

    result = manifests.load([str(tmp_path), "-"], stdin=io.BytesIO(POD.encode()))

    assert [each.object.metadata.name for each in result.objects] == ["a", "b", "c", "p"]
    assert result.objects[-1].source.file == "<stdin>"


def test_what_cannot_be_read_is_told(tmp_path: Path) -> None:
    result = manifests.load([str(tmp_path / "none.yaml"), str(tmp_path), "a\0b"])

    assert [problem.type for problem in result.problems] == ["Unreadable"] * 3
    assert result.has_errors


def test_every_field_knows_its_place() -> None:
    positions = manifests.load_text(POD + "    resources:\n      limits: {cpu: 1}\n").objects[0].positions

    assert positions.find("spec.containers[0].image") == (8, 5)
    assert positions.find("spec.containers[0].resources.limits[cpu]") == (10, 16)
    assert positions.find("spec.containers[0].resources.requests[cpu]") == (9, 5)
    assert positions.find("spec.containers[4].image") == (6, 3)
    assert positions.has("spec.containers[0].image")
    assert not positions.has("spec.containers[0].command")
    assert not positions.has("spec.containers[2].image")


def test_a_long_line_is_shown_around_the_fault() -> None:
    text = POD + "    args: [" + "a, " * 200 + "5]\n"
    (problem,) = manifests.load_text(text).problems

    _head, line, caret, _hint = manifests.format_problem(problem, text).split("\n")

    assert len(line) < 200
    assert line[len(caret) - 1] == "5"


def test_a_problem_without_a_source_line_has_one_line() -> None:
    problem = manifests.Problem(file="f", line=9, column=1, path="", type="Empty", text="")

    assert manifests.format_problem(problem, "") == "f:9:1: error: Empty"


@examples(300)
@given(st.binary(max_size=200))
def test_any_bytes_give_an_answer(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    result = manifests.load(["-"], stdin=io.BytesIO(data))

    for problem in result.problems:
        assert manifests.format_problem(problem, result.sources.get(problem.file, ""))


PARTS = st.sampled_from(
    [
        "{{",
        "}}",
        "\t",
        "&a ",
        "*a",
        "<<: ",
        "- ",
        "? ",
        ": ",
        "!!binary ",
        "!x ",
        "|",
        ">",
        "'",
        '"',
        "\n  ",
        "%",
        "~",
        "[]",
    ]
)


class _Unreadable(io.BytesIO):
    """A standard input that the system doesn't let one read."""

    def read(self, _size: int | None = -1, /) -> bytes:
        raise OSError(5, "Input/output error")


def test_a_standard_input_that_cant_be_read_is_a_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    unreadable = manifests.load(["-"], stdin=_Unreadable())
    assert [problem.text for problem in unreadable.problems] == ["Input/output error"]
    monkeypatch.setattr("sys.stdin", None)
    assert [problem.text for problem in manifests.load(["-"]).problems] == ["standard input is closed"]


@examples(300)
@given(st.integers(0, len(POD)), st.integers(0, len(POD)), PARTS, PARTS)
def test_any_damage_to_a_manifest_gives_an_answer(first: int, second: int, one: str, two: str) -> None:
    text = POD[:first] + one + POD[first:second] + two + POD[second:]

    result = manifests.load_text(text)

    for problem in result.problems:
        assert manifests.format_problem(problem, text)


@pytest.mark.parametrize("folder", sorted(path.name for path in FIXTURES.iterdir()))
def test_reading_agrees_with_a_plain_yaml_reader(folder: str) -> None:
    """What was understood, written back, is what stands in the file."""
    (path,) = (FIXTURES / folder).glob("manifest.*")
    result = manifests.load([str(path)])
    for loaded in result.objects:
        if loaded.is_whole:
            kind = type(loaded.object)
            assert manifests.decode_mapping(kind, encode(loaded.object)) == loaded.object
    if not result.has_errors and folder not in ("10-git-sync", "16-list-kind"):
        kinds = [each["kind"] for each in yaml.safe_load_all(path.read_text("utf-8-sig")) if each]
        read = [each.object.kind for each in result.objects]
        assert len(read) + len(result.problems) >= len(kinds)
