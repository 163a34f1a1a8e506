"""What assistants remember (`core/memory`): the commands, and which notes a turn is told.

Notes are told in the user's own chats and groups alone: never in debates, councils and workflows, nor in a
session in which a program has spoken over MCP.
"""

from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, replace

from app.core.definitions import Agent
from app.core.errors import BadInput, NotFound
from app.core.events import EventBus, MemoryChanged
from app.core.ids import new_id, utc_now
from app.core.memory import MAX_NOTE, MOST_NOTES, MOST_TOLD, Note
from app.core.store import Documents, Secrets
from app.core.texts import clean_text
from app.engine.history import tokens_of
from app.engine.live_session import LiveSession

Notes = tuple[Note, ...]


def remembers(agent: Agent, live: LiveSession) -> bool:
    """Say whether an assistant is told its notes in a session, and may propose some."""
    session = live.session
    if session.chat is None or session.workflow is not None or session.asked_by:
        return False
    by_program = any(message.author.program for message in live.messages)
    return agent.remembers and not session.chat.forgetful and not by_program


def told(notes: Iterable[Note], *, local: bool) -> Notes:
    """Return the notes that a model is told, the oldest first: the newest that have room, and only `local`
    models all of them.
    """
    left, found = MOST_TOLD, list[Note]()
    for note in reversed([note for note in notes if local or not note.local]):
        left -= tokens_of(f"- {note.text}\n")
        if left < 0:
            break
        found.insert(0, note)
    return tuple(found)


@dataclass(eq=False, repr=False)
class Memory:
    """The notes, and what the user does with them; everything raises BadInput, NotFound or StorageError."""

    _documents: Documents
    _bus: EventBus
    _secrets: Secrets

    def all(self) -> Notes:
        """Return all notes, the newest first."""
        return self._documents.notes()[::-1]

    def of(self, *, agent: str = "", folder: str = "") -> Notes:
        """Return the notes of an assistant or a folder, the newest first."""
        return tuple(note for note in self.all() if (note.agent, note.folder) == (agent, folder))

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

    async def edit(self, note_id: str, text: str) -> None:
        """Change the sentence of a note."""
        await self.add(replace(self.find(note_id), text=text))

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
        text = " ".join(clean_text(text).split())
        if not text:
            raise BadInput("text_empty")
        if len(text) > MAX_NOTE:
            raise BadInput("text_too_long", characters=len(text), most=MAX_NOTE)
        if self._secrets.redact(text) != text:
            raise BadInput("note_has_key")
        return text

    async def _change(self, change: Callable[[Notes], Notes]) -> None:
        await self._documents.change_notes(change)
        self._bus.publish(MemoryChanged(session_id=""))
