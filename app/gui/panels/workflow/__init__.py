"""The panel of workflows: steps at work (workflow_panel; step_list, also how a step looks), definitions
(definitions_view: list, form, graph).
"""
