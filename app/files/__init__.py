"""Reads files of the user: text in a thread, documents and pictures in a child process for each file.

`reader`: the parent's end. `file_reader`: the child process, which
alone imports the libraries that read documents.
"""
