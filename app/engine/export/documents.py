"""A session as a document for people: Markdown or one HTML file, or JSON for programs; used by the engine."""

import asyncio
import json
from collections.abc import Callable, Iterator
from dataclasses import asdict, replace
from html import escape
from time import perf_counter

from app.core.errors import BadInput
from app.core.message import Attachment, Message
from app.core.session import ChatSession, Debate
from app.core.verdict import Point
from app.engine.chat.export import ChatDocument
from app.engine.debate.roles import role_name
from app.engine.export.event_lines import message_object, session_object
from app.engine.export.parts import (
    PAGE_END,
    as_markdown,
    escape_markdown,
    files_as_html,
    files_as_markdown,
    marks,
    moment,
    named,
    page_head,
)
from app.engine.live_session import LiveSession
from app.engine.prompts import Prompts

FORMATS: tuple[str, ...] = ("md", "html", "json")
MOOT_SESSION = "moot-session"
TURN_S = 0.004


def export(
    live: LiveSession, file_format: str, prompts: Prompts, as_html: Callable[[str], str] = escape
) -> str:
    """Return a session in one of FORMATS; `as_html` sets Markdown. Raises BadInput for another format."""
    return "".join(_pieces(live, file_format, prompts, as_html))


async def export_in_turns(
    live: LiveSession, file_format: str, prompts: Prompts, as_html: Callable[[str], str] = escape
) -> str:
    """Return what `export` does, letting others have a turn every few milliseconds; can be cancelled there."""
    pieces = []
    until = perf_counter() + TURN_S
    for piece in _pieces(live, file_format, prompts, as_html):
        pieces.append(piece)
        if perf_counter() >= until:
            await asyncio.sleep(0)
            until = perf_counter() + TURN_S
    return "".join(pieces)


def _pieces(
    live: LiveSession, file_format: str, prompts: Prompts, as_html: Callable[[str], str]
) -> Iterator[str]:
    """Yield a document piece by piece, none much longer than a message."""
    if file_format not in FORMATS:
        raise BadInput("unknown_format", format=file_format, formats=", ".join(FORMATS))
    if file_format == "json":
        return _json(live)
    is_chat = isinstance(live.session, ChatSession)
    document = ChatDocument(live, prompts) if is_chat else _Document(live, prompts)
    return document.markdown() if file_format == "md" else document.html(as_html)


def _json(live: LiveSession) -> Iterator[str]:
    """Yield what `moot show --json` says, and beside it the session whole, so that it can come back."""
    session = live.session
    if isinstance(session, ChatSession):
        # What was allowed here is allowed here only.
        session = replace(session, chat=replace(session.chat, always=()))
    # As they are now: others have a turn before the last of them is written.
    messages = list(live.whole_messages())
    frame = {"format": MOOT_SESSION, **session_object(live), "session": asdict(session)}
    text = json.dumps(frame, ensure_ascii=False, indent=2)
    # No text of a session holds the end of a line: in JSON it is written otherwise.
    before, place, after = text.partition('\n  "messages": [')
    yield before + place
    for number, message in enumerate(messages):
        written = json.dumps(message_object(message), ensure_ascii=False, indent=2)
        yield ("," if number else "") + f"\n{written}".replace("\n", "\n    ")
    yield ("\n  " if messages else "") + after + "\n"


class _Document:
    """A debate with the words that stand around its messages, in the debate's language."""

    def __init__(self, live: LiveSession, prompts: Prompts) -> None:
        self._session = live.debate_session
        self._debate: Debate = self._session.debate
        self._messages = [one for one in live.whole_messages() if one.content or one.error or one.note]
        self._prompts = prompts
        self._lines = prompts.lines(self._debate.language, "export")
        self._roles = {one.id: one.role for one in self._debate.participants}

    def markdown(self) -> Iterator[str]:
        lines = [f"# {escape_markdown(self._session.title)}", ""]
        lines += [f"- {label}: {escape_markdown(value)}" for label, value in self._facts()]
        for heading, sentences in self._outcome():
            lines += ["", f"## {escape_markdown(heading)}", ""]
            lines += [f"- {escape_markdown(sentence)}" for sentence in sentences]
        yield "\n".join(lines).rstrip()
        for message, new_round in self._in_rounds():
            lines = ["", f"## {self._round(message.round)}"] if new_round else []
            lines += ["", f"**{escape_markdown(self._heading(message))}**", ""]
            lines += [as_markdown(message)] if message.content else []
            lines += [f"*{escape_markdown(mark)}*" for mark in marks(message, self._lines)]
            yield "\n" + "\n".join(lines).rstrip()
        if files := self._files():
            lines = ["", f"## {escape_markdown(self._lines['context'])}", *files_as_markdown(files)]
            yield "\n" + "\n".join(lines)
        yield "\n"

    def html(self, as_html: Callable[[str], str]) -> Iterator[str]:
        yield page_head(self._session.title, self._debate.language, self._facts())
        for heading, sentences in self._outcome():
            listed = "".join(f"<li>{escape(sentence)}</li>" for sentence in sentences)
            yield f"<h2>{escape(heading)}</h2><ul>{listed}</ul>"
        for message, new_round in self._in_rounds():
            if new_round:
                yield f"<h2>{escape(self._round(message.round))}</h2>"
            kind = "user" if message.author.kind == "user" else message.state
            notes = "".join(f'<div class="meta">{escape(mark)}</div>' for mark in marks(message, self._lines))
            yield (
                f'<article class="{escape(kind)}"><strong>{escape(self._heading(message))}</strong>'
                f"{as_html(as_markdown(message))}{notes}</article>"
            )
        if files := self._files():
            yield f"<h2>{escape(self._lines['context'])}</h2>{files_as_html(files)}"
        yield PAGE_END

    def _files(self) -> list[Attachment]:
        """Return what the whole table read: it belongs to what was asked."""
        return [Attachment(name=file.name, text=file.text) for file in self._debate.context]

    def _facts(self) -> list[tuple[str, str]]:
        debate = self._debate
        people = ", ".join(
            f"{one.name} ({self._role(one.role) + ', ' if one.role else ''}{one.provider}/{one.model})"
            for one in debate.participants
        )
        facts = [
            (self._lines["topic"], " ".join(debate.topic.split())),
            (self._lines["mode"], named(self._lines, "mode", debate.mode)),
            (self._lines["participants"], people),
            (self._lines["rounds"], str(debate.rounds)),
            (self._lines["date"], moment(self._session.created_at)),
            (self._lines["status"], named(self._lines, "status", self._session.status)),
        ]
        if debate.context:
            facts.append((self._lines["context"], ", ".join(file.name for file in debate.context)))
        return facts

    def _outcome(self) -> list[tuple[str, list[str]]]:
        """Return the verdict and the ballots, each part with its heading and its sentences."""
        lines, verdict = self._lines, self._debate.verdict
        found: list[tuple[str, list[str]]] = []
        if verdict is not None:
            judge = lines["verdict.by"].format(name=verdict.judge) if verdict.judge else lines["last_words"]
            parts = (
                (judge if verdict.judge else "", verdict.answer),
                (lines["agreed"], verdict.agreed),
                (lines["open"] if verdict.judge else judge, verdict.open),
            )
            found = [(heading, [self._point(one) for one in points]) for heading, points in parts if points]
        rounds = sorted({ballot.round for ballot in self._debate.ballots})
        stood = []
        for participant in self._debate.participants if rounds else ():
            votes = {
                one.round: one.stance for one in self._debate.ballots if one.participant == participant.id
            }
            texts = ("–" if votes.get(one) is None else f"{votes[one]:+d}" for one in rounds)
            stood.append(f"{participant.name}: " + " → ".join(texts))
        return [*found, (lines["stood"], stood)] if stood else found

    def _point(self, point: Point) -> str:
        """Return a sentence with what it cites behind it."""
        by_id = {one.id: one for one in self._messages}
        cited = [by_id[one] for one in point.cites if one in by_id]
        return " ".join((point.text, *(f"[{self._heading(one)}, {one.round}]" for one in cited)))

    def _in_rounds(self) -> list[tuple[Message, bool]]:
        rounds = [0, *(message.round for message in self._messages)]
        return [
            (message, message.round > before) for message, before in zip(self._messages, rounds, strict=False)
        ]

    def _round(self, number: int) -> str:
        return self._lines["round"].format(round=number, rounds=self._debate.rounds)

    def _heading(self, message: Message) -> str:
        if message.author.kind == "user":
            return self._lines["user"]
        role = self._roles.get(message.author.id, "")
        return message.author.name + (f" ({self._role(role)})" if role else "")

    def _role(self, role: str) -> str:
        return role_name(role, self._debate.language, self._prompts)
