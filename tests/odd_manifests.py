"""Manifests that nobody would write: given ones that are damaged, and made ones of any fields with odd values."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from kubelet_emu.api.kinds import api_type
from kubelet_emu.api.schema import FieldShape, Many, Scalar, fields_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from random import Random

KINDS = {
    "Pod": "v1",
    "Job": "batch/v1",
    "CronJob": "batch/v1",
    "Deployment": "apps/v1",
    "StatefulSet": "apps/v1",
    "DaemonSet": "apps/v1",
    "ReplicaSet": "apps/v1",
    "ConfigMap": "v1",
    "Secret": "v1",
    "Service": "v1",
}
NUMBERS = [0, 1, -1, 2, 80, 65535, 65536, 2**31 - 1, -(2**31), 2**31, 2**63 - 1, 2**63, 1.5, 1e300]
TEXTS = [
    *("", "a", "A", "-", ".", "..", "/", "/..", "../a", "/proc", "a/b", "a.b/c", "a b", "a-", "x" * 64, "x" * 254),
    *(
        "Always",
        "Never",
        "OnFailure",
        "Exists",
        "In",
        "NotIn",
        "Gt",
        "Equal",
        "NoExecute",
        "Indexed",
        "windows",
        "linux",
    ),
    *("metadata.name", "metadata.labels['a']", "metadata.annotations['", "limits.cpu", "spec.host", "$(A)", "$(A)/.."),
    *("1.2.3.4", "01.2.3.4", "::1", "::ffff:1.2.3.4", "[::1]", "0x", "1", "-1", "80", "http", "TCP", "100%", "9999%"),
    *("10m", "1.5", "1e3", "-5", "1Ei", "99999999999999999999E", "1e-999999", "0.1n", ".", "5MB", "1e", "+1"),
    *("* * * * *", "@every 1h", "TZ=x * * * * *", "60 * * * *", "*/0 * * * *", "busybox:1", "a:b:c", "@", "a@sha256:0"),
    *("0-5", "5-0", "0,1,0", "99999999999-1", "aGk=", "%%%", "2026-01-31T12:00:00Z", "0001-01-01T00:00:00Z"),
    *("\0", "\ud83d\ude00", "\u202e", "\r", "\n", "{{ .a }}", "${A}", "localhost/a", "runtime/default", "unconfined"),
]
KEYS = [
    "a",
    "A",
    "",
    "a/b",
    "a b",
    "cpu",
    "memory",
    "hugepages-2Mi",
    "hugepages-",
    "ephemeral-storage",
    "x.io/gpu",
    "<<",
]
LINES = [
    "---",
    "...",
    "\t",
    "  - ",
    "- -",
    "? a",
    ": b",
    "&a",
    "*a",
    "<<: *a",
    "!!binary x",
    "|",
    ">-",
    "{",
    "]",
    "'",
    "# ",
]
DEEPEST = 9


def damaged(given: Sequence[str], rng: Random) -> str:
    """Return one of the given texts with one to four damages."""
    text = rng.choice(given)
    for _ in range(rng.randint(1, 4)):
        text = rng.choice((_change_lines, _change_letters, _change_value))(text, rng)
    return text


def _change_lines(text: str, rng: Random) -> str:
    lines = text.split("\n")
    at, other = rng.randrange(len(lines)), rng.randrange(len(lines))
    match rng.randrange(6):
        case 0:
            del lines[at]
        case 1:
            lines.insert(at, lines[other])
        case 2:
            lines[at], lines[other] = lines[other], lines[at]
        case 3:
            lines[at] = " " * rng.randint(1, 3) + lines[at]
        case 4:
            lines[at] = lines[at][rng.randint(1, 3) :]
        case _:
            lines.insert(at, " " * rng.randint(0, 8) + rng.choice(LINES))
    return "\n".join(lines)


def _change_letters(text: str, rng: Random) -> str:
    at, end = sorted((rng.randrange(len(text) + 1), rng.randrange(len(text) + 1)))
    match rng.randrange(4):
        case 0:
            return text[:at] + chr(rng.choice((0, 9, 39, 58, 133, 0x2028, 0xFEFF, 0xD800, 0x10FFFF))) + text[at:]
        case 1:
            return text[:at] + text[at + rng.randint(1, 5) :]
        case 2:
            return text[:at] + rng.choice(LINES) + text[at:]
        case _:
            return text[:at] + text[at:end][:200] * 2 + text[end:]


def _change_value(text: str, rng: Random) -> str:
    lines = text.split("\n")
    at = rng.randrange(len(lines))
    key, colon, _value = lines[at].partition(": ")
    odd = rng.choice(
        (rng.choice(TEXTS), json.dumps(rng.choice(TEXTS)), str(rng.choice(NUMBERS)), "[]", "{}", "~", "[~]")
    )
    lines[at] = f"{key}{colon or ': '}{odd}"
    return "\n".join(lines)


def made(rng: Random) -> str:
    """Return a manifest of any kind with any of its fields, as JSON."""
    kind = rng.choice([*KINDS, "Pod", "Pod", "Pod", "Job"])
    obj = _object(kind, rng, 0)
    obj |= {"apiVersion": KINDS[kind], "kind": kind}
    return json.dumps(obj)


def _object(name: str, rng: Random, depth: int) -> dict[str, object]:
    shapes = list(fields_of(api_type(name)).values())
    wanted = [each for each in shapes if each.json in ("spec", "metadata", "template", "containers", "name")]
    rest = [each for each in shapes if each not in wanted and each.json != "status"]
    some = rng.sample(rest, min(len(rest), rng.randint(0, 2 if depth > 1 else 5)))
    kept = [each for each in wanted if rng.random() < 0.95]
    return {each.json: _value(each, rng, depth + 1) for each in (*kept, *some)}


def _value(shape: FieldShape, rng: Random, depth: int) -> object:
    if rng.random() < 0.03:
        return rng.choice([None, [], {}, [None], {"a": None}, 5, "a", True])
    match shape.many:
        case Many.LIST:
            return [_item(shape, rng, depth) for _ in range(rng.randint(1, 3) if depth < DEEPEST else 0)]
        case Many.MAP:
            return {rng.choice(KEYS): _item(shape, rng, depth) for _ in range(rng.randint(0, 3))}
        case _:
            return _item(shape, rng, depth)


def _item(shape: FieldShape, rng: Random, depth: int) -> object:
    if isinstance(shape.item, str):
        return _object(shape.item, rng, depth) if depth < DEEPEST else {}
    match shape.item:
        case Scalar.INT | Scalar.LONG | Scalar.FLOAT:
            return rng.choice(NUMBERS[:9])
        case Scalar.BOOL:
            return rng.random() < 0.5
        case Scalar.INT_OR_STRING | Scalar.QUANTITY:
            return rng.choice([rng.choice(NUMBERS), rng.choice(TEXTS)])
        case _:
            return rng.choice(TEXTS)
