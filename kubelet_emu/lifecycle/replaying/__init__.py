"""Takes a lifecycle log's syncs again with today's rules."""

from kubelet_emu.lifecycle.replaying.decisions import Difference, Replay, replay

__all__ = ["Difference", "Replay", "replay"]
