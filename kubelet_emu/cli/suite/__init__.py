"""`kubelet-emu test`: many scenarios at once, on a runtime that the user chooses."""
