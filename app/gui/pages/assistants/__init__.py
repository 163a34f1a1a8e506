"""The page of the assistants: their cards and the editor of one."""
