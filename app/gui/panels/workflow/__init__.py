"""The panel of workflows: steps at work (workflow_panel, step_list), definitions (definitions_view, step_form).

graph_view draws a workflow, step_display says how a step looks.
"""
