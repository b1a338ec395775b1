"""`python -m kubelet_emu`."""

from kubelet_emu.cli.main import main

main(prog_name="kubelet-emu")
