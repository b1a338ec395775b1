"""The lifecycle log: one record type, one emit, several renderers."""
