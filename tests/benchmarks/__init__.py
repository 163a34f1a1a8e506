"""Benchmarks: `python -m tests.benchmarks [--short]` prints them as a table."""
