"""What the messages of a council hold: its questions, answers, options and differences; pure.

Nothing depends on the order in which answers that were asked for side by side came in.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from app.core.message import CouncilPart, Message, MessageState
from app.core.session import Debate, Participant
from app.engine.council.replies import MOST_OPTION, objects_in, one_line, same_words

MOST_OPTIONS = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """One thing that can be held: `backers` are the participants whose first answer holds it.

    `origin` is differences, answers (grouped by their short answers) or user.
    """

    id: str
    text: str
    backers: tuple[str, ...] = ()
    origin: str = "differences"


@dataclass(frozen=True, slots=True, kw_only=True)
class Quote:
    """Words of an answer, letter for letter."""

    message: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedPoint:
    """What the answers differ on, or all say, with their words for it; `only` is whoever alone speaks of it."""

    text: str
    quotes: tuple[Quote, ...] = ()
    only: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Vote:
    """What a participant holds after a round (0: its own answer); `choice` is an option's id, "" for a blank."""

    participant: str
    round: int = 0
    choice: str = ""
    confidence: int | None = None
    moved_by: tuple[str, ...] = ()


class Record:
    """The messages of a council, read."""

    def __init__(self, debate: Debate, messages: Sequence[Message]) -> None:
        self.debate = debate
        self.messages = messages
        places = [place for place, one in enumerate(messages) if one.part == CouncilPart.QUESTION]
        whole = [place for place in places if not to(messages[place])]
        self.since = messages[whole[-1] :] if whole else messages
        """The messages since all were asked."""
        self._latest = messages[places[-1] :] if places else messages
        self.question = messages[places[-1]] if places else None
        """The question that was asked last."""
        self.asked_all = messages[whole[-1]].content if whole else debate.topic
        """The text of the question that all were asked last."""

    def asked(self) -> list[Participant]:
        """Return whom the last question is for."""
        wanted = to(self.question) if self.question else ()
        return [one for one in self.debate.participants if not wanted or one.id in wanted]

    def last(
        self, part: str, who: str = "", *, latest: bool = False, number: int | None = None
    ) -> Message | None:
        """Return the message of a part (of a round) that ended last since all were asked, or since the last question."""
        found = None
        for one in self._latest if latest else self.since:
            if one.part == part and one.ended and (not who or one.author.id == who):
                found = one if number in (None, one.round) else found
        return found

    def count(self, part: str) -> int:
        """Return how many messages of a part ended since all were asked."""
        return sum(one.part == part and one.ended for one in self.since)

    def answers(self) -> dict[str, Message]:
        """Return everybody's latest answer to a question since all were asked, in the participants' order."""
        done = {
            one.author.id: one
            for one in self.since
            if one.part == CouncilPart.ANSWER and one.state == MessageState.DONE and one.content.strip()
        }
        return {one.id: done[one.id] for one in self.debate.participants if one.id in done}

    def openings(self) -> dict[str, Message]:
        """Return the answers that the differences are about, where there are any: those that were compared."""
        compared = self.compared()
        numbered = compared.get("order")
        if not isinstance(numbered, list):
            return self.answers()
        found = {one.author.id: one for one in self.since if one.id in numbered}
        return {one.id: found[one.id] for one in self.debate.participants if one.id in found}

    def compared(self) -> dict[str, object]:
        """Return what the call for the differences said, empty where there is none that could be read."""
        read = [one.data for one in self.since if one.part == CouncilPart.DIFFERENCES and one.data]
        return read[-1] if read else {}

    def points(self, kind: str) -> tuple[ComparedPoint, ...]:
        """Return what the answers `differ` on, or what is `agreed`."""
        found = []
        for one in objects_in(self.compared().get(kind)):
            quotes = [
                Quote(message=str(each.get("message")), text=str(each.get("text")))
                for each in objects_in(one.get("quotes"))
            ]
            found.append(
                ComparedPoint(
                    text=str(one.get("text")), quotes=tuple(quotes), only=str(one.get("only") or "")
                )
            )
        return tuple(found)

    @property
    def rounds(self) -> int:
        """How many rounds of debate have begun."""
        return max((one.round for one in self.since if one.part == CouncilPart.TURN and one.ended), default=0)

    def statements(self, before: int) -> list[Message]:
        """Return what is argued from in a round: the answers that were compared, then the turns round by round."""
        openings = self.openings()
        found = list(openings.values())
        for number in range(1, before):
            turns = (self.last(CouncilPart.TURN, one, number=number) for one in openings)
            found += [one for one in turns if one is not None and one.state == MessageState.DONE]
        return found

    def vote(self, who: str, number: int) -> Vote:
        """Return what a participant held after a round: by its ballot, else by what its turn said, else as before."""
        said: Message | None = None
        for each in range(number, 0, -1):
            for part in (CouncilPart.BALLOT, CouncilPart.TURN):
                said = self.last(part, who, number=each)
                if said is not None and (said.data or {}).get("choice"):
                    vote = _vote(who, each, said.data or {})
                    return replace(vote, choice=self.edited.get(vote.choice, vote.choice))
        first = next((one for one in self.ballots() if one.participant == who), None)
        return first or Vote(participant=who)

    def voted(self, who: str, number: int) -> bool:
        """Say whether a participant said in a round what it holds."""
        return self.vote(who, number).round == number

    def stands(self, number: int) -> bool:
        """Say whether a round moved nobody, or all agree; a blank is never stable."""
        voters = list(self.openings())
        now = [self.vote(one, number) for one in voters]
        if not all(one.round == number and one.choice for one in now):
            return False
        before = [self.vote(one, number - 1).choice for one in voters]
        return before == [one.choice for one in now] or len({one.choice for one in now}) == 1

    def options(self, before: int | None = None) -> tuple[Option, ...]:
        """Return what can be held: as the user wrote it last, else by the differences, else by the short answers.

        Behind them stand those that turns and ballots brought, of rounds `before` one or of all.
        """
        found = list(self._first_options())
        known = {*self.edited, *(one.id for one in found)}
        for number in range(1, self.rounds + 1 if before is None else before):
            for one in self.openings():
                for part in (CouncilPart.TURN, CouncilPart.BALLOT):
                    said = self.last(part, one, number=number)
                    text = one_line((said.data or {}).get("new")) if said is not None else ""
                    new = str((said.data or {}).get("choice")) if said is not None else ""
                    if text and new not in known and not _among(text, found):
                        found.append(Option(id=new, text=text, origin="turn"))
        return tuple(found)

    @cached_property
    def edited(self) -> dict[str, str]:
        """Which option each one became that was there when the user wrote the options last; "" for one that was deleted."""
        edited = self.last(CouncilPart.OPTIONS)
        became = (edited.data or {}).get("became") if edited is not None else None
        return {str(old): str(new) for old, new in became.items()} if isinstance(became, dict) else {}

    def _first_options(self) -> tuple[Option, ...]:
        found = tuple(_option(one) for one in objects_in(self.compared().get("options")))
        found = found or self._grouped()
        edited = self.last(CouncilPart.OPTIONS)
        if edited is None or edited.data is None:
            return found
        backers = {one.id: one.backers for one in found}
        for old, new in self.edited.items():
            if old != new:
                backers[new] = (*backers.get(new, ()), *backers.get(old, ()))
        return tuple(
            Option(
                id=one.id,
                text=one.text,
                backers=tuple(dict.fromkeys(backers.get(one.id, ()))),
                origin=one.origin,
            )
            for one in map(_option, objects_in(edited.data.get("options")))
        )

    def ballots(self) -> tuple[Vote, ...]:
        """Return what everybody holds by their own answers; a participant without one has no ballot."""
        held = {who: option.id for option in self._first_options() for who in option.backers}
        found = []
        for who, answer in self.openings().items():
            confidence = (answer.data or {}).get("confidence")
            found.append(
                Vote(
                    participant=who,
                    choice=held.get(who, ""),
                    confidence=confidence if isinstance(confidence, int) else None,
                )
            )
        return tuple(found)

    @property
    def grouped(self) -> bool:
        """Whether the options are the short answers, because nobody compared the answers."""
        return not objects_in(self.compared().get("options"))

    def _grouped(self) -> tuple[Option, ...]:
        """Return the short answers, each once; where an answer has none, its first sentence."""
        groups: dict[str, tuple[str, list[str]]] = {}
        for who, answer in self.answers().items():
            text = one_line((answer.data or {}).get("answer")) or first_sentence(answer.content)
            groups.setdefault(same_words(text), (text, []))[1].append(who)
        several = list(groups.values())[:MOST_OPTIONS]
        return tuple(
            Option(id=f"o{number}", text=text, backers=tuple(backers), origin="answers")
            for number, (text, backers) in enumerate(several, 1)
        )


def _among(text: str, options: Sequence[Option]) -> bool:
    return any(same_words(text) == same_words(one.text) for one in options)


def _vote(who: str, number: int, data: dict[str, object]) -> Vote:
    confidence, moved = data.get("confidence"), data.get("moved_by")
    return Vote(
        participant=who,
        round=number,
        choice=str(data.get("choice")),
        confidence=confidence if isinstance(confidence, int) else None,
        moved_by=tuple(str(one) for one in moved) if isinstance(moved, list) else (),
    )


def to(question: Message) -> tuple[str, ...]:
    """Return the ids of those whom a question is for alone, empty where it is for all."""
    named = (question.data or {}).get("to")
    return tuple(str(one) for one in named) if isinstance(named, list) else ()


def first_sentence(text: str) -> str:
    """Return the first sentence of an answer, without its Markdown."""
    line = next((one.strip(" #*_>-`") for one in text.splitlines() if one.strip(" #*_>-`")), "")
    for place, one in enumerate(line):
        ends = place + 1 == len(line) or line[place + 1].isspace()
        if one in ".!?。！？" and ends:
            line = line[: place + 1]
            break
    return one_line(line, MOST_OPTION)


def _option(one: dict[str, object]) -> Option:
    backers = one.get("backers")
    return Option(
        id=str(one.get("id")),
        text=one_line(one.get("text")),
        backers=tuple(str(each) for each in backers) if isinstance(backers, list) else (),
        origin=str(one.get("origin") or "differences"),
    )
