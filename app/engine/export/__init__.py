"""Sessions as documents for people and as JSON for programs.

A new format: its name in `ExportFormat` (core/session.py), its text in engine/session_kinds.py, its row in
`EXPORTS` (gui/navigation/session_list.py), its texts in resources/i18n. Debates and chats say what their
documents consist of (council/export.py, chat/export.py) in the terms of document; formats writes it as
Markdown and HTML, and gui/files/pdf_file. event_lines is what `--json` prints.
"""
