"""kubectl's JSONPath templates: what they find and write, and what can't be read."""

from __future__ import annotations

import pytest

from kubelet_emu.printers.jsonpath.finding import write
from kubelet_emu.printers.jsonpath.nodes import JSONPathError
from kubelet_emu.printers.jsonpath.reading import read_path, read_template

LIST: dict[str, object] = {
    "kind": "List",
    "items": [
        {"metadata": {"name": "a", "labels": {"app.k8s.io/name": "x"}}, "n": 1, "ok": True, "cmd": ["a", "<b>&c"]},
        {"metadata": {"name": "b"}, "n": 5, "ok": False, "end": None, "f": 1.5},
        {"metadata": {"name": "c"}, "n": 3},
    ],
}
FOUND = [
    ("a text is as it is", "plain $.x", "plain $.x"),
    ("a field", "{.kind}", "List"),
    ("the object itself before it", "{$.kind} {@.kind} {$['kind']}", "List List List"),
    ("blanks inside braces", "{ .kind }", "List"),
    ("a key in brackets", "{['kind']}", "List"),
    ("several keys", "{.items[0].metadata['name','labels']}", 'a {"app.k8s.io/name":"x"}'),
    ("a dot in a key", r"{.items[0].metadata.labels.app\.k8s\.io/name}", "x"),
    ("a dot in a key in brackets", "{.items[0].metadata.labels['app.k8s.io/name']}", "x"),
    ("all items", "{.items[*].metadata.name}", "a b c"),
    ("all items with a dot", "{.items.*.metadata.name}", "a b c"),
    ("all values of a mapping", "{.items[1].metadata.*}", "b"),
    ("all values, bare", "{*}", None),
    ("an item from the end", "{.items[-1].n}", "3"),
    ("a part of a list", "{.items[0:2].n}", "1 5"),
    ("every second one", "{.items[::2].n}", "1 3"),
    ("from the end on", "{.items[-2:].n}", "5 3"),
    ("several items", "{.items[0,2].n}", "1 3"),
    ("anywhere below", "{..name}", "a b c"),
    ("anywhere below a field", "{.items..labels}", '{"app.k8s.io/name":"x"}'),
    ("a condition", "{.items[?(@.n>2)].metadata.name}", "b c"),
    ("not above", "{.items[?(@.n<=3)].metadata.name}", "a c"),
    ("a text to compare with", '{.items[?(@.metadata.name=="b")].n}', "5"),
    ("the other quotes", "{.items[?(@.metadata.name != 'b')].n}", "1 3"),
    ("true and false", "{.items[?(@.ok==false)].n}", "5"),
    ("what isn't there compares with nothing", "{.items[?(@.gone==1)].n}", ""),
    ("only those that have it", "{.items[?(@.metadata.labels)].n}", "1"),
    ("nothing there", "{.gone.more}", ""),
    ("a field of what has none", "{.kind.x}", ""),
    ("values of what has none", "{.kind.*}", ""),
    ("a list of nothing", "{.items[1].end[0]}", ""),
    ("objects are JSON with Go's escapes", "{.items[0].cmd}", r'["a","\u003cb\u003e\u0026c"]'),
    ("other values are Go's", "{.items[*].ok} {.items[1].end} {.items[1].f}", "true false <nil> 1.5"),
    ("quoted texts", r"""{"a\tb"}{'c"d'}{"\n"}""", 'a\tbc"d\n'),
    ("a text beside a path in one pair of braces", '{.kind "x"}', "Listx"),
    ("a loop", r'{range .items[*]}{.metadata.name}={.n}{"\n"}{end}', "a=1\nb=5\nc=3\n"),
    (
        "a loop in a loop",
        "{range .items[*]}{range .metadata.*}[{@}]{end};{end}",
        '[{"app.k8s.io/name":"x"}][a];[b];[c];',
    ),
    ("a loop over what there is once", "{range .items[?(@.n==5)]}{.metadata.name}{end}!", "b!"),
]


@pytest.mark.parametrize(("why", "template", "text"), FOUND, ids=[row[0] for row in FOUND])
def test_a_template_writes(why: str, template: str, text: str | None) -> None:
    written = write(read_template(template), LIST)
    assert written.endswith(" List") if text is None else written == text, (why, written)


BAD = [
    ("{.kind", "unclosed action"),
    ("{", "unclosed action"),
    ("{.items[0", "unterminated array"),
    ("{.items[0;1]}", "unrecognized character in action: ';' at 10"),
    ("{.items[x]}", "unrecognized character in action: 'x' at 9"),
    ("{.items[?@.n]}", "unrecognized character in action: '@' at 10"),
    ("{.items[?(@.n", "unterminated filter"),
    ("{.items[?(@.n ! 1)]}", "unrecognized character in action: '!' at 15"),
    ("{kind}", "unrecognized character in action: 'k' at 2"),
    ("{end}", "not in range, nothing to end"),
    ("{range .items[*]}{.n}", "{range} without {end}"),
    ("{range .items[*] x}{end}", "unrecognized character in action: 'x' at 18"),
    (r'{"\q"}', r'invalid syntax in "\q"'),
    ("{.items[3]}", "array index out of bounds: index 3, length 3"),
    ("{.items[-4]}", "array index out of bounds: index -4, length 3"),
    ("{.items[0:2:-1]}", "step must be > 0, and is -1"),
    ("{.kind[0]}", "List is not array or slice"),
    ("{[0]}", "a mapping is not array or slice"),
    ("{.items[?(@.n<'x')]}", "1 and x can't be compared"),
    ("{.items[?(@.metadata.*<'x')]}", "can only compare one element at a time"),
]


@pytest.mark.parametrize(("template", "text"), BAD, ids=[row[0] for row in BAD])
def test_what_is_wrong_is_told(template: str, text: str) -> None:
    with pytest.raises(JSONPathError) as caught:
        write(read_template(template), LIST)
    assert str(caught.value) == text


@pytest.mark.parametrize("path", ["kind", ".kind", "{kind}", "{.kind}"])
def test_a_path_may_do_without_its_signs(path: str) -> None:
    assert write((read_path(path),), LIST) == "List"


@pytest.mark.parametrize("path", ["", "{.a}{.b}", "a}"])
def test_other_words_are_no_path(path: str) -> None:
    with pytest.raises(JSONPathError, match=r"expected a 'name1.name2' or '\.name1"):
        read_path(path)
