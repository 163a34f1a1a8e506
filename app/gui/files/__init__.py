"""Files in the window: attachments, context files, shared definitions, and exports as PDF.

`user_files`: pasted pictures and texts, files to open and to save. `pdf_file`.
"""
