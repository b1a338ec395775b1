"""Quantities, against apimachinery's own pairs of text and value."""

from __future__ import annotations

from decimal import Decimal

import pytest

from kubelet_emu.api.quantity import canonical_quantity, format_quantity, milli_value, parse_quantity, quantity_value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("0", "0"),
        ("100m", "0.1"),
        ("1.5Gi", "1610612736"),
        ("1e3", "1000"),
        ("1E3", "1000"),
        ("2E", "2e18"),
        ("1E", "1e18"),
        (".5", "0.5"),
        ("5.", "5"),
        ("+1Ki", "1024"),
        ("-3m", "-0.003"),
        ("1n", "1e-9"),
        ("0.1n", "1e-9"),
        ("-0.1n", "-1e-9"),
        ("1e-3", "0.001"),
        ("100Ei", "9223372036854775807"),
        ("-100Ei", "-9223372036854775807"),
        ("1e999999999", "9223372036854775807"),
    ],
)
def test_a_quantity_is_read_exactly(text: str, value: str) -> None:
    assert parse_quantity(text) == Decimal(value)


@pytest.mark.parametrize("text", ["", "m", "1 Gi", "1KiB", "1ki", "1.2.3", "--1", "e3", "0x10", "1e", "१"])
def test_what_is_no_quantity_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is not a quantity"):
        parse_quantity(text)


@pytest.mark.parametrize(
    ("text", "milli", "whole"), [("250m", 250, 1), ("0.0001", 1, 1), ("2", 2000, 2), ("-1500m", -1500, -1)]
)
def test_whole_and_milli_values_are_rounded_up(text: str, milli: int, whole: int) -> None:
    assert (milli_value(text), quantity_value(text)) == (milli, whole)


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("1000m", "1"),
        ("1024Ki", "1Mi"),
        ("0.5", "500m"),
        ("1.5Gi", "1536Mi"),
        ("512Ki", "512Ki"),
        ("0.5Ki", "512"),
        ("1000000", "1M"),
        ("1e4", "10e3"),
        ("1e3", "1e3"),
        ("5e0", "5"),
        ("0", "0"),
        ("0Gi", "0"),
        ("1000Ki", "1000Ki"),
        ("1025", "1025"),
        ("0.3Ki", "307200m"),
        ("1000000000000000000000n", "1T"),
        ("7Ei", "7Ei"),
    ],
)
def test_a_quantity_is_written_back_in_its_canonical_form(text: str, canonical: str) -> None:
    assert canonical_quantity(text) == canonical


def test_a_number_is_written_in_decimal_suffixes() -> None:
    assert format_quantity(1500) == "1500"
