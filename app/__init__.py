"""Moot: several AI assistants chat, debate and work together on the user's own computer."""

__version__ = "0.1.0"
