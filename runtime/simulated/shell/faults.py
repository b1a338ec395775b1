"""How a shell leaves its straight course: exits, loop control, and its own errors."""

from __future__ import annotations


class ShellExit(Exception):  # noqa: N818 - control flow or an outcome, not an error of ours
    """The shell ends; `runs_trap` is False after exec."""

    def __init__(self, status: int, *, runs_trap: bool = True) -> None:
        """Keep the status."""
        super().__init__(status)
        self.status = status & 255
        self.runs_trap = runs_trap


class LoopControl(Exception):  # noqa: N818 - control flow or an outcome, not an error of ours
    """`break` or `continue` out of `levels` loops."""

    def __init__(self, levels: int, *, is_break: bool) -> None:
        """Keep the number of loops."""
        super().__init__(levels)
        self.levels = levels
        self.is_break = is_break


class FunctionReturn(Exception):  # noqa: N818 - control flow or an outcome, not an error of ours
    """`return` from a function or a sourced script."""

    def __init__(self, status: int) -> None:
        """Keep the status."""
        super().__init__(status)
        self.status = status & 255


class ShellFault(Exception):  # noqa: N818 - control flow or an outcome, not an error of ours
    """An error that ends a shell that isn't interactive: the text, and the status."""

    def __init__(self, text: str, status: int = 2, *, has_place: bool = False) -> None:
        """Keep the status, and whether the text says already where it happened."""
        super().__init__(text)
        self.status = status
        self.has_place = has_place
        self.is_told = False
