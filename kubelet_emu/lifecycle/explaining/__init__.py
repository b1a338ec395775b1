"""Why a pod does not start, get ready or end, and who ended its containers: sentences out of histories."""

from kubelet_emu.lifecycle.explaining.answers import Answer, explain
from kubelet_emu.lifecycle.explaining.endings import endings_of

__all__ = ["Answer", "endings_of", "explain"]
