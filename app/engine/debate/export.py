"""A debate as a document for people: Markdown or one HTML page."""

from collections.abc import Callable, Iterator
from html import escape

from app.core.message import SPOKEN, Attachment, Message, Role
from app.core.session import Debate, Point
from app.engine.debate.modes import role_name
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


class DebateDocument:
    """A debate as a document: its messages, and headings and facts in the debate's language."""

    def __init__(self, live: LiveSession, prompts: Prompts) -> None:
        self._session = live.debate_session
        self._debate: Debate = self._session.debate
        messages = live.whole_messages()
        self._messages = [
            one
            for one in messages
            if one.role != Role.SUMMARY
            and one.part in SPOKEN
            and (one.content or one.error or one.note or one.attachments)
        ]
        self._prompts = prompts
        self._lines = prompts.lines(self._debate.language, "export")
        self._roles = {one.id: one.role for one in self._debate.participants}

    def markdown(self) -> Iterator[str]:
        """Yield it as Markdown, message by message."""
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
            lines += files_as_markdown(message.attachments)[0 if message.content else 1 :]
            lines += [f"*{escape_markdown(mark)}*" for mark in marks(message, self._lines)]
            yield "\n" + "\n".join(lines).rstrip()
        if files := self._files():
            lines = ["", f"## {escape_markdown(self._lines['context'])}", *files_as_markdown(files)]
            yield "\n" + "\n".join(lines)
        yield "\n"

    def html(self, as_html: Callable[[str], str]) -> Iterator[str]:
        """Yield it as one page that loads nothing, message by message; `as_html` renders Markdown."""
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
                f"{as_html(as_markdown(message))}{files_as_html(message.attachments)}{notes}</article>"
            )
        if files := self._files():
            yield f"<h2>{escape(self._lines['context'])}</h2>{files_as_html(files)}"
        yield PAGE_END

    def _files(self) -> list[Attachment]:
        """Return the context files, which belong to the question."""
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
