"""The commands by topic; `sessions` has the table of all of them.

Sessions: `chats`, `debates` (also councils), `session_list` (without an engine), `calls` (what other agents ask over
MCP). What is configured: `providers` (also models and external agents), `servers`. `stored_data`: backups, import and
export, the trash. `doctor` checks the installation.
"""
