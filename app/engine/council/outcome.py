"""What follows from a debate or a council: who holds what, what leads, how settled that is; pure,
never stored.

Also in words, for the command line, documents and the window: `words` gives a text by its key
`council.<name>`, with its blanks filled.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import astuple, fields, replace
from enum import StrEnum
from itertools import chain, groupby

from app.core.council import MIN_PARTICIPANTS, MinorityView, Point
from app.core.council_parts import Claim, Dissent, FileQuote, JudgeReading, Position
from app.core.errors import FailureKind
from app.core.frozen import Frozen
from app.core.message import CouncilPart, Message, MessageState
from app.core.session import Debate, no_vote_reason
from app.engine.council.earlier import earlier_views
from app.engine.council.record import Move, Moved, QuoteState, Record, Vote, cruxes, quotes_of
from app.engine.debate.families import family_of
from app.engine.debate.replies import NEITHER, without_marks
from app.engine.names import mentioned
from app.engine.voting import name_of, no_vote_text, seat_of


class State(StrEnum):
    """How settled a council is."""

    NONE = "none"
    TIE = "tie"
    CONTESTED = "contested"
    SETTLED = "settled"
    AGREED_ONE_FAMILY = "agreed_one_family"
    LEANING = "leaning"
    # Both readings found that no evidence would settle it: who holds what stands beside each other.
    VALUES = "values"


class Tally(Frozen):
    """The votes for each option by id, plain and weighted by confidence; `missing` are those without a
    vote.
    """

    votes: dict[str, int]
    weighted: dict[str, float]
    missing: tuple[str, ...] = ()

    def leaders(self) -> tuple[str, ...]:
        """Return the options with the most votes; none where nobody voted."""
        most = max(self.votes.values(), default=0)
        return tuple(vote for vote, count in self.votes.items() if count == most) if most else ()


class View(MinorityView):
    """An option that is not the headline, and who holds it; its text are the words of the surest of them."""

    # The id of the option.
    option: str
    # What would show that it is right.
    right_if: str = ""
    # Whether all who gave it up named a statement that moved them.
    reason_named: bool = True


class CouncilOutcome(Frozen):
    """What follows from a council.

    `headline` is an option's id, "" where none leads; `text` is the case for it and `cites` what that rests
    on. `judge` is who read ("provider/model", "" for nobody), `choice` what it chose both times: an option's
    id, NEITHER, or "" where it is silent, because it read once or `unstable`: its choice changed with the
    order. `inside` says that it takes part itself. `against` says what speaks against the headline: judge,
    overturned (another one led before), half, or weighed (the votes are tied, and those who have been right
    more often lead). `stop` is how the debate ended: agreed, still (nobody moved) or rounds, "" where there
    was none. `degraded` says what the result lacks: answers, differences (the call that compares), ballots,
    judge (then `failure` is why), or second_reading. `claims` are those that the judge found in the debate,
    `cruxes` those on which the headline turns, and `unsupported` the ids of the statements that give out
    something as a fact and do not support it. `moves` are the changes of votes. `unread` are those whose
    ballot could not be read: what they said in their last turn counts, if they said it. `names_visible` says
    that the question or its files name a participant.
    """

    state: str
    headline: str
    before: Tally
    after: Tally
    text: str = ""
    cites: tuple[str, ...] = ()
    judge: str = ""
    choice: str = ""
    unstable: bool = False
    inside: bool = False
    against: str = ""
    minority: tuple[View, ...] = ()
    answered: int = 0
    asked: int = 0
    stop: str = ""
    degraded: tuple[str, ...] = ()
    failure: str = ""
    names_visible: bool = False
    claims: tuple[Claim, ...] = ()
    cruxes: tuple[Claim, ...] = ()
    unsupported: tuple[str, ...] = ()
    moves: tuple[Move, ...] = ()
    unread: tuple[str, ...] = ()

    @property
    def is_open(self) -> bool:
        """Whether more than one option is held, so that there is something to debate."""
        return sum(count > 0 for count in self.after.votes.values()) > 1

    @property
    def leading(self) -> tuple[str, ...]:
        """The options that stand first: the headline, else those with most votes; all that are held
        in a question of values.
        """
        if self.state == State.VALUES:
            return tuple(option for option, count in self.after.votes.items() if count)
        return (self.headline,) if self.headline else self.after.leaders()

    @property
    def claim_count(self) -> int:
        """How many claims there are, with those on which the headline turns."""
        return len({astuple(claim) for claim in (*self.claims, *self.cruxes)})


# How many views of the minority are shown in full; the others are a line.
IN_FULL = 2


def who_may_join(record: Record, result: CouncilOutcome) -> Message | None:
    """Return the answer from outside that says something else than what leads,
    where its model does not take part yet.
    """
    check = record.last(CouncilPart.CHECK, number=0)
    if check is None or check.state != MessageState.DONE:
        return None
    choice = record.standing(check.data_as(Position).choice)
    taking = {name_of(participant.seat) for participant in record.debate.participants}
    return check if choice and choice != result.headline and check.model not in taking else None


def in_full(result: CouncilOutcome) -> tuple[View, ...]:
    """Return the views of the minority that are shown in full; an earlier judge's are a line each."""
    return tuple(view for view in result.minority[:IN_FULL] if view.option)


def outcome(record: Record) -> CouncilOutcome:
    """Return what follows from the messages of a debate or a council."""
    debate = record.debate
    people = [item for item in debate.participants if item.id not in record.council.voteless]
    everybody = [person.id for person in people]
    first = [*record.ballots.values()]
    before = _tally(record, first, everybody, first)
    after = _tally(record, votes_of(record), everybody, _first_held(record))
    readings = record.readings()
    chosen = {reading.choice for reading in readings}
    unstable = len(chosen) > 1
    choice = chosen.pop() if len(readings) > 1 and not unstable else ""
    leaders = after.leaders()
    values = len(readings) > 1 and all(reading.values for reading in readings) and not record.council.weighed
    # In a debate a judge may read what nobody has voted on.
    among = leaders or (() if debate.is_council else record.texts)
    headline = leaders[0] if len(leaders) == 1 else choice if choice in among else ""
    weighed = "" if headline or values else _heaviest(record, after, leaders, everybody)
    headline = headline or weighed
    if values:
        headline = choice = ""
    # Who has no vote brings no second family to those who agree.
    families = {family_of(person.model) for person in people}
    state, against = state_of(before, after, headline, choice, len(families), unstable=unstable)
    against = "weighed" if weighed and against == "half" else against
    state, against = (State.VALUES, "") if values else (state, against)
    unread = tuple(item for item in record.openings if record.rounds and record.unread(item, record.rounds))
    mute = {*record.council.voteless}
    apart = not record.rounds and any(mute & {*opt.backers} for opt in record.options() if opt.id != headline)
    if (unread or apart) and state in (State.SETTLED, State.AGREED_ONE_FAMILY):
        # A ballot that could not be read may be another one, and who has no vote has an answer all the same.
        state = State.LEANING
    answered = len(record.openings)
    judge = readings[0].judge if readings else ""
    text, cites = case_for(record, headline)
    failure = "" if judge else _failure(record)
    held = holders_of(record)
    sides = [held[option] for option in ([headline] if headline else leaders)]
    read = next((reading for reading in readings if reading.claims or reading.questions), None)
    lacks = {
        "answers": answered < len(debate.participants),
        "differences": record.council.differences and answered >= MIN_PARTICIPANTS and record.grouped,
        "ballots": record.rounds and len(after.missing) < len(everybody) and (after.missing or unread),
        "judge": bool(failure),
        "second_reading": len(readings) == 1,
    }
    result = CouncilOutcome(
        state=state,
        headline=headline,
        before=before,
        after=after,
        text=text,
        cites=cites,
        judge="" if values else judge,
        choice=choice,
        unstable=unstable,
        inside=judge in {name_of(participant.seat) for participant in debate.participants},
        against=against,
        answered=answered,
        asked=len(debate.participants),
        stop=_stop(record),
        degraded=tuple(name for name, lacking in lacks.items() if lacking),
        failure=failure,
        names_visible=names_visible(debate),
        claims=read.claims if read else (),
        cruxes=tuple(cruxes(read, list(record.openings), sides)) if read else (),
        unsupported=_unsupported(record, readings),
        moves=record.moves,
        unread=unread,
    )
    return replace(result, minority=_minority(record, after, result.leading, choice))


def _unsupported(record: Record, readings: Sequence[JudgeReading]) -> tuple[str, ...]:
    """Return the statements that a judge found without support, and those with a quote that is in no file."""
    found = {*chain.from_iterable(reading.unsupported for reading in readings)}
    said = ((message.id, {quote.found for quote in quotes_of(message)}) for message in record.statements())
    return tuple(item for item, quotes in said if item in found or QuoteState.MISSING in quotes)


def state_of(
    before: Tally, after: Tally, headline: str, choice: str, families: int, *, unstable: bool
) -> tuple[str, str]:
    """Return how settled a council of so many base families is, and what speaks against the headline.

    `choice` is what a stable judge chose, "" for a silent one.
    """
    valid = sum(after.votes.values())
    everybody = valid + len(after.missing)
    if valid < MIN_PARTICIPANTS:
        return State.NONE, ""
    if not headline:
        return State.TIE, ""
    first = before.leaders()
    if choice and choice != headline:
        return State.CONTESTED, "judge"
    if len(first) == 1 and first[0] != headline:
        return State.CONTESTED, "overturned"
    if after.votes[headline] * 2 <= everybody:
        return State.CONTESTED, "half"
    alike = after.votes[headline] == everybody
    if alike and families > 1 and not unstable:
        return State.SETTLED, ""
    return (State.AGREED_ONE_FAMILY if alike and families == 1 else State.LEANING), ""


def _minority(record: Record, after: Tally, leading: Sequence[str], choice: str) -> tuple[View, ...]:
    """Return the views held now, by votes and weight, then those given up;
    first the one a stable judge sides with.

    Those that are `leading` stand beside each other.
    """
    if earlier := earlier_views(record.debate, record.judgements(record.rounds)):
        names = [name.name for name in fields(MinorityView)]
        return tuple(View(option="", **{name: getattr(item, name) for name in names}) for item in earlier)
    others = [option.id for option in record.options() if option.id not in leading]
    others.sort(key=lambda item: (-after.votes[item], -after.weighted[item]))
    held, views = holders_of(record), []
    for other in others:
        if held[other]:
            who = surest(record, held[other])
            text, cites = last_words(record, who)
            dissent = record.last(CouncilPart.DISSENT, who, number=record.rounds) if who else None
            if dissent is not None and dissent.state == MessageState.DONE:
                text = dissent.content
            right = dissent.data_as(Dissent).right_if if dissent is not None else ""
            views.append(View(option=other, holders=held[other], text=text, cites=cites, right_if=right))
        elif gone := tuple(who for who, vote in record.ballots.items() if vote.choice == other):
            # In a debate all may vote before anybody speaks.
            opening = record.openings.get(surest(record, gone, number=0))
            text, cites = (opening.content, (opening.id,)) if opening else ("", ())
            named = all(_left_for(record, who, other) for who in gone)
            view = View(option=other, holders=gone, now=False, text=text, cites=cites, reason_named=named)
            views.append(view)
    return tuple(sorted(views, key=lambda view: (view.option != choice, not view.now)))


def _left_for(record: Record, who: str, option: str) -> tuple[str, ...]:
    """Return the statements that a participant named when it left an option."""
    votes = (record.vote(who, number) for number in range(1, record.rounds + 1))
    return next((vote.moved_by for vote in votes if vote.choice != option), ())


def surest(
    record: Record, holders: Sequence[str] | None = None, *, number: int | None = None, least: bool = False
) -> str:
    """Return who is the surest, or the `least` sure, of some after a round, or
    of all by their first answers; "" for nobody.
    """
    if number is None:
        number = record.rounds if holders is not None else 0
    among = record.openings if holders is None else [item for item in holders if item in record.openings]
    return (min if least else max)(among, key=lambda who: _sureness(record, who, number), default="")


def case_for(record: Record, option: str) -> tuple[str, tuple[str, ...]]:
    """Return the case for an option and what it cites: a judge's, else the last words
    of the surest who holds it.
    """
    text, cites = record.best_case(option)
    if option and not text:
        return last_words(record, surest(record, holders_of(record).get(option, ())))
    return text, cites


def last_words(record: Record, who: str) -> tuple[str, tuple[str, ...]]:
    """Return what a participant said last, and the ids of all it said."""
    own = [statement for statement in record.statements() if statement.author.id == who]
    return (own[-1].content, tuple(message.id for message in own)) if own else ("", ())


def _sureness(record: Record, who: str, number: int) -> float:
    return record.weights([record.vote(who, number)])[who]


def _stop(record: Record) -> str:
    if not record.rounds:
        return ""
    now = {record.vote(voter, record.rounds).choice for voter in record.voters()}
    if len(now) == 1 and "" not in now:
        return "agreed"
    return "still" if record.stands(record.rounds) else "rounds"


def _failure(record: Record) -> str:
    """Return why the last judge could not read, where all that were wanted have failed; a code
    of `failure.<code>`.
    """
    judges, number = record.council.judges, record.rounds
    asked = [record.asked_to_read(judge, order, number) for judge in judges for order in (1, 2)]
    if not number or not judges or None in asked:
        return ""
    failed = [message.error.kind for message in asked if message is not None and message.error is not None]
    return failed[-1] if failed else FailureKind.UNREADABLE


def names_visible(debate: Debate) -> bool:
    """Say whether the question or a file names a participant: what is asked is never changed,
    so the name is read.
    """
    texts = (debate.topic, *(file.text for file in debate.context))
    return any(mentioned(text, debate.participants) for text in texts)


def votes_of(record: Record) -> tuple[Vote, ...]:
    """Return what all who vote hold now."""
    return tuple(record.vote(voter, record.rounds) for voter in record.voters())


def holders_of(record: Record) -> dict[str, tuple[str, ...]]:
    """Return who holds each option now, by the option's id."""
    votes = votes_of(record)
    return {text: tuple(vote.participant for vote in votes if vote.choice == text) for text in record.texts}


def _heaviest(record: Record, after: Tally, leaders: Sequence[str], everybody: Sequence[str]) -> str:
    """Return which of several leaders weighs most, once it is known how right all who vote have been; ""
    for none.
    """
    if not leaders or not all(item in record.calibrated for item in everybody):
        return ""
    first, *others = sorted(leaders, key=lambda item: -after.weighted[item])
    return "" if others and after.weighted[others[0]] == after.weighted[first] else first


def support(result: CouncilOutcome) -> dict[str, tuple[bool, int, int]]:
    """Return how well each option that is held is supported, the best first.

    That is whether it leads, its votes, and how many more came to it for a statement than without one.
    """
    came = Counter(move.option for move in result.moves if move.moved == Moved.CITED)
    came.subtract(move.option for move in result.moves if move.moved == Moved.DRIFT)
    votes = {vote: count for vote, count in result.after.votes.items() if count}
    found = {vote: (vote == result.headline, count, came[vote]) for vote, count in votes.items()}
    return dict(sorted(found.items(), key=lambda each: each[1], reverse=True))


def drifted(record: Record) -> list[str]:
    """Return who came to the option that it holds now without naming a statement of another that argues
    for it.
    """
    last = {move.participant: move.moved for move in record.moves}
    return [who for who, moved in last.items() if moved == Moved.DRIFT]


def vote_places(record: Record) -> dict[str, tuple[int | None, ...]]:
    """Return the place of the option that each who votes chose in each of the polls; None for a blank."""

    def place(who: str, stood: Record, number: int) -> int | None:
        return record.place_of(stood.vote(who, number).choice, stood) if stood.voted(who, number) else None

    return {who: tuple(place(who, *poll) for poll in record.polls) for who in record.voters()}


def _first_held(record: Record) -> list[Vote]:
    """Return the vote by which each participant took the position that it ends with:
    debating makes everybody surer.
    """

    def first_held(who: str) -> Vote:
        votes = (record.vote(who, number) for number in range(record.rounds, -1, -1))
        _choice, same = next(groupby(votes, key=lambda vote: vote.choice))
        return [*same][-1]

    return [*map(first_held, record.voters())]


def _tally(record: Record, ballots: Sequence[Vote], everybody: Sequence[str], sure: Sequence[Vote]) -> Tally:
    """Count ballots; what each weighs is how sure its voter was in the vote that is among those in `sure`."""
    weights, options = record.weights(sure), record.texts
    chose = {item: [ballot.participant for ballot in ballots if ballot.choice == item] for item in options}
    voted = {*chain.from_iterable(chose.values())}
    return Tally(
        votes={item: len(who) for item, who in chose.items()},
        weighted={item: sum(weights[each] for each in who) for item, who in chose.items()},
        missing=tuple(item for item in everybody if item not in voted),
    )


Words = Callable[..., str]


def state_text(result: CouncilOutcome, words: Words) -> str:
    """Return the state in a few words, with the votes where they differ."""
    votes = sorted((count for count in result.after.votes.values() if count), reverse=True)
    if len(votes) < MIN_PARTICIPANTS:
        return words(f"council.state.{result.state}")
    # Of a tie each number: "1 to 2" would be none.
    first, *others = votes if result.state == State.TIE else (votes[0], sum(votes[1:]))
    counted = str(first)
    for count in others:
        counted = words("council.votes", first=counted, second=count)
    return f"{words(f'council.state.{result.state}')} · {counted}"


def judge_name(result: CouncilOutcome) -> str:
    """Return the judge's model without its provider."""
    return result.judge.partition("/")[2]


def judge_line(result: CouncilOutcome, letters: Mapping[str, str], words: Words) -> str:
    """Return what the judge came to, or why there is none; "" where none was wanted."""
    if result.failure:
        return words("council.judge.failed", why=words(f"failure.{result.failure}"))
    if not result.judge:
        return ""
    who = words("council.judge.inside" if result.inside else "council.judge.outside", name=judge_name(result))
    chose = "unstable" if result.unstable else {"": "once", NEITHER: "none"}.get(result.choice, "twice")
    return f"{who}: {words(f'council.judge.{chose}', option=letters.get(result.choice, ''))}"


def reliability(result: CouncilOutcome, record: Record, words: Words) -> tuple[str, str]:
    """Return how reliable a verdict is in a sentence, "" where there is none, and its tone: ok, warn
    or neutral.
    """
    if result.failure:
        return words("council.judge.failed", why=words(f"failure.{result.failure}")), "neutral"
    if not result.judge:
        votes = record.voted_rounds and result.state != State.VALUES
        return (words("verdict.band.nobody") if votes else ""), "neutral"
    if result.unstable:
        option = record.texts.get(record.readings()[1].choice, words("verdict.band.neither"))
        return words("verdict.band.unstable", option=option), "warn"
    if not result.choice:
        return words("council.judge.once"), "neutral"
    return words("verdict.band.none" if result.choice == NEITHER else "verdict.band.stable"), "ok"


def view_line(view: View, record: Record, words: Words) -> str:
    """Return who holds something else than the headline, or gave it up."""
    option = record.texts.get(view.option, view.text)
    held = f"{record.letters.get(view.option, '')} {option}".strip()
    who = ", ".join(record.names[holder] for holder in view.holders if holder in record.names)
    line = words("council.holds_now" if view.now else "council.given_up", names=who, option=held)
    return line if view.reason_named else f"{line} ({words('council.no_reason')})"


def cite_text(message: Message, name: str, words: Words) -> str:
    """Return how a statement is cited."""
    if message.part == CouncilPart.ANSWER:
        return words("council.cite", name=name)
    return words("verdict.cite", name=name, round=message.round)


def moves_line(result: CouncilOutcome, words: Words) -> str:
    """Return how many changes of a vote cite what argues for the new option, and how many do not; ""
    where nobody changed.
    """
    moves, cited = result.moves, [move for move in result.moves if move.moved == Moved.CITED]
    # A judge was asked of all that cite something, or the record alone tells.
    judged = any(move.argues is not None for move in moves) and all(move.argues for move in cited)
    key = "council.moves.judged" if judged else "council.moves"
    return words(key, cited=len(cited), drift=len(moves) - len(cited)) if moves else ""


def quote_words(quote: FileQuote, words: Words) -> str:
    """Return whether a quote is in the files, and where."""
    place = words("council.page", file=quote.file, page=quote.page) if quote.page else quote.file
    return words(f"council.quote.{quote.found}", file=place)


def sides_of(claim: Claim, names: Mapping[str, str], words: Words, *, question: bool = False) -> str:
    """Return who holds a claim and who denies it, or who says yes, no and neither to a question."""
    rest = {*names} - {*claim.holds, *claim.denies}
    sides = {"claim.holds": {*claim.holds}, "claim.denies": {*claim.denies}}
    if question:
        sides = {"crux.yes": {*claim.holds}, "crux.no": {*claim.denies}, "crux.open": rest}
    said = {key: ", ".join(name for item, name in names.items() if item in who) for key, who in sides.items()}
    return " · ".join(words(f"council.{key}", names=text) for key, text in said.items() if text)


def unread_lines(result: CouncilOutcome, names: Mapping[str, str], words: Words) -> list[str]:
    """Return whose last turn counts, because the ballot could not be read."""
    who = [names.get(item, "") for item in result.unread if item not in result.after.missing]
    return [words("council.from_turn", names=", ".join(who))] if who else []


class Said(Point):
    """What somebody said, as Markdown; any other point is plain text."""


def point_text(point: Point, messages: Mapping[str, Message], words: Words) -> str:
    """Return a sentence with what it cites of the messages (by id), as text."""
    cited = (messages[cite] for cite in point.cites if cite in messages)
    text = without_marks(point.text) if isinstance(point, Said) else point.text
    return " ".join(filter(None, (text, *(cite_text(item, item.author.name, words) for item in cited))))


def council_parts(record: Record, result: CouncilOutcome, words: Words) -> list[tuple[str, list[Point]]]:
    """Return what follows from a debate or a council in parts, each with its heading and its sentences.

    There are none where nobody answered, or in a debate nobody voted and nobody was to judge.
    """
    debate = record.debate
    wanted = record.council.judges or (debate.concludes and debate.round > debate.rounds)
    if not result.answered or not (debate.is_council or record.voted_rounds or wanted):
        return []
    letters, texts, names = record.letters, record.texts, record.names
    answered = words("council.answered", count=result.answered, asked=result.asked)
    lines = [
        answered if debate.is_council else "",
        words("council.grouped") if "differences" in result.degraded else "",
        words("council.names_visible") if result.names_visible else "",
    ]
    for_leaders = []
    for option in result.leading:
        case, cites = case_for(record, option)
        if case:
            named = Point(text=f"{letters[option]} {texts[option]}")
            for_leaders += [named, Said(text=case, cites=cites)]
    judged = [judge_line(result, letters, words)]
    if "ballots" in result.degraded:
        missing = ", ".join(names.get(item, "") for item in result.after.missing)
        judged += [words("council.missing", names=missing)] if missing else []
        judged += unread_lines(result, names, words)
    # What a judge chose where nobody voted is no vote that is open.
    judged_alone = result.headline and not any(result.after.votes.values())
    heading = words("verdict.title") if judged_alone else state_text(result, words)
    parts = [(heading, [*_points(lines), *for_leaders, *_points(judged)])]
    votes = []
    # Of a council the first and the last votes are told, of a debate all.
    told = sorted({0, record.rounds}) if debate.is_council else record.voted_rounds
    for vote in votes_of(record):
        sure = f" ({words('council.sure', percent=vote.confidence)})" if vote.confidence is not None else ""
        cast = (record.vote(vote.participant, number) for number in told)
        shown = " → ".join(letters.get(item.choice, "–") for item in cast)
        votes.append(f"{names[vote.participant]}: {shown}{sure}")
    votes += [no_vote_text(debate, item, words) for item in debate.participants if record.rounds]
    votes.append(moves_line(result, words))
    if adrift := drifted(record):
        votes.append(words("council.drifted", names=", ".join(names[item] for item in adrift)))
    inside = [name_of(participant.seat) for participant in debate.participants]
    for item in (item for item in debate.no_votes if item.model not in inside):
        why = no_vote_reason(item.reason, words)
        votes.append(words("verdict.no_judging.why", name=seat_of(item.model)[1], reason=why))
    options = [f"{letters[item.id]}  {item.text}" for item in record.options()]
    parts.append((words("council.options"), _points([*options, *votes])))
    report = []
    for view in result.minority if record.rounds else ():
        report.append(Point(text=view_line(view, record, words)))
        if view in in_full(result):
            report.append(Said(text=view.text, cites=view.cites))
            if view.right_if:
                report.append(Point(text=words("council.right_if", text=view.right_if)))
    parts.append((words("council.minority_report"), report))
    turns_on = []
    for crux in result.cruxes:
        settled = words("council.settled_by", text=crux.settled_by) if crux.settled_by else ""
        below = _points([settled, sides_of(crux, names, words, question=True)])
        turns_on += [Point(text=crux.text, cites=crux.cites), *below]
    parts.append((words("council.turns_on"), turns_on))
    claims = []
    for claim in result.claims:
        sides = sides_of(claim, names, words)
        claims.append(Point(text=f"{claim.text} ({sides})" if sides else claim.text, cites=claim.cites))
    parts.append((words("council.claims"), claims))
    if not debate.is_council and not result.judge and wanted:
        said = (last_words(record, who) for who in record.openings)
        last: list[Point] = [Said(text=text, cites=cites[-1:]) for text, cites in said]
        parts.append((words("verdict.last_statements"), last))
    if read := next((reading for reading in record.readings() if reading.agreed or reading.open), None):
        parts += [(words("verdict.agreed"), [*read.agreed]), (words("verdict.open"), [*read.open])]
    unsupported = [Point(text="", cites=result.unsupported)] if result.unsupported else []
    parts.append((words("council.unsupported"), unsupported))
    quotes = ((quote, statement.id) for statement in record.statements() for quote in quotes_of(statement))
    looked_up = [Point(text=f"“{item.text}”: {quote_words(item, words)}", cites=(at,)) for item, at in quotes]
    parts.append((words("council.quotes"), looked_up))
    for kind in ("differ", "agreed"):
        found = []
        for compared in record.points(kind):
            alone = kind == "differ" and compared.only in names
            only = f" ({words('council.only', name=names[compared.only])})" if alone else ""
            found.append(f"{compared.text}{only}")
        parts.append((words(f"council.{kind}"), _points(found)))
    return [(heading, found) for heading, found in parts if found]


def _points(lines: Sequence[str]) -> list[Point]:
    return [Point(text=line) for line in lines if line]
