"""A chat in the main area: its page, the box to write with its attachments, and the queue."""
