"""$(VAR) (kubernetes v1.36 third_party/forked/golang/expansion)."""

from __future__ import annotations

import pytest

from kubelet_emu.rules.expansion import expand

VALUES = {"A": "1", "B": "$(A)", "EMPTY": "", "A-B": "dash"}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("x$(A)y", "x1y", id="a known name is replaced"),
        pytest.param("$(NO)", "$(NO)", id="an unknown name stays"),
        pytest.param("$(B)", "$(A)", id="a value is not expanded again"),
        pytest.param("$$(A)", "$(A)", id="two dollars are one and escape"),
        pytest.param("$$$(A)", "$1", id="an escaped dollar before a reference"),
        pytest.param("$A ${A} $", "$A ${A} $", id="other dollars stay"),
        pytest.param("$(A", "$(A", id="an open reference stays"),
        pytest.param("$(A$$", "$(A$", id="after an open reference reading goes on"),
        pytest.param("[$(EMPTY)]", "[]", id="an empty value is a value"),
        pytest.param("$(A-B)$()", "dash$()", id="any characters make a name"),
    ],
)
def test_expand(text: str, expected: str) -> None:
    assert expand(text, VALUES.get) == expected
