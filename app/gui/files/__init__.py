"""Files in the window: pasted pictures and texts as attachments, sizes of context files, exports as PDF, shared definitions.

`attachments`, `pdf_file`, `shared_files`.
"""
