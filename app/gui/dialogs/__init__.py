"""Dialogs. The base class of most of them is in ask_dialogs, with those that ask for one thing.

These confirm, rename, open a link, edit a prompt or a folder, or choose what to import, restore or attach.
connect_dialogs adds providers, external agents and MCP servers. definition_dialogs previews shared files,
edits a panel, and asks what was decided; memo_dialog is the page about that. versions_dialog is about
versions of an answer, and of a file; guide_dialog (F1) shows the guide. palette (Ctrl+K) has the search and
its entries.
"""
