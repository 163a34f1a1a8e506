"""Setup: the topic, the mode, the context files, who takes part, how the debate ends, and Start."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from app.core import session
from app.core.council import ANY_JUDGE, MIN_PARTICIPANTS, NO_JUDGE, Ends
from app.core.draft import Draft, SetupDraft
from app.core.errors import BadInput
from app.core.message import Attachment, tokens_text
from app.core.texts import has_hangul
from app.engine.debate.estimates import Estimate, price_text
from app.engine.debate.replies import MOST_OPTIONS
from app.engine.debate.setup import prompt_place, set_up_again
from app.engine.engine import CouncilSetup, DebateSetup, Engine
from app.engine.voting import seat_of
from app.gui.dialogs.ask_dialogs import PromptDialog
from app.gui.display.appearance import BUILT_IN_ROLES, Language, Look
from app.gui.display.descriptions import council_estimate_text, estimate_text
from app.gui.files.user_files import CHARACTERS_PER_TOKEN, ContextList, pasted_text
from app.gui.pages.chat.message_box import AttachmentStrip
from app.gui.panels.debate.participant_list import ParticipantCard, ParticipantList
from app.gui.tasks import Tasks
from app.gui.widgets import controls
from app.gui.widgets.badge import initials
from app.gui.widgets.boxes import STRETCH, Fitting, Part, frame, hbox, put_in_tab_order, vbox
from app.gui.widgets.choices import Segmented
from app.gui.widgets.model_choice import ModelButton
from app.gui.widgets.text import (
    ElidedLabel,
    Paragraph,
    named,
    plain_label,
    plain_tip,
    say,
    show_as,
    show_if,
    show_or_hide,
)

MODES = session.CLASSIC_MODES
# What is set up at first.
FRESH = SetupDraft().ending(Ends.VERDICT)
COUNCIL_ENDS = (Ends.VERDICT, Ends.VOTE, Ends.MERGE, Ends.NONE)
UNDER_TICK, ROOMY = 28, 420


class SetupView(Fitting, QWidget):
    """Where a debate is set up; emits `start_requested` with the setup and the paths of the context files.

    `connect_requested` adds a provider; `draft_changed` carries a Draft, `sizes_wanted` the paths of
    documents whose text was not read.
    A text that is too long for the topic becomes an attachment, which is given to the debate as context.
    """

    start_requested = Signal(object, tuple)
    connect_requested = Signal()
    context_chosen = Signal(tuple)
    draft_changed = Signal(object)
    sizes_wanted = Signal(tuple)

    def __init__(self, language: Language, look: Look, engine: Engine, tasks: Tasks) -> None:
        super().__init__()
        self._language, self._engine, self._tasks = language, engine, tasks
        self._starting = self._filling = self._council = False
        # Gives a council of what is set up; the controller sets it.
        self.council_of: Callable[[DebateSetup], CouncilSetup] = lambda setup: CouncilSetup(setup=setup)
        self._seed: int | None = None
        topic = controls.TextBox(lines=2, most=6, longest=session.MAX_TOPIC_CHARACTERS)
        self.topic = named("debate_topic", topic)
        say(topic, language, name="setup.topic", hint="setup.topic.placeholder")
        self.mode = say(named("debate_mode", Segmented(MODES)), language, name="setup.mode")
        self.rounds = named("debate_rounds", controls.RoundsSlider(Qt.Orientation.Horizontal))
        say(self.rounds, language, name="setup.rounds")
        self.rounds.setRange(session.MIN_ROUNDS, session.MAX_ROUNDS)
        self.rounds.setPageStep(1)
        self.rounds.setValue(session.DEFAULT_ROUNDS)
        self.context = named("debate_context", controls.WrappedTick(look))
        self.opening = say(named("debate_opening", controls.WrappedTick(look)), language, "setup.opening")
        self.tools = say(named("debate_tools", controls.Choice(look)), language, name="setup.tools")
        self.options = named("debate_options", controls.TextBox(submits=False, most=MOST_OPTIONS))
        say(self.options, language, name="setup.options", hint="setup.options.placeholder")
        self._add_options = controls.ShorteningButton("link", "add_options", self._on_options)
        self._add_options.dress(look, "plus", "accent")
        self._add_options.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        language.follow(lambda: self._add_options.show_words(language("setup.options.add")))
        self.options.hide()
        self.conclusion = ConclusionChoice(language, look, engine)
        models = (lambda: engine.debates.may_help(self.setup())), engine.connections.known_facts
        self.helper = ModelButton(language, look, "setup_helper", *models, automatic="setup.helper.automatic")
        self.helper.show_model("", "")
        # Who was chosen, a "provider/model"; "" leaves it to the cheapest that may.
        self.chosen_helper = ""
        self._helps = False
        start = controls.button("primary", "debate_start", self._on_start)
        self.start = start.dress(look, "play", "on_accent")
        self.files = ContextList(language, look)
        self.pasted = named("setup_pasted", AttachmentStrip(language, look))
        keys = "topic", "mode", "participants", "rounds", "tools"
        self._labels = {key: plain_label("field") for key in keys}
        self._rounds_value = plain_label("value")
        self._add = controls.button("link", "add_voice", lambda: self.seats.picker.open(self._add))
        say(self._add.dress(look, "plus", "accent"), language, "setup.add", name="setup.add_voice")
        self.panels = controls.MenuButton(look, "users", "panels_button", chevron=True)
        self._context_size = plain_label("hint")
        self._context_size.setIndent(UNDER_TICK)
        self._choose = say(controls.button("link", "choose_context"), language, "setup.context.choose")
        self._honesty = say(Paragraph("hint"), language, "setup.embedded")
        self._warning_button = controls.button("", "warning_providers", self.connect_requested)
        say(self._warning_button, language, "first.connect.button")
        warning = (say(Paragraph("warn"), language, "setup.embedded.not_english"), 1), self._warning_button
        self._warning = frame("banner", hbox(*warning, margins=(12, 8, 10, 8), spacing=10))
        self._warning.setProperty("tone", "warn")
        self._estimate = plain_label("hint", wrap=True)
        self.seats = named("debate_participants", ParticipantList(language, look, engine, tasks))
        say(self.seats, language, name="setup.participants")
        self._lay_out()
        self._connect()
        self.set_context_paths(engine.settings().project_context)
        self._retranslate()

    def show_council(self, council: bool) -> None:
        """Show what a council needs, or all that a debate needs."""
        self._council = council
        rounds = (self._labels["rounds"], self.rounds, self._rounds_value)
        show_if(not council, self._labels["mode"], self.mode, *rounds, self.opening)
        self.conclusion.show_council(council)
        self._retranslate()

    def set_topic(self, topic: str) -> None:
        """Set the topic and put the cursor at its end."""
        self._seed = None
        self.topic.setPlainText(topic)
        self.topic.moveCursor(self.topic.textCursor().MoveOperation.End)

    @property
    def draft(self) -> Draft:
        """The setup as a draft."""
        setup = SetupDraft(
            mode=self.mode.value(),
            rounds=self.rounds.value(),
            independent_opening=self.opening.isChecked(),
            tools=self.tools.currentData(),
            polls=self.conclusion.chosen.polls,
            final_ballots=self.conclusion.chosen.final_ballots,
            judge=self.conclusion.chosen.judge,
            helper=self.chosen_helper,
            options=tuple(self.options.toPlainText().split("\n")) if self.options.text() else (),
            context=self.context.isChecked(),
            looks=self.files.look.isChecked(),
            seats=self.seats.drafts,
            seed=self._seed,
        )
        text, pasted = self.topic.toPlainText(), self.pasted.attachments()
        return Draft(text=text, attachments=pasted, setup=setup if setup != FRESH else None)

    def show_draft(self, draft: Draft) -> None:
        """Show what was set up before, without participants whose provider is gone."""
        setup = draft.setup or FRESH
        self._filling = True
        self.set_topic(draft.text)
        self.pasted.show_attachments(draft.attachments)
        self._seed = setup.seed
        self.mode.set_value(setup.mode)
        self.rounds.setValue(setup.rounds)
        self.opening.setChecked(setup.independent_opening)
        self.tools.choose(setup.tools)
        self.conclusion.show_draft(setup)
        self.choose_helper(setup.helper)
        self.show_options(setup.options)
        self.context.setChecked(setup.context)
        self.files.look.setChecked(setup.looks)
        self.seats.show_drafts(setup.seats)
        self._filling = False
        self._refresh()

    def set_context_paths(self, paths: tuple[str, ...], folder: str = "") -> None:
        """Show the context files of a folder by its name, or those for sessions in none."""
        self._folder = folder
        self.files.show_paths(paths)
        self._on_rearranged()

    def show_document_size(self, path: str, characters: int) -> None:
        """Show the size of a context document after its text was read; 0 for one that cannot be read."""
        self.files.sizes.keep(path, characters)
        self.set_context_paths(self.files.paths, self._folder)

    def setup(self) -> DebateSetup:
        """Return the setup, without the texts of the context files."""
        chosen, votes = self.conclusion.chosen, self.conclusion.polls.isEnabled()
        return DebateSetup(
            topic=self.topic.text(),
            participants=tuple(card.participant() for card in self._taking_part()),
            mode=self.mode.value(),
            rounds=self.rounds.value(),
            independent_opening=self.opening.isChecked(),
            tools=self.tools.currentData(),
            polls=chosen.polls and votes,
            final_ballots=chosen.final_ballots and votes,
            judge=chosen.judge,
            helper=self.chosen_helper,
            options=tuple(filter(None, map(str.strip, self.options.text().split("\n")))),
            language=self._language.name,
            seed=self._seed,
        )

    def keep_prompts(self) -> None:
        """Keep prompts that a debate has begun with for debates in this mode with these participants."""
        place = self._prompt_place()
        for card in self._taking_part():
            card.keep_prompt(place)
        self.draft_changed.emit(self.draft)

    def _prompt_place(self) -> str:
        mode = session.DebateMode.COUNCIL if self._council else self.mode.value()
        return prompt_place(mode, [card.participant() for card in self.seats.cards if card.chosen])

    def _taking_part(self) -> list[ParticipantCard]:
        """Return the cards of who takes part, each with the prompt for such a debate."""
        chosen, place = [card for card in self.seats.cards if card.chosen], self._prompt_place()
        for card in chosen:
            card.show_prompt_for(place)
        return chosen

    def choose_helper(self, chosen: str) -> None:
        """Choose who helps, a "provider/model", or "" for the cheapest that may."""
        self.chosen_helper = chosen
        self.helper.show_model(*seat_of(chosen))
        self._refresh()

    def _show_helper(self, helper: str) -> None:
        """Show who helps, a "provider/model", "" where that is not known."""
        words = self._language
        name = seat_of(self.chosen_helper or helper)[1] or words("setup.helper.automatic")
        tip = plain_tip(words("setup.helper.hint"))
        self.helper.show_words(words("setup.helper.model", name=name), tip, short=name)
        self._helps = bool(self.chosen_helper or helper)
        self._fit()

    def _fit(self) -> None:
        """Show who helps where that is known and there is room."""
        self.helper.setVisible(bool(self.chosen_helper) or (self._helps and self.width() >= ROOMY))

    def show_options(self, options: Sequence[str]) -> None:
        """Show what can be chosen, a line each; without any the field is hidden."""
        self.options.setPlainText("\n".join(options))
        self.options.setVisible(bool(options))
        self._add_options.setVisible(not options)

    def _on_options(self) -> None:
        self.options.show()
        self._add_options.hide()
        self.options.setFocus()

    def whole_setup(self) -> DebateSetup:
        """Return the setup with the pasted texts, and without those of the context files."""
        return replace(self.setup(), context=self.pasted.attachments())

    def refresh_estimate(self) -> None:
        """Show the estimate and the efforts again, after prices and facts have arrived."""
        for card in self.seats.made:
            card.retranslate()
        self._refresh()

    def ask_prices(self, pairs: tuple[tuple[str, str], ...]) -> None:
        """Ask what models cost and take, and show the estimate and the efforts.

        Then it asks about all that can be chosen.
        """
        self._tasks.start("prices", self._ask_prices(pairs))

    async def _ask_prices(self, pairs: tuple[tuple[str, str], ...]) -> None:
        await self._engine.estimates.ask(pairs)
        await self._engine.connections.learn_facts(pairs)
        self.refresh_estimate()
        # On its own: what is chosen meanwhile is asked about at once.
        self.seats.learn_facts()

    def set_starting(self, starting: bool) -> None:
        """Disable Start while the debate is being started."""
        self._starting = starting
        self._refresh()

    def show_problem(self, text: str) -> None:
        """Show why the debate was not started."""
        show_as(self._estimate, "error", text)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._refresh()

    def _lay_out(self) -> None:
        topic = self._labels["topic"], self.topic, self.pasted, self._warning, self.options
        mode = self._labels["mode"], self.mode
        heading = hbox(self._labels["participants"], STRETCH, self.helper, self.panels, self._add)
        who = heading, self.seats, self._honesty
        rounds = self._labels["rounds"], (self.rounds, 1), self._rounds_value
        tools = hbox(*rounds, self._labels["tools"], self.tools, spacing=10)
        choose = hbox(self.context, STRETCH, self._add_options, self._choose)
        files = choose, self._context_size, self.files
        last = hbox(self.opening, STRETCH), self.conclusion, STRETCH
        parts: tuple[Part, ...] = (*topic, 2, *mode, 2, *who, 1, tools, 1, *files, *last)
        body = vbox(*parts, margins=(18, 16, 18, 8), spacing=7)
        foot = hbox((self._estimate, 1), self.start, margins=(18, 8, 18, 15))
        vbox((controls.scrolling(frame("", body)), 1), foot, inside=self, spacing=0)

    def _connect(self) -> None:
        for box in (self.topic, self.options):
            box.textChanged.connect(self._refresh)
        self.helper.chosen.connect(lambda *seat: self.choose_helper(chosen_name(*seat)))
        self.topic.submitted.connect(self.start.click)
        self.topic.long_text_given.connect(lambda text: self.pasted.add((pasted_text(text, self._language),)))
        for tick in (self.context, self.files.look, self.opening):
            tick.toggled.connect(lambda _value: self._refresh())
        for changed in (self.mode.chosen, self.rounds.valueChanged, self.tools.currentIndexChanged):
            changed.connect(lambda _value: self._refresh())
        self.conclusion.changed.connect(self._refresh)
        self.seats.changed.connect(self._refresh)
        for rearranged in (self.seats.rearranged, self.pasted.changed):
            rearranged.connect(self._on_rearranged)
        self.seats.prompt_requested.connect(self._on_prompt)
        for models in (self.conclusion.judge, self.helper):
            models.opened.connect(self.seats.learn_facts)
        self._choose.clicked.connect(self.files.ask)
        self.files.files_given.connect(self.add_files)
        self.files.kept.connect(self.context_chosen)
        self._language.changed.connect(self._retranslate)

    def _order_stops(self) -> None:
        """Set the Tab order from top to bottom; needed again whenever cards or files change."""
        pasted = self.pasted.findChildren(controls.IconButton)
        stops: list[QWidget] = [self.topic, *pasted, self._warning_button, self.options]
        stops += [*self.mode.findChildren(controls.Button), self.helper, self.panels, self._add]
        for card in self.seats.made:
            stops += card.stops
        stops += [self.rounds, self.tools, self.context, self._add_options, self._choose]
        stops += self.files.findChildren(controls.IconButton)
        stops += [self.files.look, self.opening, *self.conclusion.stops, self.start]
        put_in_tab_order(stops)

    def _refresh(self) -> None:
        if self._filling:
            return
        if not self.seats.made and not self.isVisible():
            self.draft_changed.emit(self.draft)
            return
        words = self._language
        roles = self.mode.value() == session.DebateMode.ROLES and not self._council
        chosen = self._taking_part()
        letters = initials([card.participant().name for card in chosen])
        for place, card in enumerate(chosen):
            card.show_roles(roles, BUILT_IN_ROLES[place % 3])
            card.set_speaker_index(place, letters[place])
        self.draft_changed.emit(self.draft)
        embedded = [card for card in chosen if card.is_embedded]
        self._honesty.setVisible(bool(embedded))
        votes = len(embedded) < len(chosen) or not chosen
        self._warning.setVisible(bool(embedded) and has_hangul(self.topic.text()))
        self._rounds_value.setText(str(self.rounds.value()))
        folder, paths = self._folder, self.files.paths
        self.context.setText(words("setup.context.folder", name=folder) if folder else words("setup.context"))
        size = words("setup.context.size", count=len(paths), tokens=tokens_text(self.files.tokens(paths)))
        none = words("setup.context.none") if self.context.isChecked() else ""
        show_or_hide(self._context_size, size if paths else none)
        self.files.setVisible(self.context.isChecked() and bool(paths))
        self.files.offer_look(self._engine.models_for(self.setup().participants))
        if (unread := self.files.sizes.unread(paths)) and self.isVisible():
            self.sizes_wanted.emit(unread)
        ends_with = self._wanted().ends if self._council else self.conclusion.ends
        self.conclusion.show_choice(ends_with, votes=votes, judges=self.seats.can_judge)
        problem = self.problem(council=self._council)
        self.start.setEnabled(not problem and not self._starting)
        count = len(chosen)
        start = words("setup.start.count", count=count) if count >= MIN_PARTICIPANTS else words("setup.start")
        start = words("setup.ask.count", count=count) if self._council else start
        self.start.setText(words("setup.starting") if self._starting else start)
        if problem:
            show_as(self._estimate, "hint", problem)
            self._show_helper("")
            self.conclusion.show_prices(None, None, "", inside=False)
            return
        judge, helper = self.helpers(council=self._council)
        self._show_helper(helper)
        ends: Estimate | None = None
        polls: Estimate | None = None
        if self._council:
            whole, said = self.council_estimate(), council_estimate_text
        else:
            setup, context, judge = self._facts()
            whole, said = self.estimate(), estimate_text
            in_rounds = replace(setup, polls=True, judge=NO_JUDGE)
            ends = self._engine.estimates.conclusion(setup, context, judge)
            polls = self._engine.estimates.conclusion(in_rounds, context)
        show_as(self._estimate, "hint", said(words, whole))
        inside = seat_of(judge) in {participant.seat for participant in self.setup().participants}
        self.conclusion.show_prices(ends, polls, judge, inside=inside)
        known = filter(None, (whole, ends, polls))
        unasked = tuple(dict.fromkeys(item for each in known for item in each.unasked))
        if unasked and self.isVisible():
            self.ask_prices(unasked)

    def _facts(self) -> tuple[DebateSetup, int, str]:
        """Return what an estimate is of: the setup, the tokens of the files, and who would judge."""
        setup, context = self.setup(), self.files.tokens(self.context_paths)
        context += sum(len(item.text) for item in self.pasted.attachments()) // CHARACTERS_PER_TOKEN
        return setup, context, self._engine.debates.first_judge(setup)

    def estimate(self) -> Estimate:
        """Return what the debate that is set up would use."""
        setup, context, judge = self._facts()
        return self._engine.estimates.debate(setup, context, judge, self._engine.councils.finder(setup))

    def council_estimate(self) -> Estimate:
        """Return what the council that is set up would use, also without a question. Raises BadInput."""
        return self._engine.councils.first_estimate(self._wanted())

    def _wanted(self) -> CouncilSetup:
        setup = replace(self.setup(), topic=self.topic.text() or "?", mode=session.DebateMode.COUNCIL)
        return self.council_of(setup)

    def readers(self, *, council: bool) -> tuple[dict[str, str], dict[str, str]]:
        """Return who could judge what is set up, and who could help, each "provider/model" with its name."""
        return self._engine.debates.readers(self._wanted().setup if council else self.setup())

    def helpers(self, *, council: bool) -> tuple[str, str]:
        """Return who judges what is set up, and who helps, each a "provider/model", "" for nobody.

        Raises BadInput.
        """
        return self._engine.councils.first_helpers(self._wanted() if council else self.setup())

    def problem(self, *, council: bool = False, alone: bool = False) -> str:
        """Return why the debate, or council, cannot start as it is set up, "" where it can.

        In a council `alone` one model answers several times.
        """
        chosen = self._taking_part()
        if not self.topic.text():
            return self._language("setup.invalid.question" if council else "setup.invalid.topic")
        if len(chosen) < (1 if alone else MIN_PARTICIPANTS):
            return self._language("setup.invalid.participants")
        if self.mode.value() == session.DebateMode.ROLES and not council:
            for participant in (card.participant() for card in chosen):
                if not participant.role and not participant.system_prompt:
                    return self._language("setup.invalid.role", name=participant.name)
        try:
            if council:
                self._engine.councils.check(self._wanted())
            else:
                self._engine.debates.check(self.setup())
        except BadInput as error:
            return self._language.problem(error.code, **error.details)
        return ""

    def draft_again(self, debate: session.Debate) -> Draft:
        """Return the set-up of a debate to start it once more, with the participants that can be chosen
        now.
        """
        candidates = self._engine.debates.candidates()
        offered = [candidate.participant for candidate in candidates]
        shown = {participant.id: participant for participant in (*offered, *self.setup().participants)}
        plain = {candidate.participant.id for candidate in candidates if candidate.plain}
        return set_up_again(debate, tuple(shown.values()), plain)

    def put_back_pasted(self, attachment: Attachment, place: int) -> None:
        """Put back a pasted text that was removed."""
        kept = self.pasted.attachments()
        self.pasted.show_attachments((*kept[:place], attachment, *kept[place:]))

    @property
    def context_paths(self) -> tuple[str, ...]:
        """The paths of the context files that the debate is given."""
        return self.files.paths if self.context.isChecked() else ()

    def _on_start(self) -> None:
        mode = session.DebateMode.COUNCIL if self._council else self.mode.value()
        self.start_requested.emit(replace(self.whole_setup(), mode=mode), self.context_paths)

    def _on_prompt(self, card: ParticipantCard) -> None:
        participant = card.participant()
        generated = self._engine.debates.system_prompt(self.setup(), replace(participant, system_prompt=""))
        prompt = participant.system_prompt or generated
        dialog = PromptDialog(self._language, participant.name, prompt, generated, self)
        dialog.open_for(card.set_system_prompt)

    def _on_rearranged(self) -> None:
        self._order_stops()
        self._refresh()

    def add_files(self, files: Sequence[str]) -> None:
        """Add context files by their paths."""
        self.context.setChecked(True)
        self.context_chosen.emit(tuple(dict.fromkeys((*self.files.paths, *files))))

    def _retranslate(self) -> None:
        words = self._language
        for key, label in self._labels.items():
            label.setText(words("setup.question" if self._council and key == "topic" else f"setup.{key}"))
        hint = "setup.question.placeholder" if self._council else "setup.topic.placeholder"
        self.topic.setPlaceholderText(words(hint))
        self.panels.show_words(words("panel.menu"))
        names = tuple(words.mode(mode) for mode in MODES)
        self.mode.set_texts(names, tuple(words(f"mode.{mode}.hint") for mode in MODES))
        self.tools.offer((tools, words(f"setup.tools.{tools}")) for tools in session.DebateTools)
        for card in self.seats.made:
            card.retranslate()
        self._refresh()


class ConclusionChoice(QWidget):
    """How it ends, who judges, and whether all vote in each round, with what that costs; emits `changed`.

    `ends_chosen` carries another end. A council votes at its end alone.
    """

    changed = Signal()
    ends_chosen = Signal(str)

    def __init__(self, language: Language, look: Look, engine: Engine) -> None:
        super().__init__()
        self._language = language
        self._council = False
        self._chosen = session.DebateChoices(judge=NO_JUDGE)
        self.choice = say(named("setup_ends", controls.Choice(look)), language, name="setup.ends")
        self.polls = say(named("debate_polls", controls.WrappedTick(look)), language, "setup.polls")
        models = engine.providers, engine.connections.known_facts
        self.judge = ModelButton(language, look, "setup_judge", *models, automatic="setup.judge.automatic")
        # Who was chosen, a "provider/model"; "" leaves it to who takes no part.
        self.chosen_judge = ""
        # A price of many digits is elided on a narrow page; its tool tip has the whole.
        self._price = named("price_ends", ElidedLabel("hint"))
        self._polls_price = named("price_polls", ElidedLabel("hint"))
        for price in (self._price, self._polls_price):
            price.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        label = say(plain_label("field"), language, "setup.ends")
        ends = hbox(label, self.choice, self.judge, STRETCH, self._price, spacing=4)
        vbox(ends, hbox(self.polls, STRETCH, self._polls_price, spacing=4), inside=self, spacing=3)
        self.polls.toggled.connect(self._on_polls)
        self.choice.activated.connect(lambda _row: self.ends_chosen.emit(self.choice.value()))
        self.judge.chosen.connect(lambda *seat: self.choose_judge(chosen_name(*seat)))
        self.judge.show_model("", "")

    @property
    def stops(self) -> tuple[QWidget, ...]:
        """What takes the focus, from top to bottom."""
        return (self.choice, self.judge, self.polls)

    def show_council(self, council: bool) -> None:
        """Show what a council needs, or what a debate needs."""
        self._council = council
        self.polls.setVisible(not council)

    @property
    def chosen(self) -> session.DebateChoices:
        """How a debate ends, as it keeps it."""
        judges = self._chosen.concludes
        return replace(self._chosen, judge=self.chosen_judge or ANY_JUDGE if judges else NO_JUDGE)

    @property
    def ends(self) -> Ends:
        """How the debate ends."""
        return self.chosen.ends

    def show_ends(self, ends: Ends) -> None:
        """Show another end; who judges, and votes in each round, stay where they are still needed."""
        self._choose(self._chosen.ending(ends))

    def show_draft(self, setup: SetupDraft) -> None:
        """Show what was chosen before."""
        self._show_judge(setup.judge if "/" in setup.judge else "")
        # Older drafts have no judge: a verdict came with the votes.
        judge = ANY_JUDGE if setup.concludes else NO_JUDGE
        polls, final = setup.polls, setup.final_ballots
        self._choose(session.DebateChoices(polls=polls, final_ballots=final, judge=judge))

    def _choose(self, chosen: session.DebateChoices) -> None:
        self._chosen = chosen
        with QSignalBlocker(self.polls):
            self.polls.setChecked(chosen.polls)
        self.changed.emit()

    def _on_polls(self, on: bool) -> None:
        """Let all vote in each round, or at the end alone."""
        self._choose(replace(self._chosen, polls=on, final_ballots=not on))

    def show_choice(self, chosen: Ends | None, *, votes: bool, judges: bool) -> None:
        """Show how it ends, and offer votes and a verdict where somebody can vote and judge.

        Only a council ends with one answer made of all.
        """
        words, able, too_small = self._language, self._council or votes or judges, "setup.polls.too_small"
        offered = (ends for ends in COUNCIL_ENDS if self._council or ends != Ends.MERGE)
        self.choice.offer([(ends, words(f"first.ends.{ends}")) for ends in offered], chosen)
        self.choice.setEnabled(able)
        hint = f"first.ends.{chosen}.hint" if able and chosen is not None else too_small
        self.choice.setToolTip(plain_tip(words(hint)))
        self.polls.setEnabled(votes)
        self.polls.setToolTip(plain_tip(words("setup.polls.hint" if votes else too_small)))
        self.judge.setEnabled(judges and chosen == Ends.VERDICT)

    def show_prices(self, ends: Estimate | None, polls: Estimate | None, judge: str, *, inside: bool) -> None:
        """Show what the end and votes in each round would cost, and who would judge; `inside` says that the
        judge takes part. What is not given is hidden.
        """
        words = self._language
        for price, label in ((ends, self._price), (polls, self._polls_price)):
            text = ""
            if price is not None and price.turns > 0:
                # That no price is known is said once, below.
                unknown = price.usd is None and not (price.free or price.unasked)
                said = "council.calls" if unknown else "estimate.call"
                text = words(said, count=price.turns, money=price_text(words, price))
            label.setText(text)
            label.setVisible(bool(text))
        if judge and not self.chosen_judge:
            where = "setup.judge.inside" if inside else "setup.judge.outside"
            self.judge.show_words(words(where, name=seat_of(judge)[1]))

    def choose_judge(self, chosen: str) -> None:
        """Choose who judges, a "provider/model", or "" for who takes no part."""
        self._show_judge(chosen)
        self._choose(replace(self._chosen, judge=ANY_JUDGE))

    def _show_judge(self, chosen: str) -> None:
        self.chosen_judge = chosen
        self.judge.show_model(*seat_of(chosen))


def chosen_name(provider: str, model: str) -> str:
    """Return what a button chose as a "provider/model", "" where it is left to choose by itself."""
    return f"{provider}/{model}" if provider else ""
