"""Manifests: YAML with positions to typed objects, defaults, validation, workloads."""
