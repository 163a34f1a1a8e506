"""What the user decided in sessions of every kind: journal keeps it and what came of it,
memo is a page about it, which memo_formats writes as Markdown and HTML.
"""
