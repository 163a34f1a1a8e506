"""Reads the exports of other programs, one format in each file; pure."""
