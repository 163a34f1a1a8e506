"""Sessions as documents for people and as JSON for programs.

A new format: its name in `ExportFormat` (core/session.py), its text in documents. Debates and chats say what their
documents consist of (debate/export.py, chat/export.py), markdown and html write it. event_lines is what `--json` prints.
"""
