"""The page of decisions: decisions_page has the list with its filter, its rows, and what stands beside it
about the chosen one. your_decision is the form of one, on the page of its session and in a dialog.
"""
