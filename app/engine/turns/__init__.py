"""One turn of an assistant: the model call, its tools and its sub-agents."""
