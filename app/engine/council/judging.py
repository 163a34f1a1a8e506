"""What a council's judge, its dissenters and those from outside are sent, and what of their answers counts; pure.

A judge reads twice, the second time in the opposite order, and learns neither names nor votes nor confidences.
"""

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import TypeVar

from app.core.council_parts import (
    BestCase,
    Claim,
    Dissent,
    JudgedPoint,
    JudgeQuestion,
    JudgeReading,
    Position,
)
from app.core.json_values import as_list, objects_in
from app.core.message import CouncilPart, Message, Role
from app.core.provider import ModelRequest
from app.core.session import Participant
from app.engine.council.reading import MOST_CRUXES
from app.engine.council.record import Record
from app.engine.council.requests import MOST_POINTS, ReaderView, answer_request, argued_text, to_model
from app.engine.debate.families import without_names
from app.engine.debate.replies import (
    LETTERS,
    MOST_OPTION,
    NEITHER,
    confidence_of,
    one_line,
    read_choice,
    read_object,
    same_words,
    schema_list,
    schema_object,
)
from app.engine.history.token_count import tokens_of
from app.engine.prompts import Prompts
from app.engine.requests.attached_files import with_seen

MOST_CASE = 700
MOST_CLAIMS = 12
ORDERS = (1, 2)

SomeClaim = TypeVar("SomeClaim", bound=Claim)

_TEXT = {"type": "string"}
_NUMBERS = schema_list({"type": "integer"})
_LETTERS = schema_list(_TEXT)
_POINTS = schema_list(schema_object(text=_TEXT, cites=_NUMBERS))


def reading_schema(shown: int, order: int) -> Mapping[str, object]:
    """Return the schema of a reading of so many options; the second asks only for the choice and its case."""
    choice = {"type": "string", "enum": [*LETTERS[:shown], NEITHER]}
    cases = schema_list(schema_object(option=_TEXT, text=_TEXT, cites=_NUMBERS))
    first = {"choice": choice, "confidence": {"type": "integer"}, "cases": cases}
    if order != ORDERS[0]:
        return schema_object(**first)
    crux = schema_object(text=_TEXT, settled_by=_TEXT, yes=_LETTERS, no=_LETTERS, cites=_NUMBERS)
    claim = {"text": _TEXT, "who": _TEXT, "cites": _NUMBERS, "for": _LETTERS, "against": _LETTERS}
    return schema_object(
        **first,
        agreed=_POINTS,
        open=_POINTS,
        cruxes=schema_list(crux),
        claims=schema_list(schema_object(**claim)),
        unsupported=_NUMBERS,
    )


def judge_view(record: Record, number: int, order: int) -> ReaderView:
    """Return what a judge sees after a round; the second order reverses letters, options and openings."""
    chance = random.Random(f"{record.debate.seed}/judge/{number}")
    openings, options = list(record.openings().values()), list(record.options())
    people = [seat.id for seat in record.debate.participants]
    for drawn in (openings, options, people):
        chance.shuffle(drawn)
        if order != ORDERS[0]:
            drawn.reverse()
    replies = record.statements(number + 1)[len(openings) :]
    return ReaderView((*openings, *replies), tuple(options), dict(zip(people, LETTERS, strict=False)))


def reading_request(
    record: Record, judge: str, order: int, view: ReaderView, prompts: Prompts
) -> ModelRequest:
    """Return the request for one reading of a judge."""
    prompt = "council-judge" if order == ORDERS[0] else "council-judge-again"
    text = with_seen(record.debate.context, argued_text(record, "", view, prompt, prompts))
    return to_model(judge, text, reading_schema(len(view.options), order))


def read_reading(text: str, view: ReaderView, judge: str = "", order: int = ORDERS[0]) -> JudgeReading:
    """Return what a judge's reading says, with what was shown; without a choice where none can be read."""
    said = read_object(text) or {}
    choice = NEITHER
    if one_line(said.get("choice")).casefold() != NEITHER:
        choice = read_choice(text, [(option.id, option.text) for option in view.options])
    shown = tuple(option.id for option in view.options)
    by_letter = dict(zip(LETTERS, shown, strict=False))
    people = {letter: who for who, letter in view.letters.items()}

    def who(value: object) -> list[str]:
        letters = [one_line(name)[-1:].upper() for name in as_list(value)]
        return [people[letter] for letter in dict.fromkeys(letters) if letter in people]

    def points(part: str) -> Iterator[tuple[str, tuple[str, ...], dict[str, object]]]:
        for given in objects_in(said.get(part)):
            yield one_line(given.get("text"), MOST_CASE), view.cited(given.get("cites")), given

    def judged(part: str) -> tuple[JudgedPoint, ...]:
        some = islice(points(part), MOST_POINTS)
        return tuple(JudgedPoint(text=words, cites=cites) for words, cites, _ in some if words)

    def claims(kind: type[SomeClaim], part: str, holds: str, denies: str) -> Iterator[SomeClaim]:
        for words, cites, given in points(part):
            first = [given["who"]] if given.get("who") else []
            yes, no = who([*first, *as_list(given.get(holds))]), who(given.get(denies))
            # What cites nothing that was said is the judge's own.
            if words and cites:
                yield kind(
                    text=words,
                    holds=tuple(each for each in yes if each not in no),
                    denies=tuple(each for each in no if each not in yes),
                    cites=cites,
                    settled_by=one_line(given.get("settled_by"), MOST_CASE),
                )

    return JudgeReading(
        judge=judge,
        order=order,
        # No other option than those shown can be chosen.
        choice=choice if choice in (NEITHER, *shown) else "",
        confidence=confidence_of(said.get("confidence")),
        shown=shown,
        cases=tuple(
            BestCase(option=by_letter[letter], text=words, cites=cites)
            for words, cites, given in points("cases")
            if (letter := one_line(given.get("option")).strip(" .()[]*").upper()) in by_letter and words
        ),
        agreed=judged("agreed"),
        open=judged("open"),
        questions=tuple(islice(claims(JudgeQuestion, "cruxes", "yes", "no"), MOST_CRUXES)),
        claims=tuple(islice(claims(Claim, "claims", "for", "against"), MOST_CLAIMS)),
        unsupported=view.cited(said.get("unsupported")),
    )


def best_case(readings: Sequence[JudgeReading], option: str) -> tuple[str, tuple[str, ...]]:
    """Return the case for an option and what it cites, by the first reading, else the second; "" where there is none."""
    for reading in readings:
        for case in reading.cases:
            if case.option == option:
                return case.text, case.cites
    return "", ()


def dissent_request(record: Record, speaker: Participant, headline: str, prompts: Prompts) -> ModelRequest:
    """Return the request for the strongest reason of a participant who holds something else than `headline`."""
    debate = record.debate
    own = [one for one in record.statements(record.rounds + 1) if one.author.id == speaker.id]
    option = next((one.text for one in record.options() if one.id == headline), "")
    case, _ = best_case(record.readings(), headline)
    told = {"headline": option, "case": without_names(case, debate)}
    text = argued_text(record, speaker.id, ReaderView(tuple(own)), "council-dissent", prompts, **told)
    return to_model(f"{speaker.provider}/{speaker.model}", with_seen(debate.context, text))


def outside_request(record: Record, model: str, prompts: Prompts, budget: int = 0) -> ModelRequest:
    """Return the request for an answer of a model that is told of no other's; with a `budget` of tokens to think in."""
    provider, _, name = model.partition("/")
    alone = Participant(id="", name="", provider=provider, model=name)
    request = answer_request(record, alone, prompts)
    if not budget:
        return request
    head, *rest = request.messages
    more = prompts.text(record.debate.language, "council-solo", tokens=round(budget, -2) or budget)
    return replace(request, messages=({**head, "content": f"{head['content']}\n\n{more}"}, *rest))


def objection_request(record: Record, model: str, view: ReaderView, prompts: Prompts) -> ModelRequest:
    """Return the request that looks for what is wrong with what most hold."""
    text = argued_text(record, "", view, "council-stress", prompts)
    return to_model(model, with_seen(record.debate.context, text))


def matched(said: Position, record: Record, message: str) -> Position:
    """Return what an answer from outside holds: an option by its short answer, or a new one."""
    words = same_words(said.answer)
    same = [
        one.id
        for one in record.options()
        if words and (same_words(one.text) in words or words in same_words(one.text))
    ]
    if len(same) == 1:
        return replace(said, choice=same[0])
    return replace(said, choice=f"x{message}", new=said.answer) if said.answer else said


def read_dissent(trailer: str) -> Dissent:
    """Return what would show that a dissenter is right."""
    said = read_object(trailer) or {}
    return Dissent(right_if=one_line(said.get("right_if"), 2 * MOST_OPTION))


def tokens_written(messages: Sequence[Message]) -> int:
    """Return how many tokens a council has generated, without those of models from outside who worked alone.

    Where no usage was reported, or it was paid in another session, they are estimated.
    """
    apart = (CouncilPart.SOLO, CouncilPart.CHECK)
    return sum(
        one.usage.output_tokens if one.usage is not None else tokens_of(one.thinking) + tokens_of(one.content)
        for one in messages
        if one.role == Role.ASSISTANT and one.part not in apart and not one.data_as(Position).joined
    )
