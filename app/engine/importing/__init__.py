"""Reads what other programs export, each format in a file of its own; pure."""
