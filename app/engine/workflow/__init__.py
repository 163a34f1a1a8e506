"""Workflows: director says which steps are ready, run takes them and reads how a step ends; commands."""
