"""The runtime on a Docker engine."""
