"""The settings: settings_dialog shows the pages, settings_rows makes pages from the rules of `core/settings.py`.

The pages: providers_page (also the network), models_page (also those on this computer), servers_page (also permissions),
saved_prompts_page, shortcuts_page, data_page; Chats and Usage are in
settings_rows, Privacy and About in settings_dialog. lists is used by several pages.
"""
