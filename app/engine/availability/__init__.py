"""Which assistants are free (policies), and the queues of work that waits for them (slots)."""
