"""The panel of debates, debate_panel: Setup, Discussion, History (history_view).

Setup: setup_view (also how the debate ends) with participant_list and participant_picker. Discussion: discussion_view
with debate_controls, and verdict_tabs above the verdict page of councils, with its cited_text. debate_controls also has
what stands beside a debate in the main area.
"""
