"""Controllers connect widgets to the engine. Start in window.py, which builds and connects all of them.

Per topic: chats (with attachments and queued_messages), debates, group_runs, workflows, queues, providers, settings;
assistants, groups and workflow_definitions share definitions. session_views opens sessions, folders keeps them together, saved_prompts answers a / in the box, palette runs commands, quick_chat serves the small window and holds its keys.
Notifications are in gui/desktop.
"""
