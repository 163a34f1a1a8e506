"""The panel of debates, debate_panel: Setup, Discussion, History (history_view).

Setup: setup_view (also how the debate ends) with participant_list and participant_picker. Discussion: discussion_view
with debate_controls; verdict_view with stance_chart and cited_text, verdict_tabs above it. debate_controls also has what stands beside a debate
in the main area.
"""
