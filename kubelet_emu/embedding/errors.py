"""What a program that embeds a node may catch."""

from __future__ import annotations


class ManifestError(Exception):
    """A manifest can't be run; the text names each fault with file, line and field."""
