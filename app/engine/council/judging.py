"""What a council's judge, its dissenters and those from outside are sent, and what of their answers counts; pure.

A judge reads twice, the second time in the opposite order, and learns neither names nor votes nor confidences.
"""

import random
from collections.abc import Mapping, Sequence
from dataclasses import replace

from app.core.json_values import as_list, objects_in
from app.core.message import CouncilPart, Message, Role
from app.core.provider import ModelRequest
from app.core.session import Debate, Participant
from app.engine.council.reading import MOST_CRUXES, JudgeReading
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


def judge_view(debate: Debate, messages: Sequence[Message], number: int, order: int) -> ReaderView:
    """Return what a judge sees after a round; the second order reverses letters, options and openings."""
    record = Record(debate, messages)
    chance = random.Random(f"{debate.seed}/judge/{number}")
    openings, options = list(record.openings().values()), list(record.options())
    people = [one.id for one in debate.participants]
    for drawn in (openings, options, people):
        chance.shuffle(drawn)
        if order != ORDERS[0]:
            drawn.reverse()
    replies = record.statements(number + 1)[len(openings) :]
    return ReaderView((*openings, *replies), tuple(options), dict(zip(people, LETTERS, strict=False)))


def reading_request(
    debate: Debate, messages: Sequence[Message], judge: str, order: int, view: ReaderView, prompts: Prompts
) -> ModelRequest:
    """Return the request for one reading of a judge."""
    prompt = "council-judge" if order == ORDERS[0] else "council-judge-again"
    text = argued_text(debate, messages, "", view, prompt, prompts)
    return to_model(judge, with_seen(debate.context, text), reading_schema(len(view.options), order))


def read_reading(text: str, view: ReaderView) -> dict[str, object]:
    """Return what a reading says, with what was shown; without "choice" where none can be read."""
    found: dict[str, object] = {"shown": [one.id for one in view.options]}
    said = read_object(text) or {}
    if one_line(said.get("choice")).casefold() == NEITHER:
        found["choice"] = NEITHER
    else:
        shown = [(one.id, one.text) for one in view.options]
        # No other option than those shown can be chosen.
        choice = read_choice(text, shown)
        if choice in found["shown"]:  # type: ignore[operator]
            found["choice"] = choice
    if (confidence := confidence_of(said.get("confidence"))) is not None:
        found["confidence"] = confidence
    by_letter = {letter: one.id for letter, one in zip(LETTERS, view.options, strict=False)}
    people = {letter: who for who, letter in view.letters.items()}

    def cited(given: object) -> list[str]:
        numbers = [each for each in as_list(given) if type(each) is int]
        return [view.statements[n - 1].id for n in dict.fromkeys(numbers) if 0 < n <= len(view.statements)]

    def who(value: object) -> list[str]:
        letters = [one_line(one)[-1:].upper() for one in as_list(value)]
        return [people[one] for one in dict.fromkeys(letters) if one in people]

    def claims(part: str, holds: str, denies: str) -> list[dict[str, object]]:
        made = []
        for one in objects_in(said.get(part)):
            first = [one.get("who")] if one.get("who") else []
            sides = [who([*first, *as_list(one.get(holds))]), who(one.get(denies))]
            both = {*sides[0]} & {*sides[1]}
            sides = [[each for each in side if each not in both] for side in sides]
            claim: dict[str, object] = {
                "text": one_line(one.get("text"), MOST_CASE),
                holds: sides[0],
                denies: sides[1],
                "cites": cited(one.get("cites")),
            }
            if settled := one_line(one.get("settled_by"), MOST_CASE):
                claim["settled_by"] = settled
            made.append(claim)
        # What cites nothing that was said is the judge's own.
        return [one for one in made if one["text"] and one["cites"]]

    def points(part: str) -> list[dict[str, object]]:
        made: list[dict[str, object]] = [
            {"text": one_line(one.get("text"), MOST_CASE), "cites": cited(one.get("cites"))}
            for one in objects_in(said.get(part))[:MOST_POINTS]
        ]
        return [one for one in made if one["text"]]

    found["cases"] = [
        {
            "option": by_letter[letter],
            "text": one_line(one.get("text"), MOST_CASE),
            "cites": cited(one.get("cites")),
        }
        for one in objects_in(said.get("cases"))
        if (letter := one_line(one.get("option")).strip(" .()[]*").upper()) in by_letter
        and one_line(one.get("text"))
    ]
    found["agreed"], found["open"] = points("agreed"), points("open")
    found["cruxes"] = claims("cruxes", "yes", "no")[:MOST_CRUXES]
    found["claims"] = claims("claims", "for", "against")[:MOST_CLAIMS]
    found["unsupported"] = cited(said.get("unsupported"))
    return found


def best_case(readings: Sequence[JudgeReading], option: str) -> tuple[str, tuple[str, ...]]:
    """Return the case for an option and what it cites, by the first reading, else the second; "" where there is none."""
    for reading in readings:
        for case in reading.cases:
            if case.option == option:
                return case.text, case.cites
    return "", ()


def dissent_request(
    debate: Debate, messages: Sequence[Message], speaker: Participant, headline: str, prompts: Prompts
) -> ModelRequest:
    """Return the request for the strongest reason of a participant who holds something else than `headline`."""
    record = Record(debate, messages)
    own = [one for one in record.statements(record.rounds + 1) if one.author.id == speaker.id]
    option = next((one.text for one in record.options() if one.id == headline), "")
    case, _ = best_case(record.readings(), headline)
    view = ReaderView(tuple(own))
    text = argued_text(
        debate,
        messages,
        speaker.id,
        view,
        "council-dissent",
        prompts,
        headline=option,
        case=without_names(case, debate),
    )
    return to_model(f"{speaker.provider}/{speaker.model}", with_seen(debate.context, text))


def outside_request(
    debate: Debate, messages: Sequence[Message], model: str, prompts: Prompts, budget: int = 0
) -> ModelRequest:
    """Return the request for an answer of a model that is told of no other's; with a `budget` of tokens to think in."""
    provider, _, name = model.partition("/")
    alone = Participant(id="", name="", provider=provider, model=name)
    request = answer_request(debate, messages, alone, prompts)
    if not budget:
        return request
    head, *rest = request.messages
    more = prompts.text(debate.language, "council-solo", tokens=round(budget, -2) or budget)
    return replace(request, messages=({**head, "content": f"{head['content']}\n\n{more}"}, *rest))


def objection_request(
    debate: Debate, messages: Sequence[Message], model: str, view: ReaderView, prompts: Prompts
) -> ModelRequest:
    """Return the request that looks for what is wrong with what most hold."""
    text = argued_text(debate, messages, "", view, "council-stress", prompts)
    return to_model(model, with_seen(debate.context, text))


def matched(
    said: Mapping[str, object], debate: Debate, messages: Sequence[Message], message: str
) -> dict[str, object]:
    """Return what an answer from outside holds: an option by its short answer, or a new one."""
    found, text = dict(said), one_line(said.get("answer"))
    words = same_words(text)
    same = [
        one.id
        for one in Record(debate, messages).options()
        if words and (same_words(one.text) in words or words in same_words(one.text))
    ]
    if len(same) == 1:
        found["choice"] = same[0]
    elif text:
        found |= {"choice": f"x{message}", "new": text}
    return found


def read_dissent(trailer: str) -> dict[str, object]:
    """Return what would show that a dissenter is right."""
    said = read_object(trailer) or {}
    right = one_line(said.get("right_if"), 2 * MOST_OPTION)
    return {"right_if": right} if right else {}


def tokens_written(messages: Sequence[Message]) -> int:
    """Return how many tokens a council has generated, without those of models from outside who worked alone.

    Where no usage was reported, or it was paid in another session, they are estimated.
    """
    apart = (CouncilPart.SOLO, CouncilPart.CHECK)
    return sum(
        one.usage.output_tokens if one.usage is not None else tokens_of(one.thinking) + tokens_of(one.content)
        for one in messages
        if one.role == Role.ASSISTANT and one.part not in apart and not (one.data or {}).get("joined")
    )
