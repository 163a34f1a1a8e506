"""Pages of the main area: chat with first_page around its input, council, decisions, work, assistants
and groups.

list_page is the base of those that have a list with details beside it. Also the settings dialog.
"""
