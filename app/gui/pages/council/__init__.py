"""The page of a council: council_page, with its tabs, finding and options, and council_box: what is next.

The answers: council_columns (who holds what at a glance, and a column for each). Then verdict_page, also with
the claims. no_votes says who does not vote and why, also in a debate. council_box also has the card which
says whether it was worth it.
"""
