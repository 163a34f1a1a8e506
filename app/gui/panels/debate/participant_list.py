"""The participants of a debate that is being set up: the list in which they are chosen, and the row of each.

A row has name, model, role, effort and prompt.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from PySide6.QtCore import QSignalBlocker, QSize, Qt, Signal
from PySide6.QtWidgets import QLineEdit, QWidget

from app.core.catalog import EMBEDDED
from app.core.council import Participant
from app.core.definitions import Effort
from app.core.draft import ParticipantDraft
from app.core.provider import ProviderStatus, last_part
from app.engine.council.panels import named_apart
from app.engine.debate.setup import voice_of
from app.engine.engine import Candidate, Engine
from app.gui.display.appearance import BUILT_IN_ROLES, Language, Look
from app.gui.panels.debate.participant_picker import ModelOffer, ParticipantPicker, PickRow
from app.gui.tasks import Tasks
from app.gui.widgets.badge import Avatar
from app.gui.widgets.boxes import STRETCH, Frame, LayoutFitting, drop, hbox, put_in_tab_order, vbox
from app.gui.widgets.controls import Choice, TickBox, icon_button
from app.gui.widgets.model_choice import ModelButton, facts_text
from app.gui.widgets.text import name_button, named

OWN = "own"
EDGE, SPACE = 9, 6
LEAST, LONGEST = 46, 150


class ParticipantCard(Frame):
    """The row of a participant, shown while it takes part; the user's changes survive a change
    of what is offered.
    """

    changed = Signal()
    prompt_requested = Signal()
    remove_requested = Signal()

    def __init__(self, seats: "ParticipantList", candidate: Candidate, *, added: bool) -> None:
        """It stands in the list `seats`."""
        super().__init__("card", parent=seats)
        language, look = seats.language, seats.look
        self._language, self._look, self._seats = language, look, seats
        self.candidate = candidate
        self._participant = candidate.participant
        # The prompt that the user wrote, and for which debate: see `ParticipantDraft`.
        self._written = self._written_for = ""
        # The provider and model that the user chose in place of those on offer.
        self._model_chosen: tuple[str, str] | None = None
        # Effort, creativity and length where they are not those of its assistant, by these names.
        self._style: dict[str, str] = {}
        self._roles_shown = False
        # Whether the user wants it to take part; None if they did not choose.
        self._wanted: bool | None = None
        self._role_value = self._role_default = BUILT_IN_ROLES[0]
        # The efforts that the model takes; none where that is not known.
        self._efforts: tuple[str, ...] = ()
        self._role_chosen = False
        self.added = added
        person = candidate.participant.id
        # The list of those on offer takes it; one that was added goes with its row.
        self.tick = named(f"seat_{person}", TickBox(look, self))
        self.tick.setHidden(added)
        self._avatar = Avatar(look)
        self._name = QLineEdit(candidate.participant.name, maxLength=60)
        self._name.setProperty("kind", "name")
        self._offered_name = self._name.text()
        offered = (lambda: tuple(seats.statuses.values())), seats.facts
        self._model = ModelButton(language, look, f"model_{person}", *offered)
        # Made when they are shown: few of those on offer take part, and most without a role or an effort.
        self._role: Choice | None = None
        self._effort: Choice | None = None
        self._prompt = icon_button(look, "pencil", f"prompt_{person}", self._on_prompt, checkable=True)
        self._prompt.setFixedSize(26, 26)
        self._remove = icon_button(look, "x", f"remove_{person}", self.leave_out)
        self._remove.setFixedSize(24, 24)
        self._own = QLineEdit(maxLength=400)
        self._own.hide()
        self._choices = QWidget()
        self._choices_row = hbox(inside=self._choices, spacing=SPACE)
        parts = (self._avatar, self._name, self._model, STRETCH, self._choices, self._prompt, self._remove)
        self._row = hbox(*parts, margins=(EDGE, 5, EDGE, 5), spacing=SPACE)
        self._below = hbox(STRETCH)
        self._own_row = hbox(self._own)
        vbox(self._row, self._below, self._own_row, inside=self, spacing=0)
        self._fit_name()
        look.changed.connect(self._fit_name)
        self.tick.toggled.connect(self._on_toggled)
        self._name.textChanged.connect(self._fit_name)
        self._name.textChanged.connect(self.changed)
        self._model.chosen.connect(self._on_model_chosen)
        self.models_opened = self._model.opened
        self._own.textChanged.connect(lambda _text: self._on_role_chosen())
        self._show_state()
        self.retranslate()

    @property
    def stops(self) -> tuple[QWidget, ...]:
        """The widgets Tab stops at, in order."""
        choices, buttons = self._menus, (self._prompt, self._remove)
        menus = (*buttons, *choices) if self._below.indexOf(self._choices) >= 0 else (*choices, *buttons)
        return (self._name, self._model, *menus, self._own)

    @property
    def chosen(self) -> bool:
        """Whether the participant takes part."""
        return self.tick.isChecked()

    @property
    def is_embedded(self) -> bool:
        """Whether it speaks with the built-in model."""
        status = self._seats.statuses.get(self._participant.provider)
        return status is not None and status.config.kind == EMBEDDED

    def show_candidate(self, candidate: Candidate) -> None:
        """Show what is offered now, and keep the user's changes."""
        self.candidate = candidate
        self._participant = replace(candidate.participant, system_prompt=self._participant.system_prompt)
        self._use_model()
        if self._name.text() == self._offered_name != candidate.participant.name:
            self._name.setText(candidate.participant.name)
            self._offered_name = self._name.text()
        self._show_state()
        self.retranslate()

    def participant(self) -> Participant:
        """Return the participant as set up in the row."""
        role = self._chosen_role() if self._roles_shown else ""
        return replace(self._participant, name=self._name.text().strip(), role=role, **self._style)

    @property
    def draft(self) -> ParticipantDraft | None:
        """The user's changes, None if there are none."""
        one, name = self._participant, self._name.text().strip()
        offered = ParticipantDraft(id=one.id, provider=one.provider, model=one.model)
        draft = replace(
            offered,
            name=name if self.added or name != self._offered_name else "",
            role=self._chosen_role() if self._role_chosen else "",
            system_prompt=self._written,
            prompt_for=self._written_for,
            chosen=self._wanted,
            added=self.added,
            own_model=self._model_chosen is not None,
            **self._style,
        )
        return draft if draft != offered else None

    def show_draft(self, draft: ParticipantDraft) -> None:
        """Show the user's earlier changes."""
        if draft.name:
            self._name.setText(draft.name)
        if draft.role:
            self._role_chosen = True
            built_in = draft.role in (*BUILT_IN_ROLES, OWN)
            self._role_value = draft.role if built_in else OWN
            self._own.setText("" if built_in else draft.role)
        self._model_chosen = (draft.provider, draft.model) if draft.own_model else None
        self._written, self._written_for = draft.system_prompt, draft.prompt_for
        self._use_prompt(self._written_for)
        self._use_model()
        style = {"effort": draft.effort, "creativity": draft.creativity, "length": draft.length}
        self._style = {name: value for name, value in style.items() if value}
        self._wanted = draft.chosen
        self._show_state()
        self.retranslate()

    def set_system_prompt(self, text: str) -> None:
        """Replace the generated prompt by `text`; "" restores the generated one."""
        self._written, self._written_for = text, ""
        self._use_prompt("")
        self.retranslate()
        self.changed.emit()

    def keep_prompt(self, place: str) -> None:
        """Keep the prompt that a debate has begun with for such debates alone."""
        if self._participant.system_prompt:
            self._written_for = place

    def show_prompt_for(self, place: str) -> None:
        """Use the prompt that was written if it is for such a debate, else the generated one."""
        before = self._participant.system_prompt
        self._use_prompt(place)
        if self._participant.system_prompt != before:
            self.retranslate()

    def _use_prompt(self, place: str) -> None:
        text = self._written if self._written_for in ("", place) else ""
        self._participant = replace(self._participant, system_prompt=text)

    def show_roles(self, shown: bool, default: str) -> None:
        """Show or hide the roles; `default` is chosen until the user chooses one."""
        self._roles_shown = shown
        if shown and not self._role_chosen and self._role_value == self._role_default:
            self._role_value = self._role_default = default
            if self._role is not None:
                self._role.choose(default)
        self._show_parts()

    def set_speaker_index(self, index: int, letters: str) -> None:
        """Set the colour by the position among the participants that take part, and the letters of the
        name.
        """
        self._avatar.set_speaker(self._name.text(), index, letters=letters)

    def retranslate(self) -> None:
        """Show every text in the language in use."""
        words, name = self._language, self._name.text()
        self._model.show_model(self._participant.provider, self._participant.model)
        self.tick.setAccessibleName(words("setup.takes_part", name=name))
        self._name.setAccessibleName(words("setup.name", name=name))
        self._model.setAccessibleName(words("setup.model", name=name, model=self._participant.model))
        edited = bool(self._participant.system_prompt)
        self._prompt.setChecked(edited)
        prompt = "setup.prompt.of_changed" if edited else "setup.prompt.of"
        name_button(self._prompt, words(prompt, name=name))
        name_button(self._remove, words("setup.remove_voice", name=name))
        self._own.setPlaceholderText(words("role.own.placeholder"))
        self._own.setAccessibleName(words("role.own.placeholder"))
        self._efforts = self._seats.facts(self._participant.provider, self._participant.model).efforts or ()
        self._fill_menus()
        self._show_parts()

    def minimumSizeHint(self) -> QSize:
        return QSize(240, super().minimumSizeHint().height())

    def line_width(self) -> int:
        """Return the width in pixels at which the row fits into one line."""
        parts = (self._avatar, self._model, self._prompt, self._remove, *self._menus)
        return 2 * EDGE + self._name_width() + sum(_width_of(part) for part in parts if not part.isHidden())

    def arrange(self, *, one_line: bool) -> None:
        """Lay out in one line, or with role and effort under the name."""
        before, after = (self._below, self._row) if one_line else (self._row, self._below)
        if before.indexOf(self._choices) >= 0:
            before.removeWidget(self._choices)
            after.insertWidget(self._row.indexOf(self._prompt) if one_line else 0, self._choices)
            put_in_tab_order(self.stops)
        below = not one_line and (self._roles_shown or bool(self._efforts))
        self._below.setContentsMargins((EDGE + 30), 0, EDGE, 7 if below else 0)

    @property
    def _menus(self) -> tuple[Choice, ...]:
        return tuple(choice for choice in (self._role, self._effort) if choice is not None)

    def _use_model(self) -> None:
        """Use the model that the user chose, while its provider is there."""
        if self._model_chosen is None:
            return
        provider, model = self._model_chosen
        if provider in self._seats.statuses:
            self._participant = replace(self._participant, provider=provider, model=model)

    def _fill_menus(self) -> None:
        """Offer roles and efforts in the menus that are there."""
        words, name = self._language, self._name.text()
        if self._role is not None:
            roles = [(str(role), words(f"role.{role}")) for role in (*BUILT_IN_ROLES, OWN)]
            self._role.offer(roles, self._role_value)
            self._role.setAccessibleName(words("setup.role", name=name))
        if self._effort is not None:
            efforts = [(str(item), words(f"setup.effort.{item}")) for item in (Effort.AUTO, *self._efforts)]
            self._effort.offer(efforts, self._style.get("effort", self._participant.effort))
            self._effort.setAccessibleName(words("setup.effort", name=name))
            self._effort.setToolTip(words("answers.effort"))

    def _new_menu(self, name: str, chosen: Callable[[str], None]) -> Choice:
        menu = named(f"{name}_{self.candidate.participant.id}", Choice(self._look))
        menu.activated.connect(lambda _row: chosen(menu.value()))
        self._choices_row.insertWidget(0 if name == "role" else -1, menu)
        return menu

    def _name_width(self) -> int:
        words = self._name.fontMetrics().horizontalAdvance(self._name.text())
        return max(LEAST, min(LONGEST, words + 18))

    def _chosen_role(self) -> str:
        return self._own.text().strip() if self._role_value == OWN else self._role_value

    def _show_state(self) -> None:
        """Show whether the participant can take part, and does."""
        status = self._seats.statuses.get(self._participant.provider)
        ready = status is not None and status.ready
        with QSignalBlocker(self.tick):
            self.tick.setChecked(ready and (self.candidate.chosen if self._wanted is None else self._wanted))
        self.tick.setEnabled(ready)
        self.setVisible(self.chosen)

    def _show_parts(self) -> None:
        menus = self._menus
        if self.chosen and self._roles_shown and self._role is None:
            self._role = self._new_menu("role", self._on_role_activated)
        if self.chosen and self._efforts and self._effort is None:
            self._effort = self._new_menu("effort", self._on_effort_chosen)
        if self._menus != menus:
            self._fill_menus()
            put_in_tab_order(self.stops)
        for menu, shown in ((self._role, self._roles_shown), (self._effort, bool(self._efforts))):
            if menu is not None:
                menu.setVisible(shown)
        # The built-in model is too small for a system prompt: it gets a transcript and an opening sentence.
        self._prompt.setVisible(not self.is_embedded)
        own = self._roles_shown and self._role_value == OWN
        self._own.setVisible(own)
        self._own_row.setContentsMargins(10, 0, 10, 10 if own else 0)

    def _fit_name(self) -> None:
        self._name.ensurePolished()
        self._name.setFixedWidth(self._name_width())
        if not self._name.hasFocus():
            self._name.setCursorPosition(0)

    def _on_toggled(self, on: bool) -> None:
        self._wanted = on
        self._show_parts()
        self.setVisible(on)
        self.changed.emit()

    def leave_out(self) -> None:
        """Let it no longer take part."""
        if self.added:
            self.remove_requested.emit()
        else:
            self.tick.setChecked(False)

    def _on_model_chosen(self, provider: str, model: str) -> None:
        name, old = self._name.text(), self._participant
        named_after_model = name == last_part(old.model)
        # Another provider's model is no "Claude" any more.
        if (status := self._seats.statuses.get(old.provider)) is not None and provider != old.provider:
            named_after_model |= name == voice_of(status, old.model)
        self._model_chosen = (provider, model)
        self._use_model()
        if named_after_model:
            self._name.setText(last_part(model))
        self.retranslate()
        self.changed.emit()

    def _on_prompt(self) -> None:
        self._prompt.setChecked(bool(self._participant.system_prompt))
        self.prompt_requested.emit()

    def _on_effort_chosen(self, effort: str) -> None:
        self._style["effort"] = effort
        self.changed.emit()

    def _on_role_activated(self, role: str) -> None:
        self._role_chosen, self._role_value = True, role
        self._on_role_chosen()

    def _on_role_chosen(self) -> None:
        self._show_parts()
        if self._role_value == OWN and not self._own.text():
            self._own.setFocus(Qt.FocusReason.OtherFocusReason)
        self.changed.emit()


def _width_of(control: QWidget) -> int:
    """Return the width of a control in the row in pixels, with the space beside it."""
    control.ensurePolished()
    return max(control.sizeHint().width(), control.minimumWidth()) + SPACE


class ParticipantList(LayoutFitting, QWidget):
    """The cards of all participants on offer; those that take part are shown, all can be ticked in `picker`.

    They are made when they are asked for first: a window that opens need not wait for them.
    Signals: changed() after a change in a card, rearranged() after cards were added or removed,
    prompt_requested(card), set_up_requested(provider id), participant_removed(draft, position), lost(drafts
    of those who were to take part and whose model is not here any more).
    """

    changed = Signal()
    rearranged = Signal()
    prompt_requested = Signal(object)
    set_up_requested = Signal(str)
    participant_removed = Signal(object, int)
    lost = Signal(object)

    def __init__(self, language: Language, look: Look, engine: Engine, tasks: Tasks) -> None:
        super().__init__()
        self.language, self.look, self._engine, self._tasks = language, look, engine, tasks
        self.facts = engine.connections.known_facts
        self.statuses: dict[str, ProviderStatus] = {}
        """The providers by their ids."""
        self._added = 0
        self._made = False
        self._waiting: tuple[ParticipantDraft, ...] = ()
        self._cards: list[ParticipantCard] = []
        self._rows: dict[ParticipantCard, PickRow] = {}
        self.picker = ParticipantPicker(language, look, self.facts, self)
        self.picker.opened.connect(self._offer)
        self.picker.opened.connect(self.learn_facts)
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
        return any(status.ready and status.config.kind != EMBEDDED for status in self.statuses.values())

    @property
    def drafts(self) -> tuple[ParticipantDraft, ...]:
        """The user's changes to the participants."""
        if not self._made:
            return self._waiting
        return tuple(candidate for card in self._cards if (candidate := card.draft) is not None)

    def show_drafts(self, drafts: Iterable[ParticipantDraft]) -> None:
        """Show what was set up before, and say who is lost as the provider or model is gone."""
        if not self._made:
            self._waiting = tuple(drafts)
            return
        cards = {card.candidate.participant.id: card for card in self._cards}
        lost = []
        for draft in drafts:
            card = self._add_from_draft(draft) if draft.added else cards.get(draft.id)
            if card is not None:
                card.show_draft(draft)
            elif draft.chosen or (draft.added and draft.chosen is None):
                lost.append(draft)
        self.rearranged.emit()
        if lost:
            self.lost.emit(lost)

    def refresh(self) -> None:
        """Offer the participants the engine has now; keep the cards, and their changes, of those that
        stay.
        """
        if not self._made:
            return
        before = tuple(self._cards)
        known = {card.candidate.participant.id: card for card in before}
        self.statuses = {status.config.id: status for status in self._engine.providers()}
        # First those that take part by default, last those that have to be set up.
        found = self._engine.debates.candidates()
        candidates = sorted(found, key=lambda item: (not item.status.ready, not item.chosen))
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
                known_status = card.candidate.status
                status = self.statuses.get(known_status.config.id, known_status)
                card.show_candidate(replace(card.candidate, status=status))
                self._put(card)
            elif card not in self._cards:
                self._drop(card)
        self._offer()
        self.rearranged.emit()

    def add_participant(self, candidate: Candidate) -> None:
        """Add another participant with the same model, under a name nobody has."""
        # The card it is a copy of may have been renamed: the copy gets a number all the same.
        self._add_apart(candidate, candidate.participant)

    def drop(self, participant_id: str) -> None:
        """Let a participant no longer take part."""
        next(card for card in self.cards if card.participant().id == participant_id).leave_out()

    def learn_facts(self) -> None:
        """Learn what all models on offer can do and cost, and show it in the list."""
        self._tasks.start("facts of the models on offer", self._learn_facts())

    async def _learn_facts(self) -> None:
        await self._engine.connections.learn_facts()
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

    def _fit(self) -> None:
        """Lay out all cards in one line each, or none of them."""
        width = self.width()
        shown = [card for card in self._cards if card.chosen]
        one_line = all(card.line_width() <= width for card in shown)
        for card in shown:
            card.arrange(one_line=one_line)

    def _add_from_draft(self, draft: ParticipantDraft) -> ParticipantCard | None:
        """Add a participant from its draft; return None if its model is no longer offered."""
        model = (draft.provider, draft.model)
        candidates = sorted((card.candidate for card in self._cards), key=lambda item: not item.plain)
        offered = [one for one in candidates if (one.participant.provider, one.participant.model) == model]
        status = self.statuses.get(draft.provider)
        if not offered and status is not None and draft.model in status.models:
            own = Participant(id="", name=draft.name, provider=draft.provider, model=draft.model)
            offered = [Candidate(own, status)]
        return self._add_copy(offered[0], draft.name) if offered and status is not None else None

    def _add_apart(self, candidate: Candidate, *taken: Participant) -> None:
        """Add a participant under a name that neither these have nor a card whose provider is still here."""
        here = (card for card in self.cards if card.candidate.status.config.id in self.statuses)
        present = [card.participant() for card in here]
        self._add_copy(candidate, named_apart(candidate.participant, [*taken, *present]).name)
        self.rearranged.emit()

    def _add_copy(self, candidate: Candidate, name: str) -> ParticipantCard:
        self._added += 1
        participant = replace(candidate.participant, id=f"added-{self._added}", name=name, system_prompt="")
        return self._new_card(replace(candidate, participant=participant, chosen=True), added=True)

    def _new_card(self, candidate: Candidate, *, added: bool) -> ParticipantCard:
        card = ParticipantCard(self, candidate, added=added)
        card.changed.connect(self.changed)
        card.models_opened.connect(self.learn_facts)
        card.prompt_requested.connect(lambda: self.prompt_requested.emit(card))
        card.remove_requested.connect(lambda: self._on_remove(card))
        self._put(card)
        if not added:
            row = PickRow(self.look, card.tick, candidate.status, self._group_of(candidate))
            row.set_up_requested.connect(lambda _provider_id: self.picker.close())
            row.set_up_requested.connect(self.set_up_requested)
            row.again_requested.connect(lambda: self.add_participant(card.candidate))
            self._rows[card] = row
        return card

    def _group_of(self, candidate: Candidate) -> str:
        plain = candidate.plain
        return self.language.provider(candidate.status) if plain else self.language("setup.assistants")

    def _offer(self) -> None:
        """Offer in the list who is there now, and the models that are not among them."""
        rows = []
        for card in self._cards:
            if not card.added:
                rows.append(self._rows[card])
                self._show_in_list(card, self._rows[card])
        offered = {_model_of(card) for card in self._cards if card.candidate.plain and not card.added}
        added = {_model_of(card) for card in self._cards if card.added}
        ready = [status for status in self.statuses.values() if status.ready]
        models = [(status, model, (status.config.id, model)) for status in ready for model in status.models]
        offers = [
            ModelOffer(status, name, key in added) for status, name, key in models if key not in offered
        ]
        self.picker.show_models(offers)
        self.picker.show_rows(rows)

    def _show_in_list(self, card: ParticipantCard, row: PickRow) -> None:
        words, candidate = self.language, card.candidate
        participant, status = candidate.participant, candidate.status
        if not status.ready:
            note = words.problem(status.problem)
        else:
            facts = self.facts(participant.provider, participant.model)
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

    def _put(self, card: ParticipantCard, place: int | None = None) -> None:
        at = len(self._cards) if place is None else min(place, len(self._cards))
        self._cards.insert(at, card)
        self._column.insertWidget(at, card)

    def _drop(self, card: ParticipantCard) -> None:
        self._column.removeWidget(card)
        for gone in (card, self._rows.pop(card, None)):
            if gone is not None:
                drop(gone)

    def _on_remove(self, card: ParticipantCard) -> None:
        place, draft = self._cards.index(card), card.draft
        self._cards.remove(card)
        self._drop(card)
        self.changed.emit()
        self.participant_removed.emit(draft, place)


def _model_of(card: ParticipantCard) -> tuple[str, str]:
    """Return the provider and the model with which a card is offered."""
    return card.candidate.participant.provider, card.candidate.participant.model
