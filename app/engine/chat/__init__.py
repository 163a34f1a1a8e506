"""Chats with one assistant: what comes next, the run, the request to the model."""
