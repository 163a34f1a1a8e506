"""The card of a participant in Setup: whether it takes part, its name, model, role and system prompt."""

from dataclasses import replace

from PySide6.QtCore import QSignalBlocker, QSize, Qt, Signal
from PySide6.QtWidgets import QBoxLayout, QFrame, QHBoxLayout, QLineEdit, QWidget

from app.core.catalog import EMBEDDED
from app.core.draft import ParticipantDraft
from app.core.session import Participant
from app.engine.engine import Candidate
from app.gui.display.i18n import BUILT_IN_ROLES, Language
from app.gui.display.style import Look
from app.gui.widgets.badge import Avatar
from app.gui.widgets.boxes import STRETCH, hbox, vbox
from app.gui.widgets.controls import Choice, TickBox, button, icon_button, name_button
from app.gui.widgets.label import ElidedLabel

OWN = "own"
EDGE, SPACE, INDENT = 9, 8, 6
LEAST, LONGEST, LONGEST_MODEL = 46, 150, 180
LEAST_CARD = 240


class ParticipantCard(QFrame):
    """A card with tick box, name, model, role and prompt; the user's changes survive a change of what is offered."""

    changed = Signal()
    prompt_requested = Signal()
    set_up_requested = Signal(str)
    remove_requested = Signal()

    def __init__(
        self,
        language: Language,
        look: Look,
        candidate: Candidate,
        *,
        removable: bool,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self.setProperty("kind", "card")
        self._language = language
        self.candidate = candidate
        self._participant = candidate.participant
        # Effort, creativity and length where they are not those of its assistant, by these names.
        self._style: dict[str, str] = {}
        self._roles_shown = False
        self._one_line = True
        self._role_below = False
        # Whether the user wants it to take part; None if they did not choose.
        self._wanted: bool | None = None
        self._role_default = BUILT_IN_ROLES[0]
        self._role_chosen = False
        self.tick = TickBox(look)
        self.tick.setObjectName(f"seat_{candidate.participant.id}")
        self._avatar = Avatar(look)
        self._name = QLineEdit()
        self._name.setProperty("kind", "name")
        self._name.setMaxLength(60)
        self._name.setText(candidate.participant.name)
        self._offered_name = self._name.text()
        self._model = ElidedLabel("meta")
        self._role = Choice(look)
        self._role.setObjectName(f"role_{candidate.participant.id}")
        self._prompt = button("link", f"prompt_{candidate.participant.id}", self.prompt_requested)
        self._prompt_icon = icon_button(look, "pencil", "", self.prompt_requested)
        self._prompt_icon.setFixedSize(26, 26)
        self._set_up = button("link", "", lambda: self.set_up_requested.emit(self.candidate.status.config.id))
        self._remove = icon_button(look, "x", "", self.remove_requested)
        self._remove.setFixedSize(24, 24)
        self._own = QLineEdit()
        self._own.setMaxLength(400)
        self._own.setVisible(False)
        self._row = row = QHBoxLayout()
        row.setContentsMargins(EDGE, 8, EDGE, 8)
        row.setSpacing(SPACE)
        for widget in (self.tick, self._avatar):
            row.addWidget(widget)
        self._who = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        self._who.setSpacing(SPACE)
        self._who.addWidget(self._name)
        self._who.addWidget(self._model, 1)
        row.addLayout(self._who, 1)
        for control in (self._prompt, self._prompt_icon, self._role, self._set_up, self._remove):
            row.addWidget(control)
        self._below = hbox(STRETCH)
        own_row = hbox(self._own)
        vbox(row, self._below, own_row, inside=self, spacing=0)
        self._own_row = own_row
        self._remove.setVisible(removable)
        self._removable = removable
        self._fit_name()
        look.changed.connect(self._fit_name)
        self.tick.toggled.connect(self._on_toggled)
        self._name.textChanged.connect(self._on_name_changed)
        self._role.activated.connect(self._on_role_activated)
        self._own.textChanged.connect(lambda _text: self._on_role_chosen())
        self._show_state()
        self.retranslate()

    @property
    def stops(self) -> tuple[QWidget, ...]:
        """The widgets Tab stops at, in order."""
        return (
            self.tick,
            self._name,
            self._prompt,
            self._prompt_icon,
            self._role,
            self._set_up,
            self._remove,
            self._own,
        )

    @property
    def chosen(self) -> bool:
        """Whether the participant takes part."""
        return self.tick.isChecked()

    def show_candidate(self, candidate: Candidate) -> None:
        """Show what is offered now, and keep the user's changes."""
        self.candidate = candidate
        self._participant = replace(candidate.participant, system_prompt=self._participant.system_prompt)
        if self._name.text() == self._offered_name != candidate.participant.name:
            self._name.setText(candidate.participant.name)
            self._offered_name = self._name.text()
        self._show_state()
        self.retranslate()
        self._show_parts()

    def participant(self) -> Participant:
        """Return the participant as set up on the card."""
        role = self._chosen_role() if self._roles_shown else ""
        return replace(self._participant, name=self._name.text().strip(), role=role, **self._style)

    @property
    def draft(self) -> ParticipantDraft | None:
        """The user's changes, None if there are none."""
        candidate, name = self.candidate.participant, self._name.text().strip()
        offered = ParticipantDraft(id=candidate.id, provider=candidate.provider, model=candidate.model)
        draft = replace(
            offered,
            name=name if self._removable or name != self._offered_name else "",
            role=self._chosen_role() if self._role_chosen else "",
            system_prompt=self._participant.system_prompt,
            chosen=self._wanted,
            added=self._removable,
            **self._style,
        )
        return draft if draft != offered else None

    def show_draft(self, draft: ParticipantDraft) -> None:
        """Show the user's earlier changes."""
        if draft.name:
            self._name.setText(draft.name)
        if draft.role:
            self._role_chosen = True
            place = self._role.findData(draft.role)
            self._role.setCurrentIndex(place if place >= 0 else self._role.findData(OWN))
            self._own.setText("" if place >= 0 else draft.role)
        self._participant = replace(self._participant, system_prompt=draft.system_prompt)
        style = {"effort": draft.effort, "creativity": draft.creativity, "length": draft.length}
        self._style = {name: value for name, value in style.items() if value}
        self._wanted = draft.chosen
        self._show_state()
        self.retranslate()
        self._show_parts()

    def set_system_prompt(self, text: str) -> None:
        """Replace the generated prompt by `text`; "" restores the generated one."""
        self._participant = replace(self._participant, system_prompt=text)
        self.retranslate()
        self.changed.emit()

    def show_roles(self, shown: bool, default: str) -> None:
        """Show or hide the roles; `default` is chosen until the user chooses one."""
        self._roles_shown = shown
        if shown and not self._role_chosen and self._role.currentData() == self._role_default:
            self._role.setCurrentIndex(BUILT_IN_ROLES.index(default))
            self._role_default = default
        self._show_parts()

    def set_speaker_index(self, index: int) -> None:
        """Set the colour by the position among the participants that take part."""
        self._avatar.set_speaker(self._name.text(), index, faint=not self.chosen)

    def retranslate(self) -> None:
        """Show every text in the language in use."""
        words, name = self._language, self._name.text()
        note = words.problem(self.candidate.note) if self.candidate.note else self._participant.model
        self._model.setText(note)
        self.tick.setAccessibleName(words("setup.takes_part", name=name))
        self._name.setAccessibleName(words("setup.name", name=name))
        edited = bool(self._participant.system_prompt)
        self._prompt.setText(words("setup.prompt.changed" if edited else "setup.prompt"))
        name_button(self._prompt, words("setup.prompt.of", name=name))
        name_button(self._prompt_icon, words("setup.prompt.of", name=name))
        self._set_up.setText(words("setup.set_up"))
        name_button(self._remove, words("setup.remove_voice", name=name))
        self._role.setAccessibleName(words("setup.role", name=name))
        self._own.setPlaceholderText(words("role.own.placeholder"))
        self._own.setAccessibleName(words("role.own.placeholder"))
        index = max(0, self._role.currentIndex())
        self._role.clear()
        for role in BUILT_IN_ROLES:
            self._role.addItem(words(f"role.{role}"), role)
        self._role.addItem(words("role.own"), OWN)
        self._role.setCurrentIndex(index)

    def minimumSizeHint(self) -> QSize:
        return QSize(LEAST_CARD, super().minimumSizeHint().height())

    def line_width(self) -> int:
        """Return the width in pixels at which the card fits into one line."""
        model = self._model.sizeHint().width()
        prompt = _width_of(self._prompt) if self._has_prompt else 0
        return self._edges() + self._name_width() + SPACE + model + prompt + self._role_width()

    def arrange(self, width: int, *, one_line: bool) -> None:
        """Lay out in one line, or with the model under the name, and with the role under both if needed."""
        self._one_line = one_line
        room = width - self._edges() - (_width_of(self._prompt_icon) if self._has_prompt else 0)
        name, model = self._name_width(), INDENT + self._model.sizeHint().width()
        role = self._role_width()
        below = not one_line and role > 0 and max(name, min(model, LONGEST_MODEL)) + role > room
        self._stack_up(role_below=below)
        self._name.setFixedWidth(name if one_line else max(LEAST, min(name, room)))
        self._show_parts()

    def _edges(self) -> int:
        """Return the width in pixels of the margins and the parts that are always shown."""
        shown = [one for one in (self.tick, self._avatar, self._set_up, self._remove) if not one.isHidden()]
        return 2 * EDGE + sum(_width_of(one) for one in shown)

    def _role_width(self) -> int:
        return _width_of(self._role) if self._has_role else 0

    def _stack_up(self, *, role_below: bool) -> None:
        down, across = QBoxLayout.Direction.TopToBottom, QBoxLayout.Direction.LeftToRight
        direction = across if self._one_line else down
        if direction != self._who.direction():
            self._who.setDirection(direction)
            self._who.setSpacing(SPACE if self._one_line else 0)
        self._model.setContentsMargins(0 if self._one_line else INDENT, 0, 0, 0)
        air = 8 if self._one_line else 5
        self._row.setContentsMargins(EDGE, air, EDGE, air)
        self._below.setContentsMargins(0, 0, EDGE, 8 if role_below else 0)
        if role_below != self._role_below:
            self._role_below = role_below
            before, after = (self._row, self._below) if role_below else (self._below, self._row)
            before.removeWidget(self._role)
            after.insertWidget(1 if role_below else self._row.indexOf(self._set_up), self._role)

    @property
    def _has_role(self) -> bool:
        return self.candidate.status.ready and self._roles_shown

    @property
    def _has_prompt(self) -> bool:
        # The built-in model is too small for a system prompt: it gets a transcript and an opening sentence.
        return self.candidate.status.ready and self.chosen and self.candidate.status.config.kind != EMBEDDED

    def _name_width(self) -> int:
        words = self._name.fontMetrics().horizontalAdvance(self._name.text())
        return max(LEAST, min(LONGEST, words + 18))

    def _chosen_role(self) -> str:
        role = str(self._role.currentData())
        return self._own.text().strip() if role == OWN else role

    def _show_state(self) -> None:
        """Show whether the participant can take part, and does."""
        ready = self.candidate.status.ready
        with QSignalBlocker(self.tick):
            self.tick.setChecked(ready and (self.candidate.chosen if self._wanted is None else self._wanted))
        for part in (self.tick, self._avatar, self._name, self._model):
            part.setEnabled(ready)
        self._set_up.setObjectName(f"set_up_{self.candidate.status.config.id}")
        self._set_up.setVisible(not ready)

    def _show_parts(self) -> None:
        self._role.setVisible(self._has_role)
        self._role.setEnabled(self.chosen)
        self._prompt.setVisible(self._has_prompt and self._one_line)
        self._prompt_icon.setVisible(self._has_prompt and not self._one_line)
        own = self._roles_shown and self.chosen and self._role.currentData() == OWN
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
        self.changed.emit()

    def _on_name_changed(self) -> None:
        self._fit_name()
        self.changed.emit()

    def _on_role_activated(self) -> None:
        self._role_chosen = True
        self._on_role_chosen()

    def _on_role_chosen(self) -> None:
        self._show_parts()
        if self._role.currentData() == OWN and not self._own.text():
            self._own.setFocus(Qt.FocusReason.OtherFocusReason)
        self.changed.emit()


def _width_of(control: QWidget) -> int:
    """Return the width of a control in the row in pixels, with the space beside it."""
    control.ensurePolished()
    return max(control.sizeHint().width(), control.minimumWidth()) + SPACE
