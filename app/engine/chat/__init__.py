"""Chats with one assistant: director says what comes next, run does it, request is what the model gets.

attached_files is what the model gets of files; merging joins neighbours of one role. branches has the versions of turns,
input the checks of what users type, commands what a face may do, summary_commands what it may do with summaries. titles
writes the title, export a chat as a document.
"""
