"""Pages of the main area: welcome, chat, assistants and groups, and the settings dialog with its pages."""
