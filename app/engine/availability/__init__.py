"""Which assistants are free, and the queues of work that waits for them."""
