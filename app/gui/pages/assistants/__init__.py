"""The page of assistants: cards, and the editor with the form of one."""
