"""The page of a council: council_page, with finding; decision_steps over it, decision_bar under it:
what is next.

The answers: council_columns (a column for each), differences_page (who holds what at a glance, with the
claims). Then verdict_page, also for debates: with vote_chart there, and who does not vote and why;
blind_pick, in its place before it is read. council_box has the prices.
"""
