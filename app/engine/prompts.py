"""The texts that go to models: `prompts/<language>/<name>.txt`; and those of the window, for documents."""

from collections.abc import Mapping
from pathlib import Path

from app.core.texts import LANGUAGES, Texts

# The texts of a file of `key = text` lines, by their keys.
Lines = Mapping[str, str]


class Prompts:
    """The prompt files of a folder, read once."""

    def __init__(self, folder: Path) -> None:
        self._texts = {
            (file.parent.name, file.stem): file.read_text(encoding="utf-8").strip()
            for file in sorted(folder.glob("*/*.txt"))
        }
        # Read now, as nothing may be read from the disk while the window waits.
        self._shown = {name: Texts.load(folder.parent / "i18n", name) for name in LANGUAGES}

    def shown(self, language: str) -> Texts:
        """Return the texts of the window, for documents in the language of a session."""
        return self._shown.get(language) or self._shown["en"]

    def text(self, language: str, name: str, /, **values: object) -> str:
        """Return a prompt with its blanks filled. Raises KeyError for one that is not there.

        A session from a file may name a language that Moot does not have: its prompts are English.
        """
        text = self._texts.get((language, name)) or self._texts["en", name]
        return text.format(**values) if values else text

    def line(self, language: str, name: str, key: str, /, **values: object) -> str:
        """Return one line of a file of `key = text` lines; raises KeyError for one it lacks."""
        text = self.lines(language, name)[key]
        return text.format(**values) if values else text

    def lines(self, language: str, name: str) -> dict[str, str]:
        """Return a file of `key = text` lines."""
        pairs = (line.split("=", 1) for line in self.text(language, name).splitlines() if "=" in line)
        return {key.strip(): text.strip() for key, text in pairs}
