"""`python -m kubelet_emu`."""

from kubelet_emu.cli.program import run

run()
