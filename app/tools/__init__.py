"""The tools of assistants. `toolbox`: all of them. `declared`: how a function becomes a tool with a JSON Schema.

`web`, `prompt_user`, `planning`, `orchestration`: Moot's own tools. `mcp`: the tools of MCP servers, with consents.
`tool_host_client`: asks the child process in `tool_host`, which reads the web and speaks MCP.
"""
