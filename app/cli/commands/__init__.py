"""The commands by topic; `sessions` has the table of all of them.

Sessions: `chats`, `debates`, `councils`, `session_list` (without an engine), `calls` (what other agents ask over MCP).
What is configured: `providers`, `models`, `servers`, `agents`. `stored_data`: backups, import and
export, the trash. `doctor` checks the installation.
"""
