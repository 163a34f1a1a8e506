"""Controllers connect widgets to the engine. Start in window.py, which builds and connects all of them.

controller is their base. Sessions: sessions opens, names, exports and deletes them and keeps them in folders;
chats (also queued messages and versions of an answer, with attachments), debates (also councils, with their
panels), decisions (their page, and what is kept), beside_chats (workflows, groups at work, files of a
session, summaries), work (the page of all work, the badge of what needs the user, queues). attachments
also has the context files of debates. Definitions: definitions has their base, assistants and groups. The
rest: first_page begins sessions and shows a newer version, settings (which also adds providers and asks about
MCP servers), palette runs commands and answers a / in the box, window serves the quick chat and holds its
keys. Notifications are in gui/desktop.
"""
