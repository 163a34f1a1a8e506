"""What the window does with chats: what the chat page asks for, wired to the engine.

Made by the desk; holds whom a new chat is for.
"""

import asyncio
from dataclasses import replace

from PySide6.QtCore import Signal

from app.core.agent import Agent, Group
from app.core.catalog import EMBEDDED, ProviderKind, provider_kind
from app.core.draft import NEW, Draft, Rewriting
from app.core.errors import MootError, NotFound
from app.core.message import Attachment, Consent, PromptType
from app.core.session import AgentMode, GroupSession, WorkflowSession
from app.engine.chat.branches import versions
from app.engine.engine import Engine
from app.gui.bridge import Bridge
from app.gui.controllers.attachments import AttachmentController
from app.gui.controllers.controller import Controller
from app.gui.controllers.queued_messages import QueuedMessages
from app.gui.display.amounts import most_text
from app.gui.display.assistant_display import colours_of
from app.gui.pages.chat.chat_composer import ChatComposer
from app.gui.pages.chat.chat_page import ChatPage
from app.gui.tasks import Tasks
from app.gui.transcript.message_row import SETTINGS
from app.gui.transcript.transcript_model import shown_name
from app.gui.window_frame import WindowFrame

LAST_ASSISTANT = "assistant"


class ChatController(Controller):
    """Turns what the chat page asks for into tasks on the engine.

    Signals: session_started(session id), settings_requested(page, provider id),
    refreshed() when whom one may write to is shown anew, mode_changed() of a new chat.
    """

    session_started = Signal(str)
    settings_requested = Signal(str, str)
    refreshed = Signal()
    mode_changed = Signal()

    def __init__(
        self, window: WindowFrame, engine: Engine, bridge: Bridge, tasks: Tasks, page: ChatPage
    ) -> None:
        super().__init__(window, engine, bridge, tasks)
        self._page = page
        self._shown_assistant = ""
        self._beginning = asyncio.Lock()
        self._begun = ""
        self._group_id = ""
        self.files = AttachmentController(window, engine, bridge, tasks, page, self._takes_images)
        self.queue = QueuedMessages(window, engine, bridge, tasks, page, self._show_draft)
        self._new_mode = AgentMode.DEFAULT
        self._wire()
        self._show_new_draft()
        bridge.session_deleted.connect(lambda _event: self._show_new_draft())
        bridge.assistants_changed.connect(self.refresh)
        bridge.groups_changed.connect(self.refresh)
        bridge.servers_changed.connect(self.refresh)
        self._language.changed.connect(self.refresh)

    def show_new(self, assistant_id: str = "", group_id: str = "") -> None:
        """Prepare the page for a new chat with a group or an assistant, the last used one without a name."""
        self._group_id = group_id
        if assistant_id:
            self._state.keep(LAST_ASSISTANT, assistant_id)
        self._begun = ""
        self._page.show_new()
        self._show_new_draft()
        self.refresh()

    def refresh(self) -> None:
        """Show the assistants, tools and servers as they are now."""
        page, session = self._page, self._page.session
        chosen = self._assistant()
        name = chosen.name if chosen else session.chat.assistant_name if session else ""
        kind = self._kind
        asking = self._asking()
        page.show_partner(
            asking or name, asks=bool(asking), on_this_computer=kind is not None and kind.kind == EMBEDDED
        )
        page.transcript.set_colours(colours_of(self._engine.assistants.all()))
        self._dress(page.chat_composer, chosen, name)
        page.show_group(*self._group(), steps=isinstance(session, WorkflowSession))
        self._show_estimate()
        servers = chosen.mcp_servers if chosen else ()
        shown = chosen.id if chosen else ""
        if shown != self._shown_assistant:
            self._shown_assistant = shown
            if servers:
                self._tasks.replace("attach servers", self._engine.attach(servers))
        self.refreshed.emit()

    def dress_for_new(self, composer: ChatComposer) -> None:
        """Show in a composer with whom a new chat would be."""
        chosen = self._last()
        self._dress(composer, chosen, chosen.name if chosen else "")

    def choose_for_new(self, assistant_id: str) -> None:
        """Take note with whom the next chats are to be."""
        self._state.keep(LAST_ASSISTANT, assistant_id)
        self.refresh()

    def choose_settings_mode(self, on: bool) -> None:
        """Switch the chat shown, or the next new one, to settings mode or back."""
        mode, session = AgentMode.SETTINGS if on else AgentMode.DEFAULT, self._page.session
        if session is not None and self._page.isVisible():
            self._start(self._engine.chats.choose_mode(session.id, mode))
            return
        self._new_mode = mode
        self.refresh()
        self.mode_changed.emit()

    def switch_settings_mode(self) -> None:
        """Switch to settings mode, or back where it is on, and say what that means."""
        session = self._page.session if self._page.isVisible() else None
        on = (session.chat.mode if session else self._new_mode) != AgentMode.SETTINGS
        self.choose_settings_mode(on)
        self._toasts.show_toast(self._language("chat.settings_mode" if on else "chat.settings_mode.off"))

    def _dress(self, composer: ChatComposer, chosen: Agent | None, name: str) -> None:
        agents = [agent for agent in self._engine.assistants.all() if agent.enabled]
        composer.show_assistants(agents, chosen, name)
        session = self._page.session if composer is self._page.chat_composer else None
        composer.settings_mode.setChecked(
            (session.chat.mode if session else self._new_mode) == AgentMode.SETTINGS
        )
        kind = self._kind_of(chosen)
        composer.set_english_only(kind is not None and kind.kind == EMBEDDED)
        servers = chosen.mcp_servers if chosen else ()
        # A set on the list stands for its tools.
        listed = set(chosen.tools) if chosen else set()
        composer.show_tools(
            [tool.key for tool in self._engine.assistants.tools() if listed & {tool.key, tool.group}],
            [status for status in self._engine.servers() if status.server.name in servers],
        )

    def _group(self) -> tuple[str, list[str]]:
        """Return the name of the group one writes to and its members' names; "" where it is no group."""
        session = self._page.session
        if isinstance(session, WorkflowSession):
            return session.workflow.definition.name, []
        if isinstance(session, GroupSession):
            name, members = session.group.name, session.group.members
        else:
            group = self._new_group()
            if group is None:
                return "", []
            name, members = group.name, group.members
        known = {agent.id: agent for agent in self._engine.assistants.all() if agent.enabled}
        return name, [known[one].name for one in members if one in known]

    def _new_group(self) -> Group | None:
        """Return the group that a new conversation would be with."""
        groups = self._engine.groups.all() if self._page.session is None else ()
        return next((one for one in groups if one.id == self._group_id), None)

    def _show_estimate(self) -> None:
        group = self._new_group()
        if group is None:
            self._page.show_estimate("")
            return
        estimate = self._engine.estimates.group(group)
        self._page.show_estimate(most_text(self._language, estimate))
        if estimate.unasked:
            self._tasks.start("group prices", self._ask_prices(estimate.unasked))

    async def _ask_prices(self, pairs: tuple[tuple[str, str], ...]) -> None:
        await self._engine.estimates.ask(pairs)
        self._show_estimate()

    def _asking(self) -> str:
        """Return who asks what the next words in the chat shown would answer, "" where nobody does."""
        return next(
            (
                shown_name(question.author, self._language.texts)
                for session_id, question in self._engine.chats.needs_you()
                if session_id == self._page.session_id
                and question.prompt
                and question.prompt.type != PromptType.APPROVAL
            ),
            "",
        )

    def _wire(self) -> None:
        page, composer = self._page, self._page.chat_composer
        chats = self._engine.chats
        page.send_requested.connect(self._on_send)
        page.edit_requested.connect(self._on_edit)
        page.answer_requested.connect(
            lambda session_id, message_id, answer: self._start(chats.answer(session_id, message_id, answer))
        )
        page.hand_over_requested.connect(
            lambda session_id, message_id, arguments: self._start(
                chats.answer(session_id, message_id, Consent.ALLOW, arguments)
            )
        )
        page.dismiss_requested.connect(
            lambda session_id, message_id: self._start(chats.dismiss(session_id, message_id))
        )
        page.stop_turn_requested.connect(
            lambda session_id, turn_id: self._start(chats.stop_turn(session_id, turn_id))
        )
        page.stop_requested.connect(lambda session_id: self._start(self._engine.stop(session_id)))
        page.box.pause_requested.connect(lambda: self._start(self._engine.pause(page.session_id)))
        page.resume_requested.connect(lambda session_id: self._start(self._engine.resume(session_id)))
        page.message_action_requested.connect(self._on_action)
        page.version_requested.connect(self._on_version)
        page.provider_requested.connect(lambda provider: self.settings_requested.emit("providers", provider))
        page.draft_changed.connect(self._on_draft_changed)
        composer.assistant_chosen.connect(self._on_assistant_chosen)
        composer.settings_mode_chosen.connect(self.choose_settings_mode)
        composer.servers_requested.connect(lambda: self.settings_requested.emit("servers", ""))
        self.files.ready.connect(self._on_ready)

    def _assistant(self) -> Agent | None:
        """Return who is written to: the session's, for a new chat the last used, else the first."""
        session = self._page.session
        if session is None:
            return self._last()
        try:
            return self._engine.assistants.find(session.chat.assistant_id)
        except NotFound:
            return None

    def _last(self) -> Agent | None:
        """Return who was chosen last, the first where that is nobody any more."""
        wanted = self._state.text(LAST_ASSISTANT)
        try:
            return self._engine.assistants.find(wanted) if wanted else self._first()
        except NotFound:
            return self._first()

    def _first(self) -> Agent | None:
        """Return who answers where nobody was chosen: one that came with Moot before those of a group."""
        assistants = self._engine.assistants
        agents = sorted(assistants.all(), key=lambda one: not assistants.is_built_in(one.id))
        return next((agent for agent in agents if agent.enabled), None)

    # Sending

    def send_new(self, text: str, attachments: tuple[Attachment, ...]) -> None:
        """Begin the chat that the page was prepared for."""
        self._on_send("", text, attachments)

    def _on_send(self, session_id: str, text: str, attachments: tuple[Attachment, ...]) -> None:
        self._start(self._send(session_id, text, attachments))

    async def _send(self, session_id: str, text: str, attachments: tuple[Attachment, ...]) -> None:
        """Send, or begin a chat; what could not be sent is in the composer again."""
        try:
            if not session_id:
                # Who presses Enter twice at once begins one chat, not two.
                async with self._beginning:
                    if not self._begun:
                        await self._begin(text, attachments)
                        return
                session_id = self._begun
            await self._engine.chats.send(session_id, text, attachments)
        except MootError:
            self._give_back(session_id, text, attachments)
            raise

    def _give_back(self, session_id: str, text: str, attachments: tuple[Attachment, ...]) -> None:
        """Put what could not be sent before what has been written since, wherever the user is by now."""
        draft = self._engine.drafts.of(session_id or NEW)
        self._show_draft(session_id, draft.led_by(text, attachments))

    def _show_draft(self, session_id: str, draft: Draft) -> None:
        self._engine.drafts.keep(session_id or NEW, draft)
        if self._page.session_id == session_id:
            self._page.set_draft(draft)

    def _show_new_draft(self) -> None:
        """Let a page without a session have what is left unsent of a new chat."""
        if self._page.session is None:
            self._page.set_draft(self._engine.drafts.of(NEW))

    def _on_draft_changed(self, session_id: str, draft: Draft) -> None:
        # Until a chat that has begun is shown, its page is the one it was begun on.
        self._engine.drafts.keep(session_id or self._begun or NEW, draft)

    def _on_ready(self, session_id: str) -> None:
        """Send what waited for its files in a session that is no longer in front."""
        draft = self._engine.drafts.of(session_id)
        if draft.rewriting is not None:
            written = draft.rewriting
            self._engine.drafts.keep(session_id, replace(draft, rewriting=None))
            self._on_edit(session_id, written.message_id, written.text, written.attachments)
        else:
            self._engine.drafts.keep(session_id, replace(draft, text="", attachments=()))
            self._on_send(session_id, draft.text, draft.attachments)

    def _on_edit(
        self, session_id: str, message_id: str, text: str, attachments: tuple[Attachment, ...]
    ) -> None:
        self._start(self._edit(session_id, message_id, text, attachments))

    async def _edit(
        self, session_id: str, message_id: str, text: str, attachments: tuple[Attachment, ...]
    ) -> None:
        """Say something else instead; where that cannot be, it is being rewritten again."""
        try:
            await self._engine.chats.edit(session_id, message_id, text, attachments)
        except MootError:
            draft = self._engine.drafts.of(session_id)
            if draft.rewriting is None:
                written = Rewriting(message_id=message_id, text=text, attachments=attachments)
                self._show_draft(session_id, replace(draft, rewriting=written))
            else:
                self._give_back(session_id, text, attachments)
            raise

    async def _begin(self, text: str, attachments: tuple[Attachment, ...]) -> None:
        if self._group_id:
            self._begun = await self._engine.groups.start(self._group_id, text, attachments, self._new_mode)
        else:
            agent = self._assistant()
            if agent is None:
                raise NotFound("assistant_not_found", assistant=self._state.text(LAST_ASSISTANT))
            self._begun = await self._engine.chats.start(agent.id, text, attachments, self._new_mode)
        self._new_mode = AgentMode.DEFAULT
        # Whoever writes on does so to the chat that has just begun.
        self._engine.drafts.keep(self._begun, self._engine.drafts.of(NEW))
        self._engine.drafts.keep(NEW, Draft())
        self.files.carry_over(self._begun)
        self.session_started.emit(self._begun)

    def _on_assistant_chosen(self, assistant_id: str) -> None:
        self._state.keep(LAST_ASSISTANT, assistant_id)
        if self._page.session is not None:
            self._start(self._engine.chats.choose_assistant(self._page.session_id, assistant_id))
        else:
            self.refresh()

    # Messages that were said

    def _on_action(self, session_id: str, message_id: str, action: str) -> None:
        live = self._engine.live(session_id)
        if live is None:
            return
        message = live.message(message_id)
        if action == "edit":
            self._page.begin_editing(message)
        elif action == "retry":
            self._start(self._engine.chats.retry(session_id, message_id))
        elif action == SETTINGS:
            self.settings_requested.emit("providers", message.model.partition("/")[0])
        else:
            self._start(self._engine.chats.continue_from(session_id, message_id))

    def _on_version(self, session_id: str, turn_id: str, step: int) -> None:
        live = self._engine.live(session_id)
        ids = versions(live, turn_id) if live else ()
        place = ids.index(turn_id) + step if turn_id in ids else -1
        if 0 <= place < len(ids):
            self._start(self._engine.chats.choose_version(session_id, ids[place]))

    # What answers

    def _takes_images(self) -> bool:
        """Say whether the model that answers takes pictures."""
        return self._kind is not None and self._kind.images

    @property
    def _kind(self) -> ProviderKind | None:
        return self._kind_of(self._assistant())

    def _kind_of(self, agent: Agent | None) -> ProviderKind | None:
        """Return what answers: the assistant's provider, else the first that is ready, this computer last."""
        wanted = agent.provider if agent else ""
        found = [
            provider_kind(one.config.kind)
            for one in self._engine.providers()
            if one.config.id == wanted or (not wanted and one.ready)
        ]
        found.sort(key=lambda kind: kind is not None and kind.kind == EMBEDDED)
        return found[0] if found else None
