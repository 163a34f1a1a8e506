"""Workflows: director says which steps are ready, run takes them, step_protocol reads how a step ends; commands."""
