"""Chats with one assistant: director says what comes next, run does it.

input has the checks of what users type, commands what a face may do, summary_commands what it may do with summaries.
titles writes the title, export a chat as a document.
"""
