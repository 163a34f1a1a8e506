"""Pages of MCP servers: what they are, what they may ask for, and the sandbox that shows them (row P5)."""
