"""The metrics: pure functions from landed changes to values with evidence."""

METHOD_VERSION = "1"
"""Version of the metric definitions, on every profile. It changes when a definition changes a number."""
