"""The page of a group: its members, its orchestrator, and the editor of the chosen member."""
