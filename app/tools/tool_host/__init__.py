"""The tool host: the child process for foreign and heavy code. `host` serves the requests of the parent.

`web`: downloads and searches; pages are read by `files/file_reader`. MCP: `mcp_server` is the connection to
one server, with its calls, and its resources and prompts; `mcp_transports` the transports, limits and logs,
and mending what servers list, `mcp_login` the login by OAuth. `mcp_results` makes results plain,
`mcp_elicitation` is what a server asks of the user. `server_processes`: a server's command and process group.
"""
