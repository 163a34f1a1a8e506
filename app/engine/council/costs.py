"""What the next step of a council will use, with the real lengths of what was asked and said; pure."""

from collections.abc import Sequence

from app.core.message import Message
from app.core.session import Council, Debate
from app.engine.council.director import comparison_due
from app.engine.council.outcome import surest
from app.engine.council.record import Record
from app.engine.council.requests import tokens_written
from app.engine.debate.estimates import Call, Pair
from app.engine.history.token_count import tokens_of

# Tokens: the frame of a request, the options, what a ballot, a comparison, two readings and a dissent are; and a statement
# where nobody has made one yet.
_FRAME, _OPTIONS, _BALLOT, _COMPARED, _READING, _DISSENT, _STATEMENT = 120, 60, 25, 350, 410, 170, 300
# What thinking adds at most.
_THOUGHT = 2


def calls_of(
    debate: Debate, messages: Sequence[Message], what: str, judge: str, outsider: str, length: int
) -> list[Call]:
    """Return the calls of a step: compare, merge, again, debate, argue, judge, stress, check or solo.

    `length` is 0 for what they use at least and 1 for at most; `judge` reads at the end, "" for nobody.
    """
    record, council = Record(debate, messages), debate.council or Council()
    said = [tokens_of(one.content) for one in record.statements(record.rounds + 1)]
    one = sum(said) // len(said) if said else _STATEMENT
    asked = _FRAME + sum(
        tokens_of(text) for text in (record.asked_all, *(file.text for file in debate.context))
    )
    written = one * (_THOUGHT if length else 1)
    people = [(each.provider, each.model) for each in debate.participants]
    voters = [(each.provider, each.model) for each in debate.participants if each.id in record.openings()]
    helper, heard = _pair(council.helper), sum(said)
    # Whatever is wanted, a comparison that nobody could make comes first.
    first = what not in ("compare", "again") and comparison_due(record)
    calls: list[Call] = [(helper, asked + heard, _COMPARED)] if first else []
    match what:
        case "compare":
            calls = [(helper, asked + heard, _COMPARED)]
        case "merge":
            calls += [(helper, asked + heard, written)]
        case "again":
            calls = [(each, asked, written) for each in people]
            calls += (
                [(helper, asked + one * len(people), _COMPARED)]
                if council.differences and council.helper
                else []
            )
        case "check":
            calls += [(_pair(outsider), asked, written)]
        case "solo":
            best = next(
                (each for each in debate.participants if each.id == surest(record)), debate.participants[0]
            )
            most = tokens_written(record.since)
            calls += [((best.provider, best.model), asked, max(one, most) if length else one)]
        case "debate" | "argue" | "stress" | "judge":
            for _ in range({"debate": council.offered_rounds if length else 1, "argue": 1}.get(what, 0)):
                calls += [(each, asked + _OPTIONS + heard, written) for each in voters]
                heard += one * len(voters)
            if what == "stress":
                sceptic = next(
                    (each for each in debate.participants if each.id == surest(record, least=True)), None
                )
                pair = (sceptic.provider, sceptic.model) if sceptic and not outsider else _pair(outsider)
                calls.append((pair, asked + _OPTIONS + heard, written))
                heard += one
            if what != "judge":
                calls += [
                    (each, asked + _OPTIONS + heard, _BALLOT * (_THOUGHT if length else 1)) for each in voters
                ]
            if judge:
                calls += [
                    (_pair(judge), asked + _OPTIONS + heard, _READING * (_THOUGHT if length else 1))
                ] * 2
                calls += [(each, asked + 3 * one, _DISSENT) for each in voters[: 2 * length]]
    return calls


def _pair(model: str) -> Pair:
    provider, _, name = model.partition("/")
    return provider, name
