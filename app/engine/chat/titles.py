"""The title of a chat: the first line of its first message; after its first answer, what a model writes."""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

from app.core.definitions import Agent
from app.core.errors import ProviderError
from app.core.message import Attachments, Message, MessageState, Role
from app.core.provider import one_message
from app.core.session import Status
from app.core.settings import Settings
from app.engine.library.agents import AgentDirectory, AgentModel
from app.engine.live_session import LiveSession
from app.engine.prompts import Prompts
from app.engine.runner import Sessions
from app.engine.turns.context import MeteredModels

MAX_TITLE = 80
# What a title is made from: so many characters of the question, and of its answer.
EXCERPT = 2_000
# Quotation marks and Markdown around a title, and what some models put before it.
_AROUND = "\"'“”‘’«»「」『』*_#`> \t"
_LABEL = re.compile(r"^(title|제목)\s*[:：]\s*", re.IGNORECASE)


def title_of(text: str, attachments: Attachments) -> str:
    """Return the title of a session that begins with a text: its first line."""
    first = next((line.strip() for line in text.splitlines() if line.strip()), "")
    first = first or (attachments[0].name if attachments else "")
    return first if len(first) <= MAX_TITLE else first[: MAX_TITLE - 1].rstrip() + "…"


@dataclass(eq=False, repr=False)
class Titles:
    """Asks the model that answered a chat for its title, or the one that the user chose for titles.

    No provider is asked that neither answered in the chat nor may read any: a private chat stays private.
    """

    _sessions: Sessions
    _directory: AgentDirectory
    _models: MeteredModels
    _prompts: Prompts
    _settings: Callable[[], Settings]
    # Chats whose model was asked since Moot started: it is not asked again after a failure.
    _asked: set[str] = field(default_factory=set, init=False)

    def wanted(self, session_id: str) -> bool:
        """Say whether a chat waits for its title: it has an answer, and its title is still the first line."""
        live = self._sessions.live(session_id)
        return live is not None and session_id not in self._asked and self._source(live) is not None

    async def write(self, session_id: str) -> None:
        """Ask for a chat's title and set it, unless the user has renamed the chat meanwhile.

        Nothing changes where the model cannot be asked or gives no title.
        """
        live = self._sessions.live(session_id)
        source = self._source(live) if live else None
        if live is None or source is None or session_id in self._asked:
            return
        self._asked.add(session_id)
        question, answer, model = source
        asked, said = question.content[:EXCERPT], answer.content[:EXCERPT]
        text = self._prompts.text(live.session.language, "title", question=asked, answer=said)
        request = one_message(model.provider, model.model, text)
        used = partial(self._sessions.note_unsaid, live)
        try:
            title = title_in(await self._models.ask(request, session_id, answer.author, used=used))
        except ProviderError:
            return
        if title and self._sessions.live(session_id) is live and self._source(live) is not None:
            live.change(title=title)

    def _source(self, live: LiveSession) -> tuple[Message, Message, AgentModel] | None:
        """Return the question and the answer to make a title from, and the model to ask."""
        session, chat = live.session, live.session.chat
        # An imported chat keeps the title that it came with: the file may name anybody as who answered.
        stays = live.read_only or session.source or session.workflow is not None
        if chat is None or stays or session.status != Status.IDLE or not self._settings().titles:
            return None
        turns = [live.turns.said(turn_id) for turn_id in live.turns.back_from(chat.head)][::-1]
        question = turns[0][0] if turns else None
        if question is None or question.role != Role.USER:
            return None
        if session.title != title_of(question.content, question.attachments):
            return None
        answers = [message for turn in turns for message in turn if _is_answer(message)]
        if not answers:
            return None
        # The newest answer's provider has read this conversation.
        provider, _, name = answers[-1].model.partition("/")
        model = self._directory.model_of(Agent(id="", name="", provider=provider, model=name))
        if model.guided or not provider:
            return None
        helper = self._directory.helper_for(live, model)
        # A whole turn of an external agent is too much for a title.
        return None if helper.external else (question, answers[0], helper)


def title_in(answer: str) -> str:
    """Return the title that an answer gives: its first line, without marks around it; "" for none."""
    line = next((item for item in answer.splitlines() if item.strip(_AROUND)), "")
    line = _LABEL.sub("", line.strip(_AROUND)).strip(_AROUND)
    line = " ".join(line.split()).removesuffix(".")
    return line if len(line) <= MAX_TITLE else ""


def _is_answer(message: Message) -> bool:
    done = (message.role, message.state) == (Role.ASSISTANT, MessageState.DONE)
    return done and bool(message.content.strip()) and not message.tool_calls
