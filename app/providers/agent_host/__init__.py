"""The agent host: a child process that runs external agents and speaks the Agent Client Protocol with them.

`host` serves the requests of Moot: each turn of an external agent and its answer. `program` is its process,
the messages on its pipes, and what it does in the turn.
"""
