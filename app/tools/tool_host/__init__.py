"""The tool host: the child process for foreign and heavy code. `host` serves the requests of the parent; `errors`.

Web: `web_fetch`, `web_search`, both through `web_client`. MCP: `mcp_servers` holds the servers by name,
`mcp_server` one connection, `mcp_transports` its transports and limits, `mcp_login` its login by OAuth. `mcp_calls`: the
calls that run, with `mcp_results` and `mcp_elicitation` (what the server asks of the user). `mcp_lists`
mends what servers list. `mcp_library`: resources and prompts. `mcp_log` is the log of a server, `server_processes` its command and process group.
"""
