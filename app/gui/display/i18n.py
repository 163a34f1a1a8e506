"""The language of the window: texts, dates and errors in the language in use, and the names of keys.

Every widget with texts gets the `Language` of its window and sets its texts again on `changed`.
"""

from collections.abc import Mapping
from datetime import datetime
from functools import cache
from pathlib import Path

from PySide6.QtCore import QCoreApplication, QLibraryInfo, QObject, QTranslator, Signal

from app.core.catalog import shown_label
from app.core.errors import UNWRITTEN
from app.core.events import Notice
from app.core.provider import FoundServer, ProviderStatus
from app.core.reasons import failure_text, in_words, paused_text, reason_text
from app.core.store import Problem
from app.core.texts import Texts, choose_language

BUILT_IN_ROLES = ("for", "against", "neutral", "optimist", "realist", "devils-advocate")

# Sessions of a week are listed by day, those of 30 days together.
DAYS_APART, DAYS_TOGETHER = 7, 30


# Texts of Qt's file dialog that its translations lack, by their context.
LACKED = {
    ("QFileDialog", "&Look in:"): "qt.look_in",
    ("QFileDialog", "Files of &type:"): "qt.file_types",
    ("QFileDialog", "File not found"): "qt.not_found",
    ("QAbstractFileIconProvider", "Drive"): "qt.drive",
    ("QAbstractFileIconProvider", "File"): "qt.file",
    ("QAbstractFileIconProvider", "Folder"): "qt.folder",
    ("QAbstractFileIconProvider", "Shortcut"): "qt.shortcut",
    ("QAbstractFileIconProvider", "Unknown"): "qt.unknown",
}


class QtTexts(QTranslator):
    """Qt's own texts in the language in use, and those that Qt's translation lacks.

    The program has one, `qt_texts()`, that is never deleted. Qt holds a lock while it asks for a text. If the garbage collector ran
    in `translate` and deleted another translator, the program would wait for that lock forever.
    """

    def __init__(self) -> None:
        super().__init__()
        self._texts: Texts | None = None

    def show(self, texts: Texts) -> None:
        """Let Qt's own texts, as of its context menus, follow the language of these."""
        QCoreApplication.removeTranslator(self)
        self._texts = texts
        folder = QLibraryInfo.path(QLibraryInfo.LibraryPath.TranslationsPath)
        if texts.language != "en" and self.load(f"qtbase_{texts.language}", folder):
            QCoreApplication.installTranslator(self)

    def translate(
        self, context: str, sourceText: str, disambiguation: str | None = None, n: int = -1
    ) -> str | None:
        found = super().translate(context, sourceText, disambiguation, n)
        key = LACKED.get((context, sourceText))
        # Qt takes None for "no text" and an empty one for a translation.
        return found or (self._texts(key) if key and self._texts else None)


@cache
def qt_texts() -> QtTexts:
    """Return the program's translator of Qt's own texts."""
    return QtTexts()


class Language(QObject):
    """The texts of the language in use; emits `changed` when it is switched."""

    changed = Signal()

    def __init__(self, folder: Path, wanted: str) -> None:
        super().__init__()
        self._folder = folder
        self.wanted = wanted
        """What was chosen last: a language, or `system`."""
        self.texts = Texts.load(folder, choose_language(wanted))
        self._keys: dict[str, str] = {}
        qt_texts().show(self.texts)

    def __call__(self, key: str, **values: object) -> str:
        """Return the text of a key; see `Texts`."""
        return self.texts(key, **values)

    @property
    def name(self) -> str:
        """The language in use, `en` or `ko`."""
        return self.texts.language

    def choose(self, wanted: str) -> None:
        """Switch to a language; `system` follows the environment."""
        self.wanted, name = wanted, choose_language(wanted)
        if name != self.texts.language:
            self.texts = Texts.load(self._folder, name)
            qt_texts().show(self.texts)
            self.changed.emit()

    def keys(self, command: str) -> str:
        """Return the shortcut of a command as this system writes it, "" if it has none."""
        return self._keys.get(command, "")

    def choose_keys(self, keys: Mapping[str, str]) -> None:
        """Set the shortcuts of commands, by their names."""
        if keys != self._keys:
            self._keys = dict(keys)
            self.changed.emit()

    def role(self, role: str) -> str:
        """Return the name of a built-in role; the user's own text is returned as it is."""
        return self(f"role.{role}") if role in BUILT_IN_ROLES else role

    def provider(self, status: ProviderStatus) -> str:
        """Return a provider's name; only those that say what it is are translated."""
        return shown_label(status, self)

    def with_keys(self, key: str, *, kept: bool) -> str:
        """Return a text, then whether keys are kept when Moot closes."""
        return f"{self(key)} {self('keyring.keeps' if kept else 'keyring.forgets')}"

    def server(self, server: FoundServer) -> str:
        """Return the name of a server that was found, or a general one."""
        return server.name or self("provider.compatible")

    def mode(self, mode: str) -> str:
        """Return the name of a debate mode."""
        return self.texts.named("mode", mode)

    def status(self, status: str, round_number: int = 0) -> str:
        """Return a session status in a word or two; a paused debate names its round."""
        if status == "paused" and round_number:
            return self("status.paused_at", round=round_number)
        return self.texts.named("status", status)

    def reason(self, reason: str) -> str:
        """Return the reason of a session's status as text, "" if there is nothing to say."""
        return reason_text(reason, self.texts)

    def paused(self, reason: str) -> str:
        """Return that a session is paused and why, "" without a reason."""
        return paused_text(reason, self.texts)

    def problem(self, code: str, **details: object) -> str:
        """Return the text of an error code or a reason, the code itself if there is no text."""
        details = in_words(details, self.texts)
        for prefix in ("error", "reason", "failure", "provider", "notice", "problem"):
            key = f"{prefix}.{code}"
            if key in self.texts or f"{key}.other" in self.texts:
                try:
                    text = self(key, **details)
                except (KeyError, IndexError):
                    continue
                return text
        return code

    def notice(self, notice: Notice) -> str:
        """Return the text of a notice. What could not be saved is kept: an open window goes on trying."""
        text = self.problem(notice.code, **notice.details)
        return f"{text} {self('storage.kept')}" if notice.code in UNWRITTEN else text

    def failure(self, kind: str, detail: str = "", provider: str = "") -> str:
        """Return why a provider could not be reached, outside of any session; see `reasons.failure_text`."""
        return failure_text(kind, detail, provider, self.texts)

    def file_problem(self, problem: Problem) -> str:
        """Return what is wrong with a file: its name, line and field, and the problem."""
        place = Path(problem.path).name + (f":{problem.line}" if problem.line else "")
        field = f" {problem.field}" if problem.field else ""
        key = f"problem.{problem.code}"
        detail = f" ({problem.detail})" if problem.detail else ""
        return f"{place}{field}: {self(key) if key in self.texts else problem.code}{detail}"

    def age(self, iso: str, now: datetime | None = None) -> str:
        """Return the age of an ISO 8601 time in two or three characters: `2 m`, `3 h`, `12 Nov`."""
        moment = _local(iso)
        if moment is None:
            return ""
        now = now or datetime.now().astimezone()
        seconds = (now - moment).total_seconds()
        if seconds < 60:
            return self("age.now")
        if seconds < 3600:
            return self("age.minutes", count=int(seconds // 60))
        if moment.date() == now.date():
            return self("age.hours", count=int(seconds // 3600))
        return self.day(iso, now)

    def day(self, iso: str, now: datetime | None = None, *, year: bool = False) -> str:
        """Return the day of an ISO 8601 time: today, yesterday, or a date; with the year if it is another one or asked for."""
        moment = _local(iso)
        if moment is None:
            return ""
        now = now or datetime.now().astimezone()
        days = (now.date() - moment.date()).days
        if days <= 0:
            return self("day.today")
        if days == 1:
            return self("day.yesterday")
        month = self(f"month.{moment.month}")
        if moment.year == now.year and not year:
            return self("day.date", day=moment.day, month=month)
        return self("day.date_year", day=moment.day, month=month, year=moment.year)

    def period(self, iso: str, now: datetime | None = None) -> str:
        """Return what a list is divided by: the day of the last week, else the last 30 days or the month."""
        moment = _local(iso)
        if moment is None:
            return ""
        now = now or datetime.now().astimezone()
        days = (now.date() - moment.date()).days
        if days < DAYS_APART:
            return self.day(iso, now)
        if days < DAYS_TOGETHER:
            return self("day.last_30")
        return self("day.month", month=self(f"month.{moment.month}"), year=moment.year)

    def days(self, first: str, last: str, now: datetime | None = None) -> str:
        """Return a range of days, with years if they differ."""
        year = first[:4] != last[:4]
        begin, end = self.day(first, now, year=year), self.day(last, now, year=year)
        return begin if begin == end else self("day.range", first=begin, last=end)

    def day_and_time(self, iso: str, now: datetime | None = None) -> str:
        """Return the day of an ISO 8601 time, and the time if it is today."""
        moment = _local(iso)
        if moment is None:
            return ""
        now = now or datetime.now().astimezone()
        day = self.day(iso, now)
        return f"{day} {moment:%H:%M}" if moment.date() == now.date() else day


def _local(iso: str) -> datetime | None:
    try:
        return datetime.fromisoformat(iso.replace("Z", "+00:00")).astimezone()
    except ValueError:
        return None
