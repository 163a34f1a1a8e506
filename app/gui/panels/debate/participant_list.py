"""The participants of a debate that is being set up: their rows in order, and the list in which they are chosen."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from PySide6.QtCore import QEvent, QSignalBlocker, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QWidget

from app.core.catalog import EMBEDDED
from app.core.draft import ParticipantDraft
from app.core.provider import ProviderStatus, last_part
from app.core.session import Participant
from app.engine.council.panels import named_apart
from app.engine.engine import Candidate, Engine
from app.gui.display.appearance import Language, Look
from app.gui.panels.debate.participant_card import ParticipantCard
from app.gui.panels.debate.participant_picker import ModelOffer, ParticipantPicker, PickRow
from app.gui.widgets.boxes import vbox
from app.gui.widgets.model_choice import facts_text


class ParticipantList(QWidget):
    """The cards of all participants on offer; those that take part are shown, all can be ticked in `picker`.

    They are made when they are asked for first: a window that opens need not wait for them.
    Signals: changed() after a change in a card, rearranged() after cards were added or removed,
    prompt_requested(card), set_up_requested(provider id), participant_removed(draft, position), and facts_wanted() where a
    list of models is opened.
    """

    changed = Signal()
    rearranged = Signal()
    prompt_requested = Signal(object)
    set_up_requested = Signal(str)
    participant_removed = Signal(object, int)
    facts_wanted = Signal()

    def __init__(self, language: Language, look: Look, engine: Engine) -> None:
        super().__init__()
        self._language = language
        self._look = look
        self._engine = engine
        self._added = 0
        self._statuses: dict[str, ProviderStatus] = {}
        self._made = False
        self._waiting: tuple[ParticipantDraft, ...] = ()
        self._cards: list[ParticipantCard] = []
        self._rows: dict[ParticipantCard, PickRow] = {}
        self.picker = ParticipantPicker(language, look, engine.connections.known_facts, self)
        self.picker.opened.connect(self._offer)
        self.picker.opened.connect(self.facts_wanted)
        self.picker.model_chosen.connect(self._on_model_chosen)
        language.changed.connect(self._offer)
        self._column = vbox(inside=self, spacing=7)

    @property
    def made(self) -> Sequence[ParticipantCard]:
        """The cards made so far."""
        return self._cards

    @property
    def cards(self) -> Sequence[ParticipantCard]:
        """All cards, made if necessary."""
        if not self._made:
            self._made = True
            # Without the drafts the set-up would be another one.
            with QSignalBlocker(self):
                self.refresh()
            self.show_drafts(self._waiting)
        return self._cards

    @property
    def can_judge(self) -> bool:
        """Whether a model is ready that is large enough to judge."""
        return any(one.ready and one.config.kind != EMBEDDED for one in self._statuses.values())

    @property
    def drafts(self) -> tuple[ParticipantDraft, ...]:
        """The user's changes to the participants."""
        if not self._made:
            return self._waiting
        return tuple(candidate for card in self._cards if (candidate := card.draft) is not None)

    def show_drafts(self, drafts: Iterable[ParticipantDraft]) -> None:
        """Show what was set up before, without participants whose provider is gone."""
        if not self._made:
            self._waiting = tuple(drafts)
            return
        cards = {card.candidate.participant.id: card for card in self._cards}
        for draft in drafts:
            card = self._add_from_draft(draft) if draft.added else cards.get(draft.id)
            if card is not None:
                card.show_draft(draft)
        self.rearranged.emit()

    def refresh(self) -> None:
        """Offer the participants the engine has now; keep the cards, and their changes, of those that stay."""
        if not self._made:
            return
        before = tuple(self._cards)
        known = {card.candidate.participant.id: card for card in before}
        self._statuses = {status.config.id: status for status in self._engine.providers()}
        # First those that take part by default, last those that have to be set up.
        candidates = sorted(
            self._engine.debates.candidates(), key=lambda one: (not one.status.ready, not one.chosen)
        )
        self._cards.clear()
        for candidate in candidates:
            card = known.pop(candidate.participant.id, None)
            if card is None:
                self._new_card(candidate, added=False)
            else:
                card.show_candidate(candidate)
                self._put(card)
        for card in before:
            if card.added:
                status = self._statuses.get(card.candidate.status.config.id)
                if status is not None:
                    card.show_candidate(replace(card.candidate, status=status, note=status.problem))
                self._put(card)
            elif card not in self._cards:
                self._drop(card)
        self._offer()
        self.rearranged.emit()

    def add_participant(self, candidate: Candidate) -> None:
        """Add another participant with the same model, under a name nobody has."""
        # The card it is a copy of may have been renamed: the copy gets a number all the same.
        self._add_apart(replace(candidate, note=""), candidate.participant)

    def show_facts(self) -> None:
        """Show in the list what the models can do and cost, after more was learnt."""
        for card, row in self._rows.items():
            self._show_in_list(card, row)
        self.picker.show_facts()

    def put_back(self, draft: ParticipantDraft, place: int) -> None:
        """Add a removed participant again, at its position."""
        if (card := self._add_from_draft(draft)) is not None:
            self._cards.remove(card)
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
        shown = [card for card in self._cards if card.chosen]
        one_line = all(card.line_width() <= width for card in shown)
        for card in shown:
            card.arrange(one_line=one_line)

    def _add_from_draft(self, draft: ParticipantDraft) -> ParticipantCard | None:
        """Add a participant from its draft; return None if its model is no longer offered."""
        model = (draft.provider, draft.model)
        candidates = sorted((card.candidate for card in self._cards), key=lambda one: not one.plain)
        offered = [one for one in candidates if (one.participant.provider, one.participant.model) == model]
        status = self._statuses.get(draft.provider)
        if not offered and status is not None and draft.model in status.models:
            own = Participant(id="", name=draft.name, provider=draft.provider, model=draft.model)
            offered = [Candidate(own, status)]
        return self._add_copy(offered[0], draft.name) if offered else None

    def _add_apart(self, candidate: Candidate, *taken: Participant) -> None:
        """Add a participant under a name that neither a card nor these have."""
        present = [card.participant() for card in self.cards]
        self._add_copy(candidate, named_apart(candidate.participant, [*taken, *present]).name)
        self.rearranged.emit()

    def _add_copy(self, candidate: Candidate, name: str) -> ParticipantCard:
        self._added += 1
        participant = replace(candidate.participant, id=f"added-{self._added}", name=name, system_prompt="")
        return self._new_card(replace(candidate, participant=participant, chosen=True), added=True)

    def _new_card(self, candidate: Candidate, *, added: bool) -> ParticipantCard:
        card = ParticipantCard(
            self._language,
            self._look,
            candidate,
            lambda: self._statuses,
            self._engine.connections.known_facts,
            added=added,
            parent=self,
        )
        card.changed.connect(self.changed)
        card.models_opened.connect(self.facts_wanted)
        card.prompt_requested.connect(lambda: self.prompt_requested.emit(card))
        card.remove_requested.connect(lambda: self._on_remove(card))
        self._put(card)
        if not added:
            row = PickRow(self._look, card.tick, candidate.status, self._group_of(candidate))
            row.set_up_requested.connect(self._on_set_up)
            row.again_requested.connect(lambda: self.add_participant(card.candidate))
            self._rows[card] = row
        return card

    def _group_of(self, candidate: Candidate) -> str:
        plain = candidate.plain
        return self._language.provider(candidate.status) if plain else self._language("setup.assistants")

    def _offer(self) -> None:
        """Offer in the list who is there now, and the models that are not among them."""
        rows = []
        for card in self._cards:
            if not card.added:
                rows.append(self._rows[card])
                self._show_in_list(card, self._rows[card])
        offered = {_model_of(card) for card in self._cards if card.candidate.plain and not card.added}
        added = {_model_of(card) for card in self._cards if card.added}
        self.picker.show_models(
            [
                ModelOffer(status, model, (status.config.id, model) in added)
                for status in self._statuses.values()
                for model in (status.models if status.ready else ())
                if (status.config.id, model) not in offered
            ]
        )
        self.picker.show_rows(rows)

    def _show_in_list(self, card: ParticipantCard, row: PickRow) -> None:
        words, candidate = self._language, card.candidate
        participant, status = candidate.participant, candidate.status
        if candidate.note and not status.ready:
            note = words.problem(candidate.note)
        else:
            facts = self._engine.connections.known_facts(participant.provider, participant.model)
            note = " · ".join(filter(None, (participant.model, facts_text(facts, words))))
        row.group = self._group_of(candidate)
        row.show_offer(words, participant.name, note, status)

    def _on_model_chosen(self, status: ProviderStatus, model: str, on: bool) -> None:
        """Add a participant with a model, or remove those with it."""
        if on:
            participant = Participant(id="", name=last_part(model), provider=status.config.id, model=model)
            self._add_apart(Candidate(participant, status))
            return
        for card in [one for one in self._cards if one.added and _model_of(one) == (status.config.id, model)]:
            self._on_remove(card)

    def _on_set_up(self, provider_id: str) -> None:
        self.picker.close()
        self.set_up_requested.emit(provider_id)

    def _put(self, card: ParticipantCard, place: int | None = None) -> None:
        at = len(self._cards) if place is None else min(place, len(self._cards))
        self._cards.insert(at, card)
        self._column.insertWidget(at, card)

    def _drop(self, card: ParticipantCard) -> None:
        self._column.removeWidget(card)
        for gone in (card, self._rows.pop(card, None)):
            if gone is not None:
                gone.hide()
                gone.deleteLater()

    def _on_remove(self, card: ParticipantCard) -> None:
        place, draft = self._cards.index(card), card.draft
        self._cards.remove(card)
        self._drop(card)
        self.changed.emit()
        self.participant_removed.emit(draft, place)


def _model_of(card: ParticipantCard) -> tuple[str, str]:
    """Return the provider and the model with which a card is offered."""
    return card.candidate.participant.provider, card.candidate.participant.model
