"""Command lines, as the user's system writes them."""

import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as some

from app.core.servers import split_command
from app.core.texts import join_command


def test_a_path_of_windows_keeps_its_backslashes():
    line = r"""C:\Tools\agent.exe --dir "C:\My Files\\" --json {\"a\":1} "" it's"""
    words = ["C:\\Tools\\agent.exe", "--dir", "C:\\My Files\\", "--json", '{"a":1}', "", "it's"]
    assert split_command(line, windows=True) == words
    assert split_command("sh -c 'a b' c\\ d", windows=False) == ["sh", "-c", "a b", "c d"]
    with pytest.raises(ValueError, match="quotation"):
        split_command('"C:\\My Files', windows=True)


@given(some.lists(some.text("ab \\\"'\t김", max_size=8)))
def test_windows_itself_writes_what_is_read(words):
    assert split_command(subprocess.list2cmdline(words), windows=True) == words
    assert split_command(join_command(words, windows=True), windows=True) == words


@given(some.lists(some.text("ab \\\"'\t김", max_size=8)))
def test_a_posix_line_is_read_as_it_was_written(words):
    assert split_command(join_command(words, windows=False), windows=False) == words
