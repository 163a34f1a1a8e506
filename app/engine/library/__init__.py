"""Assistants as they are stored, and what they may use."""
