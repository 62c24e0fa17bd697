"""Hypothesis for all tests: no deadline on a shared machine, the same examples in every run, nothing written."""

from hypothesis import settings

settings.register_profile("house", deadline=None, derandomize=True, database=None)
settings.load_profile("house")
