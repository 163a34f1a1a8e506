"""How data is shown: theme and style (colours, fonts, icons), i18n (texts, dates, errors), amounts, and states.

assistant_display, server_display and session_kinds say how assistants, MCP servers and sessions look; desktop_settings
what the desktop wants.
"""
