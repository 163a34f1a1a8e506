"""From the text of a message to blocks that can be laid out and painted."""
