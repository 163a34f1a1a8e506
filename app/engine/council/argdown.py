"""A council as Argdown, a plain text for argument maps: options as statements, what was said as arguments; pure."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence

from app.core.message import CouncilPart, Message, MessageState
from app.core.session import DebateSession
from app.engine.council.outcome import holders_of, outcome
from app.engine.council.reading import Claim
from app.engine.council.record import Record
from app.engine.council.words import Words, cite_text, judge_name, lettered

FOR, AGAINST = "+", "-"

_MARKS = re.compile(r"[\\\[\]<>{}@#*_/=]|[.:](?=\S)")


def escaped(text: str) -> str:
    """Return a text on one line in which nothing is a mark of Argdown, neither a comment nor the name of a sign."""
    return _MARKS.sub(r"\\\g<0>", " ".join(text.split()))


def argdown(session: DebateSession, messages: Sequence[Message], words: Words) -> Iterator[str]:
    """Yield a council as Argdown, option by option, with who said what in which round and the message's id as data."""
    found = _Map(session, messages, words)
    yield f"===\ntitle: {_quoted(session.title)}\nquestion: {_quoted(found.record.asked_all)}\n===\n"
    letters = [*found.letters.items()]
    for place, (option, _) in enumerate(letters):
        yield "\n".join(
            ["", *found.option(option), *(f"  >< [{other}]" for _, other in letters[place + 1 :]), ""]
        )
    if rest := found.rest():
        yield "\n".join(["", *rest, ""])


class _Map:
    """The arguments of a council, each defined where it is named first."""

    def __init__(self, session: DebateSession, messages: Sequence[Message], words: Words) -> None:
        self._words = words
        self.record, self._result = Record(session.debate, messages), outcome(session.debate, messages)
        self.letters = lettered(self.record)
        self._names = {one.id: one.name for one in session.debate.participants}
        self._holders = holders_of(self.record)
        self._defined: set[str] = set()
        self._titles: dict[str, str] = {}
        for one in self._said():
            name = self._names.get(one.author.id, one.author.name)
            self._title(one.id, cite_text(one, name, words).strip("[]"))
        for number, claim in enumerate(self._result.claims, 1):
            self._title(_key(claim), f"{words('council.claims')} {number}")

    def option(self, option: str) -> list[str]:
        """Return an option, and what is said for it and against it."""
        text = next(one.text for one in self.record.options() if one.id == option)
        held = self._holders[option]
        data: dict[str, object] = {"votes": len(held), "who": [self._names.get(one, "") for one in held]}
        if option == self._result.headline:
            data["headline"] = True
        lines = [f"[{self.letters[option]}]: {escaped(text)} {_data(data)}"]
        for case in (
            case for reading in self.record.readings() for case in reading.cases if case.option == option
        ):
            key = f"{option}/case"
            if key not in self._defined:
                self._title(key, f"{judge_name(self._result)} {self.letters[option]}")
                cites = [self._titles[one] for one in case.cites if one in self._titles]
                lines += self._argument(
                    FOR, key, case.text, {"who": judge_name(self._result), "cites": cites}
                )
        for one in self._said():
            if self._choice(one) == option:
                turn = {
                    "who": self._names.get(one.author.id, one.author.name),
                    "turn": one.round,
                    "id": one.id,
                }
                if right := (one.data or {}).get("right_if"):
                    turn["right_if"] = right
                lines += self._argument(FOR, one.id, one.content, turn)
        for claim in self._result.claims:
            if sign := self._sign(claim, option):
                lines += self._argument(sign, _key(claim), claim.text, self._sides(claim))
        return lines

    def rest(self) -> list[str]:
        """Return the claims that are neither for nor against one option."""
        lines: list[str] = []
        for claim in self._result.claims:
            if _key(claim) not in self._defined:
                lines += self._argument("", _key(claim), claim.text, self._sides(claim))
        return lines

    def _said(self) -> list[Message]:
        found = self.record.statements(self.record.rounds + 1)
        last = [one for one in self.record.since if one.part == CouncilPart.DISSENT and one.content.strip()]
        return [*found, *(one for one in last if one.state == MessageState.DONE and one not in found)]

    def _choice(self, one: Message) -> str:
        """Return the option that a statement speaks for."""
        if one.part == CouncilPart.ANSWER:
            return next(
                (vote.choice for vote in self.record.ballots() if vote.participant == one.author.id), ""
            )
        if one.part == CouncilPart.DISSENT:
            return self.record.vote(one.author.id, one.round).choice
        return self.record.standing(str((one.data or {}).get("choice", "")))

    def _sign(self, claim: Claim, option: str) -> str:
        """Return whether a claim speaks for an option, which all who hold it hold, or against it; "" for neither."""
        held, others = {*self._holders[option]}, {*claim.holds}
        if others and others <= held:
            return FOR
        return AGAINST if held & {*claim.denies} and not held & others else ""

    def _sides(self, claim: Claim) -> dict[str, object]:
        names = self._names
        data: dict[str, object] = {"who": [names[one] for one in claim.holds if one in names]}
        if claim.denies:
            data["denied"] = [names[one] for one in claim.denies if one in names]
        return data | {"cites": [self._titles[one] for one in claim.cites if one in self._titles]}

    def _title(self, key: str, title: str) -> None:
        """Give an argument a title that no other one has."""
        title = " ".join(re.sub(r"[\[\]<>{}\\]", " ", title).split()).lstrip("-") or "?"
        taken, number, unique = {*self._titles.values()}, 1, title
        while unique in taken:
            number += 1
            unique = f"{title} ({number})"
        self._titles[key] = unique

    def _argument(self, sign: str, key: str, text: str, data: Mapping[str, object]) -> list[str]:
        begins = f"  {sign} <{self._titles[key]}>" if sign else f"<{self._titles[key]}>"
        if key in self._defined:
            return [begins]
        self._defined.add(key)
        return [f"{begins}: {escaped(text)} {_data(data)}", *([] if sign else [""])]


def _key(claim: Claim) -> str:
    return f"claim/{claim.text}"


def _data(data: Mapping[str, object]) -> str:
    """Return data as YAML in braces, in which no value holds one."""
    inside = ", ".join(f"{key}: {_quoted(value)}" for key, value in data.items())
    return f"{{{inside}}}"


def _quoted(value: object) -> str:
    """Return a value as JSON, which is YAML, without what would end a block of Argdown."""
    text = json.dumps(value, ensure_ascii=False)
    return text.translate({ord(one): f"\\u{ord(one):04x}" for one in "{}=/"})
