"""The panel of debates, debate_panel: Setup, Discussion, History (history_view).

Setup: setup_view (also how the debate ends) with participant_list and participant_picker. Discussion:
discussion_view, which also has what it shares with debate_page, the page of a debate in the main area; both
with topic_card, debate_controls, and verdict_place: verdict_tabs above the verdict page of councils, with its
cited_text, or the blind pick, and what the views of debates have in common with that of councils.
debate_controls also has what stands beside a debate in the main area.
"""
