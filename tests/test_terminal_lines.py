"""Lines of the terminal: progress on a console that knows no codes, and commands by a name that they have here."""

import os
import subprocess
import sys
from pathlib import Path
from unicodedata import east_asian_width

import pytest

from app.cli.printing.lines import load_texts
from app.cli.terminal import cells, show_progress
from app.core.servers import split_command
from app.core.texts import LANGUAGES, command_name

PROJECT = Path(__file__).resolve().parents[1]


class Console:
    """A console of 80 cells that knows the carriage return and no other code."""

    def __init__(self) -> None:
        self.row = [" "] * 80
        self._at = 0

    def isatty(self) -> bool:
        return True

    def write(self, text: str) -> None:
        for letter in text:
            if letter == "\r":
                self._at = 0
                continue
            assert letter.isprintable(), f"{letter!r} is drawn as a sign"
            self.row[self._at] = letter
            self._at += 1
            if east_asian_width(letter) in "WF":
                self.row[self._at] = ""
                self._at += 1

    def flush(self) -> None:
        pass

    @property
    def shown(self) -> str:
        return "".join(self.row).rstrip()


def test_progress_is_cleared_on_a_console_that_knows_no_codes(monkeypatch: pytest.MonkeyPatch) -> None:
    console = Console()
    monkeypatch.setattr(sys, "stderr", console)
    monkeypatch.setenv("COLUMNS", "80")
    show_progress("세션 로그 확인 중 " * 10)
    assert console.shown.startswith("세션 로그 확인 중 세션") and 68 <= cells(console.shown) <= 70
    show_progress("Checking: 1 of 2")
    assert console.shown == "Checking: 1 of 2"
    show_progress("")
    assert console.shown == ""


def test_progress_stays_on_one_line_of_a_narrow_console(monkeypatch: pytest.MonkeyPatch) -> None:
    console = Console()
    console.row = [" "] * 30
    monkeypatch.setattr(sys, "stderr", console)
    monkeypatch.setenv("COLUMNS", "30")
    show_progress("x" * 100)
    show_progress("세션 로그 확인 중 " * 10)
    assert 27 <= cells(console.shown) <= 29 and "x" not in console.shown


@pytest.mark.parametrize("language", LANGUAGES)
def test_texts_name_the_command_that_there_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, language: str
) -> None:
    says = load_texts(language)
    folder = tmp_path / "내 프로그램"
    (folder / "bin").mkdir(parents=True)
    monkeypatch.setattr(sys, "executable", str(folder / "python"))
    try:
        for path, there, command in (
            (folder / "bin", folder / "bin" / "moot", ["moot"]),
            (tmp_path, folder / "moot", [str(folder / "moot")]),
            (tmp_path, folder / "bin" / "moot", [str(folder / "bin" / "moot")]),
            (tmp_path, None, [str(folder / "python"), "-m", "app"]),
        ):
            monkeypatch.setenv("PATH", str(path))
            if there is not None:
                there.write_text("#!/bin/sh\n")
                there.chmod(0o755)
            command_name.cache_clear()
            assert split_command(command_name()) == command
            assert f': {command_name()} debate "…"' in says("cli.no_sessions")
            assert f"`{command_name()} doctor`" in says("error.nobody_called", who="ada")
            if there is not None:
                there.unlink()
    finally:
        command_name.cache_clear()


@pytest.mark.slow
def test_a_command_that_is_told_can_be_typed(tmp_path: Path) -> None:
    environment = {**os.environ, "PATH": os.defpath, "MOOT_DATA_DIR": str(tmp_path / "data")}
    told = subprocess.run(
        [sys.executable, "-m", "app", "--lang", "en", "sessions"],
        cwd=PROJECT, env=environment, capture_output=True, encoding="utf-8", check=True,
    )  # fmt: skip
    line = (told.stdout + told.stderr).strip().partition("Start one with: ")[2]
    command = split_command(line)[: split_command(line).index("debate")]
    assert command != ["moot"]
    done = subprocess.run(
        [*command, "--version"],
        check=True,
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        encoding="utf-8",
    )
    assert done.stdout.startswith("Moot ")
