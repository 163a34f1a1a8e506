"""The settings: settings_dialog shows the pages, settings_rows makes pages from the rules of `core/settings.py`."""
