"""Debates and councils: connects their panel and pages, and the sidebar's list of panels of councils,
to the engine.
"""

from collections.abc import Awaitable, Callable, Coroutine, Sequence
from dataclasses import replace
from functools import partial

from PySide6.QtCore import Signal, SignalInstance

from app.core.catalog import EMBEDDED
from app.core.council import DEFAULT_COUNCIL_ROUNDS, MIN_PARTICIPANTS, Ends, Panel, Participant
from app.core.draft import SETUP, Draft, ParticipantDraft, SetupDraft
from app.core.errors import MootError
from app.core.message import Attachment, Attachments, Message
from app.core.session import Debate, DebateMode, DebateSession
from app.core.texts import exact, has_hangul, unmarked, visible
from app.engine.debate.estimates import price_text
from app.engine.engine import CouncilSetup, DebateSetup
from app.gui.controllers.attachments import ContextFileController
from app.gui.controllers.controller import Controller, Parts
from app.gui.controllers.definitions import DefinitionCommands, Edit, Kinds
from app.gui.controllers.sessions import SessionController, SessionViews
from app.gui.dialogs.ask_dialogs import ConfirmDialog
from app.gui.dialogs.definition_dialogs import PanelDialog
from app.gui.files.user_files import is_seen
from app.gui.navigation.side_bar import panel_partners
from app.gui.pages.council.council_box import step_price
from app.gui.pages.council.council_page import CouncilPage
from app.gui.panels.conversation_view import ConversationView
from app.gui.panels.debate.debate_panel import DISCUSSION, DebatePanel, SetupPage
from app.gui.panels.debate.discussion_view import DebatePage, DebateView
from app.gui.panels.debate.setup_view import SetupView
from app.gui.panels.debate.verdict_place import DecisionView
from app.gui.tasks import Work
from app.gui.window_frame import WindowFrame

TABS = ("0", "1", "2")
# What `window.ini` calls whether answers are compared, how a council ends, whether it stops after the
# answers, and whether a blind pick is offered.
COMPARE, ENDS, STOPS, OFFERS_BLIND = "compare_answers", "ends", "stops_after_answers", "offers_blind"
# What `window.ini` calls how decisions are made, and the way in which one model answers several times.
HOW, ALONE = "how", "alone"
TIMES = 3
SHOWN, TAB = "panel", "tab"
Named = ParticipantDraft | Attachment


class VerdictController(Controller):
    """What the views of debates and of councils ask for alike."""

    def __init__(self, parts: Parts[WindowFrame], *views: DecisionView) -> None:
        super().__init__(parts)
        self._decision_views = views

    def _wire_decision(self, view: DecisionView, sessions: SessionController) -> None:
        """Connect going on, voting checks, what is kept of a verdict, and the blind pick."""
        debates, councils, asking = self._engine.debates, self._engine.councils, view.asking
        view.pause_requested.connect(sessions.pause)
        view.resume_requested.connect(sessions.resume)
        self._run(view.check_skip_requested, debates.skip_check)
        self._run(view.verdict.check_requested, asking(debates.check_again))
        self._run(view.verdict.weigh_requested, asking(councils.weigh))
        self._run(view.verdict.read, asking(councils.note_read))
        self._run(view.blind.asked, asking(councils.ask_blind))
        self._run(view.blind.picked, asking(councils.pick))
        view.blind.offers = lambda: self._state.flag(OFFERS_BLIND, True)
        view.blind.offers_chosen.connect(lambda on: self._state.keep(OFFERS_BLIND, on))
        view.provider_requested.connect(partial(self._window.settings_requested.emit, "providers"))
        view.draft_changed.connect(self._on_draft_changed)

    def _on_draft_changed(self, session_id: str, draft: Draft) -> None:
        if not session_id:
            return
        self._engine.drafts.keep(session_id, draft)
        # The panel and the page may show the same debate.
        for view in self._decision_views:
            if view.session_id == session_id and view.draft != draft:
                view.set_draft(draft)

    async def _send(self, sent: Awaitable[object], to: str, text: str, files: Attachments = ()) -> None:
        """Send what was written in a session; if that fails, put it back before what was written since."""
        try:
            await sent
        except MootError:
            self._on_draft_changed(to, self._engine.drafts.of(to).led_by(text, files))
            raise


class DebateController(VerdictController):
    """Answers what the user asks in the debate panel and on the debate page.

    Emits opened() when the panel shows another session.
    """

    opened = Signal()

    def __init__(
        self,
        parts: Parts[WindowFrame],
        panel: DebatePanel,
        page: DebatePage,
        views: SessionViews,
        sessions: SessionController,
    ) -> None:
        super().__init__(parts, panel.discussion, page)
        self._panel, self._page, self._views, self._sessions = panel, page, views, sessions
        self._beside: DebatePage | CouncilPage | None = None
        panel.setup.council_of = self._council_of
        self._form = SetupPage(panel.setup)
        parts.window.add_page(self._form)
        self._add_panel(panel, parts.window.top_bar.debate_button, SHOWN)
        self.context = ContextFileController(parts, panel.setup)
        self._wire()

    def show_new(self, topic: str = "", *, council: bool = False) -> None:
        """Show Setup in the main area, with a topic if one is given; that of a debate in the panel
        where that shows it.
        """
        window = self._window
        if self._panel.shows_setup:
            if not council:
                self.show_setup(topic)
                return
            window.top_bar.debate_button.setChecked(False)
        if topic:
            self._panel.setup.set_topic(topic)
        self._panel.setup.show_council(council)
        key = "mode.council" if council else "palette.new_debate"
        window.show_page(self._form, lambda: window.top_bar.show_title(self._language(key)))
        self._form.take_form()

    @property
    def council_ends(self) -> Ends:
        """How a council ends: as the user chose last."""
        chosen = self._state.text(ENDS, Ends.VERDICT)
        return Ends(chosen) if chosen in [*Ends] else Ends.VERDICT

    def choose_ends(self, ends: str) -> None:
        """Keep how a decision ends; only a council ends with one answer made of all."""
        self._state.keep(ENDS, ends)
        if ends != Ends.MERGE:
            self._panel.setup.conclusion.show_ends(Ends(ends))
        self._panel.setup.refresh_estimate()

    @property
    def is_alone(self) -> bool:
        """Whether a council is one model that answers several times."""
        return self._state.text(HOW) == ALONE

    def _council_of(self, setup: DebateSetup) -> CouncilSetup:
        if self.is_alone and setup.participants:
            setup = replace(setup, participants=(replace(setup.participants[0], id=""),) * TIMES)
        compares, stops = self._state.flag(COMPARE, True), self._state.flag(STOPS, False)
        judge, ends = self._panel.setup.conclusion.chosen_judge or None, self.council_ends
        return CouncilSetup(setup=setup, differences=compares, judge=judge, ends=ends, stops=stops)

    def _on_panel(self) -> None:
        """Bring the form to the panel where that shows Setup."""
        if self._panel.shows_setup and self._form.holds_form:
            self._panel.take_form()
            self._panel.setup.show_council(False)
            if self._window.main_area.currentWidget() is self._form:
                self._window.begin_requested.emit("")

    def show_setup(self, topic: str = "") -> None:
        """Open the panel at Setup, with a topic if one is given."""
        self._window.top_bar.debate_button.setChecked(True)
        self._panel.show_setup(topic)

    def begin(self, topic: str, files: Attachments = (), *, council: bool = False) -> None:
        """Start a debate with what is set up, or ask all participants at once, and show it in the main area.

        The texts of `files` are read as well.
        Where it cannot start, Setup opens with the topic and says why.
        """
        setup = self._panel.setup
        setup.set_topic(topic)
        if setup.problem(council=council, alone=council and self.is_alone):
            setup.pasted.add(tuple(file for file in files if file.text))
            self.show_new(council=council)
        else:
            whole = setup.whole_setup()
            whole = replace(whole, mode=DebateMode.COUNCIL) if council else whole
            given = (file for file in files if file.text or is_seen(file))
            whole = replace(whole, context=(*whole.context, *given))
            self._ask_and_begin(whole, setup.context_paths)

    def show_tab(self, place: int) -> None:
        """Open the panel at Setup (0), Discussion (1) or History (2)."""
        self._window.top_bar.debate_button.setChecked(True)
        self._panel.tabs.choose(place)

    async def show_discussion(self, session_id: str) -> None:
        """Show a session in the panel. Raises NotFound, StorageError."""
        summary = self._sessions.summary(session_id)
        if summary is None:
            return
        if summary.mode == DebateMode.COUNCIL:
            # Its columns need the room of the main area.
            self._window.session_requested.emit(session_id)
            return
        self._panel.show_discussion()
        if self._panel.shows_summary and self._page.session_id == session_id:
            return
        await self._views.open(self._panel.discussion, summary)
        self.opened.emit()
        self._panel.discussion.take_focus()

    def show_beside(self, page: DebatePage | CouncilPage | None) -> None:
        """Show in the panel how the debate or council in the main area stands,
        or a debate itself beside something else.
        """
        left = self._beside is self._page and page is None
        self._beside = page
        self._panel.show_summary(page is not None)
        if page is not None:
            self._show_summary(page)
        elif left and self._page.session_id and self._panel.tabs.current() == DISCUSSION:
            # Whoever follows a debate and turns to a chat goes on following it here.
            self._tasks.replace("open in the panel", self._follow(self._page.session_id))

    def _show_summary(self, page: DebatePage | CouncilPage) -> None:
        """Show how a debate or council stands; a council whose names are hidden stays without them."""
        if page.session is not None:
            facts = (page.spending, page.now.record, page.people(), page.writing)
            self._panel.summary.show_debate(page.session, *facts)

    async def _follow(self, session_id: str) -> None:
        summary = self._sessions.summary(session_id)
        if summary is not None and not self._panel.isHidden():
            await self._views.open(self._panel.discussion, summary)
            self.opened.emit()

    def refresh(self) -> None:
        """Show which models can judge now, and the price of a what-if round."""
        for view in (self._panel.discussion, self._page):
            self._on_view_changed(view)

    def restore(self) -> None:
        """Restore the panel of the last run."""
        setup, drafts = self._panel.setup, self._engine.drafts
        setup.show_draft(drafts.of(SETUP))
        setup.draft_changed.connect(partial(drafts.keep, SETUP))
        tab = self._state.text(TAB, "0")
        self._panel.tabs.choose(int(tab) if tab in TABS else 0)
        summary = self._sessions.summary(self._state.text("panel_session"))
        if summary is not None:
            self._tasks.start("restore panel", self._views.open(self._panel.discussion, summary))

    def remember(self) -> None:
        """Save the state of the panel for the next run."""
        self._state.keep(TAB, str(self._panel.tabs.current()))
        self._state.keep("panel_session", self._panel.discussion.session_id)

    def _wire(self) -> None:
        panel, sessions, views = self._panel, self._sessions, (self._panel.discussion, self._page)
        panel.came.connect(self._on_panel)
        panel.tab_chosen.connect(lambda _place: self._on_panel())
        self._views.view_changed.connect(self._on_view_changed)
        self._language.changed.connect(self.refresh)
        panel.widen_requested.connect(self._window.session_requested)
        panel.setup.start_requested.connect(self._ask_and_begin)
        panel.setup.seats.set_up_requested.connect(partial(self._window.settings_requested.emit, "providers"))
        panel.setup.conclusion.ends_chosen.connect(self.choose_ends)
        seats, setup = panel.setup.seats, panel.setup
        seats.participant_removed.connect(lambda *gone: self._on_removed(seats.put_back, *gone))
        seats.lost.connect(self._say_lost)
        setup.pasted.removed.connect(lambda *gone: self._on_removed(setup.put_back_pasted, *gone))
        panel.history.open_requested.connect(self._window.session_requested)
        panel.history.continue_requested.connect(self._on_history_continue)
        panel.history.delete_requested.connect(sessions.delete)
        self._wire_summary()
        panel.history.rename_requested.connect(sessions.ask_name)
        panel.discussion.rename_requested.connect(sessions.ask_name)
        for view in views:
            self._wire_decision(view, sessions)
            view.controls.stop_requested.connect(view.asking(sessions.stop))
            self._wire_held_turn(view)
            self._run(view.say_requested, self._say)
            view.target.changed.connect(partial(self._on_view_changed, view))
            view.composer.strip.removed.connect(view.asking(self._on_attachment_removed))
            view.setup_requested.connect(self._setup_for(view))
            self._wire_outcome(view)
            self._answer_cards(view)
            self._run(view.stop_turn_requested, self._engine.chats.stop_turn)

    def _wire_held_turn(self, view: DebateView) -> None:
        """Connect the actions on a turn that waits, is held up or has failed."""
        held = self._engine.debates.held

        def answer(asked: SignalInstance, way: Callable[..., Work]) -> None:
            # One at a time.
            start = self._tasks.start
            asked.connect(view.asking(lambda item, *of: start(f"resume {item}", way(item, *of))))

        answer(view.controls.retry_requested, held.retry)
        answer(view.controls.skip_requested, held.skip)
        answer(view.controls.without_requested, held.go_on_without)
        answer(view.retake_requested, held.retake)

    def _wire_summary(self) -> None:
        """Connect the buttons beside the debate in the main area to it."""
        summary, page = self._panel.summary, self._page
        controls, sessions = summary.controls, self._sessions
        controls.pause_requested.connect(lambda: sessions.pause(summary.session_id))
        controls.resume_requested.connect(lambda: sessions.resume(summary.session_id))
        controls.stop_requested.connect(lambda: sessions.stop(summary.session_id))
        summary.turn_requested.connect(self._on_turn_wanted)
        controls.retry_requested.connect(page.controls.retry_requested)
        controls.skip_requested.connect(page.controls.skip_requested)
        controls.without_requested.connect(page.controls.without_requested)
        start, skip = partial(self._tasks.start, "skip check"), self._engine.debates.skip_check
        controls.check_skip_requested.connect(lambda: start(skip(summary.session_id)))

    def _on_turn_wanted(self, message_id: str) -> None:
        if self._beside is not None:
            self._beside.show_cited(message_id)

    def _wire_outcome(self, view: DebateView) -> None:
        """Connect the actions on a debate that is over."""
        view.blind_price, view.judges = self._blind_price, self._engine.debates.judges
        self._run(view.verdict.judge_requested, view.asking(self._engine.councils.judge))
        start, fork = self._tasks.start, self._engine.debates.fork
        view.turns_wanted.connect(lambda item: start("turns", self._offer_turns(view, item)))
        view.fork_requested.connect(lambda *turn: start("fork", self._show_new(view, fork(*turn))))
        view.again_requested.connect(lambda _id: self._set_up_again(view))
        view.export_requested.connect(lambda _id, name: self._sessions.export(view.session, name))

    def _on_view_changed(self, view: ConversationView) -> None:
        """Show in a view who holds its debate up, and who could judge it."""
        if self._beside is not None and view is self._beside:
            self._show_summary(self._beside)
        if not isinstance(view, DebateView) or view.session is None:
            return
        view.controls.show_held_up(self._engine.debates.held.of(view.session_id))
        live, price = self._engine.live(view.session_id), ""
        # Also one that was forked behind its last turn.
        begins = live is not None and self._engine.debates.is_over(live)
        if begins:
            to = tuple(filter(None, (view.target.to,)))
            found = self._engine.councils.estimate(view.session, view.messages, "what_if", to)
            price = price_text(self._language, found)
            if found.unasked:
                asked = partial(self._engine.estimates.ask, found.unasked)
                self._tasks.start("what-if prices", self._then(asked, partial(self._on_view_changed, view)))
        view.show_what_if(price, begins=begins)
        view.show_judges()

    def _blind_price(self, session: DebateSession, messages: Sequence[Message]) -> str:
        """Return what a blind pick costs, "" where nobody can write the two answers."""
        councils = self._engine.councils
        if not councils.providers.helper(session):
            return ""
        return step_price(self._language, councils.estimate(session, messages, "blind"), most=True)

    async def _offer_turns(self, view: DebateView, session_id: str) -> None:
        view.offer_turns(await self._engine.debates.turns(session_id))

    def _setup_for(self, view: DebateView) -> Callable[..., None]:
        """Return what shows Setup where a view is."""
        return self.show_new if view is self._page else self.show_setup

    def _set_up_again(self, view: DebateView) -> None:
        """Open Setup with the participants and settings of a debate, so
        that its cost is seen before it starts.
        """
        if view.session is not None:
            self._panel.setup.show_draft(self._panel.setup.draft_again(view.session.debate))
            self._setup_for(view)()

    async def _show_new(self, view: DebateView, made: Coroutine[object, object, str]) -> None:
        """Show a debate made from another one, in the view of that one."""
        session_id = await made
        if view is self._page:
            self._window.session_requested.emit(session_id)
        else:
            await self.show_discussion(session_id)

    def _ask_and_begin(self, setup: DebateSetup, paths: tuple[str, ...]) -> None:
        """Start a debate; ask first where no participant's model knows the language of the topic."""
        if not (has_hangul(setup.topic) and all(item.provider == EMBEDDED for item in setup.participants)):
            self._begin(setup, paths)
            return
        words, key = self._language, "setup.not_english"
        title, text, start = words(f"{key}.title"), words(f"{key}.text"), words(f"{key}.start")
        dialog = ConfirmDialog(words, title, text, start, self._window)
        if not self._panel.setup.isVisible():
            council = setup.mode == DebateMode.COUNCIL
            dialog.rejected.connect(partial(self.show_new, council=council))
        dialog.open_for(partial(self._begin, setup, paths))

    def _begin(self, setup: DebateSetup, paths: tuple[str, ...]) -> None:
        self._panel.setup.set_starting(True)
        self._tasks.start("start", self._start_debate(setup, paths))

    async def _start_debate(self, setup: DebateSetup, paths: tuple[str, ...]) -> None:
        try:
            context = (*setup.context, *await self.context.read(setup, paths))
            whole = replace(setup, context=context, folder=self.folder_id)
            if setup.mode == DebateMode.COUNCIL:
                session_id = await self._engine.councils.start(self._council_of(whole))
            else:
                session_id = await self._engine.debates.start(whole)
        except MootError:
            if not self._panel.setup.isVisible():
                self.show_new(council=setup.mode == DebateMode.COUNCIL)
            raise
        finally:
            self._panel.setup.set_starting(False)
        form = self._panel.setup
        form.keep_prompts()
        form.set_topic("")
        form.show_options(())
        if setup.context:
            form.pasted.show_attachments(())
        self._panel.show_discussion()
        self._window.session_requested.emit(session_id)

    def _on_history_continue(self, session_id: str) -> None:
        self._window.session_requested.emit(session_id)
        self._sessions.resume(session_id)

    async def _say(self, session_id: str, text: str, attachments: Attachments, to: tuple[str, ...]) -> None:
        said = self._engine.debates.say(session_id, text, attachments, to)
        await self._send(said, session_id, text, attachments)

    def _say_lost(self, lost: Sequence[ParticipantDraft]) -> None:
        names = ", ".join(visible(draft.name or draft.model) for draft in lost)
        self._toasts.show_toast(self._language("setup.lost", names=names))

    def _on_attachment_removed(self, session_id: str, gone: Attachment, place: int) -> None:
        def put_back() -> None:
            self._on_draft_changed(session_id, self._engine.drafts.of(session_id).with_file(gone, place))

        self._offer_undo("chat.attachment.removed", put_back, name=gone.name)

    def _on_removed(self, put_back: Callable[..., None], gone: Named, place: int) -> None:
        self._offer_undo("setup.removed", partial(put_back, gone, place), name=gone.name)


class CouncilController(VerdictController):
    """Answers what the user asks on the page of a council."""

    def __init__(self, parts: Parts[WindowFrame], page: CouncilPage, sessions: SessionController) -> None:
        super().__init__(parts, page)
        page.councils = councils = parts.engine.councils
        self._wire_decision(page, sessions)
        start, ask = partial(self._tasks.start, "council prices"), parts.engine.estimates.ask
        page.prices_wanted.connect(lambda pairs: start(self._then(partial(ask, pairs), page.refresh)))
        self._run(page.debate_requested, councils.debate)
        self._run(page.more_requested, councils.further)
        self._run(page.verdict.argue_requested, page.asking(councils.argue))
        self._run(page.box.fork_requested, page.asking(self._fork))
        self._run(page.columns.retry_requested, page.asking(councils.retry))
        self._run(page.columns.use_requested, page.asking(councils.choose))
        self._run(page.options_chosen, councils.edit_options)
        self._run(page.ask_requested, self._ask)
        page.reading_requested.connect(lambda: self._window.settings_requested.emit("chats", ""))

    async def _fork(self, session_id: str, after_round: int, verdict: int) -> None:
        made = await self._engine.councils.fork(session_id, after_round, verdict)
        self._window.session_requested.emit(made)

    async def _ask(self, session_id: str, text: str, to: tuple[str, ...]) -> None:
        await self._send(self._engine.councils.ask(session_id, text, to), session_id, text)


class PanelCommands(DefinitionCommands[Panel]):
    """Makes, edits, copies, shares and deletes panels; `chat_requested` asks for a council with one,
    which is in Setup then.
    """

    NEW, BRING_IN, MARK = "panel.new", "panel.import", "participants"

    def __init__(self, parts: Parts[WindowFrame], kinds: Kinds, setup: SetupView) -> None:
        super().__init__(parts, parts.engine.councils.panels, kinds)
        self._setup = setup
        side, made = parts.window.side_bar, ("panel.assemble", self.make_assembled)
        side.panel_section.offer(("panel.save", self.make_new), made, ("panel.import", self.bring_in))
        side.panels.chat_requested.connect(self.chat)
        self._listen(side.panels)
        self._keep_fresh(parts.bridge.panels_changed)
        setup.panels.choices.aboutToShow.connect(self._fill_menu)
        self.refresh()

    def refresh(self) -> None:
        """Show the panels as they are now."""
        partners = panel_partners(self.definitions.all(), self._language)
        self._window.side_bar.panel_section.show_partners(partners)

    def show_page(self, definition_id: str) -> None:
        """Open the dialog of a panel."""
        self._edit(self.definitions.find(definition_id))

    def make_new(self) -> None:
        """Ask for the name of a panel of those that are chosen in Setup, and save it."""
        self._make(self._setup.setup().participants, compare=self._state.flag(COMPARE, True))

    def make_assembled(self) -> None:
        """Ask for the name of a panel that assembles itself from what is ready, and save it."""
        self._make(self._engine.councils.assembled())

    def chat(self, definition_id: str) -> None:
        """Put a panel into Setup, and ask for a council with it."""
        panel = self.definitions.find(definition_id)
        self._take(panel.participants, panel.rounds)
        self._state.keep(COMPARE, panel.compare)
        if panel.debates:
            self._state.keep(ENDS, panel.ends)
        self.chat_requested.emit(definition_id)

    def _name_it(self) -> None:
        """The dialog comes with its name selected."""

    def _make(self, participants: tuple[Participant, ...], *, compare: bool = True) -> None:
        if self._are_enough(participants):
            name = self._free_name(self._language("panel.new"))
            self._edit(Panel(id="", name=name, participants=participants, compare=compare))

    def _are_enough(self, participants: tuple[Participant, ...]) -> bool:
        """Say whether participants can be a panel, also to the user where they cannot."""
        if len(participants) < MIN_PARTICIPANTS:
            self._toasts.show_toast(self._language("panel.too_few"))
        return len(participants) >= MIN_PARTICIPANTS

    def _on_unanswered(self, edit: Edit[Panel]) -> None:
        """Show what the user wrote again: the dialog has closed."""
        self._edit(edit.after, edit.before)

    def _edit(self, panel: Panel, before: Panel | None = None) -> None:
        """Open the dialog of a panel; `before` is what it was, if it has changes that are not saved."""
        engine = self._engine
        self._tasks.replace("model facts", engine.connections.learn_facts())
        chosen, facts = self._setup.setup().participants, engine.connections.known_facts
        statuses = engine.providers
        dialog = PanelDialog(self._language, self._look, panel, chosen, statuses, facts, self._window)
        if panel.id:
            dialog.open_for(lambda item: self._save(Edit(before or panel, item)))
        else:
            dialog.open_for(lambda item: self._tasks.start("save new", self.definitions.save(item)))

    def _fill_menu(self) -> None:
        """Show the panels as they are now in the menu of Setup."""
        words, menu = self._language, self._setup.panels.choices
        self._setup.panels.clear()
        panels = self.definitions.all()
        for panel in panels:
            names = ", ".join(exact(each.name) for each in panel.participants)
            text = f"{unmarked(exact(panel.name))}  ({unmarked(names)})"
            menu.addAction(text, partial(self._take, panel.participants, panel.rounds))
        if panels:
            menu.addSeparator()
        menu.addAction(words("panel.assemble"), self._assemble)
        enough = len(self._setup.setup().participants) >= MIN_PARTICIPANTS
        menu.addAction(words("panel.save"), self.make_new).setEnabled(enough)
        menu.addAction(words("panel.import"), self.bring_in)

    def _assemble(self) -> None:
        participants = self._engine.councils.assembled()
        if self._are_enough(participants):
            self._take(participants, DEFAULT_COUNCIL_ROUNDS)

    def _take(self, participants: tuple[Participant, ...], rounds: int) -> None:
        """Put participants into Setup in place of those that take part; the rest of it stays."""
        setup, draft = self._setup, self._setup.draft
        again = setup.draft_again(Debate(topic="", mode=DebateMode.ROLES, participants=participants))
        seats = again.setup.seats if again.setup else ()
        chosen = replace(draft.setup or SetupDraft(), seats=seats, rounds=rounds)
        setup.show_draft(replace(draft, setup=chosen))
