"""Controllers connect widgets to the engine. Start in window.py, which builds and connects all of them.

controller is their base. Sessions: sessions opens, names, exports and deletes them and keeps them in folders; chats (also
queued messages and versions of an answer, with attachments and summaries), debates, councils (with their
panels), decisions (their page, and what is kept), workflows, working_assistants (groups at work), session_files, work (the
page of all work, the badge of what needs the user, queues).
attachments also has the context files of debates.
Definitions: definitions has their base, assistants and groups.
The rest: first_page begins sessions, connections adds providers and asks about MCP servers, settings, palette runs commands
and answers a / in the box, quick_chat serves the small window and holds its keys. Notifications are in gui/desktop.
"""
