"""What starts Moot at login: an entry that says just that, whatever the data directory is called."""

import plistlib
import sys
from pathlib import Path

import pytest

from app.children.login_start import BackgroundAtLogin
from app.core.errors import StorageError

HOSTILE = (
    "a b",
    'say "hi"',
    "$(touch x)`touch y`",
    "100%u\\n",
    "a&b<c>",
    "two\nExec=touch z\r\tend",
    "\u202e한글",
)
pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="It is in the registry there")


def exec_words(entry: str) -> list[str]:
    """Read the command of a desktop entry as the Desktop Entry Specification says."""
    (line,) = [line for line in entry.split("\n") if line.startswith("Exec=")]
    value, escapes = "", {"s": " ", "n": "\n", "t": "\t", "r": "\r", "\\": "\\"}
    letters = iter(line.removeprefix("Exec="))
    for letter in letters:
        value += escapes[next(letters)] if letter == "\\" else letter
    words, inside, quoted = [""], False, iter(value)
    for letter in quoted:
        if letter == '"':
            inside = not inside
        elif letter == "\\" and inside:
            words[-1] += next(quoted)
        elif letter == " " and not inside:
            words.append("")
        elif letter == "%":
            assert next(quoted) == "%"
            words[-1] += "%"
        else:
            assert not inside or letter not in "`$"
            words[-1] += letter
    return words


@pytest.mark.skipif(sys.platform == "darwin", reason="It is a launch agent there")
@pytest.mark.parametrize("name", HOSTILE)
def test_a_data_directory_is_one_word_whatever_its_name(home: Path, name: str) -> None:
    login = BackgroundAtLogin(Path("/data") / name)
    assert not login.is_installed()
    login.install()
    entry = Path(login.place).read_bytes().decode()
    assert login.is_installed() and home in Path(login.place).parents
    assert exec_words(entry)[-3:] == ["background", "--data-dir", f"/data/{name}"]
    assert [line.partition("=")[0] for line in entry.split("\n")] == [
        "[Desktop Entry]", "Type", "Name", "NoDisplay", "Exec", "",
    ]  # fmt: skip
    login.remove()
    login.remove()
    assert not login.is_installed()


@pytest.mark.parametrize("name", HOSTILE)
def test_a_launch_agent_has_it_as_one_word(home: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    login = BackgroundAtLogin(Path("/data") / name.replace("\r", ""))
    login.install()
    read = plistlib.loads(Path(login.place).read_bytes())
    assert read["ProgramArguments"][-1] == f"/data/{name}".replace("\r", "") and login.is_installed()


@pytest.mark.parametrize(("platform", "name"), [("linux", "\udcff"), ("darwin", "a\x01b")])
def test_a_path_that_no_entry_can_hold_is_refused_in_words(
    home: Path, monkeypatch: pytest.MonkeyPatch, platform: str, name: str
) -> None:
    monkeypatch.setattr(sys, "platform", platform)
    login = BackgroundAtLogin(Path("/data") / name)
    assert not login.is_installed()
    with pytest.raises(StorageError) as refused:
        login.install()
    assert refused.value.code == "login_start" and not login.is_installed()
