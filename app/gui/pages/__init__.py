"""Pages of the main area: welcome_page, chat, council, assistants and groups, and the settings dialog with its pages."""
