"""The page of a council: council_page, with its tabs, finding and options, and council_box: what is next.

The answers: council_columns (who holds what at a glance, and a column for each). Then verdict_page, also with
the claims, and also for debates: with vote_chart there, and no_votes, who does not vote and why. council_box also has
the card which says whether it was worth it.
"""
