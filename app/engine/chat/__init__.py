"""Chats with one assistant: run says what comes next and does it, and writes the title.

commands has what a face may do, also with summaries, and the checks of what users type.
export writes a chat as a document.
"""
