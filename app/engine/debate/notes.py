"""The running notes of a debate: what participants are sent of the statements
that are no longer among the last ones.

They are a summary beside the debate, written once statements have left the window, up to the end of the last
full round: so they overlap what is sent, and nothing falls between. Killed in between, no notes are found and
they are begun again.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from itertools import islice

from app.core.errors import FailureKind, ProviderError
from app.core.files import with_files
from app.core.message import Author, Message, SummaryNote
from app.core.provider import ModelRequest, one_message
from app.core.session import Debate
from app.engine.debate.perspective import defuse, is_said, known_names, notes_of
from app.engine.history import LEAST_TOKENS, MOST_LEFT, NOTES, tokens_of
from app.engine.live_session import LiveSession
from app.engine.names import label_of
from app.engine.prompts import Prompts
from app.engine.request import WINDOW
from app.engine.turns.context import MeteredModels
from app.engine.turns.turn_tree import ask_for_summary, summary_message
from app.engine.voting import seat_of

_WRITERS = 2
TOO_SMALL = "too_small"
MOST_STATEMENT = 6_000
MOST_WITH_FILES = 50_000
MOST_STATEMENTS = 200_000


def part_to_note(live: LiveSession, round_number: int) -> slice | None:
    """Return the place of the statements that notes are due on before a turn of a round, None where all
    that left are noted.
    """
    said = statements(live.said)
    noted = max((place for place, item in enumerate(said) if live.turns.summaries(item.turn_id)), default=-1)
    left = len(said) - WINDOW
    if left <= noted + 1:
        return None
    full = next((place for place, message in enumerate(said) if message.round >= round_number), len(said))
    return slice(_noted(live, said), max(left, full))


def part_of(live: LiveSession, notes: Message) -> slice:
    """Return the place of what some notes that are put aside stand for, as it would be noted again."""
    said = statements(live.said)
    end = _end_of(notes, said)
    return slice(min(end, _noted(live, said)), end)


def _noted(live: LiveSession, said: Sequence[Message]) -> int:
    """Return how many statements the notes in use stand for."""
    notes = notes_of(live)
    return _end_of(notes, said) if notes is not None else 0


def statements(messages: Sequence[Message]) -> list[Message]:
    """Return every statement that was finished."""
    return [message for message in messages if is_said(message)]


def shortened(lines: list[str]) -> list[str]:
    """Return as many statements as a model is sent at once; the middle is left out, as openings
    and last ones matter most.
    """
    while len(lines) > 1 and sum(map(len, lines)) > MOST_STATEMENTS:
        del lines[len(lines) // 2]
    return lines


def _end_of(notes: Message, said: Sequence[Message]) -> int:
    return next((place for place, message in enumerate(said, 1) if message.turn_id == notes.through), 0)


def notes_request(
    debate: Debate, said: Sequence[Message], part: slice, before: str, writer: str, prompts: Prompts
) -> ModelRequest:
    """Return the request to a "provider/model" for notes on a part of the statements;
    `before` are those before it.

    Each statement has its number from 1, who made it, and the round.
    """
    names, words, lines = known_names(debate), prompts.lines(debate.language, "assistant"), []
    for number, message in [*enumerate(said, 1)][part]:
        most = MOST_WITH_FILES if message.attachments else MOST_STATEMENT
        text = defuse(with_files(message, words), names)[:most]
        lines.append(f"({number}) {label_of(message.author)}, {message.round}: {text}")
    lines = shortened(lines)
    if before:
        lines.insert(0, f"{words['notes_before']}\n{defuse(before, names)}")
    topic, statements = defuse(debate.topic.strip(), names), "\n\n".join(lines)
    text = prompts.text(debate.language, "debate-notes", topic=topic, statements=statements)
    return one_message(*seat_of(writer), text)


async def write_notes(
    live: LiveSession,
    part: slice,
    writers: Mapping[str, str],
    models: MeteredModels,
    prompts: Prompts,
    note: str = SummaryNote.AUTO,
    waits: Callable[[], AbstractContextManager[None]] = nullcontext,
) -> str:
    """Write notes on a part of a debate with the first model that gives some; return why there are none,
    "" if there are.

    `writers` are the names of the models by their "provider/model". Where it has to wait for a place at a
    provider, it does so inside `waits`.
    """
    debate, failure = live.debate_session.debate, TOO_SMALL
    said = statements(live.said)
    covered, notes = said[part], notes_of(live)
    before = notes.content if notes is not None else ""
    replaces = sum(tokens_of(line) for line in (before, *(item.content for item in covered)))
    for writer, name in islice(writers.items(), _WRITERS):
        author = Author(id=NOTES, name=name, kind=NOTES)
        request = notes_request(debate, said, part, before, writer, prompts)
        try:
            content, call = await ask_for_summary(live, models, request, author, waits)
        except ProviderError as error:
            failure = error.kind
            continue
        if not content or tokens_of(content) > max(LEAST_TOKENS, MOST_LEFT * replaces):
            models.note_unsaid(live, author, call)
            failure = FailureKind.UNREADABLE
            continue
        message = summary_message(author, content, through=covered[-1].turn_id, model=writer, note=note)
        message = replace(message, usage=call.usage, round=live.messages[-1].round, replaces=replaces)
        live.finish_answer(message)
        return ""
    return failure
