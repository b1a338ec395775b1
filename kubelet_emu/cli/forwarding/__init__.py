"""Forwarding ports of this machine into pods of a run in another terminal."""
