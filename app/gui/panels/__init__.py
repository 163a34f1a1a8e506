"""The right panel and what it shows."""
