"""The participants of a debate that is being set up: their cards in order, and the menu of models to add."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QMenu, QWidget

from app.core.draft import ParticipantDraft
from app.engine.engine import Candidate, Engine
from app.gui.display.i18n import Language
from app.gui.display.style import Look
from app.gui.panels.debate.participant_card import ParticipantCard
from app.gui.widgets.boxes import vbox


class ParticipantList(QWidget):
    """The cards of all participants on offer.

    Signals: changed() after a change in a card, rearranged() after cards were added or removed,
    prompt_requested(card), set_up_requested(provider id), participant_removed(draft, position).
    """

    changed = Signal()
    rearranged = Signal()
    prompt_requested = Signal(object)
    set_up_requested = Signal(str)
    participant_removed = Signal(object, int)

    def __init__(self, language: Language, look: Look, engine: Engine, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._language = language
        self._look = look
        self._engine = engine
        self._added = 0
        self.cards: list[ParticipantCard] = []
        self._column = vbox(inside=self, spacing=7)

    @property
    def drafts(self) -> tuple[ParticipantDraft, ...]:
        """The user's changes to the participants."""
        return tuple(candidate for card in self.cards if (candidate := card.draft) is not None)

    def show_drafts(self, drafts: Iterable[ParticipantDraft]) -> None:
        """Show what was set up before, without participants whose provider is gone."""
        cards = {card.candidate.participant.id: card for card in self.cards}
        for draft in drafts:
            card = self._add_from_draft(draft) if draft.added else cards.get(draft.id)
            if card is not None:
                card.show_draft(draft)
        self.rearranged.emit()

    def refresh(self) -> None:
        """Offer the participants the engine has now; keep the cards, and their changes, of those that stay."""
        before = tuple(self.cards)
        known = {card.candidate.participant.id: card for card in before}
        statuses = {status.config.id: status for status in self._engine.providers()}
        # First those that take part by default, last those that have to be set up.
        candidates = sorted(
            self._engine.debates.candidates(), key=lambda one: (not one.status.ready, not one.chosen)
        )
        self.cards.clear()
        for candidate in candidates:
            card = known.pop(candidate.participant.id, None)
            if card is None:
                self._new_card(candidate, removable=False)
            else:
                card.show_candidate(candidate)
                self._put(card)
        for card in before:
            status = statuses.get(card.candidate.status.config.id)
            if card.candidate.participant.id.startswith("added-"):
                if status is not None:
                    card.show_candidate(replace(card.candidate, status=status, note=status.problem))
                self._put(card)
            elif card not in self.cards:
                self._drop(card)
        self.rearranged.emit()

    def add_participant(self, candidate: Candidate) -> None:
        """Add another participant with the same model, under a name nobody has."""
        names = {card.participant().name for card in self.cards}
        base, number = candidate.participant.name, 2
        while f"{base} {number}" in names:
            number += 1
        self._add_copy(replace(candidate, note=""), f"{base} {number}")
        self.rearranged.emit()

    def put_back(self, draft: ParticipantDraft, place: int) -> None:
        """Add a removed participant again, at its position."""
        if (card := self._add_from_draft(draft)) is not None:
            self.cards.remove(card)
            self._put(card, place)
            card.show_draft(draft)
        self.rearranged.emit()

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.LayoutRequest:
            # Texts, or their size, have changed.
            self._arrange()
        return super().event(event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._arrange()

    def _arrange(self) -> None:
        """Lay out all cards in one line each, or none of them."""
        width = self.width()
        one_line = all(card.line_width() <= width for card in self.cards)
        for card in self.cards:
            card.arrange(width, one_line=one_line)

    def _add_from_draft(self, draft: ParticipantDraft) -> ParticipantCard | None:
        """Add a participant from its draft; return None if its model is no longer offered."""
        model = (draft.provider, draft.model)
        candidates = sorted((card.candidate for card in self.cards), key=lambda one: not one.plain)
        offered = [one for one in candidates if (one.participant.provider, one.participant.model) == model]
        return self._add_copy(offered[0], draft.name) if offered else None

    def _add_copy(self, candidate: Candidate, name: str) -> ParticipantCard:
        self._added += 1
        participant = replace(candidate.participant, id=f"added-{self._added}", name=name, system_prompt="")
        return self._new_card(replace(candidate, participant=participant, chosen=True), removable=True)

    def _new_card(self, candidate: Candidate, *, removable: bool) -> ParticipantCard:
        card = ParticipantCard(self._language, self._look, candidate, removable=removable)
        card.changed.connect(self.changed)
        card.prompt_requested.connect(lambda: self.prompt_requested.emit(card))
        card.set_up_requested.connect(self.set_up_requested)
        card.remove_requested.connect(lambda: self._on_remove(card))
        self._put(card)
        return card

    def _put(self, card: ParticipantCard, place: int | None = None) -> None:
        at = len(self.cards) if place is None else min(place, len(self.cards))
        self.cards.insert(at, card)
        self._column.insertWidget(at, card)

    def _drop(self, card: ParticipantCard) -> None:
        self._column.removeWidget(card)
        card.hide()
        card.deleteLater()

    def _on_remove(self, card: ParticipantCard) -> None:
        place, draft = self.cards.index(card), card.draft
        self.cards.remove(card)
        self._drop(card)
        self.changed.emit()
        self.participant_removed.emit(draft, place)


class ParticipantMenu(QMenu):
    """A menu of models to add as participants; emits `chosen` with the offer."""

    chosen = Signal(object)

    def __init__(self, language: Language, candidates: Sequence[Candidate], parent: QWidget) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        models: dict[tuple[str, str], Candidate] = {}
        # Offer a model itself rather than an assistant that uses it.
        for candidate in sorted(candidates, key=lambda one: not one.plain):
            models.setdefault((candidate.participant.provider, candidate.participant.model), candidate)
        for candidate in models.values():
            text = f"{language.provider(candidate.status)} · {candidate.participant.model}"
            self.addAction(text).triggered.connect(
                lambda _checked=False, chosen=candidate: self.chosen.emit(chosen)
            )
        if self.isEmpty():
            self.addAction(language("setup.add_voice.none")).setEnabled(False)
