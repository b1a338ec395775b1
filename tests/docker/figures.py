"""What a run of the scenarios tells at the end of all tests."""

from __future__ import annotations

import pytest

FIGURES = pytest.StashKey[str]()
