"""Controllers connect widgets to the engine. Start in window.py, which builds and connects all of them.

Per topic: chats (with attachments and queued_messages), debates, group_runs, workflows, queues, assistants, groups,
providers, settings. session_views opens sessions, palette runs commands. Notifications are in gui/desktop.
"""
