"""Pages of the main area: chat with first_page around its input, council, decisions, work, groups
and assistants_page with skill_list.

list_page is the base of those that have a list with details beside it. Also the settings.
"""
