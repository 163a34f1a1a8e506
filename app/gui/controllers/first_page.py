"""The first page: what its input begins, a chat, a decision or work, and with whom; and a newer version."""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from urllib.parse import urlsplit

from PySide6.QtCore import QTimer, Signal
from PySide6.QtWidgets import QAbstractButton, QMenu

from app.core.catalog import EMBEDDED
from app.core.council import MIN_PARTICIPANTS, Ends
from app.core.definitions import WorkflowDefinition
from app.core.draft import NEW
from app.core.errors import BadInput, MootError
from app.core.events import SessionStarted
from app.core.message import Attachments
from app.core.provider import NewVersion
from app.core.session import CLASSIC_MODES, MAX_ROUNDS, MIN_ROUNDS, DebateMode, DebateTools
from app.core.texts import unmarked
from app.engine.debate.providers import only_reads
from app.engine.voting import seat_of
from app.engine.workflow.commands import with_assistants
from app.gui.controllers.chats import ChatController
from app.gui.controllers.controller import Controller, Parts
from app.gui.controllers.debates import ALONE, COMPARE, HOW, STOPS, DebateController
from app.gui.controllers.sessions import MainPages, SessionController, SessionViews
from app.gui.controllers.settings import SettingsController
from app.gui.dialogs.ask_dialogs import ConfirmDialog
from app.gui.display.descriptions import council_estimate_text, estimate_text, most_text
from app.gui.files.user_files import is_seen
from app.gui.pages.chat.chat_composer import short_name
from app.gui.panels.debate.setup_view import SetupView
from app.gui.panels.workflow.workflow_panel import offer_assistants
from app.gui.tasks import timer
from app.gui.widgets.choices import BEGINS, CHAT, DECIDE, WORK
from app.gui.widgets.controls import ticked
from app.gui.widgets.text import named, plain_tip, show_or_hide
from app.gui.window_frame import WindowFrame

# What `window.ini` calls the mode used last, and the group or workflow that works.
MODE, WITH = "begins", "work_with"
GROUP, WORKFLOW = "group", "workflow"
KINDS = {"debate": DECIDE, "group": WORK, "workflow": WORK}
HOWS = (DebateMode.COUNCIL, *CLASSIC_MODES, ALONE)


class FirstPageController(Controller):
    """Shows where a session begins, and begins decisions and work; chats
    and groups are the chat controller's.

    Emits ready_groups_requested() for the groups that come with Moot, workflows_requested() to edit those of
    the user.
    """

    ready_groups_requested = Signal()
    workflows_requested = Signal()

    def __init__(
        self,
        parts: Parts[WindowFrame],
        pages: MainPages,
        views: SessionViews,
        chats: ChatController,
        debates: DebateController,
        setup: SetupView,
    ) -> None:
        super().__init__(parts)
        self._pages, self._views, self._chats = pages, views, chats
        self._debates, self._setup = debates, setup
        self._first, self._page = parts.window.first_page, parts.window.chat_page
        # Who the user chose for steps of the workflow that works, by the steps' ids.
        self._assistants: dict[str, str] = {}
        # Whether what the user has done was looked up in all sessions.
        self._looked = False
        self._first.show_mode(self.mode)
        self._wire()
        self._page.chat_composer.hold(False)

    @property
    def mode(self) -> str:
        """What begins here: the mode used last."""
        mode = self._state.text(MODE, CHAT)
        return mode if mode in BEGINS else CHAT

    @property
    def how(self) -> str:
        """How decisions are made: as a council, by one model alone, or in the mode
        that debates are set up in.
        """
        if self._debates.is_alone:
            return ALONE
        return DebateMode.COUNCIL if self._is_council else self._setup.mode.value()

    def show(self, mode: str = "", *, assistant_id: str = "", group_id: str = "") -> None:
        """Show the page, in a mode or the one used last; with an assistant it begins a chat,
        with a group work.
        """
        self._views.keep_place(self._page)
        if group_id:
            self._state.keep(WITH, f"{GROUP}/{group_id}")
        mode = mode or (WORK if group_id else CHAT if assistant_id else self.mode)
        self._choose_mode(mode, assistant_id)
        self._pages.show(self._page)
        self._page.take_focus()

    def decide(self, how: str) -> None:
        """Show the page for a decision made in a way."""
        self._state.keep(HOW, how)
        self.show(DECIDE)

    def refresh(self) -> None:
        """Show what the input begins, with whom, and what it would cost."""
        if self._page.session is not None:
            return
        if self._chats.new_group != self._group_id():
            # The group is gone, or another one came.
            self._chats.show_new("", self._group_id())
            return
        mode = self.mode
        self._first.who.hide()
        if not self._looked:
            self._looked = True
            self._keep_done({session.kind for session in self._engine.sessions()})
        done = [self._state.flag(f"done/{kind}", False) for kind in (DECIDE, WORK)]
        self._first.show_done(decided=done[0], handed_over=done[1])
        if mode == DECIDE:
            self._show_decision()
        elif mode == WORK:
            self._show_work()
        else:
            self._page.show_begins()

    def _keep_done(self, kinds: set[str]) -> None:
        """Keep what the user has done: it stays so when the sessions of these kinds are deleted."""
        for kind in kinds & KINDS.keys():
            self._state.keep(f"done/{KINDS[kind]}", True)

    def _on_restored(self) -> None:
        # Its kind is looked up when that is shown: a backup brings hundreds back.
        self._looked = False

    # Decisions

    @property
    def _is_council(self) -> bool:
        return self._state.text(HOW, DebateMode.COUNCIL) in (DebateMode.COUNCIL, ALONE)

    @property
    def _reads(self) -> bool:
        """Whether participants may read the web."""
        return only_reads(self._setup.setup().tools, council=self._is_council)

    def _show_decision(self) -> None:
        words, setup = self._language, self._setup.setup()
        seats = self._setup.seats.cards
        others = sum(card.candidate.status.ready and not card.chosen for card in seats)
        asked = setup.participants[:1] if self._debates.is_alone else setup.participants
        self._first.chips.show_models([(participant.id, participant.name) for participant in asked], others)
        how = words("first.answers" if self.how == DebateMode.COUNCIL else f"mode.{self.how}")
        rounds = "" if self._is_council else words("verdict.rounds", count=setup.rounds)
        options = words("first.options", count=len(setup.options)) if setup.options else ""
        web = words("first.web") if self._reads else ""
        shown = " · ".join(filter(None, (how, rounds, options, web)))
        self._first.how.show_words(words("first.how", how=shown), short=how)
        ends = words(f"first.ends.{self.ends}")
        helpers = " · ".join(filter(None, self._helpers()))
        self._first.ends.show_words(words("first.ends", ends=ends), plain_tip(helpers), short=ends)
        self._first.ends.setAccessibleDescription(helpers)
        enough = len(setup.participants) >= (1 if self._debates.is_alone else MIN_PARTICIPANTS)
        lacks = "" if enough else words("setup.invalid.participants")
        self._page.show_begins(self._price() if enough else "", lacks)

    def _helpers(self) -> tuple[str, str]:
        """Return who would judge and who would help, in words; "" for nobody."""
        words = self._language
        try:
            judge, helper = (seat_of(item)[1] for item in self._setup.helpers(council=self._is_council))
        except BadInput:
            # Send says what is wrong.
            return "", ""
        judge = judge and words("council.judge.model", name=judge)
        return judge, helper and words("setup.helper.model", name=helper)

    def _price(self) -> str:
        """Return what the decision takes."""
        try:
            estimate = self._setup.council_estimate() if self._is_council else self._setup.estimate()
        except BadInput:
            # Send says what is wrong.
            return ""
        if estimate.unasked:
            self._setup.ask_prices(estimate.unasked)
        return (council_estimate_text if self._is_council else estimate_text)(self._language, estimate)

    def _fill_how(self) -> None:
        """Offer the ways to decide, and what belongs to the one that is chosen."""
        words, menu = self._language, self._first.how.choices
        self._first.how.clear()
        for how in HOWS:
            named = {DebateMode.COUNCIL: "first.answers", ALONE: "first.alone"}
            text, hint = words(named.get(how, f"mode.{how}")), words(f"mode.{how}.hint")
            ticked(menu, text, how == self.how, partial(self._choose_how, how), hint)
        menu.addSeparator()
        if self._is_council:
            on = self._state.flag(COMPARE, True)
            act = partial(self._choose, self._state.keep, COMPARE, not on)
            compare = ticked(menu, words("council.compare.tick"), on, act, words("council.compare.hint"))
            compare.setObjectName("council_compare_tick")
            # Not where no participant has a model that can compare answers.
            participants = self._setup.setup().participants
            compare.setEnabled(any(participant.provider != EMBEDDED for participant in participants))
        else:
            now = self._setup.rounds.value()
            rounds = QMenu(words("setup.rounds"), menu)
            menu.addMenu(rounds)
            for count in range(MIN_ROUNDS, MAX_ROUNDS + 1):
                ticked(rounds, str(count), count == now, partial(self._setup.rounds.setValue, count))
        other = DebateTools.NONE if self._reads else DebateTools.READING
        text, hint = words("setup.tools.reading"), words("first.web.hint")
        web = ticked(menu, text, self._reads, partial(self._setup.tools.choose, other), hint)
        web.setObjectName("decide_web")
        menu.addAction(words("first.more_options"), self._show_setup)

    @property
    def ends(self) -> Ends:
        """How a decision ends: as the user chose last, for debates as they are set up."""
        return self._debates.council_ends if self._is_council else self._setup.conclusion.ends

    def _fill_ends(self) -> None:
        """Offer the ways in which a decision ends."""
        words, menu = self._language, self._first.ends.choices
        self._first.ends.clear()
        for ends in (Ends.VERDICT, Ends.VOTE, Ends.MERGE, Ends.NONE):
            if ends == Ends.MERGE and not self._is_council:
                continue
            text, act = f"first.ends.{ends}", partial(self._choose, self._debates.choose_ends, ends)
            ticked(menu, words(text), ends == self.ends, act, words(f"{text}.hint"))
        if self._is_council:
            menu.addSeparator()
            on = self._state.flag(STOPS, False)
            act = partial(self._choose, self._state.keep, STOPS, not on)
            stops = ticked(menu, words("first.stops"), on, act, words("first.stops.hint"))
            stops.setObjectName("stop_after_answers")
        menu.addSeparator()
        setup, conclusion = self._setup, self._setup.conclusion
        names, (judges, helpers) = self._helpers(), setup.readers(council=self._is_council)
        if self.ends == Ends.VERDICT:
            self._offer("judge", names[0], judges, conclusion.chosen_judge, conclusion.choose_judge)
        self._offer("helper", names[1], helpers, setup.chosen_helper, setup.choose_helper)

    def _offer(
        self, what: str, shown: str, offered: Mapping[str, str], chosen: str, choose: Callable[[str], None]
    ) -> None:
        """Add a menu of who can judge or help, each "provider/model" with its name; "" is left
        to choose by itself.
        """
        words, menu = self._language, self._first.ends.choices
        inside = named(f"decide_{what}", QMenu(unmarked(shown or words(f"setup.{what}")), menu))
        entries = {"": words(f"setup.{what}.automatic")} | ({chosen: seat_of(chosen)[1]} if chosen else {})
        entries |= {item: f"{name} ({seat_of(item)[1]})" for item, name in offered.items()}
        for name, text in entries.items():
            ticked(inside, unmarked(text), name == chosen, partial(self._choose, choose, name))
        menu.addMenu(inside)

    def _choose(self, choose: Callable[..., None], *chosen: object) -> None:
        choose(*chosen)
        self.refresh()

    def _choose_how(self, how: str) -> None:
        self._state.keep(HOW, how)
        if how not in (DebateMode.COUNCIL, ALONE):
            self._setup.mode.set_value(how)
        self.refresh()

    def _show_setup(self) -> None:
        self._debates.show_new(self._page.composer.box.text(), council=self._is_council)

    # Work

    @property
    def _with(self) -> tuple[str, str]:
        """The kind and id of what works, the first group where nothing is chosen, two empty texts
        where there is none.
        """
        kind, _slash, chosen = self._state.text(WITH).partition("/")
        known = self._engine.groups.all() if kind == GROUP else self._engine.workflows.all()
        if any(group.id == chosen for group in known):
            return kind, chosen
        groups = self._engine.groups.all()
        return (GROUP, groups[0].id) if groups else ("", "")

    def _group_id(self) -> str:
        kind, chosen = self._with
        return chosen if self.mode == WORK and kind == GROUP else ""

    def _show_work(self) -> None:
        words, (kind, chosen) = self._language, self._with
        name, price, lacks = words("first.work.button"), "", words("first.work.choose")
        if kind == GROUP:
            group = next(item for item in self._engine.groups.all() if item.id == chosen)
            name = group.name
            estimate, lacks = self._engine.estimates.group(group), ""
            price = most_text(words, estimate)
        elif kind == WORKFLOW:
            workflow = self._workflow(chosen)
            name = workflow.name
            show_or_hide(self._first.who, self._engine.workflows.who_does_what(workflow, words.texts))
            estimate, lacks = self._engine.estimates.workflow(workflow, self._page.composer.box.text()), ""
            price = estimate_text(words, estimate, "steps")
        self._first.work.show_words(short_name(name), plain_tip(name))
        self._first.work.setAccessibleName(name)
        if kind and estimate.unasked:
            asked = partial(self._engine.estimates.ask, estimate.unasked)
            self._tasks.replace("work prices", self._then(asked, self.refresh))
        self._page.show_begins(price, lacks)

    def _fill_work(self) -> None:
        """Offer the groups and workflows there are."""
        words, menu = self._language, self._first.work.choices
        self._first.work.clear()
        known = {agent.id: agent.name for agent in self._engine.assistants.all()}
        for group in self._engine.groups.all():
            members = ", ".join(known[member] for member in group.members if member in known)
            self._add(GROUP, group.id, group.name, members)
        menu.addAction(words("group.ready"), self.ready_groups_requested.emit)
        menu.addAction(self._page.chat_composer.propose_group)
        menu.addSeparator()
        for workflow in self._engine.workflows.all():
            steps = ", ".join(step.name for step in workflow.steps)
            self._add(WORKFLOW, workflow.id, workflow.name, steps)
        menu.addAction(words("first.workflows"), self.workflows_requested.emit)
        menu.addSeparator()
        kind, chosen = self._with
        if kind == WORKFLOW:
            inside = QMenu(words("workflow.who.menu"), menu)
            offer_assistants(inside, words, self._engine, self._workflow(chosen), self._choose_assistant)
            menu.addMenu(inside)
        composer = self._page.chat_composer
        menu.addActions([composer.choose_folder, composer.name_files])

    def _workflow(self, definition_id: str) -> WorkflowDefinition:
        """Return a workflow with whom the user chose for its steps."""
        return with_assistants(self._engine.workflows.find(definition_id), self._assistants)

    def _choose_assistant(self, step_id: str, agent_id: str) -> None:
        self._assistants[step_id] = agent_id
        self.refresh()

    def _add(self, kind: str, chosen: str, name: str, parts: str) -> None:
        menu, act = self._first.work.choices, partial(self._choose_work, kind, chosen)
        ticked(menu, unmarked(name), (kind, chosen) == self._with, act, parts)

    def _choose_work(self, kind: str, chosen: str) -> None:
        self._assistants = {}
        self._state.keep(WITH, f"{kind}/{chosen}")
        self._choose_mode(WORK)

    def _on_group_wanted(self) -> None:
        self._choose_mode(WORK)
        # The button has its place only after the layout.
        QTimer.singleShot(0, self._first.work, self._first.work.click)

    # All modes

    def _choose_mode(self, mode: str, assistant_id: str = "") -> None:
        """Begin something else: the text stays, and so do the files."""
        self._state.keep(MODE, mode)
        self._first.show_mode(mode)
        self._chats.show_new(assistant_id, self._group_id())
        self._window.top_bar.show_mode(self._page.new_mode)
        self._page.composer.box.setFocus()

    def _wire(self) -> None:
        first, setup = self._first, self._setup
        first.mode.chosen.connect(self._choose_mode)
        for segment in first.mode.findChildren(QAbstractButton):
            segment.clicked.connect(self._page.composer.box.setFocus)
        first.how.choices.aboutToShow.connect(self._fill_how)
        first.ends.choices.aboutToShow.connect(self._fill_ends)
        first.work.choices.aboutToShow.connect(self._fill_work)
        first.chips.dropped.connect(setup.seats.drop)
        pick, panels = partial(setup.seats.picker.open, first.chips.more), self._engine.councils.panels
        first.chips.more.clicked.connect(lambda: pick(panels.all()))
        first.example_requested.connect(self._on_example)
        first.group_wanted.connect(self._on_group_wanted)
        setup.draft_changed.connect(lambda _draft: self._on_setup())
        self._page.begin_requested.connect(self._on_begin)
        self._chats.refreshed.connect(self.refresh)
        self._chats.several_requested.connect(self._on_several)
        self._bridge.workflows_changed.connect(self.refresh)
        self._bridge.session_started.connect(self._on_started)
        self._bridge.session_restored.connect(self._on_restored)

    def _on_several(self, text: str, files: Attachments) -> None:
        """Ask several models what was written in a chat."""
        self._state.keep(HOW, DebateMode.COUNCIL)
        self._debates.begin(text, files, council=True)

    def _on_started(self, event: SessionStarted) -> None:
        """Note what has been begun; a topic that was set up elsewhere is in the draft no more."""
        self._keep_done({event.session.kind})
        draft, debate = self._engine.drafts.of(NEW), event.session.debate
        if debate is not None and debate.topic.strip() == draft.text.strip():
            self._chats.files.show_draft("", replace(draft, text=""))

    def _on_setup(self) -> None:
        """Follow what was set up elsewhere."""
        if self.mode == DECIDE and self._page.isVisible():
            self.refresh()

    def _on_example(self, text: str) -> None:
        """Write a question to try, in place of what is written, which undo brings back; nothing is sent."""
        self._state.keep(HOW, DebateMode.COUNCIL)
        self._choose_mode(DECIDE)
        self._page.composer.box.selectAll()
        self._page.composer.box.insertPlainText(text)

    def _on_begin(self, text: str, attachments: Attachments) -> None:
        kind, chosen = self._with
        if self.mode == DECIDE:
            self._decide(text, attachments)
        elif kind == WORKFLOW:
            self._tasks.start("workflow", self._start_workflow(text, chosen, attachments))
        else:
            self._chats.send("", text, attachments)

    async def _start_workflow(self, text: str, definition_id: str, attachments: Attachments) -> None:
        """Begin a workflow; if that fails, put the text back."""
        try:
            chosen = {"assistants": self._assistants, **self._chats.chosen()}
            begun = await self._engine.workflows.start(text, definition_id, attachments, **chosen)
            self._assistants = {}
            self._chats.forget_chosen()
            self._window.session_requested.emit(begun)
        except MootError:
            self._chats.give_back("", text, attachments)
            raise

    def _decide(self, text: str, attachments: Attachments) -> None:
        """Begin a decision; one that cannot begin with a picture is left as it was written."""
        if not all(attachment.text or is_seen(attachment) for attachment in attachments):
            self._chats.give_back("", text, attachments)
            self._toasts.show_toast(self._language("first.no_images"))
            return
        self._debates.begin(text, attachments, council=self._is_council)


LOOK = "look for a newer version"
# What `window.ini` calls whether the user has answered, and the version that is not to be shown.
ANSWERED, SKIPPED = "new_versions_answered", "skipped_version"
# After the window had the processor to itself, and how often it is seen whether the day is another one.
LOOK_AFTER_S, LOOK_EVERY_MS = 3.0, 3_600_000


class NewVersionController(Controller):
    """Asks once whether newer versions may be looked for, and shows the one that is found."""

    def __init__(
        self, parts: Parts[WindowFrame], settings: SettingsController, sessions: SessionController
    ) -> None:
        super().__init__(parts)
        self._settings, self._sessions = settings, sessions
        self._versions, self._line = parts.engine.new_versions, parts.window.first_page.version
        self._found: NewVersion | None = None
        self._line.accepted.connect(self._on_accepted)
        self._line.dismissed.connect(self._on_dismissed)
        self._keep_fresh(settings.applied)
        timer(self, LOOK_EVERY_MS, self.refresh).start()

    def refresh(self) -> None:
        """Look for a newer version where the user allows it, and show what is known."""
        if self._versions.address and self._settings.current().new_versions:
            self._state.keep(ANSWERED, True)
            self._tasks.start(LOOK, self._find())
        else:
            self._tasks.cancel(LOOK)
            self._found = None
        self._show()

    async def _find(self) -> None:
        await asyncio.sleep(LOOK_AFTER_S)
        self._found = await self._versions.look()
        self._show()

    def _show(self) -> None:
        words, found, address = self._language, self._found, self._versions.address
        if found is not None:
            self._line.show_offer(self._title(found), words("version.news"), words("version.skip"))
            shown = found.version != self._state.text(SKIPPED)
        else:
            text = words("version.ask", host=urlsplit(address).netloc)
            self._line.show_offer(text, words("prompt.yes"), words("prompt.no"))
            shown = bool(address) and not self._state.flag(ANSWERED, False)
        self._line.setVisible(shown)

    def _title(self, found: NewVersion) -> str:
        return self._language("version.newer", version=found.version, day=self._language.day(found.day))

    def _on_accepted(self) -> None:
        if (found := self._found) is None:
            self._settings.change({"new_versions": True})
            return
        words = self._language
        texts = self._title(found), found.news[words.name], words("version.page")
        dialog = ConfirmDialog(words, *texts, self._window)
        dialog.open_for(lambda: self._sessions.open_link(found.link, ""))

    def _on_dismissed(self) -> None:
        self._state.keep(*((SKIPPED, self._found.version) if self._found else (ANSWERED, True)))
        self._show()
        self._window.chat_page.take_focus()
