"""Dialogs. The base class of most of them is in ask_dialogs, with those that ask for one thing.

These confirm, rename, open a link, edit a prompt or a folder, or choose what to import, restore or attach.
connect_dialogs adds providers, external agents and MCP servers. definition_dialogs previews shared files,
edits a panel, and asks what was decided; memo_dialog is the page about that. reading_dialogs shows
versions of an answer, and of a file, and the guide (F1). repeat_dialog says when something is repeated.
palette (Ctrl+K) has the search and its entries.
"""
