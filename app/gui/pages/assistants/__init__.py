"""The page of assistants, assistants_page: cards, and the editor of one with its form, assistant_form."""
