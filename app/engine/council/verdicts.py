"""All verdicts of a debate or a council so far: each as it was given, what it came after,
and what changed since; pure.

`words` gives a text by its key with its blanks filled, for the command line, documents and the window.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property

from app.core.council import Point
from app.core.council_parts import JudgeReading, Position, Question
from app.core.message import CouncilPart, Messages
from app.core.session import Council, Debate, DebateSession
from app.engine.council.earlier import earlier_until
from app.engine.council.outcome import CouncilOutcome, Words, council_parts, outcome
from app.engine.council.record import Record
from app.engine.debate.replies import one_line, same_words

MOST_TITLE = 60
MOST_ANSWER = 300


@dataclass(frozen=True)
class Given:
    """A verdict that was given: the debate and its messages as they stood then, and what followed from
    them.
    """

    debate: Debate
    messages: Messages
    # 0 for what follows now, whether it was given or not.
    number: int = 0
    # The id of the last message before it, "" for none.
    after_message: str = ""
    # The round after which it was given, and the follow-up that it answers, "" for none.
    round: int = 0
    question: str = ""

    @cached_property
    def record(self) -> Record:
        """The messages, read."""
        return Record(self.debate, self.messages)

    @cached_property
    def result(self) -> CouncilOutcome:
        """What followed from them."""
        return outcome(self.record)

    def title(self, words: Words) -> str:
        """Return which verdict it is, and what it came after."""
        if self.question:
            text = one_line(self.question, MOST_TITLE)
            return words("verdict.after.question", number=self.number, text=text)
        return words("verdict.after.round", number=self.number, round=self.round)


def current(debate: Debate, messages: Messages, given: Sequence[Given]) -> Given:
    """Return the newest verdict of those `given` where nothing came after it, else what follows by now."""
    newest = given and given[-1].messages is messages
    return given[-1] if newest else Given(debate=debate, messages=messages)


def outcomes(debate: Debate, messages: Messages) -> list[Given]:
    """Return the verdicts of a debate or a council so far, the newest last.

    They are what a judge read after a round, and what all voted at an end that nobody judged.
    """
    found: list[Given] = []
    whole, real = Record(debate, messages), {message.id for message in messages}
    rounds = {what_if.message: what_if.round for what_if in debate.what_ifs}
    begun = {rounds[message.id]: message.content for message in whole.messages if message.id in rounds}
    begins = whole.new or [0]
    for begin, end in zip(begins, (*begins[1:], len(whole.messages)), strict=True):
        asked = whole.messages[begin].data_as(Question) if whole.new else Question()
        stretch = whole.messages[begin:end]
        last = max((message.round for message in stretch if message.ended), default=0)
        judged = _judged(stretch)
        # Each round of a debate that a what-if round follows was its end before.
        for number in {last, *(item.round - 1 for item in debate.what_ifs)} - {each for each, _ in judged}:
            judged[number, 0] = -1
        for (number, again), first in sorted(judged.items()):
            if not 0 < number <= last:
                continue
            stands = ((message.round, message.data_as(JudgeReading).asked) for message in stretch)
            later = (place for place, stand in enumerate(stands) if stand > (number, again))
            until = begin + next(later, len(stretch))
            newest = until == len(whole.messages) and again == whole.council.judged
            said = messages if newest else whole.messages[:until]
            then = debate if newest else stood(debate, whole.messages, until, number)
            place = begin + first if first >= 0 else _last_ballot(Record(then, said), number)
            if place:
                before = (message.id for message in whole.messages[place - 1 :: -1] if message.id in real)
                follows = whole.messages[begin].content if asked.follows else begun.get(number, "")
                found.append(Given(then, said, len(found) + 1, next(before, ""), number, follows))
    return found


def _judged(stretch: Messages) -> dict[tuple[int, int], int]:
    """Return where each reading of a judge begins that came to something, by the round
    and how often it was judged before.
    """
    first: dict[tuple[int, int], int] = {}
    read = set()
    for place, message in enumerate(stretch):
        if isinstance(message.data, JudgeReading) and message.ended:
            key = message.round, message.data.asked
            first.setdefault(key, place)
            if message.data.choice:
                read.add(key)
    return {key: place for key, place in first.items() if key in read}


def _last_ballot(record: Record, number: int) -> int | None:
    """Return the place behind the last ballot of a round, None where not all have voted."""
    voters = record.voters()
    if not voters or not all(record.cast(voter, number) for voter in voters):
        return None
    ballots = (message.part == CouncilPart.BALLOT and message.round == number for message in record.messages)
    return max(place for place, cast in enumerate(ballots) if cast) + 1


def stood(debate: Debate, messages: Messages, place: int, number: int) -> Debate:
    """Return a council as it stood before the message at a place, after a round; its calls are over."""
    absent = _joined(messages[place:]) - _joined(messages[:place])
    people = tuple(participant for participant in debate.participants if participant.id not in absent)
    debate = earlier_until(replace(debate, due=(), participants=people), messages[:place])
    record = Record(debate, messages[:place])
    return replace(debate, council=_until(record.council, record, number))


def _joined(messages: Messages) -> set[str]:
    """Return who has joined with an answer from outside."""
    return {message.author.id for message in messages if message.data_as(Position).joined}


def _until(council: Council, record: Record, number: int) -> Council:
    """Return what is wanted of a council of which no more is kept than `record`."""
    # Who read it then: those who read what was said later are of no use to it.
    readers = [item.data_as(JudgeReading) for item in record.since if item.ended and item.round == number]
    judges = tuple(dict.fromkeys(reader.judge for reader in readers if reader.judge))
    council = replace(council, judges=judges, judged=max((reader.asked for reader in readers), default=0))
    again, checks = record.count(CouncilPart.DIFFERENCES), record.count(CouncilPart.CHECK, number=0)
    merges, solos = record.count(CouncilPart.MERGE), record.count(CouncilPart.SOLO)
    council = replace(council, again=max(0, again - council.differences), merges=merges, solos=solos)
    council = replace(council, checks=checks, rounds=number, debated=number, wanted_rounds=0)
    # The voting check comes before a debate.
    voteless = council.voteless if number else ()
    stressed = tuple(item for item in council.stressed if item <= number)
    return replace(council, voteless=voteless, stressed=stressed)


def verdict_parts(session: DebateSession, messages: Messages, words: Words) -> list[tuple[str, list[Point]]]:
    """Return what came of a debate or a council in parts, each with its heading and its sentences:
    the newest verdict first.

    Where there are several, the first heading of each says what it came after; behind the newest stands what
    changed.
    """
    given = outcomes(session.debate, messages)
    shown, now = [*reversed(given)], current(session.debate, messages, given)
    if not now.number:
        shown.insert(0, now)
    found: list[tuple[str, list[Point]]] = []
    for item in shown:
        parts = council_parts(item.record, item.result, words)
        if item.number and len(shown) > 1 and parts:
            parts[0] = (f"{item.title(words)} · {parts[0][0]}", parts[0][1])
        found += parts
        if item.number == len(given) and (changes := changed(given, words)):
            heading = words("verdict.changed", number=given[-2].number)
            found.append((heading, [Point(text=line) for line in changes]))
    return found


def changed(given: Sequence[Given], words: Words) -> list[str]:
    """Return what changed between the last two verdicts, in sentences; none where there are not two."""
    if len(given) < 2:
        return []
    (first, held_first), (now, held_now) = (_held(item) for item in given[-2:])
    lines = []
    if first and now and same_words(first) != same_words(now):
        lines.append(words("verdict.changed.answer", before=first, now=now))
    for participant in given[-1].debate.participants:
        before, after = held_first.get(participant.id, ""), held_now.get(participant.id, "")
        if before and after and same_words(before) != same_words(after):
            lines.append(words("verdict.changed.vote", name=participant.name, before=before, now=after))
    return lines or [words("verdict.changed.nothing")]


def _held(given: Given) -> tuple[str, Mapping[str, str]]:
    """Return what a verdict came to, and what each participant held by its last vote."""
    record, texts = given.record, given.record.texts
    held = {who: texts.get(record.vote(who, record.rounds).choice, "") for who in record.voters()}
    return texts.get(given.result.headline, ""), held


def last_verdict(debate: Debate, messages: Messages) -> str:
    """Return the newest verdict in a few sentences, for those who are asked what follows
    from something else; "" for none.
    """
    given = outcomes(debate, messages)
    if not given:
        return ""
    texts, result = given[-1].record.texts, given[-1].result
    said = [texts[item] for item in result.leading]
    views = [f"{texts[one.option]}: {one_line(one.text, MOST_ANSWER)}" for one in result.minority if one.now]
    return "\n".join(filter(None, (" / ".join(said), one_line(result.text, MOST_ANSWER), *views)))


def outcome_objects(debate: Debate, messages: Messages) -> dict[str, object]:
    """Return what `moot show --json` says of the verdicts: all of them, and the newest again."""
    found = [_object(given) for given in outcomes(debate, messages)]
    if found or not debate.is_council:
        return {"outcomes": found, "outcome": found[-1] if found else None}
    return {"outcomes": found, "outcome": asdict(outcome(Record(debate, messages)))}


def _object(given: Given) -> dict[str, object]:
    about = {"after_message": given.after_message, "after_round": given.round, "question": given.question}
    return {**about, **asdict(given.result), "options": [*map(asdict, given.record.options())]}
