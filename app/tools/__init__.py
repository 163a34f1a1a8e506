"""The tools of assistants. `toolbox`: all of them, Moot's own and those of MCP servers, with the servers'
resources and prompts, their entries with secrets, and what the user allowed. `declared`: how a function
becomes a tool with a JSON Schema.

`web`, `prompt_user` (also what is to be remembered), `planning` (also what a group is led with),
`session_files` (also attached files): Moot's own tools. A new tool: a documented async function with a row in
`TOOLS` of its module, its texts `tool.KEY.name`, `tool.KEY.help`, `doing.KEY` and `did.KEY` in
resources/i18n, and its icon and what its texts are filled with in gui/transcript/row_words.py; a new module
is added to `Toolbox`. `page_viewer`: installs what shows the pages of MCP servers. `tool_host_client`: asks
the child process in `tool_host`, which reads the web and speaks MCP.
"""
