"""The panel of debates, debate_panel: Setup, Discussion, History (history_view).

Setup: setup_view with participant_list, participant_card, participant_picker, model_button, context_list and
conclusion_choice. Discussion: discussion_view with debate_controls, debate_bars and topic_card; verdict_view with
stance_chart and cited_text. debate_summary stands beside a debate in the main area.
"""
