"""What assistants may use: the allow-list, the web, questions, MCP servers."""
