"""The page of assistants: cards in assistants_page, and assistant_editor with the form of one, assistant_form."""
