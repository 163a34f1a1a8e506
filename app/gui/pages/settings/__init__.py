"""The settings: settings_view shows the pages, settings_rows makes pages from the rules
of `core/settings.py`.

The pages: providers_page (also the network), models_page (also those on this computer), servers_page (also
permissions), data_page (also saved prompts); Chats and Usage are in settings_rows, which also has what the
pages share; Shortcuts, Privacy and About are in settings_view.
"""
