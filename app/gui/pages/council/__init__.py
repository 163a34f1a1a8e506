"""The page of a council: council_page, with its tabs in council_tabs and what can be done next in council_box.

The answers: council_glance (who holds what), council_columns of council_column, column_finder, options_dialog. Then
claims_page, verdict_page, and worth_card, which says whether it was worth it.
"""
