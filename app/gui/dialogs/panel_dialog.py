"""The dialog of a panel: its name, who is asked, how long they debate what is open, and who judges that."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QLineEdit, QWidget

from app.core.council import ANY_JUDGE, MAX_COUNCIL_ROUNDS, MIN_PARTICIPANTS, NO_JUDGE, Panel, Participant
from app.core.ids import new_id
from app.core.provider import ProviderStatus
from app.core.session import MIN_ROUNDS
from app.core.texts import exact
from app.engine.council.panels import named_apart
from app.engine.debate.setup import MAX_PARTICIPANTS, voice_of
from app.gui.dialogs.ask_dialogs import AskDialog
from app.gui.display.appearance import Language, Look
from app.gui.widgets.boxes import STRETCH, empty, frame, hbox, vbox
from app.gui.widgets.controls import RoundsSlider, TickBox, button, icon_button
from app.gui.widgets.form import Field
from app.gui.widgets.model_choice import Facts, ModelButton, ModelMenu, model_text
from app.gui.widgets.text import ElidedLabel, name_button, named, plain_label

INDENT = 28


class PanelDialog(AskDialog):
    """Edits a panel; emits `saved` with it. Its name is selected, to be typed over.

    `set_up` are the participants that are chosen in Setup now, who can take the place of the panel's.
    """

    saved = Signal(object)

    def __init__(
        self,
        words: Language,
        look: Look,
        panel: Panel,
        set_up: Sequence[Participant],
        providers: Callable[[], Sequence[ProviderStatus]],
        facts: Facts,
        parent: QWidget,
    ) -> None:
        title = words("panel.edit" if panel.id else "panel.new")
        super().__init__(words, parent, "panel", title, ("save", words("dialog.save")))
        self._panel, self._participants, self._set_up = panel, panel.participants, tuple(set_up)
        name, rounds = named("panel_name", QLineEdit()), plain_label("value", text=str(panel.rounds))
        self._look, self._providers, self._facts = look, providers, facts
        self._who = named("panel_participants", QWidget())
        self._rows = vbox(inside=self._who, spacing=2)
        self.add = button("link", "panel_add_participant", self._on_add, text=words("panel.add_participant"))
        self.take = button("link", "panel_take", self._on_take, text=words("panel.take"))
        compare, judged, debates = (
            named(f"panel_{name}", TickBox(look)) for name in ("compare", "judged", "debates")
        )
        slider = named("panel_rounds", RoundsSlider(Qt.Orientation.Horizontal))
        slider.setRange(MIN_ROUNDS, MAX_COUNCIL_ROUNDS)
        slider.setPageStep(1)
        slider.valueChanged.connect(lambda value: rounds.setText(str(value)))
        self.judge = ModelButton(
            words, look, "panel_judge", providers, facts, automatic="panel.judge.automatic"
        )
        self.judge.chosen.connect(self._on_judge)
        provider, _slash, model = panel.judge.partition("/")
        self._on_judge(provider if model else "", model)
        judged.toggled.connect(self.judge.setEnabled)
        open_ = plain_label("hint", wrap=True, text=words("panel.debates.hint"))
        open_.setIndent(INDENT)
        participants = hbox(plain_label("field", text=words("setup.participants")), STRETCH, self.take)
        self.ask(
            Field("name", name, label="panel.name", fits=bool),
            frame("", vbox(participants, self._who, hbox(self.add, STRETCH), spacing=5)),
            frame(
                "", hbox(plain_label("field", text=words("setup.rounds")), (slider, 1), rounds, spacing=10)
            ),
            Field("compare", compare, text="council.compare.tick"),
            frame("", hbox(judged, self.judge, STRETCH, spacing=4)),
            frame("", vbox(debates, open_, spacing=2)),
            inner=(
                Field("rounds", slider, says="setup.rounds"),
                Field(
                    "judge",
                    judged,
                    text="panel.judged",
                    get=lambda panel: panel.judge != NO_JUDGE,
                    put=lambda on: {"judge": self._judge if on else NO_JUDGE},
                ),
                Field("debates", debates, text="panel.debates"),
            ),
            width=480,
        )
        self.form.fill(panel)
        self.judge.setEnabled(judged.isChecked())
        self._show_participants()
        self.resize(480, self.sizeHint().height())
        name.selectAll()
        name.setFocus()

    def _check(self) -> None:
        self.go.setEnabled(len(self._participants) >= MIN_PARTICIPANTS and self.form.complete)
        self.add.setEnabled(len(self._participants) < MAX_PARTICIPANTS)

    def _show_participants(self) -> None:
        empty(self._rows)
        for place, one in enumerate(self._participants):
            model = model_text(self._words, self._providers(), one.provider, one.model)
            text = f"{exact(one.name)} · {exact(model)}"
            gone = icon_button(self._look, "x", f"panel_remove_{place + 1}", partial(self._on_remove, place))
            name_button(gone, self._words("chat.attachment.remove", name=exact(one.name)))
            row = hbox((ElidedLabel("card_text", text=text), 1), gone, spacing=6)
            self._rows.addWidget(frame("", row))
        self._check()
        others = len(self._set_up) >= MIN_PARTICIPANTS and self._set_up != self._participants
        self.take.setVisible(others)

    def _on_add(self) -> None:
        """Open the list of all models to choose one more."""
        menu = ModelMenu(self._words, self._look, self._providers(), self._facts, ("", ""), self.add)
        menu.chosen.connect(self._on_model_chosen)
        menu.open(self.add)

    def _on_model_chosen(self, provider: str, model: str) -> None:
        status = next((one for one in self._providers() if one.config.id == provider), None)
        if status is None:
            return
        seat = Participant(id=new_id(), name=voice_of(status, model), provider=provider, model=model)
        self._participants = (*self._participants, named_apart(seat, self._participants))
        self._show_participants()

    def _on_remove(self, place: int) -> None:
        self._participants = (*self._participants[:place], *self._participants[place + 1 :])
        self._show_participants()
        self.add.setFocus()

    def _on_take(self) -> None:
        self._participants = self._set_up
        self._show_participants()
        self.form.fields["name"].control.setFocus()

    def _on_judge(self, provider: str, model: str) -> None:
        self._judge = f"{provider}/{model}" if provider else ANY_JUDGE
        self.judge.show_model(provider, model)

    def _on_go(self) -> None:
        self.accept()
        self.saved.emit(replace(self._panel, participants=self._participants, **self.form.values()))
