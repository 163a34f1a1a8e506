"""The one field for choosing a model: searchable, grouped by provider, with what each model can do and what it costs.

Forms, dialogs and a debate's Setup take `ModelChoice`; `ModelLines` paints the same rows in a list of one's own, and
`facts_text` says what a model can do.
"""

from collections.abc import Callable, Sequence

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRect, QSize, Qt, Signal
from PySide6.QtGui import QColor, QKeyEvent, QPainter, QStandardItemModel
from PySide6.QtWidgets import (
    QComboBox,
    QCompleter,
    QListView,
    QSizePolicy,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QWidget,
)

from app.core.model_facts import Effort, FactSource, ModelFacts
from app.core.provider import ProviderStatus
from app.core.usage import amount_text
from app.gui.display.amounts import rough_tokens
from app.gui.display.i18n import Language
from app.gui.display.style import Look, sized
from app.gui.widgets.controls import Choice
from app.gui.widgets.label import plain_tip

Facts = Callable[[str, str], ModelFacts]

PAIR = Qt.ItemDataRole.UserRole
HEADING = Qt.ItemDataRole.UserRole + 1
"""The name in a provider's own row, which cannot be chosen."""

MILLION = 1_000_000
EDGE, AIR = 9, 10
WIDE = 400


class ModelChoice(Choice):
    """An editable list of models, as `provider / model`; a part of a name finds it. Emits `changed`.

    With `default` it offers the default model first.
    """

    changed = Signal()

    def __init__(self, language: Language, look: Look, *, default: bool = True) -> None:
        super().__init__(look)
        self._language = language
        self._default = default
        self._providers: Sequence[ProviderStatus] = ()
        self._facts: Facts = lambda _provider, _model: ModelFacts()
        self._offered: list[tuple[str, tuple[str, str]]] = []
        self._shown = ("", "")
        self._fixed = False
        self.setEditable(True)
        self.setInsertPolicy(QComboBox.InsertPolicy.NoInsert)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setMaxVisibleItems(10)
        # Completion matches anywhere in a name: a server may list hundreds.
        finder = self.completer()
        finder.setCompletionMode(QCompleter.CompletionMode.PopupCompletion)
        finder.setFilterMode(Qt.MatchFlag.MatchContains)
        finder.setMaxVisibleItems(8)
        for view, whole in ((self.view(), False), (finder.popup(), True)):
            view.setItemDelegate(ModelLines(look, self.facts_of, self, whole=whole))
            if isinstance(view, QListView):
                view.setUniformItemSizes(True)
        self.editTextChanged.connect(self._on_text_changed)

    def set_providers(self, providers: Sequence[ProviderStatus], facts: Facts | None = None) -> None:
        """Offer the models of providers, keeping the choice; `facts` says what is known about a model."""
        chosen, text = self.chosen(), self.currentText()
        self._providers, self._facts = providers, facts or self._facts
        groups = [
            (one, [(one.config.id, model) for model in one.models]) for one in providers if one.config.enabled
        ]
        pairs = [pair for _, group in groups for pair in group]
        first = [("", "")] if self._default else []
        offered = [(self._text_of(*pair), pair) for pair in [*first, *pairs]]
        if offered == self._offered:
            # Do not disturb the user who types here.
            return
        self._offered = offered
        self.clear()
        for pair in first:
            self.addItem(self._text_of(*pair), pair)
        for status, group in groups:
            if group:
                self._add_heading(self._language.provider(status))
            for pair in group:
                self.addItem(self._text_of(*pair), pair)
        self.setEditText(text if chosen is None else self._text_of(*chosen))
        if not self.hasFocus():
            self.lineEdit().setCursorPosition(0)

    def show_model(self, provider: str, model: str) -> None:
        """Show a choice; two empty texts mean the default model."""
        self._shown = (provider, model)
        self.setEditText(self._text_of(provider, model))
        self.lineEdit().setCursorPosition(0)

    def set_fixed(self, fixed: bool) -> None:
        """Make the choice read-only; a disabled one would be too faint to read."""
        self._fixed = fixed
        self.lineEdit().setReadOnly(fixed)

    def showPopup(self) -> None:
        if not self._fixed:
            super().showPopup()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        # Arrow keys would change the choice.
        if not self._fixed:
            super().keyPressEvent(event)

    def chosen(self) -> tuple[str, str] | None:
        """Return provider id and model, empty for the default, None if the text names no provider."""
        text = self.currentText().strip()
        if not text:
            return "", ""
        # The model shown may belong to a provider that is gone by now.
        for words, pair in [*self._offered, (self._text_of(*self._shown), self._shown)]:
            if text == words:
                return pair
        before, slash, after = text.partition("/")
        name, model = before.strip().casefold(), after.strip()
        for status in self._providers:
            names = (status.config.id, status.label, self._language.provider(status))
            if slash and model and name in [one.casefold() for one in names]:
                return status.config.id, model
        return None

    def facts_of(self, pair: tuple[str, str]) -> str:
        """Return what a model can do and costs in words, "" where nothing is known."""
        return facts_text(self._facts(*pair), self._language) if pair[1] else ""

    def _add_heading(self, name: str) -> None:
        """Add a provider's own row; it has no text, so that no search finds it."""
        self.addItem("")
        place, rows = self.count() - 1, self.model()
        self.setItemData(place, name, HEADING)
        self.setItemData(place, name, Qt.ItemDataRole.AccessibleTextRole)
        assert isinstance(rows, QStandardItemModel)
        rows.item(place).setFlags(Qt.ItemFlag.NoItemFlags)

    def _on_text_changed(self) -> None:
        facts = self.facts_of(self.chosen() or ("", ""))
        self.setToolTip(plain_tip(facts))
        self.setAccessibleDescription(facts)
        self.changed.emit()

    def _text_of(self, provider: str, model: str) -> str:
        if not provider:
            return self._language("assistant.model.default")
        status = next((one for one in self._providers if one.config.id == provider), None)
        return f"{self._language.provider(status) if status else provider} / {model}"


class ModelLines(QStyledItemDelegate):
    """Paints a model as two lines, its name and what it can do, and a provider as a heading.

    `facts_of` returns the second line of a (provider, model); `whole` shows the text of a row, not its name alone.
    """

    def __init__(
        self, look: Look, facts_of: Callable[[tuple[str, str]], str], parent: QWidget, *, whole: bool = False
    ) -> None:
        super().__init__(parent)
        self._look, self._facts_of, self._whole = look, facts_of, whole

    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> QSize:
        # The same for all: a server may list thousands.
        return QSize(WIDE, 2 * option.fontMetrics.height() + AIR)

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        words, tokens = str(index.data() or ""), self._look.tokens
        pair = index.data(PAIR)
        option = QStyleOptionViewItem(option)
        self.initStyleOption(option, index)
        option.text = ""
        if pair:
            style = option.widget.style()
            style.drawControl(QStyle.ControlElement.CE_ItemViewItem, option, painter, option.widget)
        room = option.rect.adjusted(EDGE, 0, -EDGE, 0)
        line = option.fontMetrics.height()
        painter.save()
        if not pair:
            painter.setFont(sized(option.font, 11, 600))
            name = str(index.data(HEADING) or "")
            _write(painter, QRect(room.left(), room.bottom() - line, room.width(), line), tokens.text_2, name)
        else:
            facts = self._facts_of((pair[0], pair[1]))
            top = room.top() + (AIR // 2 if facts else (room.height() - line) // 2)
            painter.setFont(option.font)
            shown = words if self._whole else pair[1] or words
            _write(painter, QRect(room.left(), top, room.width(), line), tokens.text, shown)
            painter.setFont(sized(option.font, 11.5))
            _write(painter, QRect(room.left(), top + line, room.width(), line), tokens.text_2, facts)
        painter.restore()


def _write(painter: QPainter, room: QRect, colour: str, text: str) -> None:
    painter.setPen(QColor(colour))
    shown = painter.fontMetrics().elidedText(text, Qt.TextElideMode.ElideRight, room.width())
    painter.drawText(room, int(Qt.AlignmentFlag.AlignVCenter | Qt.TextFlag.TextSingleLine), shown)


def facts_text(facts: ModelFacts, words: Callable[..., str]) -> str:
    """Return what a model can do and what a million tokens cost in a line of words, "" where nothing is known."""
    thinks = bool(facts.efforts) or facts.default_effort not in ("", Effort.NONE)
    able = (("images", facts.images), ("tools", facts.tools), ("thinking", thinks))
    parts = [words(f"model.{name}") for name, can in able if can]
    if facts.source != FactSource.DEFAULT:
        parts.append(words("model.window", tokens=rough_tokens(facts.window)))
    if facts.prices is not None:
        read, written = (amount_text(one * MILLION) for one in (facts.prices.read, facts.prices.written))
        parts.append(words("model.prices", read=read, written=written))
    return " · ".join(parts)
