"""The agent host: a child process that runs external agents and speaks the Agent Client Protocol with them.

`host` serves the requests of Moot, `session` is one turn of an external agent, `acts` what it does in the turn, `program` its process
and the messages on its pipes, `answer_text` tells its answer from its notices.
"""
