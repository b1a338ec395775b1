"""Lies here so that tests find the helper modules beside it."""
