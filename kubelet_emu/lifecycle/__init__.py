"""Judges and draws a lifecycle log: replay, verify, why, timeline."""
