"""Around the main area: side_bar with its lists, and top_bar.

session_list is the list of sessions and folders, session_rows what it shows; partner_list are the lists of panels,
groups and assistants.
"""
