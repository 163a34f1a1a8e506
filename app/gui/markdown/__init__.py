"""From the text of a message to blocks and documents that can be laid out and painted.

Blocks, links and what is left out of text: blocks. What Markdown is understood: parser. Streaming and literal text:
message_blocks. Blocks as a QTextDocument: document. Formulas in it: formula_object. Colours of code: highlight.
Copying as Markdown or plain text: excerpt. Places in text as Qt counts them: utf16.
"""
