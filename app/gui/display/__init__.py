"""How data is shown: theme (colours), appearance (language, style, icons, what the desktop wants), and
descriptions.

descriptions says how sessions, assistants, MCP servers and amounts are called and look.
"""
