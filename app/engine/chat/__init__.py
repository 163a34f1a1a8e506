"""Chats with one assistant: run says what comes next and does it.

commands has what a face may do, also with summaries, and the checks of what users type.
titles writes the title, export a chat as a document.
"""
