"""The page of a group, group_page: the form with members and orchestrator, and the editor
of the chosen member.
"""
