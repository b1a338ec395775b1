"""Image names, pulls, back-off, credentials and mirrors."""
