"""Pages of the main area: chat with first_page around its input, council, decisions, assistants and groups.

Also the settings dialog.
"""
