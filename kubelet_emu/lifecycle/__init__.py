"""Judges and draws what a log tells of pods: which rule was broken, why a pod waits, what ran when."""
