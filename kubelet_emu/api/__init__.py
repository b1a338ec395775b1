"""Kubernetes' own words: API types, quantities, reasons, labels."""
