"""Choices of a model, with what each can do and what it costs, and of how it answers.

Forms and dialogs take `ModelChoice`, a field that is searched; a `ModelButton` opens a `ModelMenu`.
`ModelLines` paints the same rows in a list of one's own. `AnswerStyleChoice`: effort, creativity and length.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace

from PySide6 import QtWidgets
from PySide6.QtCore import QEvent, QKeyCombination, QModelIndex, QObject, QSize, Qt, Signal
from PySide6.QtGui import QFocusEvent, QKeyEvent, QKeySequence, QMouseEvent, QPaintEvent, QStandardItemModel

from app.core.definitions import Creativity, Effort, Length
from app.core.provider import FactSource, ModelFacts, ProviderStatus, TakesTemperature
from app.core.texts import amount_text, fits
from app.engine.voting import seat_of
from app.gui.display.appearance import Language, Look
from app.gui.display.descriptions import rough_tokens
from app.gui.tasks import timer
from app.gui.widgets.boxes import STRETCH, hbox, set_across, vbox
from app.gui.widgets.composer import SearchBox, SearchPopUp
from app.gui.widgets.controls import Choice, ShorteningButton, TickBox, button, paint_chevron
from app.gui.widgets.item_list import ROW, Index, ItemDelegate, ItemList, ItemModel, ListStyle, RowItem
from app.gui.widgets.text import named, plain_label, plain_tip, say, set_shown, show_if, show_or_hide

Facts = Callable[[str, str], ModelFacts]

PAIR = Qt.ItemDataRole.UserRole
HEADING = Qt.ItemDataRole.UserRole + 1
"""The name in a provider's own row, which cannot be chosen."""

STYLE = ListStyle(height=44, heading=44, left=9, right=9, edge=5, size=14, fill="hover", upper=False)
WIDE = 400


class ModelChoice(Choice):
    """An editable list of models, as `provider / model`; a part of a name finds it. Emits `changed`.

    With `default` it offers the default model first. A click into it selects the text, so that typing
    searches.
    """

    changed = Signal()

    def __init__(self, language: Language, look: Look, *, default: bool = True) -> None:
        super().__init__(look)
        self._language, self._default = language, default
        self._providers: Sequence[ProviderStatus] = ()
        self._facts: Facts = lambda _provider, _model: ModelFacts()
        self._offered: list[tuple[str, tuple[str, str]]] = []
        self._shown = ("", "")
        self._fixed = False
        self.setEditable(True)
        self.setInsertPolicy(QtWidgets.QComboBox.InsertPolicy.NoInsert)
        self.setSizePolicy(QtWidgets.QSizePolicy.Policy.Expanding, QtWidgets.QSizePolicy.Policy.Fixed)
        self.setMaxVisibleItems(10)
        # Completion matches anywhere in a name: a server may list hundreds.
        finder = self.completer()
        finder.setCompletionMode(QtWidgets.QCompleter.CompletionMode.PopupCompletion)
        finder.setFilterMode(Qt.MatchFlag.MatchContains)
        finder.setMaxVisibleItems(8)
        self.editTextChanged.connect(self._on_text_changed)
        self._clicked_into = False
        self.lineEdit().installEventFilter(self)

    def set_providers(self, providers: Sequence[ProviderStatus], facts: Facts | None = None) -> None:
        """Offer the models of providers, keeping the choice; `facts` says what is known about a model."""
        chosen, text = self.chosen(), self.currentText()
        self._providers, self._facts = providers, facts or self._facts
        # Those that answer come first, so that none is chosen by accident that cannot.
        offering = sorted(
            (status for status in providers if status.config.enabled), key=lambda status: not status.ready
        )
        groups = [(status, [(status.config.id, model) for model in status.models]) for status in offering]
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

    def _dress(self) -> None:
        for view, whole in ((self.view(), False), (self.completer().popup(), True)):
            view.setItemDelegate(ModelLines(self._look, self.facts_of, self, whole=whole))
            if isinstance(view, QtWidgets.QListView):
                view.setUniformItemSizes(True)

    def showPopup(self) -> None:
        if not self._fixed:
            super().showPopup()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        # Arrow keys would change the choice.
        if not self._fixed:
            self.dress()
            super().keyPressEvent(event)

    def focusInEvent(self, event: QFocusEvent) -> None:
        self.dress()
        super().focusInEvent(event)
        self._clicked_into = event.reason() == Qt.FocusReason.MouseFocusReason and not self._fixed

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if self._clicked_into and event.type() == QEvent.Type.MouseButtonRelease:
            self._clicked_into = False
            if not self.lineEdit().hasSelectedText():
                self.lineEdit().selectAll()
        return super().eventFilter(watched, event)

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
            if slash and model and name in [item.casefold() for item in names]:
                return status.config.id, model
        return None

    def facts_of(self, pair: tuple[str, str]) -> str:
        """Return what a model can do and costs in words, or why its provider cannot be used; "" where
        nothing is known.
        """
        provider = next((status for status in self._providers if status.config.id == pair[0]), None)
        if provider is not None and provider.problem and not provider.ready:
            return self._language.problem(provider.problem)
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
        status = next((item for item in self._providers if item.config.id == provider), None)
        return f"{self._language.provider(status) if status else provider} / {model}"


class ModelLines(ItemDelegate):
    """Paints a model as two lines, its name and what it can do, and a provider as a heading.

    `facts_of` returns the second line of a (provider, model); `whole` shows the text of a row, not its name
    alone.
    """

    def __init__(
        self, look: Look, facts_of: Callable[[tuple[str, str]], str], parent: QObject, *, whole: bool
    ) -> None:
        super().__init__(look, STYLE, parent)
        self._facts_of, self._whole = facts_of, whole

    def sizeHint(self, option: QtWidgets.QStyleOptionViewItem, index: Index) -> QSize:
        return QSize(WIDE, super().sizeHint(option, index).height())

    def item_of(self, index: Index) -> RowItem:
        words, pair = str(index.data() or ""), index.data(PAIR)
        if not pair:
            return RowItem(title=str(index.data(HEADING) or ""), heading=True)
        title = words if self._whole else pair[1] or words
        return RowItem(title=title, second=self._facts_of((pair[0], pair[1])))


def facts_text(facts: ModelFacts, words: Callable[..., str]) -> str:
    """Return what a model can do and what a million tokens cost in a line of words, ""
    where nothing is known.
    """
    thinks = bool(facts.efforts) or facts.default_effort not in ("", Effort.NONE)
    able = (("images", facts.images), ("tools", facts.tools), ("thinking", thinks))
    parts = [words(f"model.{name}") for name, can in able if can]
    if facts.source != FactSource.DEFAULT:
        parts.append(words("model.window", tokens=rough_tokens(facts.window)))
    if facts.prices is not None:
        read, written = (amount_text(item * 1_000_000) for item in (facts.prices.read, facts.prices.written))
        costs = facts.prices.read or facts.prices.written
        parts.append(words("model.prices", read=read, written=written) if costs else words("cost.free"))
    return " · ".join(parts)


SIZE, SEARCH_HEIGHT = QSize(440, 380), 34
AUTOMATIC = "/"
"""The id of the row for the automatic choice; that of another is provider/model."""
FAVOUR = QKeyCombination(Qt.KeyboardModifier.ControlModifier, Qt.Key.Key_D)


class ModelRows(ItemModel):
    """Models, of which `known` tells more once they are shown."""

    def __init__(self, known: Callable[[RowItem], RowItem]) -> None:
        super().__init__()
        self._known = known

    def item_of(self, row: RowItem) -> RowItem:
        return self._known(row)

    def text_of(self, row: RowItem) -> str:
        return row.title


class StarredList(ItemList):
    """A list that knows whether its stars were clicked."""

    on_star = False

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self.on_star = event.position().x() < STYLE.left + STYLE.mark + STYLE.space // 2
        super().mousePressEvent(event)


class ModelMenu(SearchPopUp):
    """Offers the models of ready providers; emits `chosen` with the id of a provider and a model, and closes.

    With `first`, a text, the list begins with that, and two empty texts are emitted for it. With `more` a
    tick under the list is for one message alone, which emits `chosen_once`, and a button for the models of
    other providers emits `more_requested`. The `favourites`, as provider/model, come first; a star before
    each model and a key change them, which emits `favourites_chosen` with all of them. Without such a list
    there are no stars.
    """

    chosen = Signal(str, str)
    chosen_once = Signal(str, str)
    more_requested = Signal()
    favourites_chosen = Signal(object)

    def __init__(
        self,
        language: Language,
        look: Look,
        providers: Sequence[ProviderStatus],
        facts: Facts,
        shown: tuple[str, str],
        parent: QtWidgets.QWidget,
        *,
        first: str = "",
        more: bool = False,
        favourites: Sequence[str] | None = None,
    ) -> None:
        search = say(SearchBox(look, "model_search"), language, hint="model.search", name="model.search")
        super().__init__(search, "model_menu", SIZE, parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._language, self._facts, self._first = language, facts, first
        self._favourites, self._stars = list(favourites or ()), favourites is not None
        self._statuses = {status.config.id: status for status in providers if status.ready}
        self.list = StarredList(look, "model_list", STYLE, ModelRows(self._with_facts))
        self.list.setAccessibleName(language("assistant.field.model"))
        self.list.setUniformItemSizes(True)
        self._none = plain_label("hint", wrap=True, text=language("setup.search.none"))
        self._none.hide()
        self._more = button("link", "model_more", self._on_more, text=language("model.more"))
        self._once = say(named("model_once", TickBox(look)), language, "model.once")
        foot = hbox(self._once, STRETCH, self._more, margins=(4, 0, 4, 0))
        parts = self.search, self._none, (self.list, 1), foot
        vbox(*parts, inside=self, margins=(10, 10, 6, 10), spacing=6)
        show_if(more, self._once, self._more)
        self._fill("/".join(shown))
        self.search.textChanged.connect(self._filter)
        self.list.clicked.connect(self._on_clicked)
        # What is known about the models may arrive while the list is open.
        timer(self, 500, self.list.viewport().update).start()

    def open(self, under: QtWidgets.QWidget) -> None:
        """Open below a widget, at the model that is chosen."""
        # A short list takes no more room than it needs.
        others = 0 if self._more.isHidden() else SEARCH_HEIGHT
        self.setFixedHeight(min(SIZE.height(), 2 * SEARCH_HEIGHT + self.list.rows_height() + others))
        self.open_below(under)
        self.list.scrollTo(self.list.currentIndex(), QtWidgets.QListView.ScrollHint.PositionAtCenter)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Down, Qt.Key.Key_Up, Qt.Key.Key_PageDown, Qt.Key.Key_PageUp):
            QtWidgets.QApplication.sendEvent(self.list, event)
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            if self._more.hasFocus():
                self._on_more()
            else:
                self._take(self.list.current_id())
        elif event.key() == Qt.Key.Key_Escape:
            self.close()
        elif event.keyCombination() == FAVOUR:
            self._favour(self.list.current_id())
        else:
            super().keyPressEvent(event)

    def _on_more(self) -> None:
        self.close()
        self.more_requested.emit()

    def _fill(self, current: str) -> None:
        """List the models, the favourites first, and make one of them the current row, by its id."""
        words, starred = self._language, self._favourites
        names = {provider: words.provider(status) for provider, status in self._statuses.items()}
        offered = {f"{key}/{model}": (key, model) for key in names for model in self._statuses[key].models}
        groups = {words("model.favourites"): [offered[key] for key in starred if key in offered]}
        for provider, name in names.items():
            rest = [pair for key, pair in offered.items() if pair[0] == provider and key not in starred]
            groups[name] = groups.get(name, []) + rest
        room = STYLE.mark + STYLE.space if self._stars else 0
        rows: list[RowItem | str] = []
        if self._first:
            rows.append(RowItem(id=AUTOMATIC, title=self._first, indent=room))
        keys = QKeySequence(FAVOUR).toString(QKeySequence.SequenceFormat.NativeText)
        tip = words("model.favour", keys=keys) if self._stars else ""
        for heading, pairs in groups.items():
            rows += [heading] if pairs else []
            rows += [RowItem(id="/".join(pair), title=pair[1], tip=tip) for pair in pairs]
        self.list.rows.set_rows(rows)
        self.list.choose(current)

    def _with_facts(self, row: RowItem) -> RowItem:
        """Return a model with what it can do and costs; a favourite also with its provider."""
        if row.id == AUTOMATIC:
            return row
        (provider, model), words = seat_of(row.id), self._language
        status, facts = self._statuses[provider], self._facts(provider, model)
        favourite = row.id in self._favourites
        cost = "" if facts.prices else words("cost.free" if status.local else "cost.unknown")
        said = (words.provider(status) if favourite else "", facts_text(facts, words), cost)
        icon, colour = "star" if self._stars else "", "accent" if favourite else "edge"
        return replace(row, second=" · ".join(filter(None, said)), icon=icon, icon_colour=colour)

    def _on_clicked(self, index: QModelIndex) -> None:
        (self._favour if self._stars and self.list.on_star else self._take)(index.data(ROW).id)

    def _favour(self, row_id: str) -> None:
        """Make a model a favourite, or no longer one."""
        if row_id not in ("", AUTOMATIC) and self._stars:
            (self._favourites.remove if row_id in self._favourites else self._favourites.append)(row_id)
            self._fill(row_id)
            self._filter()
            self.list.choose(row_id)
            self.favourites_chosen.emit(tuple(self._favourites))

    def _filter(self) -> None:
        """Show the models with all words of the search, each under its provider; choose the first."""
        wanted, found, heading = self.search.text(), list[int](), -1
        for place, row in enumerate(self.list.rows.rows):
            self.list.setRowHidden(place, True)
            if isinstance(row, str):
                heading = place
            elif fits(self._words_of(row), wanted):
                self.list.setRowHidden(place, False)
                found.append(place)
                if heading >= 0:
                    self.list.setRowHidden(heading, False)
        self.list.setCurrentRow(found[0] if found else -1)
        self._none.setVisible(not found)

    def _words_of(self, row: RowItem) -> str:
        """Return the words by which a model is found."""
        status = self._statuses.get(seat_of(row.id)[0])
        return f"{self._language.provider(status) if status else ''} {row.title}"

    def _take(self, row_id: str) -> None:
        if row_id:
            self.close()
            (self.chosen_once if self._once.isChecked() else self.chosen).emit(*seat_of(row_id))


def model_text(language: Language, providers: Sequence[ProviderStatus], provider: str, model: str) -> str:
    """Return a model as `provider › model`, with the name of the provider where it is known."""
    status = next((item for item in providers if item.config.id == provider), None)
    return f"{language.provider(status) if status else provider} › {model}"


class ModelButton(ShorteningButton):
    """Shows a model as `provider › model`; emits `chosen` with the id of a provider and a model,
    and `opened` with its list.

    With `automatic`, the key of a text, the list begins with that, and two empty texts are emitted for it.
    With `more` it emits `chosen_once` for one message alone, and `more_requested` for the models of other
    providers. `favourites` returns those that come first, as provider/model; `favourites_chosen` has them
    once changed.
    """

    chosen = Signal(str, str)
    chosen_once = Signal(str, str)
    opened = Signal()
    more_requested = Signal()
    favourites_chosen = Signal(object)

    def __init__(
        self,
        language: Language,
        look: Look,
        name: str,
        providers: Callable[[], Sequence[ProviderStatus]],
        facts: Facts,
        *,
        automatic: str = "",
        more: bool = False,
    ) -> None:
        super().__init__("menu", name)
        self._language, self._look, self._automatic, self._more = language, look, automatic, more
        self._providers, self._facts = providers, facts
        self.favourites: Callable[[], Sequence[str]] | None = None
        self._shown = ("", "")
        self.setSizePolicy(QtWidgets.QSizePolicy.Policy.Maximum, QtWidgets.QSizePolicy.Policy.Fixed)
        self.clicked.connect(self._open)
        # A method, which Qt disconnects when the button goes.
        language.changed.connect(self._retranslate)

    def show_model(self, provider: str, model: str) -> None:
        """Show a model; two empty texts are the automatic choice."""
        self._shown = (provider, model)
        words = self._language
        text = model_text(words, self._providers(), provider, model) if provider else words(self._automatic)
        self.show_words(text, short=model)

    def _retranslate(self) -> None:
        self.show_model(*self._shown)

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        paint_chevron(self, self._look, 6)

    def _open(self) -> None:
        offered = self._language, self._look, self._providers(), self._facts, self._shown, self
        first = self._language(self._automatic) if self._automatic else ""
        favourites = self.favourites and self.favourites()
        menu = ModelMenu(*offered, first=first, more=self._more, favourites=favourites)
        menu.favourites_chosen.connect(self.favourites_chosen)
        menu.chosen.connect(self.chosen)
        menu.chosen_once.connect(self.chosen_once)
        menu.more_requested.connect(self.more_requested)
        menu.open(self)
        self.opened.emit()


# What is offered of a model of which nothing is known.
USUAL_EFFORTS = (Effort.LOW, Effort.MEDIUM, Effort.HIGH)


def efforts_of(facts: ModelFacts) -> tuple[str, ...]:
    """Return the efforts to offer for a model, besides the automatic one."""
    return USUAL_EFFORTS if facts.efforts is None else facts.efforts


class AnswerStyleChoice(QtWidgets.QWidget):
    """Three drop-down lists; those that the model does not take are hidden, and a hint says why.
    Emits `changed`.

    A value that the model does not take is kept until the user chooses another: the model may be changed
    back.
    """

    changed = Signal()

    def __init__(self, language: Language, look: Look) -> None:
        super().__init__()
        self._language = language
        self._facts = ModelFacts()
        self._values: dict[str, str] = {}
        self._menus = {name: Choice(look) for name in ("effort", "creativity", "length")}
        self.effort, self.creativity, self.length = self._menus.values()
        self._labels = {name: plain_label("hint") for name in self._menus}
        self.hint = plain_label("hint", wrap=True)
        self._row = hbox(spacing=8)
        for name, menu in self._menus.items():
            menu.setObjectName(f"{name}_menu")
            menu.activated.connect(lambda _place, name=name: self._on_chosen(name))
            self._row.addLayout(hbox(self._labels[name], menu, STRETCH, spacing=8))
        self._row.addStretch(1)
        vbox(self._row, self.hint, inside=self, spacing=5)
        language.changed.connect(self._retranslate)
        self.show_value((Effort.AUTO, Creativity.AUTO, Length.AUTO))

    def set_across(self, across: bool) -> None:
        """Lay the lists out side by side, or one below the other."""
        set_across(self._row, across)

    def show_value(self, value: tuple[str, str, str]) -> None:
        """Show effort, creativity and length."""
        self._values = dict(zip(self._menus, value, strict=True))
        self._retranslate()

    def value(self) -> tuple[str, ...]:
        """Return effort, creativity and length."""
        return tuple(self._values.values())

    def set_fixed(self, fixed: bool) -> None:
        """Let the values be changed, or only be looked at."""
        for menu in self._menus.values():
            menu.setEnabled(not fixed)

    def show_facts(self, facts: ModelFacts) -> None:
        """Offer what the model takes."""
        if facts != self._facts:
            self._facts = facts
            self._retranslate()

    def _on_chosen(self, name: str) -> None:
        self._values[name] = str(self._menus[name].currentData())
        self._retranslate()
        self.changed.emit()

    def _retranslate(self) -> None:
        words, facts = self._language, self._facts
        efforts = efforts_of(facts)
        takes_no_temperature = facts.temperature == TakesTemperature.NO
        thinks = facts.thinks_at(self._values["effort"])
        thinks = thinks and facts.temperature == TakesTemperature.WITHOUT_EFFORT
        self._fill("effort", (Effort.AUTO, *efforts) if efforts else ())
        self._fill("creativity", () if takes_no_temperature or thinks else tuple(Creativity))
        self._fill("length", tuple(Length))
        hints = [words("answers.no_effort")] if not efforts else []
        hints += [words("answers.no_creativity")] if takes_no_temperature else []
        hints += [words("answers.no_creativity_now")] if thinks else []
        show_or_hide(self.hint, " ".join(hints))

    def _fill(self, name: str, offered: Sequence[str]) -> None:
        menu, words = self._menus[name], self._language
        self._labels[name].setText(words(f"answers.{name}"))
        menu.setAccessibleName(words(f"answers.{name}"))
        menu.offer([(str(value), words(f"answers.{name}.{value}")) for value in offered], self._values[name])
        for part in (menu, self._labels[name]):
            set_shown(part, bool(offered))
