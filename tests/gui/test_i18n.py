"""Both languages have every text, with the same blanks; dates and states read as people say them."""

import json
import re
import string
import subprocess
import sys
from datetime import datetime, timedelta
from pathlib import Path

from PySide6.QtCore import QCoreApplication
from PySide6.QtWidgets import QAbstractButton, QFileDialog, QLabel

from app.core.events import Notice
from app.gui.display.appearance import Language

ROOT = Path(__file__).parent.parent.parent
FOLDER = ROOT / "resources" / "i18n"
CATALOGUES = {name: json.loads((FOLDER / f"{name}.json").read_text("utf-8")) for name in ("en", "ko")}
KEY = re.compile(
    r"""(?:words|language|_language|self\._language|texts)\(\s*"([a-z][a-z0-9_.-]+)"((?:[^()]|\([^()]*\))*)"""
)


def blanks(text: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(text) if name}


def test_qts_own_texts_follow_the_language(qapp):
    language = Language(FOLDER, "ko")
    assert QCoreApplication.translate("QWidgetTextControl", "&Copy") == "복사(&C)"
    assert QCoreApplication.translate("Nobody", "Has this") == "Has this"
    dialog = QFileDialog(None, "", str(ROOT), "*")
    dialog.setOption(QFileDialog.Option.DontUseNativeDialog)
    assert dialog.findChild(QLabel, "lookInLabel").text() == "찾는 위치(&L):"
    english = re.compile("[A-Za-z]{2}")
    said = [one.text() for kind in (QLabel, QAbstractButton) for one in dialog.findChildren(kind)]
    assert len(said) > 5 and not [one for one in said if english.search(one)]
    dialog.deleteLater()
    language.choose("en")
    assert QCoreApplication.translate("QWidgetTextControl", "&Copy") == "&Copy"


def test_both_languages_have_the_same_texts():
    assert set(CATALOGUES["en"]) == set(CATALOGUES["ko"])


def test_no_text_hides_those_that_differ_by_number():
    names = set(CATALOGUES["en"])
    assert not {name for name in names if names & {f"{name}.one", f"{name}.other"}}


def test_every_text_has_the_same_blanks_in_both_languages():
    english, korean = CATALOGUES["en"], CATALOGUES["ko"]
    assert [name for name in english if blanks(english[name]) != blanks(korean[name])] == []


def test_every_text_the_window_asks_for_is_there():
    missing = []
    for path in sorted((ROOT / "app" / "gui").rglob("*.py")):
        for key, rest in KEY.findall(path.read_text("utf-8")):
            by_number = "count=" in rest and key not in CATALOGUES["en"]
            wanted = {f"{key}.one", f"{key}.other"} if by_number else {key}
            missing += [f"{path.name}: {name}" for name in sorted(wanted - set(CATALOGUES["en"]))]
    assert missing == []


def test_the_language_is_switched_while_it_is_in_use(qapp):
    language = Language(FOLDER, "en")
    heard = []
    language.changed.connect(lambda: heard.append(language.name))
    assert language("tab.history") == "History"
    language.choose("ko")
    language.choose("ko")
    assert language("tab.history") == "기록"
    assert heard == ["ko"]


def test_days_from_one_to_another(qapp):
    language, now = Language(FOLDER, "en"), datetime(2026, 11, 22, 12).astimezone()
    assert language.days("2024-05-14T12:00:00Z", "2026-08-28T12:00:00Z", now) == "14 May 2024 – 28 Aug 2026"
    assert language.days("2026-05-14T12:00:00Z", "2026-08-28T12:00:00Z", now) == "14 May – 28 Aug"
    assert language.days("2024-05-14T12:00:00Z", "2026-11-22T12:00:00Z", now) == "14 May 2024 – Today"
    assert language.days("2024-05-14T12:00:00Z", "2024-05-14T13:00:00Z", now) == "14 May 2024"


def test_ages_and_days(qapp):
    language = Language(FOLDER, "en")
    now = datetime(2026, 11, 21, 15, 0).astimezone()

    def before(**delta: float) -> str:
        return (now - timedelta(**delta)).isoformat()

    assert language.age(before(seconds=5), now) == "now"
    assert language.age(before(minutes=2), now) == "2 m"
    assert language.age(before(hours=3), now) == "3 h"
    assert language.age(before(hours=20), now) == "Yesterday"
    assert language.day(before(days=9), now) == "12 Nov"
    assert language.day(before(days=400), now) == "17 Oct 2025"
    assert language.day_and_time(before(hours=1), now) == "Today 14:00"
    language.choose("ko")
    assert language.day(before(days=9), now) == "11월 12일"
    assert language.day("not a date", now) == ""


def test_roles_states_and_reasons_are_words(qapp):
    language = Language(FOLDER, "en")
    assert language.role("devils-advocate") == "Devil’s advocate"
    assert language.role("A pirate") == "A pirate"
    assert language.status("paused", 2) == "Paused at round 2"
    assert language.problem("unheard_of") == "unheard_of"
    assert language.problem("topic_empty") != "topic_empty"
    full = Notice(session_id="", level="error", code="disk_full", details={"path": "a.jsonl"})
    assert language.problem(full.code, **full.details).endswith("Free some space.")
    assert language.notice(full).endswith("Unsaved data is kept in memory, and saving is retried.")
    assert language.problem("plan_open", count=1) == "1 to-do of the plan is still open."
    assert language.problem("plan_open", count=3) == "3 to-dos of the plan are still open."


COLLECTED_WHILE_QT_ASKS = """
import gc
from pathlib import Path
from PySide6.QtCore import QCoreApplication
from app.gui.display import appearance

class Collecting(dict):
    def get(self, *place):
        gc.collect()
        return super().get(*place)

app = QCoreApplication([])
gone = appearance.Language(Path("resources/i18n"), "ko")
gone.itself = gone
shown = appearance.Language(Path("resources/i18n"), "ko")
del gone
appearance.LACKED = Collecting(appearance.LACKED)
print(QCoreApplication.translate("QFileDialog", "&Look in:") == shown("qt.look_in"))
"""


def test_a_language_that_is_collected_while_qt_asks_for_a_text_stops_nothing() -> None:
    # In a process of its own: a thread that waits for Qt's lock cannot be interrupted.
    command = [sys.executable, "-c", COLLECTED_WHILE_QT_ASKS]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=60, cwd=ROOT, check=False)
    assert (ran.stdout, ran.stderr) == ("True\n", "")
