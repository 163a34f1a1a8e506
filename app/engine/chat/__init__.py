"""Chats with one assistant: director says what comes next, run does it.

commands has what a face may do, also with summaries, and the checks of what users type.
titles writes the title, export a chat as a document.
"""
