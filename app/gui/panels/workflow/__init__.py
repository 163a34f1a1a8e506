"""The workflow's panel: what runs in steps, and the definitions of it."""
