"""Controllers connect widgets to the engine. Start in window.py, which builds and connects all of them.

controller is their base. Sessions: session_views opens them, sessions names, exports and deletes them, folders keeps
them together; chats (with attachments, server_files, queued_messages, versions and summaries), debates (with
context_files), councils and journal, group_runs, workflows, queues.
Definitions: assistants, groups, workflows and council_panels share definitions; saved_prompts answers a / in the box.
The rest: welcome begins sessions, providers adds providers, server_consent asks about MCP servers, settings, palette
runs commands, quick_chat serves the small window and holds its keys. Notifications are in gui/desktop.
"""
