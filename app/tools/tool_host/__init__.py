"""The tool host: the child process that runs what is heavy or foreign, the web and MCP servers."""
