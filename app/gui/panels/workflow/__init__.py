"""The panel of workflows: steps at work (workflow_panel, step_list), definitions (definitions_view: list, form, graph).

step_display says how a step looks.
"""
