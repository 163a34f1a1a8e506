"""Around the main area: side_bar with the lists of panels, groups and assistants, session_list (sessions
and folders), and top_bar.
"""
