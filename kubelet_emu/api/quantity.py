"""Kubernetes quantities: "250m", "64Mi", "1e3" as exact numbers.

A quantity stays text in the API types, as the user wrote it; rules parse it where they need a number.
"""

from __future__ import annotations

from typing import NewType

Quantity = NewType("Quantity", str)
IntOrString = int | str
