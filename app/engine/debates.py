"""The commands of debates: who may take part, set up, start, step in; `engine.debates` for the faces."""

from collections.abc import Callable

from app.core.catalog import TRANSCRIPT
from app.core.errors import BadInput
from app.core.events import utc_now
from app.core.ids import new_id
from app.core.message import USER, Message
from app.core.provider import ModelRequest, ProviderStatus
from app.core.session import DebateSession, Participant
from app.core.store import Documents, SessionStore
from app.core.text import clean_text
from app.engine.chat_run import USER_AUTHOR
from app.engine.debate_run import DebateTerms
from app.engine.director import Speak, World
from app.engine.live_session import LiveSession
from app.engine.perspective import chat_request, transcript_request
from app.engine.prompts import Prompts
from app.engine.provider_list import DISABLED, UNKNOWN_KIND, provider_of
from app.engine.roles import form_of, system_prompt
from app.engine.sessions import Sessions, check_open
from app.engine.setup import DebateSetup, Seat, draft_of, seats_of, session_of
from app.engine.slots import Slots

MAX_SAY = 100_000


class Debates:
    """What a face may do with debates; everything raises BadInput, NotFound or StorageError in words."""

    def __init__(
        self,
        documents: Documents,
        sessions: Sessions,
        store: SessionStore,
        prompts: Prompts,
        providers: Callable[[], list[ProviderStatus]],
    ) -> None:
        self._documents = documents
        self._sessions = sessions
        self._store = store
        self._prompts = prompts
        self._providers = providers

    def seats(self) -> list[Seat]:
        """Return who may take part."""
        return seats_of(self._documents.agents(), self._providers())

    def check(self, setup: DebateSetup) -> None:
        """Raise BadInput when a debate cannot be started so."""
        session_of(setup, self._providers())

    def system_prompt(self, setup: DebateSetup, participant: Participant) -> str:
        """Return what would tell a participant who they are; the set-up need not be complete."""
        debate = draft_of(setup, self._providers())
        speaker = next((one for one in debate.participants if one.id == participant.id), participant)
        return system_prompt(debate, speaker, self._prompts)

    async def start(self, setup: DebateSetup) -> str:
        """Start a debate and return its session's id. Raises BadInput, StorageError; then nothing started."""
        live = await self._sessions.begin(session_of(setup, self._providers()))
        self._sessions.run(live)
        return live.id

    async def say(self, session_id: str, text: str) -> None:
        """Step into a debate; the next speaker sees it. Raises BadInput where it has ended or is empty."""
        live = await self._sessions.open(session_id)
        check_open(live)
        debate = live.debate_session.debate
        text = clean_text(text).strip()
        if not text:
            raise BadInput("text_empty")
        if len(text) > MAX_SAY:
            raise BadInput("text_too_long", characters=len(text), most=MAX_SAY)
        live.finish_message(
            Message(
                id=new_id(),
                turn_id=new_id(),
                role=USER,
                author=USER_AUTHOR,
                content=text,
                round=min(debate.round, debate.rounds),
                created_at=utc_now(),
            )
        )
        await self._store.flush(session_id)

    def terms(self, slots: Slots) -> DebateTerms:
        """Return what a debate that runs asks the world."""
        return DebateTerms(self._world, slots, self._request)

    def _world(self, session: DebateSession) -> World:
        """Say whose provider is gone or switched off."""
        usable = {one.config.id for one in self._providers() if one.problem not in (DISABLED, UNKNOWN_KIND)}
        return World(
            absent=frozenset(one.id for one in session.debate.participants if one.provider not in usable)
        )

    def _request(self, live: LiveSession, spoken: Speak, window: int) -> ModelRequest:
        config = provider_of(self._documents, spoken.participant.provider)
        form = form_of(config.kind if config else "")
        make = transcript_request if form == TRANSCRIPT else chat_request
        debate = live.debate_session.debate
        return make(debate, live.messages, spoken.participant, spoken.round, self._prompts, window=window)
