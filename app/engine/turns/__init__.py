"""One turn of a speaker. speaker_turn waits for a slot, passes the provider's gate and calls the model.

answer is the answer as it grows, reply cleans its text, sources links what it rests on. turn_tree is an assistant's turn
with its tools and sub-agents: tool_calls answers the calls, call_questions has what the user is asked about one,
guided chooses tools for small models, reported_calls writes what an external agent
does itself, server_notices names the MCP servers that cannot be used, limits counts the budget.
summarizing makes room before a call that would be too long. metered_models is the only way to a model; what a rate limit
means is there, and how long a retry waits; passing_faults says after which faults a model is asked again.
context has the shared types, cache_plans what a provider's cache may keep.
"""
