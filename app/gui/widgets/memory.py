"""What assistants remember, on screen: cards of what is proposed, and the list of an assistant's notes."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QTextCursor
from PySide6.QtWidgets import QMenu, QProgressBar, QWidget

from app.core.memory import MAX_NOTE, MOST_TOLD, Note, Origin, origin_text
from app.core.texts import visible
from app.engine.memory import Proposals
from app.gui.display.appearance import Language, Look
from app.gui.widgets.badge import HeadingIcon
from app.gui.widgets.boxes import STRETCH, Frame, drop, hbox, vbox
from app.gui.widgets.choices import Segmented
from app.gui.widgets.controls import TextBox, button
from app.gui.widgets.item_list import ItemList, ListStyle, RowItem
from app.gui.widgets.text import ElidedLabel, Paragraph, named, plain_label, say, show_if, show_or_hide

LOCAL, ANY = "near", "any"
MOST_CARDS = 3
_ROWS = ListStyle(height=54, edge=8, left=10, right=10, note=11)
_ICONS: dict[str, str] = {Origin.TYPED: "pencil", Origin.CHAT: "message-circle", Origin.FILE: "file-text"}
_ICONS |= {Origin.PAGE: "globe", Origin.TOOL: "wrench"}


def note_box(language: Language, name: str, *, lines: int, text: str = "", hint: str = "") -> TextBox:
    """Return a box for the sentence of a note."""
    box = named(name, TextBox(lines=lines, most=6, text=text))
    box.setFrameShape(TextBox.Shape.StyledPanel)
    return say(box, language, name="memory.sentence", hint=hint)


def may_keep(box: TextBox) -> bool:
    """Say whether what is in a box is neither nothing nor too long."""
    return 0 < len(box.text()) <= MAX_NOTE


class ProposalCard(Frame):
    """Asks whether to remember a sentence, which can be changed in place. Emits kept(text, local),
    or refused().
    """

    kept = Signal(str, bool)
    refused = Signal()

    def __init__(self, language: Language, look: Look, name: str, note: Note) -> None:
        """The names of its parts begin with `name`."""
        super().__init__("banner", f"{name}_card")
        self.setProperty("tone", "accent")
        source, session = origin_text(language.texts, note), language("memory.from.chat", name=note.title)
        where = " · ".join(dict.fromkeys((visible(source), visible(session))))
        self.setAccessibleName(f"{language('memory.question')} {visible(note.text)}, {where}")
        self._sentence = named(f"{name}_sentence", Paragraph("setting", text=visible(note.text)))
        self.box = note_box(language, f"{name}_text", lines=2, text=note.text)
        self.box.hide()
        self.readers = Segmented((LOCAL, ANY))
        self.readers.setAccessibleName(language("memory.readers"))
        self.readers.set_texts((language("memory.readers.local"), language("memory.readers.any")), ("", ""))
        self.readers.set_value(LOCAL if note.local else ANY)
        self.keep = say(button("", f"{name}_keep", self._on_keep), language, "memory.keep")
        self.edit = say(button("", f"{name}_edit", self._on_edit), language, "memory.edit")
        self.no = say(button("", f"{name}_refuse", self.refused), language, "memory.refuse")
        question = say(plain_label("accent"), language, "memory.question")
        read = say(ElidedLabel("meta"), language, "memory.readers.short")
        head = hbox(HeadingIcon(look, "bookmark", "accent", side=15), question, STRETCH, spacing=8)
        icon = HeadingIcon(look, _ICONS.get(note.origin, "bookmark"), "text_2", side=12)
        said = hbox(icon, (named(f"{name}_source", ElidedLabel("meta", text=where)), 1), spacing=6)
        may = hbox(read, self.readers, STRETCH, spacing=8)
        acts = hbox(self.keep, self.edit, self.no, STRETCH, spacing=8)
        parts = (head, self._sentence, self.box, said, may, acts)
        vbox(*parts, inside=self, margins=(14, 11, 14, 11), spacing=7)
        self.box.submitted.connect(self._on_keep)
        self.box.textChanged.connect(lambda: self.keep.setEnabled(may_keep(self.box)))

    def _on_edit(self) -> None:
        show_if(False, self._sentence, self.edit)
        self.box.show()
        self.box.setFocus()
        self.box.moveCursor(QTextCursor.MoveOperation.End)

    def _on_keep(self) -> None:
        if self.keep.isEnabled():
            self.kept.emit(self.box.text(), self.readers.value() == LOCAL)


class ProposalCards(QWidget):
    """The cards of what waits for the user, `most` at a time, and how many more there are.

    Signals: kept(session, message, text, local), refused(session, message).
    """

    kept = Signal(str, str, str, bool)
    refused = Signal(str, str)

    def __init__(self, language: Language, look: Look, name: str, most: int = MOST_CARDS) -> None:
        super().__init__()
        self._language, self._look, self._name, self._most = language, look, name, most
        self.cards: dict[str, ProposalCard] = {}
        self._found: Proposals = ()
        self._column, self._more = vbox(spacing=8), named(f"{name}_more", plain_label("hint"))
        vbox(self._column, self._more, inside=self, spacing=6)
        language.changed.connect(self._say_again)
        self.hide()

    def show_proposals(self, found: Proposals) -> None:
        """Show these; a card that stays is kept as it is, with what is being typed into it."""
        self._found = found
        shown = found[: self._most]
        for gone in self.cards.keys() - {message.id for _, message in shown}:
            drop(self.cards.pop(gone))
        for live, message in shown:
            if message.id not in self.cards and message.proposal is not None:
                note, ids = replace(message.proposal, title=live.session.title), (live.id, message.id)
                card = ProposalCard(self._language, self._look, self._name, note)
                card.kept.connect(partial(self.kept.emit, *ids))
                card.refused.connect(partial(self.refused.emit, *ids))
                self.cards[message.id] = card
                self._column.addWidget(card)
        left = len(found) - len(shown)
        show_or_hide(self._more, self._language("memory.more", count=left) if left else "")
        self.setVisible(bool(found))

    def _say_again(self) -> None:
        """Make the cards anew, in the language as it is now."""
        for found in ((), self._found):
            self.show_proposals(found)


class NoteList(ItemList):
    """Notes, the newest first; F2 or E edits one, Delete deletes it."""

    EDITS = (*ItemList.EDITS, Qt.Key.Key_E)

    def __init__(self, language: Language, look: Look, name: str) -> None:
        super().__init__(look, name, _ROWS)
        self._language = language
        say(self, language, name="memory.title")
        self.doubleClicked.connect(lambda _index: self.edit_requested.emit(self.current_id()))

    def menu_of(self, row_id: str) -> QMenu:
        menu, words = self.new_menu(), self._language
        menu.addAction(f"{words('memory.edit')}\tF2", partial(self.edit_requested.emit, row_id))
        self.add_delete(menu, words("memory.delete"), row_id)
        return menu

    def show_notes(self, notes: Sequence[Note], names: Mapping[str, str] | None) -> None:
        """Show these notes, each with whose it is if there are `names` of assistants and folders."""
        self.show_rows([self._row_of(note, names) for note in notes])
        self.setFixedHeight(self.rows_height())
        self.setVisible(bool(notes))

    def _row_of(self, note: Note, names: Mapping[str, str] | None) -> RowItem:
        words, text, icon = self._language, visible(note.text), _ICONS.get(note.origin, "")
        whose = (names or {}).get(note.agent or note.folder, words("memory.of_deleted"))
        said = (*((whose,) if names is not None else ()), origin_text(words.texts, note), words.age(note.at))
        second = " · ".join(map(visible, said))
        mark = words("memory.readers.local") if note.local else ""
        return RowItem(id=note.id, title=text, second=second, note=mark, icon=icon, tip=text)


class MemorySection(QWidget):
    """An assistant's memory: what is proposed, all notes, and how much of them is told. That of `everyone`
    has the notes of all assistants and folders, and none can be added there.

    Signals: written(id, text) from the box below, of a new note with the id ""; delete_requested(id) of the
    list; all_requested.
    """

    written = Signal(str, str)
    all_requested = Signal()

    def __init__(
        self, language: Language, look: Look, name: str = "memory", *, everyone: bool = False
    ) -> None:
        """The names of its parts begin with `name`."""
        super().__init__()
        self.setObjectName(f"{name}_section")
        self._language, self._edited, self._notes = language, "", dict[str, Note]()
        self._everyone = everyone
        self._names: Mapping[str, str] = {}
        self.cards, self.list = ProposalCards(language, look, name), NoteList(language, look, f"{name}_notes")
        title, self.count = say(plain_label("section"), language, "memory.title"), plain_label("hint")
        self.gauge = named(f"{name}_gauge", QProgressBar(textVisible=False, maximum=MOST_TOLD))
        self.gauge.setFixedHeight(4)
        say(self.gauge, language, name="memory.gauge")
        self.told = named(f"{name}_told", plain_label("hint"))
        self._none = say(Paragraph("hint"), language, "memory.none")
        self.box = note_box(language, f"{name}_box", lines=1, hint="memory.write")
        self.add = button("", f"{name}_add", self._on_add)
        every = say(button("link", f"{name}_all", self.all_requested), language, "memory.all")
        where = say(Paragraph("hint"), language, "memory.where")
        head = hbox(title, self.count, STRETCH, every, spacing=8)
        gauge = hbox((self.gauge, 1), self.told, spacing=10)
        foot = hbox((self.box, 1), self.add, spacing=8)
        parts = (head, gauge, self.cards, self._none, self.list, foot, where, STRETCH)
        vbox(*parts, inside=self, margins=(0, 4, 0, 4), spacing=9)
        # Only now: what is shown without a parent is a window, which takes the keyboard.
        show_if(not everyone, self.gauge, self.told, every)
        self.delete_requested = self.list.delete_requested
        self.list.edit_requested.connect(self._on_edit)
        self.box.submitted.connect(self._on_add)
        self.box.textChanged.connect(self._show_box)
        self._tokens = 0
        language.follow(lambda: self.show_memory(tuple(self._notes.values()), self._tokens, self._names))

    def show_memory(self, notes: Sequence[Note], told: int, names: Mapping[str, str] | None = None) -> None:
        """Show notes, the newest first, and how many tokens of them an assistant is told; those of everyone
        with the names of their assistants and folders.
        """
        self._notes, self._names = {note.id: note for note in notes}, names or {}
        self.count.setText(str(len(notes) or ""))
        self._tokens = told
        self.gauge.setValue(min(told, MOST_TOLD))
        self.told.setText(self._language("memory.told", told=f"{told:,}", most=f"{MOST_TOLD:,}"))
        self._none.setVisible(not notes)
        self.list.show_notes(notes, self._names if self._everyone else None)
        self._edited = self._edited if self._edited in self._notes else ""
        self._show_box()

    def _show_box(self) -> None:
        show_if(self._edited or not self._everyone, self.box, self.add)
        self.add.setText(self._language("memory.save" if self._edited else "memory.add"))
        self.add.setEnabled(may_keep(self.box))

    def _on_edit(self, note_id: str) -> None:
        if note := self._notes.get(note_id):
            self._edited = note_id
            self.box.setPlainText(note.text)
            self.box.setFocus()

    def _on_add(self) -> None:
        if self.add.isEnabled():
            text, edited, self._edited = self.box.text(), self._edited, ""
            self.box.clear()
            self.written.emit(edited, text)
