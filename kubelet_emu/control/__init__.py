"""A run's control socket: what a second terminal asks of a run, and the answers (docs/CONTROL.md)."""
