"""A debate as a document for people: Markdown or one HTML page."""

from collections.abc import Callable, Iterator, Sequence
from html import escape

from app.core.catalog import EMBEDDED
from app.core.message import SPOKEN, Attachment, Message, Role
from app.core.session import Debate
from app.core.verdict import AGAINST, FOR, Point, Verdict
from app.engine.council.argdown import argdown
from app.engine.council.words import verdict_parts
from app.engine.debate.minority import minority_points
from app.engine.debate.modes import role_name
from app.engine.debate.verdict import readings_points, stances_of
from app.engine.export.parts import (
    PAGE_END,
    USER,
    article,
    as_markdown,
    colour_of,
    escape_markdown,
    files_as_html,
    files_as_markdown,
    marks,
    moment,
    named,
    page_head,
    said_by,
)
from app.engine.live_session import LiveSession
from app.engine.prompts import Prompts

Cited = tuple[str, list[Message]]
"""A sentence and the messages it cites."""


def _y(stance: float) -> float:
    """Return the place of a stance in the chart."""
    return 100 - stance * 42


def _signed(stance: int | None) -> str:
    """Return a stance with its sign, 0 without one; a dash for none."""
    if stance is None:
        return "–"
    return f"{stance:+d}".replace("-", "\N{MINUS SIGN}") if stance else "0"


class DebateDocument:
    """A debate as a document: its messages, and headings and facts in the debate's language."""

    def __init__(self, live: LiveSession, prompts: Prompts) -> None:
        self._session = live.debate_session
        self._debate: Debate = self._session.debate
        messages = self._whole = list(live.whole_messages())
        self._messages = [
            one
            for one in messages
            if one.role != Role.SUMMARY
            and not one.is_interim
            and one.part in SPOKEN
            and (one.content or one.error or one.note or one.attachments)
        ]
        council = self._debate.council
        self._rounds = council.rounds if council is not None else self._debate.rounds
        self._prompts = prompts
        self._lines = prompts.lines(self._debate.language, "export")
        self._roles = {one.id: one.role for one in self._debate.participants}
        self._colours = {one.id: colour_of(place) for place, one in enumerate(self._debate.participants)}

    def markdown(self) -> Iterator[str]:
        """Yield it as Markdown, message by message."""
        lines = [f"# {escape_markdown(self._session.title)}", ""]
        lines += [f"- {label}: {escape_markdown(value)}" for label, value in self._facts()]
        for heading, sentences in self._outcome():
            lines += ["", f"## {escape_markdown(heading)}", ""]
            lines += [f"- {escape_markdown(self._cited(*one))}" for one in sentences]
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
            listed = "".join(
                f"<li>{escape(text)}{''.join(map(self._link, cited))}</li>" for text, cited in sentences
            )
            yield f"<h2>{escape(heading)}</h2><ul>{listed}</ul>"
        yield self._chart()
        for message, new_round in self._in_rounds():
            if new_round:
                yield f"<h2>{escape(self._round(message.round))}</h2>"
            notes = "".join(f'<div class="meta">{escape(mark)}</div>' for mark in marks(message, self._lines))
            yield article(
                self._heading(message),
                f"{as_html(as_markdown(message))}{files_as_html(message.attachments)}{notes}",
                colour=self._colours.get(message.author.id, USER),
                anchor=message.id,
            )
        if files := self._files():
            yield f"<h2>{escape(self._lines['context'])}</h2>{files_as_html(files)}"
        yield PAGE_END

    def argdown(self) -> Iterator[str]:
        """Yield a council as Argdown, option by option."""
        yield from argdown(self._session, self._whole, self._words)

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
            (self._lines["rounds"], str(self._rounds)),
            (self._lines["date"], moment(self._session.created_at)),
            (self._lines["status"], named(self._lines, "status", self._session.status)),
        ]
        if debate.context:
            facts.append((self._lines["context"], ", ".join(file.name for file in debate.context)))
        if any(one.provider == EMBEDDED for one in debate.participants):
            facts.append((self._lines["note"], self._lines["embedded"]))
        return facts

    def _outcome(self) -> list[tuple[str, list[Cited]]]:
        """Return the verdict and the ballots, each part with its heading and its sentences."""
        if self._debate.council is not None:
            shown = verdict_parts(self._session, self._whole, self._words)
            return [(heading, [(line, []) for line in found]) for heading, found in shown]
        lines, verdict = self._lines, self._debate.verdict or Verdict()
        by = lines["verdict.by_participant" if self._debate.judged_inside else "verdict.by"]
        judge = by.format(name=verdict.judge) if verdict.judge else lines["last_words"]
        parts = (
            (judge, (*verdict.answer, *readings_points(verdict, self._words))),
            (lines["council.minority_report"], minority_points(self._debate, self._whole, self._words)),
            (lines["verdict.agreed"], verdict.agreed),
            (lines["verdict.open"] if verdict.judge else judge, verdict.open),
        )
        found = [(heading, [self._point(one) for one in points]) for heading, points in parts if points]
        stood: list[Cited] = [
            (f"{one.name}: " + " → ".join(_signed(vote) for vote in votes), [])
            for one, votes in stances_of(self._debate)
        ]
        return [*found, (self._stood(), stood)] if stood else found

    def _chart(self) -> str:
        """Return the ballots as a picture: a line for each participant in the colour of its name."""
        votes = stances_of(self._debate)
        if not votes or len(votes[0][1]) < 2:
            return ""
        step = 560 / (len(votes[0][1]) - 1)
        lines = [
            f'<line x1="40" x2="600" y1="{_y(level)}" y2="{_y(level)}" stroke="#d9d5cb"/>'
            f'<text x="30" y="{_y(level) + 4}" text-anchor="end">{_signed(level)}</text>'
            for level in range(AGAINST, FOR + 1)
        ]
        for place, (one, stances) in enumerate(votes):
            colour = self._colours[one.id]
            # Lines that meet stay apart.
            points = [
                (40 + number * step, _y(stance) + 2.5 * (place - (len(votes) - 1) / 2))
                for number, stance in enumerate(stances)
                if stance is not None and AGAINST <= stance <= FOR
            ]
            path = " ".join(f"{x:.0f},{y:.1f}" for x, y in points)
            dots = "".join(f'<circle cx="{x:.0f}" cy="{y:.1f}" r="3.5" fill="{colour}"/>' for x, y in points)
            lines += [f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>{dots}']
        legend = [
            (
                one,
                one.name
                if any(stance is not None for stance in stances)
                else self._words("no_vote", name=one.name),
            )
            for one, stances in votes
        ]
        names = " · ".join(
            f'<span style="color:{self._colours[one.id]}">{escape(name)}</span>' for one, name in legend
        )
        title = escape(self._stood())
        return (
            f'<svg viewBox="0 0 620 200" role="img" font-size="12" fill="#66635b"><title>{title}</title>'
            f"{''.join(lines)}</svg><div>{names}</div>"
        )

    def _stood(self) -> str:
        """Return the heading of the votes."""
        every = len({one.round for one in self._debate.ballots}) > 1
        return self._lines["stood" if every else "stood.once"]

    def _words(self, key: str, **values: object) -> str:
        """Return a text of the export by its key; a failure's code where it has none."""
        return self._lines.get(key, key.partition(".")[2]).format(**values)

    def _point(self, point: Point) -> Cited:
        """Return a sentence with the messages it cites."""
        by_id = {one.id: one for one in self._messages}
        return point.text, [by_id[one] for one in point.cites if one in by_id]

    def _cited(self, text: str, cited: Sequence[Message]) -> str:
        return " ".join((text, *(f"[{self._place(one)}]" for one in cited)))

    def _link(self, message: Message) -> str:
        return f' <a href="#{escape(message.id)}">[{escape(self._place(message))}]</a>'

    def _place(self, message: Message) -> str:
        """Return how a message is cited, as in the window."""
        return self._lines["cite"].format(name=said_by(message, self._lines), round=message.round)

    def _in_rounds(self) -> list[tuple[Message, bool]]:
        rounds = [0, *(message.round for message in self._messages)]
        return [
            (message, message.round > before) for message, before in zip(self._messages, rounds, strict=False)
        ]

    def _round(self, number: int) -> str:
        return self._lines["round"].format(round=number, rounds=self._rounds)

    def _heading(self, message: Message) -> str:
        if message.author.kind == "user":
            return said_by(message, self._lines)
        role = self._roles.get(message.author.id, "")
        return message.author.name + (f" ({self._role(role)})" if role else "")

    def _role(self, role: str) -> str:
        return role_name(role, self._debate.language, self._prompts)
