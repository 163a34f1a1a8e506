"""The commands by topic: functions that the table in `arguments` names; what they take are their parameters.

Sessions: `sessions` (of any kind, also import, export and backups; it runs every command), `chats`, `debates` (also councils), `decisions`,
`session_list` (without an engine), `calls` (what other agents ask over MCP). What is configured: `providers` (also models,
external agents and MCP servers). `doctor` checks the installation.
"""
