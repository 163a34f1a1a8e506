"""Dialogs. The base class of most of them is in ask_dialogs, with the dialogs that ask and confirm.

connect_dialog adds a provider, agent_dialogs external agents, server_dialogs MCP servers. definition_dialogs previews
shared files, panel_dialog edits a panel, folder_dialog a folder, prompt_dialogs prompts. selection_dialogs choose what to
import or restore. other_answer and versions_dialog are about versions of an answer, journal_dialogs about decisions,
queue_dialog about waiting tasks, link_dialog about links. palette (Ctrl+K) with palette_entry.
"""
