"""Scenario files: steps, expectations, runner."""
