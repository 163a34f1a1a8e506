"""Workflows: steps that depend on each other."""
