"""The tool host: the child process for foreign and heavy code. `host` serves the requests of the parent;
`errors`.

`web`: downloads, pages and searches. MCP: `mcp_server` is the connection to one server, with its calls, and
its resources and prompts; `mcp_transports` the transports, limits and logs, a server's process, and what it asks of the user,
`mcp_login` the login by OAuth. `mcp_results` makes results plain.
"""
