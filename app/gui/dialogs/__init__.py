"""Dialogs: ask and confirm, connect a provider, a folder, MCP servers, import and restore, queues, and the palette (Ctrl+K).

The base class of most of them is in ask_dialogs.
"""
