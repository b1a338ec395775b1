"""Go's %q and time.Duration."""

from __future__ import annotations

from datetime import timedelta

import pytest

from kubelet_emu.api.gotext import format_duration, quote, quote_list


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("busybox:1", '"busybox:1"', id="plain text is put between quotes"),
        pytest.param('a"b\\c', r'"a\"b\\c"', id="quotes and backslashes are escaped"),
        pytest.param("a\nb\tc", r'"a\nb\tc"', id="known control characters have short escapes"),
        pytest.param("a\x01\x7f", r'"a\x01\x7f"', id="other control characters are hexadecimal"),
        pytest.param("é ü", '"é ü"', id="printable characters beyond ASCII stay"),
        pytest.param("\u200b", r'"\u200b"', id="unprintable ones of the basic plane take four digits"),
        pytest.param("\U000e0001", r'"\U000e0001"', id="unprintable ones beyond it take eight"),
    ],
)
def test_quote(text: str, expected: str) -> None:
    assert quote(text) == expected


def test_a_slice_of_strings_is_separated_by_blanks() -> None:
    assert quote_list(("a", "b")) == "[a b]"


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [
        (0, "0s"),
        (0.000_412, "412µs"),
        (0.412, "412ms"),
        (0.0015, "1.5ms"),
        (1, "1s"),
        (1.503, "1.503s"),
        (10, "10s"),
        (62.004, "1m2.004s"),
        (300, "5m0s"),
        (7200, "2h0m0s"),
        (-1.5, "-1.5s"),
    ],
)
def test_a_duration_reads_as_go_writes_it(seconds: float, expected: str) -> None:
    assert format_duration(timedelta(seconds=seconds)) == expected
