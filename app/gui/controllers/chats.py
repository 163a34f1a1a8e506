"""Chats: connects the chat page to the engine and decides who answers a new chat.

Also the messages queued for a busy assistant, and versions of an answer: made again, with another model or
effort where the user wants that, and chosen.
"""

import asyncio
from dataclasses import replace
from functools import partial
from typing import Any

from PySide6.QtCore import QPoint, Signal

from app.core.catalog import EMBEDDED
from app.core.council import Participant
from app.core.definitions import Agent
from app.core.draft import NEW, Draft, Rewriting
from app.core.errors import MootError, NotFound
from app.core.events import LimitNear, SessionChanged
from app.core.message import Attachments, Message, MessageState, Role, near_text
from app.core.session import AgentMode, QueuedMessage
from app.core.session_files import files_named, of_folder, permission_for
from app.core.settings import RunLimits, Settings
from app.core.texts import trimmed, visible
from app.core.turns import asked_at
from app.engine.engine import Permission
from app.engine.library.agents import AgentModel, tools_off
from app.engine.live_session import LiveSession
from app.gui.controllers.attachments import AttachmentController
from app.gui.controllers.controller import PageController, Parts
from app.gui.dialogs.ask_dialogs import DoneMeansDialog, LongChatDialog, RenameDialog
from app.gui.dialogs.reading_dialogs import OtherAnswerDialog, Version, VersionsDialog
from app.gui.display.descriptions import colours_of, names_of
from app.gui.files.user_files import ask_for_folder
from app.gui.pages.chat.chat_page import ChatPage
from app.gui.pages.chat.over_input import result_of
from app.gui.transcript.message_rows import COMPARE, CONTINUE, RETRY, SETTINGS
from app.gui.transcript.selection import CONTINUE_FROM, EDIT, RETRY_WITH, MenuItem, build_menu
from app.gui.transcript.transcript_model import shown_name
from app.gui.widgets.model_choice import efforts_of
from app.gui.window_frame import AppWindow

LAST_ASSISTANT = "assistant"


class ChatController(PageController):
    """Answers what the user asks on the chat page.

    Signals: session_started(session id), mode_changed() of a new chat, refreshed() when the assistants to
    choose from were shown again, several_requested(text, attachments) for a question to several models,
    proposal_requested(task, ModelRequest, session id) to have a model propose a group.
    """

    session_started = Signal(str)
    refreshed = Signal()
    several_requested = Signal(str, object)
    mode_changed = Signal()
    proposal_requested = Signal(str, object, str)

    def __init__(self, parts: Parts[AppWindow], page: ChatPage) -> None:
        super().__init__(parts)
        self.page = page
        self._shown_assistant = ""
        self._beginning = asyncio.Lock()
        self._begun = ""
        self.new_group = ""  # the id of the group that a new session begins with
        self.files = AttachmentController(parts, page, self._models)
        self.queue = QueuedMessages(parts, page, self.files)
        self._new_mode = AgentMode.DEFAULT
        self._new_model = ("", "")
        self._new_limits: RunLimits | None = None
        # What is to be said of limits that are nearly reached, by the sessions' ids.
        self._near: dict[str, str] = {}
        # The criteria of a new session.
        self.new_means: tuple[str, ...] = ()
        # The folder of the user's for its files, with what is allowed there; empty for its own.
        self.new_where: dict[str, Any] = {}
        # The session whose next message another model answers, and that.
        self._once = ("", "", "")
        self._wire()
        written = page.composer.box.toPlainText()
        if written:
            # Before the engine was ready: it replaces the draft of the last run.
            self._on_draft_changed("", replace(parts.engine.drafts.of(NEW), text=written))
        self.show_new_draft()
        bridge = parts.bridge
        bridge.session_changed.connect(self._on_session_changed)
        bridge.limit_near.connect(self._on_limit_near)
        bridge.session_deleted.connect(lambda _event: self.show_new_draft())
        self._keep_fresh(bridge.assistants_changed, bridge.groups_changed, bridge.servers_changed)

    def show_new(self, assistant_id: str = "", group_id: str = "") -> None:
        """Prepare the page for a new chat with a group or an assistant; without an id
        with the last used assistant.
        """
        self.new_group = group_id
        if assistant_id:
            self._state.keep(LAST_ASSISTANT, assistant_id)
        self._begun = ""
        self.page.show_new()
        self.show_new_draft()
        self.refresh()

    def _on_session_changed(self, event: SessionChanged) -> None:
        if event.status_changed:
            self._near.pop(event.session_id, None)
        if event.session_id == self.page.session_id:
            self._show_proposals()
            self._show_chosen_folder()
            self._show_limits()
            if event.status_changed:
                self.page.result.show_preview(None)
            self._show_result()
        if event.status_changed and self._engine.titles.wanted(event.session_id):
            self._tasks.start(f"title {event.session_id}", self._engine.titles.write(event.session_id))

    def _on_limit_near(self, event: LimitNear) -> None:
        """Say that a run will pause soon, at the chip of its session and over all pages."""
        live = self._engine.live(event.session_id)
        if live is not None:
            said = near_text(self._language, event.limit, event.spent, event.most)
            self._near[event.session_id] = said
            self._show_limits()
            self._toasts.show_toast(f"{visible(live.session.title)}: {said}")

    def _show_limits(self) -> None:
        live, usual = self._engine.live(self.page.session_id), self._engine.settings().limits
        chat = live.session.chat if live is not None else None
        own = chat.limits if chat is not None else self._new_limits
        self.page.chat_composer.show_limits(own, usual, self._near.get(self.page.session_id, ""))
        self.page.state_line.extend.show_limits(own, usual)

    def chosen(self) -> dict[str, Any]:
        """Return what was chosen for the next new session."""
        own = {"limits": self._new_limits, "folder": self.folder_id, "done_means": self.new_means}
        return own | self.new_where

    def forget_chosen(self) -> None:
        """Choose nothing for the next new session, as one has begun."""
        self._new_limits, self.new_means, self.new_where = None, (), {}

    def _on_limits_chosen(self, limits: RunLimits | None) -> None:
        """Let the run in front, or the next new one, go so far."""
        if self.page.session is not None:
            self._start(self._engine.chats.choose_limits(self.page.session_id, limits))
            return
        self._new_limits = limits
        self._show_limits()

    def on_page_shown(self, page: object) -> None:
        """Refresh if it is the page of the chats that is shown."""
        if page is self.page:
            self.refresh()

    def refresh(self) -> None:
        """Show the assistants, tools and servers as they are now."""
        page, session = self.page, self.page.session
        chosen = self._assistant()
        name = chosen.name if chosen else session.chat.assistant_name if session else ""
        asking = self._asking()
        page.show_partner(asking or name, asks=bool(asking), on_this_computer=self._is_embedded)
        known = self._engine.assistants.all()
        page.transcript.feed.set_assistants(colours_of(known), names_of(known))
        self._dress(chosen, name)
        self._show_proposals()
        self._show_result()
        page.show_group(*self._group(), steps=session is not None and session.workflow is not None)
        before, self._shown_assistant = self._shown_assistant, chosen.id if chosen else ""
        if chosen is not None and chosen.id != before and chosen.mcp_servers:
            self._tasks.replace("attach servers", self._engine.servers.attach(chosen.mcp_servers))
        self.refreshed.emit()

    def _on_done_means(self) -> None:
        """Ask what must be true of the work that is written about when it is done."""
        session, models = self.page.session, self._models()
        means = self.new_means if session is None else tuple(criterion.text for criterion in session.criteria)
        task = self._task
        dialog = DoneMeansDialog(self._language, means, self._window)
        # A whole turn of an external agent is too much for that, and a small model proposes nothing of use.
        dialog.propose.setEnabled(bool(task and models) and not (models[0].external or models[0].guided))
        propose = partial(self._propose, dialog, task, self.page.session_id)
        dialog.propose.clicked.connect(lambda: self._tasks.start("propose criteria", propose()))
        dialog.finished.connect(lambda _result: self._tasks.cancel("propose criteria"))
        dialog.open_for(partial(self._choose_means, self.page.session_id))

    async def _propose(self, dialog: DoneMeansDialog, task: str, session_id: str) -> None:
        """Write what a model proposes into the dialog, which the user changes and saves, or leaves."""
        dialog.propose.setEnabled(False)
        try:
            proposed = await self._engine.criteria.propose(task, self._models()[0], session_id)
        except MootError:
            dialog.propose.setEnabled(True)
            raise
        dialog.propose.setEnabled(True)
        dialog.add(proposed)
        if not proposed:
            self._toasts.show_toast(self._language("criteria.propose.nothing"))

    @property
    def _task(self) -> str:
        """What is written, or was asked last."""
        return self.page.composer.box.text() or asked_of(self._engine.live(self.page.session_id))

    async def _propose_group(self) -> None:
        """Offer to have a model propose a group for the task."""
        session_id = self.page.session_id
        request = self._engine.groups.proposal(self._task, self._models()[0], session_id)
        self.proposal_requested.emit(self._task, request, session_id)

    def _choose_means(self, session_id: str, means: tuple[str, ...]) -> None:
        if session_id:
            self._start(self._engine.criteria.choose(session_id, means))
        else:
            self.new_means = means
            self.refresh()

    async def _choose_folder(self, path: str) -> None:
        """Let the next new session have its files in a folder of the user's, "" for one of its own."""
        folder = await self._engine.session_files.checked_folder(path) if path else ""
        self.new_where = {"chosen_folder": folder} if folder else {}
        self.refresh()

    def _on_choose_folder(self) -> None:
        title = self._language("chosen_folder.menu")
        ask_for_folder(self._window, title, self._starts(self._choose_folder))

    def _on_name_files(self) -> None:
        """Ask which hidden files, or files for keys, may be used in the folder of the new session."""
        before = ", ".join(sorted(files_named(self.new_where.get("always", ()))))
        title = "chosen_folder.files.title"
        # An empty text allows none.
        dialog = RenameDialog(self._language, before, self._window, title, empty=True)
        dialog.open_for(self._starts(self._name_files))

    async def _name_files(self, text: str) -> None:
        names = filter(None, map(str.strip, text.split(",")))
        self.new_where["always"] = tuple(permission_for(name) for name in names)
        self.refresh()

    def _on_chosen_left(self) -> None:
        """Choose no folder for the new session, or revoke what is allowed in that of the session in front."""
        session = self.page.session
        keys = of_folder(session.always) if session is not None else ()
        given = Permission(server="", tools=(), count=len(keys), session_id=self.page.session_id, keys=keys)
        self._start(self._engine.permissions.revoke(given) if session else self._choose_folder(""))

    def _show_chosen_folder(self) -> None:
        live = self._engine.live(self.page.session_id)
        path, leave = self.new_where.get("chosen_folder", ""), self._language("chosen_folder.leave")
        always = self.new_where.get("always", ())
        if live is not None:
            path, always = live.session.chosen_folder, live.session.always
            leave = self._language("permissions.revoke") if of_folder(always) else ""
        where = " · ".join((path, *sorted(files_named(always)))) if path else ""
        self.page.chat_composer.show_chosen_folder(where, leave, new=live is None)

    def _show_proposals(self) -> None:
        """Show what is proposed to be remembered in the session in front."""
        live = self._engine.live(self.page.session_id)
        self.page.proposals.show_proposals(self._engine.memory.open_in(live) if live is not None else ())

    def _show_result(self) -> None:
        """Show what came of the session in front, where it is work that rests."""
        live, page = self._engine.live(self.page.session_id), self.page
        page.chat_composer.show_done_means(len(live.session.criteria if live else self.new_means))
        result = result_of(live, page.files.files, self._language) if live else None
        opens = live is not None and bool(live.session.group or live.session.workflow)
        page.result.show_result(result, opens=opens)

    def choose_settings_mode(self, on: bool) -> None:
        """Switch settings mode on or off, for the chat in front or for the next new one."""
        mode, session = AgentMode.SETTINGS if on else AgentMode.DEFAULT, self.page.session
        if session is not None and self.page.isVisible():
            self._start(self._engine.chats.choose_mode(session.id, mode))
            return
        self._new_mode = mode
        self.refresh()
        self.mode_changed.emit()

    def switch_settings_mode(self) -> None:
        """Switch settings mode on or off, and explain what it does."""
        session = self.page.session if self.page.isVisible() else None
        on = (session.chat.mode if session else self._new_mode) != AgentMode.SETTINGS
        self.choose_settings_mode(on)
        self._toasts.show_toast(self._language("chat.settings_mode" if on else "chat.settings_mode.off"))

    def _dress(self, chosen: Agent | None, name: str) -> None:
        composer, session = self.page.chat_composer, self.page.session
        agents = [agent for agent in self._engine.assistants.all() if agent.enabled]
        composer.show_assistants(agents, chosen, name)
        composer.show_model(self._engine.models_for(chosen)[0].model, self._chosen_model)
        self._show_limits()
        mode = session.chat.mode if session else self._new_mode
        composer.settings_mode.setChecked(mode == AgentMode.SETTINGS)
        composer.remembers.setChecked(not (session and session.chat.forgetful))
        # What is told in a workflow's steps is no memory.
        composer.remembers.setVisible(session is not None and session.workflow is None)
        folder = self.folder if session is None else None
        composer.show_folder(folder.name if folder else "")
        self._show_chosen_folder()
        composer.set_english_only(self._is_embedded)
        servers = chosen.mcp_servers if chosen else ()
        # The key of a set stands for all of its tools.
        listed = set(chosen.tools) if chosen else set()
        composer.show_tools(
            [tool.key for tool in self._engine.assistants.tools() if listed & {tool.key, tool.group}],
            [status for status in self._engine.servers.all() if status.server.name in servers],
            tools_off(self._engine.settings(), chosen.id) if chosen else (),
            self._engine.assistants.closed(chosen, mode),
        )

    async def _switch_tool(self, tool: str, on: bool) -> None:
        """Switch a tool of the assistant on or off."""
        agent = self._assistant()
        if agent is None:
            return
        key = f"{agent.id}/{tool}"

        def switched(settings: Settings) -> Settings:
            others = tuple(item for item in settings.tools_off if item != key)
            return replace(settings, tools_off=others if on else (*others, key))

        await self._engine.change_settings(switched)
        self.refresh()

    def _group(self) -> tuple[str, list[str]]:
        """Return the name of the group or workflow in front and its members' names; "" if it is neither."""
        session = self.page.session
        if session is not None and session.workflow is not None:
            return session.workflow.definition.name, []
        group = session.group if session is not None else self._engine.groups.get(self.new_group)
        if group is None:
            return "", []
        known = {agent.id: agent for agent in self._engine.assistants.all() if agent.enabled}
        return group.name, [known[member].name for member in group.members if member in known]

    def _asking(self) -> str:
        """Return who asked the question that the next message answers, "" if there is none."""
        for session_id, question in self._engine.chats.needs_you():
            if session_id == self.page.session_id and question.prompt and question.prompt.takes_text:
                return shown_name(question.author, self._language.texts)
        return ""

    def _wire(self) -> None:
        page, composer = self.page, self.page.chat_composer
        chats, connections = self._engine.chats, self._engine.connections
        open_settings = self._window.settings_requested.emit
        page.send_requested.connect(self.send)
        self._run(page.edit_requested, self._edit)
        self._answer_cards(page)
        self._answer_proposals(page.proposals)
        self._run(page.stop_turn_requested, chats.stop_turn)
        self._run(page.stop_requested, self._engine.stop)
        page.box.pause_requested.connect(lambda: self._start(self._engine.pause(page.session_id)))
        self._run(page.resume_requested, self._engine.resume)
        page.state_line.retry_requested.connect(self._engine.ask_again)
        page.message_action_requested.connect(self._on_action)
        page.provider_requested.connect(partial(open_settings, "providers"))
        page.draft_changed.connect(self._on_draft_changed)
        composer.assistant_chosen.connect(self._on_assistant_chosen)
        composer.settings_mode.triggered.connect(self.choose_settings_mode)
        remember = composer.remembers.triggered
        remember.connect(lambda on: self._start(chats.choose_memory(page.session_id, on=on)))
        composer.budget.chosen.connect(self._on_limits_chosen)
        self._run(page.state_line.extend.chosen, lambda limits: self._extend(page.session_id, limits))
        composer.done_means.triggered.connect(self._on_done_means)
        composer.choose_folder.triggered.connect(self._on_choose_folder)
        composer.propose_group.triggered.connect(lambda: self._start(self._propose_group()))
        composer.name_files.triggered.connect(self._on_name_files)
        composer.chosen_left.connect(self._on_chosen_left)
        criteria = self._engine.criteria
        page.result.accept.clicked.connect(lambda: self._start(criteria.accept(page.session_id)))
        page.result.check.clicked.connect(lambda: self._start(criteria.check(page.session_id)))
        page.result.means.clicked.connect(self._on_done_means)
        page.files.changed.connect(self._show_result)
        composer.ask_several.triggered.connect(self._on_ask_several)
        composer.settings_requested.connect(lambda page: open_settings(page, ""))
        self._run(composer.tool_switched, self._switch_tool)
        composer.providers = self._engine.providers
        composer.facts = connections.known_facts
        composer.model.chosen.connect(self._on_model_chosen)
        composer.model.chosen_once.connect(self._on_model_chosen_once)
        composer.model.more_requested.connect(partial(open_settings, "providers", ""))
        learn = partial(self._tasks.replace, "model facts")
        composer.model.opened.connect(lambda: learn(connections.learn_facts()))
        self.files.ready.connect(self._on_ready)

    def _assistant(self) -> Agent | None:
        """Return who answers: the session's assistant, for a new chat the last used one, else the first
        on.
        """
        session, assistants = self.page.session, self._engine.assistants
        if session is not None:
            return assistants.get(session.chat.assistant_id)
        if (last := assistants.get(self._state.text(LAST_ASSISTANT))) is not None:
            return last
        # Built-in ones come before those made with a group.
        agents = sorted(assistants.all(), key=lambda item: not assistants.is_built_in(item.id))
        return next((agent for agent in agents if agent.enabled), None)

    # Sending

    def _on_ask_several(self) -> None:
        """Ask several what is written; where nothing is, what was asked last."""
        composer, live = self.page.chat_composer, self._engine.live(self.page.session_id)
        asked: tuple[str, Attachments] = (composer.box.text(), composer.attachments())
        if not asked[0]:
            said = [item for item in (live.messages if live else ()) if item.by_user and item.content.strip()]
            asked = (said[-1].content, said[-1].attachments) if said else asked
        if asked[0]:
            self.several_requested.emit(*asked)
        else:
            self._toasts.show_toast(self._language("chat.ask_several.nothing"))

    def send(self, session_id: str, text: str, attachments: Attachments) -> None:
        """Send a message in a session, "" for a new chat; ask first how a long imported one goes on."""
        use = self._engine.summaries.to_choose(session_id)
        send = partial(self._send, session_id, text, attachments)
        if use is None:
            self._start(send())
            return
        dialog = LongChatDialog(self._language, use, self._window)
        dialog.rejected.connect(lambda: self.give_back(session_id, text, attachments))
        dialog.open_for(lambda choice: self._start(send(start=choice)))

    async def _send(self, session_id: str, text: str, attachments: Attachments, *, start: str = "") -> None:
        """Send a message, or begin a chat with it; if that fails, put it back into the composer.

        `start` is the ChatStart of an imported chat.
        """
        try:
            if start:
                await self._engine.summaries.choose(session_id, start)
            if not session_id:
                # Pressing Enter twice quickly begins one chat, not two.
                async with self._beginning:
                    if not self._begun:
                        await self._begin(text, attachments)
                        return
                session_id = self._begun
            provider, model = self._model_once(session_id)
            self._once = ("", "", "")
            await self._engine.chats.send(session_id, text, attachments, provider=provider, model=model)
            self.refresh()
        except MootError:
            self.give_back(session_id, text, attachments)
            raise

    def give_back(self, session_id: str, text: str, attachments: Attachments) -> None:
        """Put a message that could not be sent back into its draft, before what was written since."""
        draft = self._engine.drafts.of(session_id or NEW)
        self.files.show_draft(session_id, draft.led_by(text, attachments))

    def show_new_draft(self) -> None:
        """Show the draft of a new chat while the page has no session."""
        if self.page.session is None:
            self.page.set_draft(self._engine.drafts.of(NEW))

    def _on_draft_changed(self, session_id: str, draft: Draft) -> None:
        # Until a chat that has begun is shown, its page has no session id.
        self._engine.drafts.keep(session_id or self._begun or NEW, draft)

    def _on_ready(self, session_id: str) -> None:
        """Send the draft of a session that is not in front, now that its files are read."""
        draft = self._engine.drafts.of(session_id)
        if draft.rewriting is not None:
            written = draft.rewriting
            self._engine.drafts.keep(session_id, replace(draft, rewriting=None))
            self._start(self._edit(session_id, written.message_id, written.text, written.attachments))
        else:
            self._engine.drafts.keep(session_id, replace(draft, text="", attachments=()))
            self.send(session_id, draft.text, draft.attachments)

    async def _edit(self, session_id: str, message_id: str, text: str, attachments: Attachments) -> None:
        """Replace a message; if that fails, open it for editing again."""
        try:
            await self._engine.chats.edit(session_id, message_id, text, attachments)
        except MootError:
            draft = self._engine.drafts.of(session_id)
            if draft.rewriting is None:
                written = Rewriting(message_id=message_id, text=text, attachments=attachments)
                self.files.show_draft(session_id, replace(draft, rewriting=written))
            else:
                self.give_back(session_id, text, attachments)
            raise

    async def _begin(self, text: str, attachments: Attachments) -> None:
        said = (text, attachments, self._new_mode)
        if self.new_group:
            self._begun = await self._engine.groups.start(self.new_group, *said, **self.chosen())
        else:
            agent = self._assistant()
            if agent is None:
                raise NotFound("assistant_not_found", assistant=self._state.text(LAST_ASSISTANT))
            once = self._model_once("")
            provider, model = once if once[0] else self._new_model
            chosen = self.chosen() | {"provider": provider, "model": model, "once": bool(once[0])}
            self._begun = await self._engine.chats.start(agent.id, *said, **chosen)
        self._new_mode, self._new_model, self._once = AgentMode.DEFAULT, ("", ""), ("", "", "")
        self.forget_chosen()
        # What is written from now on belongs to the chat that has begun.
        self._engine.drafts.keep(self._begun, self._engine.drafts.of(NEW))
        self._engine.drafts.keep(NEW, Draft())
        self.files.carry_over(self._begun)
        self.session_started.emit(self._begun)

    def _on_assistant_chosen(self, assistant_id: str) -> None:
        """Let another assistant answer from now on, with its own model."""
        self._state.keep(LAST_ASSISTANT, assistant_id)
        if self.page.session is not None:
            self._start(self._engine.chats.choose_assistant(self.page.session_id, assistant_id))
        else:
            self._new_model = ("", "")
            self.refresh()

    def _on_model_chosen_once(self, provider: str, model: str) -> None:
        """Let another model answer the next message."""
        self._once = (self.page.session_id, provider, model)
        self.refresh()

    def _model_once(self, session_id: str) -> tuple[str, str]:
        """Return the provider and model for a session's next message alone, two empty texts for its own."""
        return self._once[1:] if self._once[0] == session_id else ("", "")

    def _on_model_chosen(self, provider: str, model: str) -> None:
        """Let another model answer from now on; two empty texts are for the assistant's own."""
        self._once = ("", "", "")
        if self.page.session is not None:
            self._start(self._engine.chats.choose_model(self.page.session_id, provider, model))
        else:
            self._new_model = (provider, model)
            self.refresh()

    # Actions on messages

    def _on_action(self, session_id: str, message_id: str, action: str) -> None:
        live = self._engine.live(session_id)
        if live is None:
            return
        message = live.turns.messages[message_id]
        if action == EDIT:
            self.page.begin_editing(message)
        elif action == SETTINGS:
            self._window.settings_requested.emit("providers", message.model.partition("/")[0])
        elif action in (CONTINUE, CONTINUE_FROM):
            self._start(self._engine.chats.continue_from(session_id, message_id))

    # The model that answers

    def _models(self) -> tuple[AgentModel, ...]:
        """Return the models that read the next message."""
        session = self.page.session
        state = session.group if session is not None else None
        wanted = state.id if state is not None else self.new_group if session is None else ""
        group = self._engine.groups.get(wanted)
        if group is not None and state is not None:
            group = replace(group, members=state.members)
        if group is None and self._chosen_model[0]:
            provider, model = self._chosen_model
            return self._engine.models_for((Participant(id="", name="", provider=provider, model=model),))
        return self._engine.models_for(group or self._assistant())

    @property
    def _chosen_model(self) -> tuple[str, str]:
        """The provider and model chosen in place of the assistant's own, two empty texts for none."""
        session = self.page.session
        lasting = (session.chat.provider, session.chat.model) if session is not None else self._new_model
        once = self._model_once(self.page.session_id)
        return once if once[0] else lasting

    @property
    def _is_embedded(self) -> bool:
        """Whether the embedded model answers: it is chosen, or nothing is and no other provider is ready."""
        agent = self._assistant()
        wanted = self._chosen_model[0] or (agent.provider if agent else "")
        known = self._engine.providers()
        answers = [item for item in known if item.config.id == wanted or (not wanted and item.ready)]
        return {provider.config.kind for provider in answers} == {EMBEDDED}


def asked_of(live: LiveSession | None) -> str:
    """Return what the user asked last in a session, "" for nothing."""
    place = asked_at(live.messages, group=live.session.group is not None) if live is not None else -1
    return live.messages[place].content if live is not None and place >= 0 else ""


class QueuedMessages(PageController):
    """Answers what the user asks of the queue; no text that was being written is lost."""

    def __init__(self, parts: Parts[AppWindow], page: ChatPage, files: AttachmentController) -> None:
        """`files` keeps the unsent draft of a session and shows it if the session is in front."""
        super().__init__(parts)
        self._page, self._show_draft = page, files.show_draft
        queue = page.queue
        self._run(queue.edited, lambda one, text: self._edit(page.session_id, one, text))
        self._run(queue.moved, lambda one, place: self._move(page.session_id, one, place))
        self._run(queue.sent, lambda item: self._send_now(page.session_id, item))
        queue.written.connect(self._on_written)
        self._run(queue.removed, lambda item: self._remove(page.session_id, item))
        parts.bridge.session_changed.connect(self._on_session_changed)

    def _on_written(self, _queued_id: str, text: str | None) -> None:
        """Send the messages that an edit held back, once it is cancelled."""
        if text is None:
            self._start(self._engine.chats.send_queued(self._page.session_id))

    async def _edit(self, session_id: str, queued_id: str, text: str) -> None:
        """Rewrite a queued message; if it is no longer queued, put the text into the composer."""
        try:
            await self._engine.chats.edit_queued(session_id, queued_id, text)
        except MootError:
            self._end_edit(session_id, queued_id)
            self._show_draft(session_id, self._engine.drafts.of(session_id).led_by(text))
            raise
        self._end_edit(session_id, queued_id)
        await self._engine.chats.send_queued(session_id)

    async def _take_over(self, session_id: str, queued_id: str) -> None:
        """Save the unfinished edit of a message that is about to leave the queue."""
        text = self._engine.drafts.of(session_id).queued.get(queued_id, "")
        if text.strip():
            await self._engine.chats.edit_queued(session_id, queued_id, text)
        self._end_edit(session_id, queued_id)

    def _end_edit(self, session_id: str, queued_id: str) -> None:
        draft = self._engine.drafts.of(session_id)
        if queued_id in draft.queued:
            rest = {other: text for other, text in draft.queued.items() if other != queued_id}
            self._show_draft(session_id, replace(draft, queued=rest))

    async def _send_now(self, session_id: str, queued_id: str) -> None:
        await self._take_over(session_id, queued_id)
        await self._engine.chats.send_now(session_id, queued_id)

    async def _move(self, session_id: str, queued_id: str, place: int) -> None:
        await self._engine.chats.move_queued(session_id, queued_id, place)
        await self._engine.chats.send_queued(session_id)

    async def _remove(self, session_id: str, queued_id: str) -> None:
        await self._take_over(session_id, queued_id)
        live = self._engine.live(session_id)
        queue = live.chat_session.chat.queue if live else ()
        await self._engine.chats.remove_queued(session_id, queued_id)
        await self._engine.chats.send_queued(session_id)
        place, queued = next((at, message) for at, message in enumerate(queue) if message.id == queued_id)
        self._offer_undo("queue.removed", partial(self._put_back, session_id, queued, place))

    async def _put_back(self, session_id: str, queued: QueuedMessage, place: int) -> None:
        await self._engine.chats.send(session_id, queued.text, queued.attachments)
        live = self._engine.live(session_id)
        queue = live.chat_session.chat.queue if live else ()
        if queue and place < len(queue) - 1:
            await self._engine.chats.move_queued(session_id, queue[-1].id, place)

    def _on_session_changed(self, event: SessionChanged) -> None:
        """Put the edits of messages that have left the queue into the composer."""
        draft = self._engine.drafts.of(event.session_id)
        if not draft.queued or event.session.chat is None:
            return
        waits = {queued.id for queued in event.session.chat.queue}
        gone = [text for queued_id, text in draft.queued.items() if queued_id not in waits]
        if gone:
            live = self._engine.live(event.session_id)
            said = {item.content for item in live.messages if item.role == Role.USER} if live else set()
            late = [text for text in gone if trimmed(text) not in said]
            rest = {queued_id: text for queued_id, text in draft.queued.items() if queued_id in waits}
            self._show_draft(event.session_id, replace(draft.led_by("\n\n".join(late)), queued=rest))


INSIDE = QPoint(60, 26)
MOST_OTHERS = 3
"""How many other models the menu of a failed answer names; the dialog offers them all."""


class VersionController(PageController):
    """Answers what the user asks about the versions of an answer on the chat page."""

    def __init__(self, parts: Parts[AppWindow], page: ChatPage) -> None:
        super().__init__(parts)
        self._page = page
        page.message_action_requested.connect(self._on_action)
        page.transcript.version_requested.connect(page.asking(self._on_version))

    def _on_action(self, session_id: str, message_id: str, action: str) -> None:
        live = self._engine.live(session_id)
        if action == RETRY:
            self._retry(session_id, message_id)
        elif action == RETRY_WITH and live is not None:
            self._offer(live, message_id)
        elif action == COMPARE and live is not None:
            self._compare(live, message_id)

    def _retry(self, of: str, message_id: str, provider: str = "", model: str = "", effort: str = "") -> None:
        choice = {"provider": provider, "model": model, "effort": effort}
        self._start(self._engine.chats.retry(of, message_id, **choice))

    def _offer(self, live: LiveSession, message_id: str) -> None:
        """Offer the ways to have a message answered again: as usual, with another model, with another
        effort.
        """
        retry = partial(self._retry, live.id, message_id)
        usual = self._engine.chats.usual_turn(live, message_id).agent_model
        facts = self._engine.connections.known_facts(usual.provider, usual.model)
        ways = [MenuItem("transcript.retry", retry)]
        for provider, model in self._instead_of(usual, live.turns.messages[message_id]):
            ways.append(MenuItem("retry.use_instead", partial(retry, provider, model), model=model))
        ways.append(MenuItem("retry.other_model", lambda: self._ask(live.id, message_id)))
        keys = {effort: f"transcript.effort.{effort}" for effort in efforts_of(facts)}
        efforts = [MenuItem(key, partial(retry, effort=effort)) for effort, key in keys.items()]
        menu = build_menu(self._page, self._language.texts, ways, efforts)
        menu.setObjectName("retry_menu")
        menu.popup(self._place_of(message_id))

    def _instead_of(self, usual: AgentModel, answer: Message) -> list[tuple[str, str]]:
        """Return the provider and default model of others that are ready, for an answer that failed."""
        if answer.state != MessageState.FAILED:
            return []
        ready = (status for status in self._engine.providers() if status.ready and status.default_model)
        others = [(status.config.id, status.default_model) for status in ready]
        return [other for other in others if other[0] != usual.provider][:MOST_OTHERS]

    def _place_of(self, message_id: str) -> QPoint:
        """Return where on the screen the menu of a message opens: under its buttons, else in its first
        line.
        """
        transcript = self._page.transcript
        bar = transcript.action_bar
        if bar.message_id == message_id:
            return bar.mapToGlobal(bar.rect().bottomLeft())
        rect = transcript.message_rect(message_id)
        corner = rect.topLeft() if rect is not None else QPoint()
        return transcript.viewport().mapToGlobal(QPoint(corner.x(), max(0, corner.y())) + INSIDE)

    def _ask(self, session_id: str, message_id: str) -> None:
        """Ask for the model and the effort of an answer."""
        live = self._engine.live(session_id)
        if live is None:
            return
        self._tasks.replace("model facts", self._engine.connections.learn_facts())
        usual = self._engine.chats.usual_turn(live, message_id)
        ready = [status for status in self._engine.providers() if status.ready]
        facts = self._engine.connections.known_facts
        dialog = OtherAnswerDialog(self._language, self._look, ready, facts, self._window)
        dialog.show_usual(usual.agent_model.provider, usual.agent_model.model, usual.agent.effort)
        dialog.open_for(partial(self._retry, session_id, message_id))

    def _compare(self, live: LiveSession, message_id: str) -> None:
        """Show the versions of a message's turn side by side."""
        page, turns = self._page, live.turns
        chosen, model = set(turns.back_from(live.chat_session.chat.head)), page.transcript.model
        ids = turns.versions(turns.root(turns.messages[message_id].turn_id))
        versions = [Version(id_, live.said_in(turns.with_answers(id_)), id_ in chosen) for id_ in ids]
        looks = (live.session, versions, model.colours, model.names)
        dialog = VersionsDialog(self._language, self._look, *looks, self._window)
        dialog.link_requested.connect(page.link_requested)
        dialog.picture_requested.connect(page.picture_requested)
        dialog.open_for(lambda item: self._start(self._engine.chats.choose_version(live.id, item)))

    def _on_version(self, session_id: str, turn_id: str, step: int) -> None:
        live = self._engine.live(session_id)
        ids = live.turns.versions(turn_id) if live else ()
        place = ids.index(turn_id) + step if turn_id in ids else -1
        if 0 <= place < len(ids):
            self._start(self._engine.chats.choose_version(session_id, ids[place]))
