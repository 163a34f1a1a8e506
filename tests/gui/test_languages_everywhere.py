"""Every page in languages made up for the test, so that each text shows where it comes from.

What stands outside the catalogue is found by the mark it lacks, what was not switched by the mark it has.
"""

import json
import re
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QAction
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QComboBox,
    QLabel,
    QLineEdit,
    QMenu,
    QPlainTextEdit,
    QWidget,
)

from app.core.texts import Texts
from app.gui.transcript.transcript_view import TranscriptView
from app.gui.widgets.text import PaintedText
from tests.app_driver import Person, at_window
from tests.gui.every_page import every_page, keep_all, parts_of

FOLDER = Path(__file__).parents[2] / "resources" / "i18n"
MARKS = {"en": ("⟦", "⟧"), "ko": ("⟪", "⟫")}
# They are gone before another language can be chosen; a banner says what has happened.
PASSING = (
    "banner",
    "palette",
    "toast",
    "consent_dialog",
    "server_dialog",
    "ready_groups_dialog",
)
# It closes with the language of its pages, which are none of the catalogue: test_guide_dialog.
CLOSING = ("guide_dialog",)
# Names, also those of what comes along and its definitions, units, and what is written in no language.
KNOWN = {
    "moot", "zyx", "wvu", "gpt", "gemini", "openai", "anthropic", "google", "ollama", "smollm", "claude", "json",
    "assistant", "browser", "checker", "mini", "pro", "preview", "flash", "sonnet", "opus", "llama", "phi", "qwen",
    "subagent", "promptuser", "fetch", "web", "ada", "ben", "down", "trafilatura", "office", "oxide", "python", "docx", "striprtf", "pdfium", "pypdfium", "qasync", "cpp", "xllamacpp",
    "keyring", "platformdirs", "pyromark", "mathra", "hugging", "face", "sil", "ofl", "pyside", "pretendard", "mit", "sdk",
    "ddgs", "lucide", "litellm", "pydantic", "msgspec", "lgpl", "isc", "apache", "bsd", "mpl", "qt",
    "mcp", "kb", "mb", "ctrl", "shift", "alt", "del", "esc", "enter", "return", "english", "duckduckgo", "chatgpt",
    "https", "example", "org",
}  # fmt: skip

# What comes along is written in one language, as what a user writes is.
COMES_ALONG = {
    word.casefold()
    for folder in ("agents", "workflows", "groups", "models", "saved_prompts")
    for path in (FOLDER.parent / folder).rglob("*.json")
    for word in re.findall(r"[^\W\d_]{3,}", path.read_text("utf-8"))
}


@pytest.fixture
def marked(tmp_path: Path) -> Path:
    """Return a folder with both catalogues, each text between the marks of its language."""
    for name, (before, after) in MARKS.items():
        catalogue = json.loads((FOLDER / f"{name}.json").read_text("utf-8"))
        # A text with an unnamed blank is split there: its parts stand on either side of a field.
        texts = {
            key: before + text.replace("{}", f"{after}{{}}{before}") + after
            for key, text in catalogue.items()
        }
        (tmp_path / f"{name}.json").write_text(json.dumps(texts, ensure_ascii=False), "utf-8")
    return tmp_path


def speak(person: Person, folder: Path, name: str) -> None:
    """Switch the window to a marked language."""
    language = person.window.language
    language.texts = Texts.load(folder, name)
    language.changed.emit()


def said_by(part: QWidget) -> list[str]:
    """Return what a part says: its words, those for the screen reader, its tip."""
    found = [part.accessibleName(), part.toolTip()]
    if isinstance(part, QLabel | QAbstractButton | PaintedText):
        found.append(part.text())
    if isinstance(part, QComboBox):
        found += [part.itemText(place) for place in range(part.count())]
    if isinstance(part, QLineEdit | QPlainTextEdit):
        found.append(part.placeholderText())
    if isinstance(part, QAbstractItemView) and part.model() is not None:
        model = part.model()
        rows = [model.index(row, 0) for row in range(model.rowCount())]
        found += [str(row.data(Qt.ItemDataRole.AccessibleTextRole) or row.data() or "") for row in rows]
    if isinstance(part, TranscriptView):
        found += [part.describe(message_id) for message_id in part.message_ids]
    for menu in part.findChildren(QMenu, options=Qt.FindChildOption.FindDirectChildrenOnly):
        found += [action.text() for action in menu.actions() if isinstance(action, QAction)]
    return [text for text in found if text]


def unmarked(text: str, language: str) -> list[str]:
    """Return the words of a text that stand between no marks of a language, where one of them is unknown."""
    before, after = MARKS[language]
    pattern = re.compile(f"{before}[^{before}{after}]*{after}")
    while (shorter := pattern.sub(" ", text)) != text:
        text = shorter
    words = [word for word in re.findall(r"[^\W\d_]{3,}", text) if word.casefold() not in KNOWN]
    # One word alone, as "Name", may be by chance in what comes along; a whole text is not.
    along = len(words) > 1 or MARKS[language][0] not in text
    return [] if along and all(word.casefold() in COMES_ALONG for word in words) else words


def texts_of(root: QWidget) -> set[str]:
    found = {text for part in [root, *parts_of(root)] for text in said_by(part)}
    return {*found, root.windowTitle()}


async def switched(person: Person, name: str, root: QWidget, before: str) -> tuple[set[str], set[str]]:
    """Return the texts of a page, and those still in the language before; a page may read in a thread what it shows."""
    for _ in range(20):
        await person.settle(0.05)
        shown = texts_of(root)
        stayed = {text for text in shown if MARKS[before][0] in text}
        if not stayed or name in PASSING:
            break
    return shown, stayed


@pytest.mark.parametrize("step", [18, pytest.param(1, marks=pytest.mark.slow)])
async def test_every_text_is_of_the_catalogue_and_is_switched(qapp, data_dir, marked, step):
    """The short form looks at every eighteenth page: switching the language twice on each takes long."""
    await keep_all(data_dir)
    outside: dict[str, set[str]] = {}
    left: dict[str, set[str]] = {}
    async with at_window(data_dir, language="en", size=(1100, 760)) as person:
        speak(person, marked, "en")
        number = 0
        async for name, root in every_page(person):
            number += 1
            if number % step or name in CLOSING:
                continue
            speak(person, marked, "ko")
            shown, stayed = await switched(person, name, root, "en")
            if stayed and name not in PASSING:
                left[name] = stayed
            wrong = {text for text in shown - stayed if unmarked(text.replace(str(data_dir), ""), "ko")}
            if wrong:
                outside[name] = wrong
            speak(person, marked, "en")
            _shown, back = await switched(person, name, root, "ko")
            if back and name not in PASSING:
                left[f"{name}, back"] = back
    assert outside == {}
    assert left == {}
