"""The panel of workflows: steps at work (workflow_panel, step_list), definitions (definitions_view, step_form)."""
