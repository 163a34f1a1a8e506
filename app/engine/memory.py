"""What assistants remember (`core/memory`): the commands, and which notes a turn is told.

Notes are told in the user's own chats and groups alone: never in debates, councils and workflows, nor in a
session in which a program has spoken over MCP.
"""

import asyncio
import re
from collections.abc import Awaitable, Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate

from app.core.definitions import Agent
from app.core.errors import BadInput, NotFound
from app.core.events import EventBus, MemoryChanged
from app.core.ids import new_id, utc_now
from app.core.json_values import object_in
from app.core.memory import MAX_NOTE, MOST_NOTES, MOST_PROPOSALS, MOST_TOLD, Note, Origin, SaidToProposal
from app.core.message import Attachments, Message, MessageState, Role
from app.core.store import Documents, Secrets, SessionStore
from app.core.texts import MARK, visible
from app.core.tool import READ_FILE_PART, ToolError
from app.engine.history import tokens_of
from app.engine.live_session import LiveSession

Notes = tuple[Note, ...]
# Messages with proposed notes, each with its session.
Proposals = Sequence[tuple[LiveSession, Message]]

# What reads pages and files, with the argument that says which.
_READS = {"web_fetch": "url", "read_file": "path", READ_FILE_PART: "name"}
_SEARCH = "web_search"
# The blanks between pieces that have more than small letters, as the pieces of a key have.
_BETWEEN = re.compile(r"((?<!\S)[a-z]*[!-`{-~][!-~]*) +(?=[a-z]*[!-`{-~])")
# A private key, or what is long and has digits among its letters, but in an address or a path.
_LONG_KEY = re.compile(r"PRIVATE ?KEY-|(?<![\w/.~-])(?=[A-Za-z0-9+/]*[A-Za-z]\d+[A-Za-z])[A-Za-z0-9+/]{32,}")


def remembers(agent: Agent, live: LiveSession) -> bool:
    """Say whether an assistant is told its notes in a session, and may propose some."""
    session, chat = live.session, live.session.chat
    if chat is None or chat.forgetful or session.workflow is not None or session.asked_by:
        return False
    return agent.remembers and not any(message.author.program for message in live.messages)


def origin_of(live: LiveSession, own: Collection[str]) -> tuple[str, str]:
    """Return where what is said in a session now may be from: what was read from outside last, and the name
    of that.

    This is Moot's word and not the model's. `own` are the keys of Moot's tools; any other is from outside.
    """
    calls = {(message.turn_id, call.id): call for message in live.messages for call in message.tool_calls}
    for message in reversed(live.messages):
        call = calls.get((message.turn_id, message.tool_call_id or ""))
        if message.by_user and message.attachments:
            return Origin.FILE, _names(message.attachments)
        if message.role != Role.TOOL or not message.ended or call is None:
            continue
        if call.name not in own:
            # A server's word also where it has failed.
            return Origin.TOOL, call.name.partition("__")[2] or call.name
        if message.state != MessageState.DONE:
            continue
        if call.name in _READS:
            what = str((object_in(call.arguments) or {}).get(_READS[call.name], ""))[:MAX_NOTE]
            return Origin.PAGE if call.name == "web_fetch" else Origin.FILE, what
        if call.name == _SEARCH:
            return Origin.TOOL, call.name
    context = live.session.chat.context if live.session.chat is not None else ()
    # A conversation that was imported is somebody else's file.
    source = _names(context) or (live.session.title if live.session.source else "")
    return (Origin.FILE, source) if source else (Origin.CHAT, "")


def _names(files: Attachments) -> str:
    return ", ".join(file.name for file in files)[:MAX_NOTE]


def told(notes: Iterable[Note], *, local: bool) -> Notes:
    """Return the notes that a model is told, the oldest first: the newest that have room, and only `local`
    models all of them.
    """
    newest = [note for note in notes if local or not note.local][::-1]
    sizes = accumulate(map(_tokens, newest))
    return tuple(note for note, size in zip(newest, sizes, strict=True) if size <= MOST_TOLD)[::-1]


def _tokens(note: Note) -> int:
    source = f" (from the {note.origin} {note.source})" if note.source else ""
    return tokens_of(f"- {note.text}{source}\n")


def _line(text: str) -> str:
    """Return a text on one line, without what is not seen."""
    return " ".join(MARK.sub("", visible(" ".join(text.split()))).split())


@dataclass(eq=False, repr=False)
class Memory:
    """The notes, and what the user does with them; everything raises BadInput, NotFound or StorageError."""

    _documents: Documents
    _bus: EventBus
    _secrets: Secrets
    _store: SessionStore
    # Opens a session to change it.
    _open: Callable[[str], Awaitable[LiveSession]]
    # Of two answers to one proposal the first counts.
    _answers: asyncio.Lock = field(default_factory=asyncio.Lock, init=False)

    def all(self) -> Notes:
        """Return all notes, the newest first."""
        return self._documents.notes()[::-1]

    def of(self, *, agent: str = "", folder: str = "") -> Notes:
        """Return the notes of an assistant or a folder, the newest first."""
        return tuple(note for note in self.all() if (note.agent, note.folder) == (agent, folder))

    def tokens(self, notes: Notes, *, local: bool) -> int:
        """Return how many tokens of an assistant's or a folder's notes a model is told."""
        return sum(map(_tokens, told(reversed(notes), local=local)))

    async def add(self, note: Note) -> Note:
        """Keep a note; one with an id that is there already takes its place."""
        kept = replace(note, id=note.id or new_id(), text=self.checked(note.text), at=note.at or utc_now())

        def change(notes: Notes) -> Notes:
            others = [other for other in notes if other.id != kept.id]
            if len(others) >= MOST_NOTES:
                raise BadInput("memory_full", most=MOST_NOTES)
            # One that is brought back stands where it was.
            place = sum(other.at <= kept.at for other in others)
            return (*others[:place], kept, *others[place:])

        await self._change(change)
        return kept

    async def edit(self, note_id: str, text: str, agent: str = "") -> None:
        """Change the sentence of a note; with "" for its id, keep a new one of an assistant."""
        note = self.find(note_id) if note_id else Note(id="", text="", agent=agent)
        await self.add(replace(note, text=text))

    async def remove(self, note_id: str) -> Callable[[], Awaitable[Note]]:
        """Delete a note; return what brings it back."""
        note = self.find(note_id)
        await self._change(lambda notes: tuple(other for other in notes if other.id != note_id))
        return lambda: self.add(note)

    def find(self, note_id: str) -> Note:
        """Return a note by its id."""
        found = next((note for note in self.all() if note.id == note_id), None)
        if found is None:
            raise NotFound("note_not_found", note=note_id)
        return found

    def checked(self, text: str) -> str:
        """Return the text of a note on one line. Raises BadInput for one that may not be kept."""
        text = _line(text)
        if not text:
            raise BadInput("text_empty")
        if len(text) > MAX_NOTE:
            raise BadInput("text_too_long", characters=len(text), most=MAX_NOTE)
        joined, redact = _BETWEEN.sub(r"\1", text), self._secrets.redact
        if (redact(text), redact(joined)) != (text, joined) or _LONG_KEY.search(joined):
            raise BadInput("note_has_key")
        return text

    # Proposals

    def proposed(self, proposal: Note, live: LiveSession, turn_id: str) -> Note:
        """Return a note that an assistant proposes in a turn, as it may be shown. Raises ToolError."""
        try:
            text = self.checked(proposal.text)
        except BadInput as error:
            raise ToolError("remember: a note has at most 500 characters, and never a key.") from error
        said = live.turns.said_below(live.turns.root(turn_id))
        if sum(message.proposal is not None for message in said) >= MOST_PROPOSALS:
            raise ToolError("remember: three things in an answer are enough. Propose no more now.")
        waiting = (message.proposal for _, message in self.open_in(live) if message.proposal)
        known = (*self.all(), *waiting)
        if (text, proposal.agent, proposal.folder) in (
            (note.text, note.agent, note.folder) for note in known
        ):
            raise ToolError("remember: this is remembered or proposed already.")
        return replace(proposal, text=text, source=self._secrets.redact(_line(proposal.source)))

    def open_in(self, live: LiveSession) -> Proposals:
        """Return the proposals of a session that wait, the oldest first."""
        known = (live.turns.messages.get(message_id) for message_id in live.session.proposed)
        return [(live, each) for each in known if each and each.proposal and not each.proposal.answer]

    async def open(self) -> Proposals:
        """Return all proposals that wait for the user, those of the newest session first."""
        waiting = [each.id for each in self._store.summaries() if each.proposed and not each.read_only]
        return [each for session_id in waiting for each in self.open_in(await self._open(session_id))]

    async def keep(self, session_id: str, message_id: str, text: str, local: bool) -> None:
        """Keep what was proposed, as the user has changed it."""
        async with self._answers:
            live, proposal = await self._waiting(session_id, message_id)
            # With the message's id: where this was cut off before the answer was saved, the same again adds
            # nothing.
            kept = replace(proposal, id=message_id, text=text, local=local, title=live.session.title)
            said = replace(proposal, text=(await self.add(kept)).text)
            await self._answer(live, message_id, said, SaidToProposal.KEPT)

    async def refuse(self, session_id: str, message_id: str) -> None:
        """Keep nothing of what was proposed."""
        async with self._answers:
            live, proposal = await self._waiting(session_id, message_id)
            await self._answer(live, message_id, proposal, SaidToProposal.REFUSED)

    async def _waiting(self, session_id: str, message_id: str) -> tuple[LiveSession, Note]:
        live = await self._open(session_id)
        message = live.turns.messages.get(message_id)
        if message is None or message.proposal is None or message.proposal.answer:
            raise NotFound("note_not_found", note=message_id)
        return live, message.proposal

    async def _answer(self, live: LiveSession, message_id: str, proposal: Note, answer: str) -> None:
        message = replace(live.turns.messages[message_id], proposal=replace(proposal, answer=answer))
        left = tuple(other for other in live.session.proposed if other != message_id)
        chat = replace(live.chat_session.chat, proposed=left)
        # Its place in the list of sessions stays the same.
        live.finish_message(message, chat=chat, updated_at=live.session.updated_at)
        await self._store.flush(live.id)
        self._bus.publish(MemoryChanged(session_id=""))

    async def _change(self, change: Callable[[Notes], Notes]) -> None:
        await self._documents.change_notes(change)
        self._bus.publish(MemoryChanged(session_id=""))
