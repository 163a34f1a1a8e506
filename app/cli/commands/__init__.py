"""The commands by topic: functions that the table in `arguments` names; their parameters are what a command takes.

Sessions: `sessions` (of any kind; it runs every command), `chats`, `debates` (also councils), `session_list`
(without an engine), `calls` (what other agents ask over MCP). What is configured: `providers` (also models and external
agents), `servers`. `stored_data`: backups, import and export, the trash. `doctor` checks the installation.
"""
