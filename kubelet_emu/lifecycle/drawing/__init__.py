"""Draws what became of pods: a timeline value made from histories, and its forms for terminals, pages and machines."""

from kubelet_emu.lifecycle.drawing.making import timeline_of
from kubelet_emu.lifecycle.drawing.timeline import Bar, BarKind, Mark, MarkKind, Row, Timeline

__all__ = ["Bar", "BarKind", "Mark", "MarkKind", "Row", "Timeline", "timeline_of"]
