"""The tool host: the child process for foreign and heavy code. `host` serves the requests of the parent.

Web: `web_fetch`, `web_search`, both through `web_client`. MCP: `mcp_servers` holds the servers by name,
`mcp_server` one connection, `mcp_transports` its transports and limits, `mcp_results` and `mcp_elicitation` its
results and questions, `mcp_log` its log, `server_processes` its command and process group.
"""
