"""The commands by topic: functions that the table in `arguments` names; what they take are their parameters.

Sessions: `sessions` (of any kind; it runs every command), `chats`, `debates` (also councils, decisions),
`session_list` (without an engine), `calls` (what other agents ask over MCP). What is configured: `providers`
(also models, external agents and MCP servers). `schedules`: what runs by itself, and how a run begins.
`stored_data`: backups, import and export, the trash. `doctor` checks the installation.
"""
