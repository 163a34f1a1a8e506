"""The appearance of the window: its language (texts, dates, errors, names of keys) and its look.

Every widget with texts gets the window's `Language`, and sets its texts again on `changed`. All have one
`Look`. Another style sheet makes Qt paint every widget again; what keeps colours takes new ones on `changed`.
`sized` and `tall` scale painted text and rows with the application's font.
"""

import ctypes
import os
import re
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import fields
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any
from weakref import ref

from PySide6 import QtCore, QtGui
from PySide6.QtCore import QRect, QSize, Qt
from PySide6.QtDBus import QDBusConnection, QDBusMessage, QDBusPendingCallWatcher, QDBusVariant
from PySide6.QtGui import QIcon, QPainter, QPixmap
from PySide6.QtWidgets import QApplication, QStyle, QStyleOption, QWidget
from shiboken6 import isValid

from app.core.errors import UNWRITTEN, Problem
from app.core.events import Notice
from app.core.provider import FoundServer, ProviderStatus, shown_label
from app.core.session import Session, failure_text, in_words, paused_text, reason_text
from app.core.texts import LANGUAGES, Texts, choose_language
from app.gui.display.theme import Tokens, high_contrast, tokens_of

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


class QtTexts(QtCore.QTranslator):
    """Qt's own texts in the language in use, and those that Qt's translation lacks.

    The program has one, `qt_texts()`, that is never deleted. Qt holds a lock while it asks for a text. If the
    garbage collector ran in `translate` and deleted another translator, the program would wait for that lock
    forever.
    """

    def __init__(self) -> None:
        super().__init__()
        self._texts: Texts | None = None

    def show(self, texts: Texts) -> None:
        """Let Qt's own texts, as of its context menus, follow the language of these."""
        QtCore.QCoreApplication.removeTranslator(self)
        self._texts = texts
        folder = QtCore.QLibraryInfo.path(QtCore.QLibraryInfo.LibraryPath.TranslationsPath)
        if texts.language != "en" and self.load(f"qtbase_{texts.language}", folder):
            QtCore.QCoreApplication.installTranslator(self)

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


class Language(QtCore.QObject):
    """The texts of the language in use; emits `changed` when it is switched."""

    changed = QtCore.Signal()

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

    def follow(self, show: Callable[[], object]) -> None:
        """Call a method of a widget that shows texts: now, and whenever the language changes."""
        self.changed.connect(show)
        show()

    def others(self, *keys: str) -> str:
        """Return texts in the other languages: what is found by its name is found by these too."""
        others = (_texts_of(self._folder, name) for name in LANGUAGES if name != self.name)
        return " ".join(texts(key) for texts in others for key in keys if key in texts)

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

    def paused(self, session: Session) -> str:
        """Return that a session is paused or was stopped, and why, "" without a reason."""
        return paused_text(session, self.texts)

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
        moment, now = _local(iso), now or datetime.now().astimezone()
        if moment is None:
            return ""
        seconds = (now - moment).total_seconds()
        if seconds < 60:
            return self("age.now")
        if seconds < 3600:
            return self("age.minutes", count=int(seconds // 60))
        if moment.date() == now.date():
            return self("age.hours", count=int(seconds // 3600))
        return self.day(iso, now)

    def day(self, iso: str, now: datetime | None = None, *, year: bool = False) -> str:
        """Return the day of an ISO 8601 time: today, yesterday, or a date; with the year
        if it is another one or asked for.
        """
        moment, now = _local(iso), now or datetime.now().astimezone()
        if moment is None:
            return ""
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
        moment, now = _local(iso), now or datetime.now().astimezone()
        if moment is None:
            return ""
        days = (now.date() - moment.date()).days
        if days < DAYS_APART:
            return self.day(iso, now)
        if days < DAYS_TOGETHER:
            return self("day.last_30")
        return self._month(moment)

    def age_below(self, heading: str, iso: str) -> str:
        """Return the age of an ISO 8601 time below the heading of its period: in a month the day alone."""
        moment = _local(iso)
        if moment is None or heading != self._month(moment):
            return self.age(iso)
        return self("day.alone", day=moment.day)

    def _month(self, moment: datetime) -> str:
        return self("day.month", month=self(f"month.{moment.month}"), year=moment.year)

    def days(self, first: str, last: str, now: datetime | None = None) -> str:
        """Return a range of days, with years if they differ."""
        year = first[:4] != last[:4]
        begin, end = self.day(first, now, year=year), self.day(last, now, year=year)
        return begin if begin == end else self("day.range", first=begin, last=end)

    def day_and_time(self, iso: str, now: datetime | None = None) -> str:
        """Return the day of an ISO 8601 time, and the time if it is today."""
        moment, now = _local(iso), now or datetime.now().astimezone()
        if moment is None:
            return ""
        day = self.day(iso, now)
        return f"{day} {moment:%H:%M}" if moment.date() == now.date() else day


@cache
def _texts_of(folder: Path, language: str) -> Texts:
    return Texts.load(folder, language)


def _local(iso: str) -> datetime | None:
    try:
        return datetime.fromisoformat(iso.replace("Z", "+00:00")).astimezone()
    except ValueError:
        return None


BODY_PX = 14
LARGEST_USUAL_PX = 15  # a larger system font was made larger by the user
FULL = "full"
# The classes that a platform theme may give a font of their own, on Windows nearly all of them. The stubs of
# PySide want bytes, the call itself text.
_FONTS = """
QMenu QMenuBar QMessageBox QLabel QTipLabel QStatusBar QPushButton QCheckBox QRadioButton QToolButton
QAbstractItemView QListView QHeaderView QListBox QComboMenuItem QComboLineEdit QSmallFont QMiniFont
"""
FONT_CLASSES: Any = _FONTS.split()
SYSTEM = "system"
SCHEMES = {"light": QtCore.Qt.ColorScheme.Light, "dark": QtCore.Qt.ColorScheme.Dark}
PIECE_S = 0.005
POLISHED = QtCore.Qt.WidgetAttribute.WA_WState_Polished
KOREAN_FAMILY = "Pretendard"
CONTROL = QtCore.Qt.KeyboardModifier.ControlModifier
NOTCH = 120  # of a wheel, in eighths of a degree
MODIFIERS = (Qt.Key.Key_Shift, Qt.Key.Key_Control, Qt.Key.Key_Alt, Qt.Key.Key_AltGr, Qt.Key.Key_Meta)
GENERIC_FAMILIES = ("", "Sans", "Sans Serif", "DejaVu Sans", "Helvetica", "Bitstream Vera Sans")


class _IconEngine(QtGui.QIconEngine):
    """Draws an icon where and when it is painted: a window that opens draws what is seen, in one mode
    and one ratio.
    """

    def __init__(self, look: "Look", name: str, colour: str, side: int, room: int) -> None:
        super().__init__()
        # Not kept alive by its icons, which stay; see _ICONS.
        self._look = ref(look)
        self._name, self._colour, self._side, self._room = name, colour, side, room

    def scaledPixmap(self, size: QSize, mode: QIcon.Mode, state: QIcon.State, scale: float) -> QPixmap:
        colour = self._colour
        if mode == QIcon.Mode.Disabled:
            colour = "text_3"
        elif state == QIcon.State.On:
            colour = "accent"
        look = self._look()
        return look.picture(self._name, colour, self._side, scale, self._room) if look else QPixmap()

    def pixmap(self, size: QSize, mode: QIcon.Mode, state: QIcon.State) -> QPixmap:
        return self.scaledPixmap(size, mode, state, 1.0)

    def paint(self, painter: QPainter, rect: QRect, mode: QIcon.Mode, state: QIcon.State) -> None:
        picture = self.scaledPixmap(rect.size(), mode, state, painter.device().devicePixelRatioF())
        place = QtCore.QRectF(QtCore.QPointF(0, 0), picture.deviceIndependentSize())
        place.moveCenter(QtCore.QRectF(rect).center())
        painter.drawPixmap(place.topLeft(), picture)


# PySide frees an engine with the Python object of its first icon, though widgets still draw copies of that
# icon.
_ICONS: list[QtGui.QIcon] = []


class Look(QtCore.QObject):
    """The theme, text size and motion in use; follows the system if `system` is chosen. Emits `changed`."""

    changed = QtCore.Signal()

    def __init__(self, app: QApplication, resources: Path, theme: str) -> None:
        super().__init__()
        self.app = app
        self.resources = resources
        """The folder with icons, fonts and the guide."""
        self.wanted = theme
        self._percent = 100
        self._motion = SYSTEM
        self._shown_moves = True
        self._unstyled: list[QWidget] = []
        self._later = QtCore.QTimer(self, singleShot=True, interval=0)
        self._later.timeout.connect(self._style_some)
        self._desktop = DesktopSettings(app, self)
        self._sheet = (resources / "app.qss").read_text(encoding="utf-8")
        self._pictures: dict[tuple[str, str, int, float, int], QtGui.QPixmap] = {}
        self._icons: dict[tuple[str, str, int, int], QtGui.QIcon] = {}
        self.tokens = self._wanted_tokens()
        app.setStyle("Fusion")
        app.setFont(ui_font())
        self._apply()
        hints = app.styleHints()
        hints.colorSchemeChanged.connect(self._refresh)
        hints.accessibility().contrastPreferenceChanged.connect(self._refresh)
        self._desktop.changed.connect(self._on_desktop_changed)
        self.ring = FocusRing(app, self)

    def ringed(self, option: QStyleOption) -> bool:
        """Return whether a row of a list that is painted with these options has a focus ring."""
        return self.ring.by_keyboard and bool(option.state & QStyle.StateFlag.State_HasFocus)

    @contextmanager
    def held(self) -> Iterator[None]:
        """Remove the style sheet while many widgets are made; Qt would apply it again for each one."""
        self.app.setStyleSheet("")
        yield
        self._apply()

    def choose(self, theme: str) -> None:
        """Switch to `light`, `dark` or `system`."""
        self.wanted = theme
        self._refresh()

    def choose_size(self, percent: int) -> None:
        """Scale all texts to `percent`, on top of a system font that is already larger."""
        if percent != self._percent:
            self._percent = percent
            self.app.setFont(ui_font(percent))
            self._apply()
            self.changed.emit()

    def choose_motion(self, motion: str) -> None:
        """Choose motion: `full`, `reduced`, or as the `system` says."""
        if motion != self._motion:
            self._motion = motion
            self._apply()
            self.changed.emit()

    @property
    def moves(self) -> bool:
        """Whether motion is allowed."""
        if self._motion != SYSTEM:
            return self._motion == FULL
        hint = QStyle.StyleHint.SH_Widget_Animation_Duration
        return not self._desktop.reduced_motion and self.app.style().styleHint(hint) > 0

    def picture(self, name: str, colour: str, side: int, ratio: float = 1.0, room: int = 0) -> QtGui.QPixmap:
        """Return an icon as a picture in the colour of a token, `side` points high; see `draw_svg`."""
        value = str(getattr(self.tokens, colour))
        key = (name, value, side, ratio, room)
        if key not in self._pictures:
            path = self.resources / "icons" / f"{name}.svg"
            self._pictures[key] = draw_svg(path, side, ratio, value, room)
        return self._pictures[key]

    def icon(self, name: str, colour: str = "text_2", *, side: int = 15, room: int = 0) -> QtGui.QIcon:
        """Return an icon for a button: normal, on, and disabled, each in the theme that is in use
        when it is painted.
        """
        key = (name, colour, side, room)
        if key not in self._icons:
            self._icons[key] = QtGui.QIcon(_IconEngine(self, name, colour, side, room))
            _ICONS.append(self._icons[key])
        return self._icons[key]

    def add_korean_font(self) -> None:
        """Load the Korean font that comes with the program, unless it is there; before any text is
        measured.
        """
        if not QtGui.QFontDatabase.hasFamily(KOREAN_FAMILY):
            for path in sorted((self.resources / "fonts").glob("*.[ot]tf")):
                QtGui.QFontDatabase.addApplicationFont(str(path))

    def _on_desktop_changed(self) -> None:
        self._refresh()
        if self._shown_moves is not self.moves:
            self._apply()
            self.changed.emit()

    def _wanted_tokens(self) -> Tokens:
        hints = self.app.styleHints()
        # The system draws the frames of windows.
        hints.setColorScheme(SCHEMES.get(self.wanted, QtCore.Qt.ColorScheme.Unknown))
        tokens = tokens_of(self.wanted, dark=self._desktop.dark)
        strong = hints.accessibility().contrastPreference() == QtCore.Qt.ContrastPreference.HighContrast
        return high_contrast(tokens) if strong or self._desktop.high_contrast else tokens

    def _refresh(self) -> None:
        tokens = self._wanted_tokens()
        if tokens is not self.tokens:
            self.tokens = tokens
            self._apply(hidden_later=True)
            self.changed.emit()

    def _apply(self, *, hidden_later: bool = False) -> None:
        """Apply palette and style sheet; with `hidden_later` what is not on the screen is styled bit by
        bit.
        """
        self.app.setPalette(palette(self.tokens))
        sheet = style_sheet(self._sheet, self.tokens, text_scale())
        # Qt's own animations, and the transcript, ask the style for the duration.
        self._shown_moves = self.moves
        duration = 200 if self._shown_moves else 0
        sheet += f"\nQAbstractScrollArea, QScrollBar {{ widget-animation-duration: {duration}; }}"
        every = self.app.allWidgets() if hidden_later else []
        hidden = [widget for widget in every if widget.testAttribute(POLISHED) and not widget.isVisible()]
        for widget in hidden:
            widget.setAttribute(POLISHED, False)
        # Where one sheet replaces another, Qt styles a widget again for each of those around it; after none,
        # once.
        self.app.setStyleSheet("")
        self.app.setStyleSheet(sheet)
        for widget in hidden:
            widget.installEventFilter(self)
        self._unstyled += hidden
        if hidden:
            self._later.start()
        # A new style sheet restores the fonts that a platform theme has for some classes, and what it styles
        # keeps them.
        if any(QApplication.font(name) != QApplication.font() for name in FONT_CLASSES):
            self.app.setFont(ui_font(self._percent))
            families = self.app.font().families()
            for widget in self.app.allWidgets():
                if widget.font().families() != families:
                    widget.setAttribute(POLISHED, False)
                    self._style(widget)

    def eventFilter(self, watched: QtCore.QObject, event: QtCore.QEvent) -> bool:
        """Style a hidden widget that is shown before its turn."""
        if event.type() == QtCore.QEvent.Type.Show and isinstance(watched, QWidget):
            self._style(watched)
        return False

    def _style_some(self) -> None:
        """Style some of the widgets that were hidden, and the others in the next rounds of the event loop."""
        until = time.perf_counter() + PIECE_S
        while self._unstyled and time.perf_counter() < until:
            one = self._unstyled.pop()
            if isValid(one):
                self._style(one)
        if self._unstyled:
            self._later.start()

    def _style(self, one: QWidget) -> None:
        one.removeEventFilter(self)
        if one.testAttribute(POLISHED):
            return
        if one.testAttribute(QtCore.Qt.WidgetAttribute.WA_StyleSheetTarget):
            # What the sheet before has set.
            one.setFont(QtGui.QFont())
            one.setPalette(QtGui.QPalette())
        one.setAttribute(POLISHED)
        one.style().polish(one)
        self.app.sendEvent(one, QtCore.QEvent(QtCore.QEvent.Type.StyleChange))


class FocusRing(QtCore.QObject):
    """Sets the property `ring` of the focused widget while the keyboard is in use;
    a mouse click takes it away.

    Emits zoomed(1 or -1) at each notch of the wheel that is turned with Ctrl.
    """

    zoomed = QtCore.Signal(int)

    def __init__(self, app: QApplication, parent: QtCore.QObject) -> None:
        super().__init__(parent)
        self.by_keyboard = False
        self._turned = 0
        app.focusChanged.connect(self._on_focus_changed)
        # Windows get each click and key once; a filter on the application would see every event of every
        # widget.
        app.focusWindowChanged.connect(self._watch)
        self._watch(app.focusWindow())

    def _watch(self, window: QtGui.QWindow | None) -> None:
        if window is not None:
            window.installEventFilter(self)

    def eventFilter(self, watched: QtCore.QObject, event: QtCore.QEvent) -> bool:
        if event.type() == QtCore.QEvent.Type.MouseButtonPress:
            self._show(False)
        elif isinstance(event, QtGui.QKeyEvent) and event.type() == QtCore.QEvent.Type.KeyPress:
            self._show(self.by_keyboard or event.key() not in MODIFIERS)
        elif isinstance(event, QtGui.QWheelEvent) and event.modifiers() == CONTROL:
            # A dialog may show a picture, which has a size of its own.
            if QApplication.activeModalWidget() is not None:
                return False
            self._turn(event.angleDelta().y())
            return True
        return False

    def _turn(self, angle: int) -> None:
        """Count what the wheel was turned by, in eighths of a degree; touchpads tell of less than a notch."""
        self._turned += angle
        notches = int(self._turned / NOTCH)
        self._turned -= notches * NOTCH
        if notches:
            self.zoomed.emit(1 if notches > 0 else -1)

    def _show(self, by_keyboard: bool) -> None:
        if by_keyboard != self.by_keyboard:
            self.by_keyboard = by_keyboard
            _set_ring(QApplication.focusWidget(), by_keyboard)

    def _on_focus_changed(self, before: QWidget | None, now: QWidget | None) -> None:
        _set_ring(before, False)
        _set_ring(now, self.by_keyboard)


def _set_ring(widget: QWidget | None, shown: bool) -> None:
    if widget is not None and isValid(widget) and bool(widget.property("ring")) != shown:
        widget.setProperty("ring", shown)
        widget.style().unpolish(widget)
        widget.style().polish(widget)
        widget.update()


def palette(tokens: Tokens) -> QtGui.QPalette:
    """Return the palette of a theme, for what the style sheet does not draw."""
    roles = QtGui.QPalette.ColorRole
    painted = (
        (tokens.bg, (roles.Window, roles.ToolTipText)),
        (tokens.side, (roles.AlternateBase,)),
        (tokens.surface, (roles.Base, roles.Button, roles.Light)),
        (tokens.hover, (roles.Midlight,)),
        (tokens.line_strong, (roles.Mid, roles.Dark, roles.Shadow)),
        (tokens.text, (roles.WindowText, roles.Text, roles.ButtonText, roles.ToolTipBase)),
        (tokens.text_3, (roles.PlaceholderText,)),
        (tokens.error, (roles.BrightText,)),
        (tokens.accent, (roles.Highlight, roles.Link, roles.LinkVisited, roles.Accent)),
        (tokens.on_accent, (roles.HighlightedText,)),
    )
    result = QtGui.QPalette()
    for colour, of in painted:
        for role in of:
            result.setColor(role, QtGui.QColor(colour))
    for role in (roles.WindowText, roles.Text, roles.ButtonText):
        result.setColor(QtGui.QPalette.ColorGroup.Disabled, role, QtGui.QColor(tokens.text_3))
    return result


def style_sheet(sheet: str, tokens: Tokens, scale: float = 1.0) -> str:
    """Return the style sheet with font sizes scaled and every `@token` replaced by its colour.

    Raises KeyError for an unknown token.
    """
    values = {field.name: getattr(tokens, field.name) for field in fields(tokens)}
    sheet = re.sub(r"font-size: (\d+)px", lambda match: f"font-size: {round(int(match[1]) * scale)}px", sheet)
    return re.sub(r"@([a-z][a-z0-9_]*)", lambda match: str(values[match[1]]), sheet)


def ui_font(percent: int = 100) -> QtGui.QFont:
    """Return the system's font at `percent` of the body size; Inter if the system names no font of its own.

    The body size is larger if the user has made the system's font larger than usual.
    """
    font = QtGui.QFontDatabase.systemFont(QtGui.QFontDatabase.SystemFont.GeneralFont)
    body = BODY_PX * max(1.0, QtGui.QFontInfo(font).pixelSize() / LARGEST_USUAL_PX)
    families = [KOREAN_FAMILY, "Noto Sans CJK KR", "Malgun Gothic", "Apple SD Gothic Neo"]
    if font.family() in GENERIC_FAMILIES:
        font.setFamilies(["Inter", *families, font.family()])
    else:
        font.setFamilies([font.family(), *families])
    font.setPixelSize(round(body * percent / 100))
    # Inter and Pretendard would draw the x of "2x3" as a sign: what was written is shown.
    for feature in ("calt", "clig"):
        font.setFeature(QtGui.QFont.Tag(feature), 0)
    return font


def text_scale() -> float:
    """Return the scale of all texts, 1.0 for a body of 14 pixels."""
    pixels = QtGui.QGuiApplication.font().pixelSize()
    return pixels / BODY_PX if pixels > 0 else 1.0


def sized(font: QtGui.QFont, pixels: float, weight: int = 400) -> QtGui.QFont:
    """Return the font at another size in pixels, scaled with the texts, and another weight."""
    result = QtGui.QFont(font)
    result.setPixelSize(round(pixels * text_scale()))
    result.setWeight(QtGui.QFont.Weight(weight))
    return result


def tall(pixels: float) -> int:
    """Return a height in pixels scaled with the texts, never less than given."""
    return round(pixels * max(1.0, text_scale()))


def draw_svg(path: Path, side: int, ratio: float, colour: str, room: int = 0) -> QtGui.QPixmap:
    """Draw an SVG into a square of `side` points, with `colour` (`#RRGGBB`) for `currentColor`.

    `room` points are left free at its right, as the gap before a button's text.
    """
    from PySide6.QtSvg import QSvgRenderer

    picture = QtGui.QPixmap(QtCore.QSize(side + room, side) * ratio)
    picture.fill(QtCore.Qt.GlobalColor.transparent)
    renderer = QSvgRenderer(path.read_bytes().replace(b"currentColor", colour.encode()))
    painter = QtGui.QPainter(picture)
    renderer.render(painter, QtCore.QRectF(QtCore.QPoint(0, 0), QtCore.QSize(side, side) * ratio))
    painter.end()
    picture.setDevicePixelRatio(ratio)
    return picture


_SERVICE = "org.freedesktop.portal.Desktop"
_PATH = "/org/freedesktop/portal/desktop"
_INTERFACE = "org.freedesktop.portal.Settings"

_ANIMATIONS = ("org.gnome.desktop.interface", "enable-animations")
_COLOR_SCHEME = ("org.freedesktop.appearance", "color-scheme")
_CONTRAST = ("org.freedesktop.appearance", "contrast")
_SCHEMES = {1: True, 2: False}
GET_CLIENT_AREA_ANIMATION = 0x1042


class DesktopSettings(QtCore.QObject):
    """The desktop's settings for appearance, as the settings portal reports them; emits `changed`.

    Windows and macOS are asked whether things may move. Else, without a portal (other systems, no session
    bus), only Qt's own hints are known. `dark` is None if the desktop has no preference or no portal.
    """

    changed = QtCore.Signal()

    def __init__(self, app: QApplication, parent: QtCore.QObject) -> None:
        super().__init__(parent)
        self.reduced_motion = False
        self.dark: bool | None = None
        self.high_contrast = False
        self._asked: set[QDBusPendingCallWatcher] = set()
        if sys.platform in ("win32", "darwin"):
            self._ask_system()
            # Nothing tells of a change, but the user makes it in another program.
            app.applicationStateChanged.connect(self._ask_system)
        # Without a bus, Qt would start one.
        if not _has_bus() or not (bus := QDBusConnection.sessionBus()).isConnected():
            return
        # The stubs of PySide want bytes; the call itself wants text.
        slot: Any = QtCore.SLOT("_on_setting_changed(QDBusMessage)")
        bus.connect("", _PATH, _INTERFACE, "SettingChanged", self, slot)
        for setting in (_ANIMATIONS, _COLOR_SCHEME, _CONTRAST):
            self._ask(bus, setting)

    def _ask_system(self) -> None:
        if sys.platform == "win32":
            moves = ctypes.c_int(True)
            ctypes.windll.user32.SystemParametersInfoW(GET_CLIENT_AREA_ANIMATION, 0, ctypes.byref(moves), 0)
            self.reduced_motion = not moves.value
        else:
            self.reduced_motion = bool(QtCore.QSettings("apple.com", "universalaccess").value("reduceMotion"))
        self.changed.emit()

    def _ask(self, bus: QDBusConnection, setting: tuple[str, str]) -> None:
        call = QDBusMessage.createMethodCall(_SERVICE, _PATH, _INTERFACE, "Read")
        call.setArguments(list(setting))
        watcher = QDBusPendingCallWatcher(bus.asyncCall(call), self)
        self._asked.add(watcher)

        def take() -> None:
            self._asked.discard(watcher)
            reply = watcher.reply()
            if reply.type() == QDBusMessage.MessageType.ReplyMessage:
                self._take(setting, reply.arguments())

        watcher.finished.connect(take)

    @QtCore.Slot(QDBusMessage)
    def _on_setting_changed(self, message: QDBusMessage) -> None:
        namespace, key, *value = message.arguments()[:3]
        self._take((str(namespace), str(key)), value)

    def _take(self, setting: tuple[str, str], arguments: list[object]) -> None:
        """Store a value; ignore unknown types and settings."""
        value = arguments[0] if arguments else None
        while isinstance(value, QDBusVariant):
            value = value.variant()
        before = (self.reduced_motion, self.dark, self.high_contrast)
        if setting == _ANIMATIONS and isinstance(value, bool):
            self.reduced_motion = not value
        elif setting == _COLOR_SCHEME and isinstance(value, int):
            self.dark = _SCHEMES.get(value)
        elif setting == _CONTRAST and isinstance(value, int):
            self.high_contrast = value == 1
        if before != (self.reduced_motion, self.dark, self.high_contrast):
            self.changed.emit()


def _has_bus() -> bool:
    if not sys.platform.startswith("linux"):
        return False
    named = "DBUS_SESSION_BUS_ADDRESS" in os.environ
    return named or (Path(os.environ.get("XDG_RUNTIME_DIR", "/nowhere")) / "bus").exists()
