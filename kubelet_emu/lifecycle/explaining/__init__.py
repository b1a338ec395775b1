"""Why a pod does not start, get ready or end, and who ended its containers: sentences out of histories."""

from kubelet_emu.lifecycle.explaining.answer import Answer
from kubelet_emu.lifecycle.explaining.answers import explain
from kubelet_emu.lifecycle.explaining.endings import endings_of

__all__ = ["Answer", "endings_of", "explain"]
