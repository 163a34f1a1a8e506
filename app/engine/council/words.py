"""What follows from a council in words, for the command line, documents and the window; pure.

`words` gives a text by its key `council.<name>`, with its blanks filled.
"""

from collections.abc import Callable, Mapping, Sequence

from app.core.council_parts import Claim, FileQuote
from app.core.message import CouncilPart, Message
from app.core.session import MIN_PARTICIPANTS, DebateSession
from app.core.verdict import Point
from app.engine.council.outcome import CouncilOutcome, State, View, case_for, in_full, outcome, votes_of
from app.engine.council.quotes import quotes_of
from app.engine.council.record import Record
from app.engine.debate.replies import LETTERS, NEITHER, without_marks

Words = Callable[..., str]


def lettered(record: Record) -> dict[str, str]:
    """Return each option's letter by its id."""
    return {one.id: letter for letter, one in zip(LETTERS, record.options(), strict=False)}


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
    if result.unstable:
        said = words("council.judge.unstable")
    elif not result.choice:
        said = words("council.judge.once")
    elif result.choice == NEITHER:
        said = words("council.judge.none")
    else:
        said = words("council.judge.twice", option=letters.get(result.choice, ""))
    return f"{who}: {said}"


def view_line(view: View, record: Record, words: Words) -> str:
    """Return who holds something else than the headline, or gave it up."""
    names = {one.id: one.name for one in record.debate.participants}
    who = ", ".join(names.get(one, "") for one in view.holders)
    option = next((one.text for one in record.options() if one.id == view.option), "")
    held = f"{lettered(record).get(view.option, '')} {option}".strip()
    if view.now:
        return words("council.holds_now", names=who, option=held)
    line = words("council.given_up", names=who, option=held)
    return line if view.reason_named else f"{line} ({words('council.no_reason')})"


def cite_text(message: Message, name: str, words: Words) -> str:
    """Return how a statement is cited."""
    if message.part == CouncilPart.ANSWER:
        return words("council.cite", name=name)
    return words("verdict.cite", name=name, round=message.round)


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
    said = {key: ", ".join(name for one, name in names.items() if one in who) for key, who in sides.items()}
    return " · ".join(words(f"council.{key}", names=text) for key, text in said.items() if text)


def unread_lines(result: CouncilOutcome, names: Mapping[str, str], words: Words) -> list[str]:
    """Return whose last turn counts, because the ballot could not be read."""
    who = [names.get(one, "") for one in result.unread if one not in result.after.missing]
    return [words("council.from_turn", names=", ".join(who))] if who else []


def point_text(point: Point, messages: Mapping[str, Message], words: Words) -> str:
    """Return a sentence with what it cites of the messages (by id), as text."""
    cited = (
        cite_text(messages[one], messages[one].author.name, words) for one in point.cites if one in messages
    )
    return " ".join(filter(None, (point.text, *cited)))


def verdict_parts(
    session: DebateSession, messages: Sequence[Message], words: Words
) -> list[tuple[str, list[Point]]]:
    """Return the verdict in parts, each with its heading and its sentences; nothing where nobody answered."""
    record, result = Record(session.debate, messages), outcome(session.debate, messages)
    if not result.answered:
        return []
    letters = lettered(record)
    texts = {one.id: one.text for one in record.options()}
    names = {one.id: one.name for one in session.debate.participants}
    lines = [words("council.answered", count=result.answered, asked=result.asked)]
    if "differences" in result.degraded:
        lines.append(words("council.grouped"))
    if result.names_visible:
        lines.append(words("council.names_visible"))
    for_leaders = []
    for option in [result.headline] if result.headline else result.after.leaders():
        case, cites = case_for(record, option)
        if case:
            for_leaders += [
                Point(text=f"{letters[option]} {texts[option]}"),
                Point(text=without_marks(case), cites=cites),
            ]
    judged = [*filter(None, (judge_line(result, letters, words),))]
    if "ballots" in result.degraded:
        missing = ", ".join(names.get(one, "") for one in result.after.missing)
        judged += [words("council.missing", names=missing)] if missing else []
        judged += unread_lines(result, names, words)
    parts = [(state_text(result, words), [*_points(lines), *for_leaders, *_points(judged)])]
    votes = []
    for vote in votes_of(record):
        before = letters.get(record.ballots[vote.participant].choice, "–")
        now = letters.get(vote.choice, "–")
        sure = f" ({words('council.sure', percent=vote.confidence)})" if vote.confidence is not None else ""
        held = f"{before} → {now}" if record.rounds else now
        votes.append(f"{names[vote.participant]}: {held}{sure}")
    options = [f"{letters[one.id]}  {one.text}" for one in record.options()]
    parts.append((words("council.options"), _points([*options, *votes])))
    report = []
    for view in result.minority if record.rounds else ():
        report.append(Point(text=view_line(view, record, words)))
        if view in in_full(result):
            report.append(Point(text=without_marks(view.text), cites=view.cites))
            if view.right_if:
                report.append(Point(text=words("council.right_if", text=view.right_if)))
    parts.append((words("council.minority_report"), report))
    turns_on = []
    for crux in result.cruxes:
        turns_on.append(Point(text=crux.text, cites=crux.cites))
        if crux.settled_by:
            turns_on.append(Point(text=words("council.settled_by", text=crux.settled_by)))
        turns_on.append(Point(text=sides_of(crux, names, words, question=True)))
    parts.append((words("council.turns_on"), turns_on))
    claims = []
    for claim in result.claims:
        sides = sides_of(claim, names, words)
        claims.append(Point(text=f"{claim.text} ({sides})" if sides else claim.text, cites=claim.cites))
    parts.append((words("council.claims"), claims))
    if read := next((one for one in record.readings() if one.agreed or one.open), None):
        parts += [(words("verdict.agreed"), [*read.agreed]), (words("verdict.open"), [*read.open])]
    unsupported = [Point(text="", cites=result.unsupported)] if result.unsupported else []
    parts.append((words("council.unsupported"), unsupported))
    quotes = [
        Point(text=f"“{quote.text}”: {quote_words(quote, words)}", cites=(said.id,))
        for said in record.statements(record.rounds + 1)
        for quote in quotes_of(said)
    ]
    parts.append((words("council.quotes"), quotes))
    for kind in ("differ", "agreed"):
        found = []
        for compared in record.points(kind):
            alone = kind == "differ" and compared.only in names
            only = f" ({words('council.only', name=names[compared.only])})" if alone else ""
            found.append(f"{compared.text}{only}")
        parts.append((words(f"council.{kind}"), _points(found)))
    return [(heading, found) for heading, found in parts if found]


def _points(lines: Sequence[str]) -> list[Point]:
    return [Point(text=line) for line in lines]
