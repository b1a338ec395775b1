"""Which built-ins are special in POSIX's sense."""

from __future__ import annotations

SPECIAL = frozenset(
    {
        ".", ":", "break", "continue", "eval", "exec", "exit", "export", "local", "readonly", "return", "set", "shift",
        "source", "times", "trap", "unset",
    }
)  # fmt: skip
"""Built-ins whose errors end the shell and whose assignments stay."""
