"""The page of a group: the form with members and orchestrator, and the editor of the chosen member."""
