"""The runtime on Trio's clock: no threads, no I/O."""
