"""Chats with one assistant: director says what comes next, run does it, request is what the model gets, attached_files what it gets of files.

branches has the versions of turns, input the checks of what users type, commands what a face may do.
"""
