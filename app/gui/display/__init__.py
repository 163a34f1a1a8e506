"""How data is shown: theme (colours), appearance (language, style, icons), and descriptions.

descriptions says how sessions, assistants, MCP servers and amounts are called and look; desktop_settings what the
desktop wants.
"""
