"""From the text of a message to blocks and documents that can be laid out and painted.

Blocks, what Markdown is understood, links, what is left out of text, streaming and literal text: blocks.
Blocks as a QTextDocument, formulas in it, copying as Markdown or plain text, places in text as Qt counts
them, colours of code: document.
"""
