"""Sessions as documents for people and as JSON for programs.

A new format: its name in `ExportFormat` (core/session.py), its text in engine/session_kinds.py, its row in
`EXPORTS` (gui/navigation/session_list.py), its texts in resources/i18n. Debates and chats say what their
documents consist of (council/export.py, chat/export.py) in the terms of document; formats writes it as
Markdown and HTML, gui/files/pdf_file as a PDF of the window, and the process that reads files makes a PDF or
a Word document of the HTML. event_lines is what `--json` prints.
"""
