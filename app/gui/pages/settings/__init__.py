"""The settings: settings_dialog shows the pages, settings_rows makes pages from the rules of `core/settings.py`.

A page each: providers_page with provider_page, models_page, local_models_page, servers_page, permissions_page,
chats_page, saved_prompts_page, definitions_page, shortcuts_page, network_page, usage_page, data_page, information_pages.
lists and work_line are used by several pages.
"""
