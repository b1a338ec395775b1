"""A node inside a Python program: run manifests, wait for moments, ask what happened."""
