"""Around the main area: the side bar with its lists, the top bar, and the list of questions that wait for the user.

session_list is the list of sessions and folders, session_rows its model and how it is painted.
"""
