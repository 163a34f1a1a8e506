"""What the user can do with the summaries of a chat: ask for one, edit it, use it or not, and pin what is to be sent as it
is; `engine.summaries` for the faces.
"""

from dataclasses import dataclass, replace
from enum import StrEnum

from app.core.errors import BadInput, NotFound
from app.core.events import utc_now
from app.core.ids import new_id
from app.core.message import Message, Role, SummaryNote
from app.core.model_facts import FactSource
from app.core.session import Status
from app.core.settings import HistoryLength
from app.core.text import clean_text
from app.engine.chat.commands import found_message
from app.engine.history.summaries import extract, limit_for, turns_to_replace
from app.engine.live_session import LiveSession
from app.engine.requests.attempt import Attempt
from app.engine.requests.leading import next_lead
from app.engine.requests.request import AgentTurn, build_request, history_of, root_turn
from app.engine.sessions import Sessions, check_open
from app.engine.turns.context import Services
from app.engine.turns.summarizing import measured, summary_message


@dataclass(frozen=True, slots=True)
class ContextUse:
    """How many tokens a chat sends now, from how many on it is summarised, and how many its model can read.

    `usd` is what sending them costs, None where the price is not known. `own_window` is what the user has said that
    the `model` of the `provider` can read, 0 if nothing.
    """

    tokens: int
    limit: int
    window: int
    usd: float | None = None
    provider: str = ""
    model: str = ""
    own_window: int = 0


class ChatStart(StrEnum):
    """What of a long imported chat is sent: a summary first, all of it, or its last part."""

    SUMMARY = "summary"
    ALL = "all"
    LAST_PART = "last_part"


class Summaries:
    """The commands of summaries; all raise BadInput, NotFound or StorageError in words."""

    def __init__(self, sessions: Sessions, services: Services) -> None:
        self._sessions = sessions
        self._services = services

    def use_of(self, session_id: str) -> ContextUse | None:
        """Return how much of its model's window a chat uses, or a group's orchestrator; None where that is not known."""
        live, services = self._sessions.live(session_id), self._services
        turn = self._next_turn(live) if live else None
        if live is None or turn is None:
            return None
        directory, model = services.directory, turn.agent_model
        request = build_request(
            turn,
            live,
            directory.functions(turn.agent, turn.stack, turn.mode, turn.given),
            Attempt(),
            services.prompts,
            live.chat_session.chat.language,
            about_user=directory.about_user(turn.agent),
        )
        facts = services.models.known_facts(model.provider, model.model)
        tokens = services.count.of(session_id, request)
        usd = facts.prices.read * tokens if facts.prices else None
        limit = limit_for(facts, live.chat_session.chat, directory.settings())
        own = facts.window if facts.source == FactSource.USER else 0
        return ContextUse(tokens, limit, facts.window, usd, model.provider, model.model, own)

    def writer_of(self, session_id: str) -> str:
        """Return the name of the model that writes the summaries of a session, "" where there is none."""
        live = self._sessions.live(session_id)
        turn = self._next_turn(live) if live is not None else None
        if live is None or turn is None:
            return ""
        imported = bool(live.session.source)
        directory = self._services.directory
        return directory.helper_for(live.messages, turn.agent_model, imported=imported).model

    def to_choose(self, session_id: str) -> ContextUse | None:
        """Return how long an imported chat is whose user must choose what of it is sent; None where nothing is to choose."""
        live = self._sessions.live(session_id)
        if live is None or not live.session.source or live.session.chat is None or live.session.chat.history:
            return None
        use = self.use_of(session_id)
        return use if use is not None and use.tokens > use.limit else None

    async def choose(self, session_id: str, choice: str) -> None:
        """Choose what of a long imported chat is sent from now on: a ChatStart."""
        live = await self._sessions.open_conversation(session_id)
        length = self._services.directory.settings().history
        if choice == ChatStart.LAST_PART:
            self._extract(live)
        elif choice == ChatStart.ALL:
            length = HistoryLength.ALL
        live.change(chat=replace(live.chat_session.chat, history=length))

    def _extract(self, live: LiveSession) -> None:
        """Put an extract in place of all but the last part of a chat."""
        services, chat, turn = self._services, live.chat_session.chat, self._next_turn(live)
        if turn is None:
            return
        words = services.prompts.lines(chat.language, "assistant")
        turns = measured(turn, live, history_of(turn, live, words), services.count)
        facts = services.models.known_facts(turn.agent_model.provider, turn.agent_model.model)
        place = turns_to_replace(turns, limit_for(facts, chat, services.directory.settings()))
        covered = turns[:place]
        text = extract([message for one in covered for message in one.messages], "", words["quoted"])
        if text:
            replaces = sum(one.tokens for one in covered)
            through = covered[-1].turn_id
            note = SummaryNote.EXTRACT
            live.finish_message(
                summary_message(turn.author, text, through=through, note=note, replaces=replaces)
            )

    def _next_turn(self, live: LiveSession) -> AgentTurn | None:
        """Return the turn that would be next in a chat or group; None in workflows, and where nobody can answer."""
        session, directory = live.session, self._services.directory
        chat = session.chat
        if session.group is not None:
            turn = next_lead(live, directory, self._services.prompts)
            return None if turn.agent_model.guided else turn
        agent = directory.agent(chat.assistant_id) if chat else None
        if chat is None or agent is None or session.workflow:
            return None
        turn = root_turn(agent, live, directory)
        return None if turn.agent_model.guided else turn

    async def make(self, session_id: str) -> None:
        """Summarise a chat or a group's work now, whatever its length."""
        live = await self._sessions.open_conversation(session_id)
        if live.session.status != Status.IDLE:
            raise BadInput("summary_not_now", title=live.session.title)
        self._sessions.check(live.session)
        live.change(chat=replace(live.chat_session.chat, summarise=True, budget_from=new_id()))
        self._sessions.run(live)

    async def redo(self, session_id: str, message_id: str) -> None:
        """Put a summary aside and make another one."""
        await self.use(session_id, message_id, used=False)
        await self.make(session_id)

    async def edit(self, session_id: str, message_id: str, text: str) -> None:
        """Use another text in place of a summary, which stays as an earlier version."""
        live = await self._open(session_id)
        before = self._summary(live, message_id)
        text = clean_text(text).strip()
        if not text:
            raise BadInput("summary_empty")
        edited = replace(
            before, id=new_id(), content=text, note=SummaryNote.EDITED, usage=None, created_at=utc_now()
        )
        unused = {*live.session.unused_summaries, before.id}
        live.finish_message(edited, **live.session.without_summaries(unused))

    async def use(self, session_id: str, message_id: str, *, used: bool) -> None:
        """Use a summary in place of the other ones of the same turns, or do not use it."""
        live = await self._open(session_id)
        summary = self._summary(live, message_id)
        unused = {*live.session.unused_summaries, summary.id}
        if used:
            others = live.turns.summaries(summary.through)
            unused |= {one.id for one in others if _same_part(one, summary)}
            unused.discard(summary.id)
        live.change(**live.session.without_summaries(unused))

    async def pin(self, session_id: str, message_id: str, *, pinned: bool) -> None:
        """Send a message word for word from now on, also once a summary stands for it; or no longer."""
        live = await self._open(session_id)
        message = found_message(live, message_id)
        if message.role not in (Role.USER, Role.ASSISTANT) or message.parent_turn_id or not message.ended:
            raise NotFound("message_not_found", message=message_id)
        live.change(**live.session.with_pin(message_id, pinned=pinned))

    async def _open(self, session_id: str) -> LiveSession:
        """Open a session that has summaries or pins to change: a chat, a group, or a debate."""
        live = await self._sessions.open(session_id)
        if live.session.debate is None:
            return await self._sessions.open_conversation(session_id)
        check_open(live)
        return live

    def _summary(self, live: LiveSession, message_id: str) -> Message:
        message = found_message(live, message_id)
        if message.role != Role.SUMMARY or message.note == SummaryNote.PRUNED:
            raise NotFound("message_not_found", message=message_id)
        return message


def _same_part(one: Message, other: Message) -> bool:
    return (one.through_message, one.agent_id) == (other.through_message, other.agent_id)
