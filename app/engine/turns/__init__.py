"""One turn of a speaker. speaker_turn waits for a slot, passes the provider's gate, calls the model, keeps
the answer.

reply cleans an answer's text. turn_tree is an assistant's turn with its tools and sub-agents: tool_calls
answers the calls and asks the user about them, and names the MCP servers that cannot be used; speaker_turn
also writes what an external agent does. It also chooses tools for small models. turn_tree also makes room
before a call that would be too long. context has the shared types, counts the budget, and is the only way to
a model; after which faults a model is asked again, what a rate limit means and how long a retry waits is
there.
"""
