"""Sessions as documents for people and as JSON for programs.

A new format: its name in `ExportFormat` (core/session.py), its text in documents. Debates and chats make their own
documents (debate/export.py, chat/export.py) from parts. event_lines is what `--json` prints.
"""
