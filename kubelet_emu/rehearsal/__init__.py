"""Plays a plan in virtual time: confirms what it says of start and end, and finds the grace that a pod needs."""
