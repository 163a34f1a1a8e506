"""From the text of a message to blocks and documents that can be laid out and painted.

What Markdown is understood, links and images: blocks. Streaming and literal text: message_blocks. Blocks as a
QTextDocument: document. Colours of code: highlight. Copying as Markdown or plain text: excerpt.
"""
