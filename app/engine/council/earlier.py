"""Ballots and verdicts that earlier versions kept beside the messages of a debate,
as the messages they are today; pure.

A ballot chose from "against" to "for" the motion: those are its options. A verdict was not a choice of an
option.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from app.core.council import Ballot, MinorityView, Option, Verdict
from app.core.council_parts import BestCase, JudgedPoint, JudgeReading, Position
from app.core.errors import Failure, FailureKind
from app.core.message import Author, CouncilPart, Message, MessageState, PartData, Role, new_message
from app.core.session import Council, Debate
from app.engine.debate.replies import NEITHER, one_line

PARTICIPANT = "participant"
_STANCES: Mapping[str, tuple[str, ...]] = {
    "en": ("For", "Rather for", "Unsure", "Rather against", "Against"),
    "ko": ("찬성", "찬성에 가까움", "보류", "반대에 가까움", "반대"),
}
# The stances behind these texts.
_ORDER = (2, 1, 0, -1, -2)
_READING = "verdict"


def earlier_options(debate: Debate, messages: Sequence[Message]) -> tuple[Option, ...]:
    """Return the options of earlier ballots and verdicts: the stances, and what a verdict came to
    where they led nowhere.
    """
    if not debate.ballots and not debate.verdicts:
        return ()
    chosen = {message.data.choice for message in messages if isinstance(message.data, JudgeReading)}
    found: list[Option] = []
    if debate.ballots:
        texts = zip(_ORDER, _STANCES.get(debate.language, _STANCES["en"]), strict=True)
        found = [Option(id=_stance(number), text=text, origin="motion") for number, text in texts]
    for number, verdict in enumerate(debate.verdicts):
        if f"{_READING}{number}" in chosen:
            text = one_line(verdict.answer[0].text)
            found.append(Option(id=f"{_READING}{number}", text=text, origin=_READING))
        if verdict.otherwise:
            found.append(Option(id=f"otherwise{number}", text=one_line(verdict.otherwise), origin=_READING))
    return tuple(found)


def earlier_council(debate: Debate) -> Council:
    """Return what is wanted of a debate that was begun by an earlier version."""
    judges, judged = tuple(verdict.model for verdict in debate.verdicts[-1:]), len(debate.verdicts) - 1
    return Council(differences=debate.is_council, ends=debate.ends, judges=judges, judged=max(0, judged))


def earlier_views(debate: Debate, read: Sequence[Message]) -> tuple[MinorityView, ...]:
    """Return what an earlier verdict says of the minority, where these readings are of one."""
    numbers = {message.id for message in read}
    found = (verdict for number, verdict in enumerate(debate.verdicts) if f"{_READING}{number}-1" in numbers)
    return next((verdict.minority for verdict in found), ())


def with_earlier(debate: Debate, messages: Sequence[Message]) -> Sequence[Message]:
    """Return the messages of a debate with its earlier ballots and verdicts, each behind what came before it.

    What is among them already stays as it is.
    """
    if not debate.ballots and not debate.verdicts:
        return messages
    known = {item.id for item in messages}
    placed: list[tuple[float, Message]] = [*enumerate(messages, 1)]
    turns = [(place, item) for place, item in placed if item.role != Role.SUMMARY and not item.part]
    added: list[tuple[float, Message]] = []
    for ballot in sorted(debate.ballots, key=lambda item: item.round):
        place = max((place for place, turn in turns if turn.round <= ballot.round), default=0)
        added.append((place if ballot.round else 0, _ballot(debate, ballot)))
    ends = {turn.id: place for place, turn in turns}
    what_ifs = (ends[what_if.message] - 1 for what_if in debate.what_ifs if what_if.message in ends)
    # A verdict of the first versions does not say what it came after.
    first = next(what_ifs, len(messages))
    for number, verdict in enumerate(debate.verdicts):
        place = ends.get(verdict.after_message, first)
        last = max((turn.round for end, turn in turns if end <= place), default=0)
        added += [(place, reading) for reading in _readings(debate, verdict, number, last)]
    placed += [(place + 0.5, message) for place, message in added if message.id not in known]
    return [message for _place, message in sorted(placed, key=lambda each: each[0])]


def earlier_until(debate: Debate, messages: Sequence[Message]) -> Debate:
    """Return a debate with those of its earlier ballots and verdicts that are among these messages."""
    known = {message.id for message in messages}
    verdicts = [verdict for number, verdict in enumerate(debate.verdicts) if f"{_READING}{number}-1" in known]
    ballots = tuple(ballot for ballot in debate.ballots if _ballot_id(ballot) in known)
    last = verdicts[-1] if verdicts else None
    return replace(debate, ballots=ballots, earlier_verdicts=tuple(verdicts[:-1]), verdict=last)


def _ballot_id(ballot: Ballot) -> str:
    return f"ballot{ballot.round}-{ballot.participant}"


def _stance(number: int) -> str:
    return f"stance{number}"


def _ballot(debate: Debate, ballot: Ballot) -> Message:
    name = next((item.name for item in debate.participants if item.id == ballot.participant), "")
    choice = _stance(ballot.stance) if ballot.stance in _ORDER else ""
    data = Position(shown=tuple(map(_stance, _ORDER)), choice=choice)
    author = Author(id=ballot.participant, name=name, kind=PARTICIPANT)
    return _message(_ballot_id(ballot), author, CouncilPart.BALLOT, ballot.round, data)


def _message(message_id: str, author: Author, part: str, number: int, data: PartData) -> Message:
    of = {"id": message_id, "part": part, "round": number, "data": data, "created_at": ""}
    return new_message(Role.ASSISTANT, author, message_id, **of)


def _leading(debate: Debate, number: int) -> str:
    """Return the stance that most had by the last ballots up to a round, "" for none or a tie."""
    last = max((ballot.round for ballot in debate.ballots if ballot.round <= number), default=0)
    counts = Counter(item.stance for item in debate.ballots if item.round == last and item.stance in _ORDER)
    most = counts.most_common(2)
    stance = most[0][0] if most and [count for _, count in most].count(most[0][1]) == 1 else None
    return _stance(stance) if stance is not None else ""


def _readings(debate: Debate, verdict: Verdict, number: int, last: int) -> Iterator[Message]:
    """Yield the readings of a verdict; those of one that no model gave have failed."""
    choice = _leading(debate, last) or f"{_READING}{number}"
    other = f"otherwise{number}" if verdict.otherwise else NEITHER
    text = " ".join(point.text for point in verdict.answer)
    cites = tuple(dict.fromkeys(each for point in verdict.answer for each in point.cites))
    for order in (1, 2)[: verdict.readings if verdict.judge else 2]:
        name = f"{_READING}{number}-{order}"
        author = Author(id=name, name=verdict.judge, kind="helper")
        read = JudgeReading(judge=verdict.model, order=order, asked=number)
        message = _message(name, author, CouncilPart.READING, last, read)
        if not verdict.judge:
            error = Failure(kind=verdict.failure or FailureKind.UNREADABLE)
            yield replace(message, state=MessageState.FAILED, error=error)
            continue
        agreed = tuple(JudgedPoint(text=point.text, cites=point.cites) for point in verdict.agreed)
        still_open = tuple(JudgedPoint(text=point.text, cites=point.cites) for point in verdict.open)
        chosen = other if verdict.unstable and order > 1 else choice
        cases = (BestCase(option=choice, text=text, cites=cites),)
        read = replace(read, choice=chosen, cases=cases, agreed=agreed, open=still_open)
        yield replace(message, data=read)
