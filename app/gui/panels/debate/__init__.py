"""The panel of debates, debate_panel: Setup, Discussion, History (also its list).

Setup: setup_view (also how the debate ends) with participant_list and participant_picker. Discussion:
discussion_view, which also has the page of a debate in the main area; both with debate_controls, and
verdict_place: tabs above the verdict page of councils, with its cited_text, or the blind pick, and what the
views of debates have in common with that of councils.
debate_controls also has what stands beside a debate in the main area.
"""
