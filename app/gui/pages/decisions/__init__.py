"""The page of decisions: decisions_page has the list with its filter, decision_rows what a row shows and how it
is painted, decision_details what stands beside the list about the chosen one. your_decision is the form of one, on the
page of its session and in a dialog.
"""
