"""What a council's models are sent, and what of the helper's answer counts; pure.

The question and the files are sent as they are, to everybody. Nobody who answers learns who else is asked.
"""

import random
import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from app.core.council_parts import ComparedPoint, Differences, Option, Position, Question, Quote
from app.core.json_values import as_list, objects_in
from app.core.message import CouncilPart, Message, MessageState, Role
from app.core.model_facts import Effort
from app.core.provider import ModelRequest, one_message
from app.core.session import Debate, Participant
from app.engine.council.quotes import PLAIN_SIGNS
from app.engine.council.record import Record
from app.engine.debate.families import without_names
from app.engine.debate.motion import asks_about_motion
from app.engine.debate.replies import (
    LETTERS,
    MOST_OPTIONS,
    OTHER,
    confidence_of,
    one_line,
    read_choice,
    read_object,
    same_words,
    schema_list,
    schema_object,
)
from app.engine.prompts import Prompts
from app.engine.requests.answer_style import length_words, temperature_of
from app.engine.requests.attached_files import context_text, with_seen

MOST_POINTS = 6
MOST_QUOTE = 300
MOST_EVIDENCE = 3_000
SMALL_TOKENS = 160
BALLOT_TOKENS = 400
_MOST_SMALL = 6_000

_TEXT = {"type": "string"}


_QUOTES = schema_list(schema_object(answer={"type": "integer"}, text=_TEXT))
DIFFERENCES: Mapping[str, object] = schema_object(
    options=schema_list(schema_object(text=_TEXT, answers=schema_list({"type": "integer"}))),
    differ=schema_list(schema_object(text=_TEXT, quotes=_QUOTES)),
    agreed=schema_list(schema_object(text=_TEXT, quotes=_QUOTES)),
)


def answer_request(record: Record, speaker: Participant, prompts: Prompts) -> ModelRequest:
    """Return the request for a participant's own answer: what was asked of it, and what it answered itself."""
    debate = record.debate
    system = [*_instructions(debate, speaker, prompts), prompts.text(debate.language, "council-rules")]
    files = _files(debate, prompts)
    blocks: list[dict[str, object]] = []
    for message in _own_conversation(record, speaker):
        own = message.part == CouncilPart.ANSWER
        text = message.content.strip() if own or blocks else "\n\n".join([message.content.strip(), *files])
        role = Role.ASSISTANT if own else Role.USER
        if blocks and blocks[-1]["role"] == role:
            text = f"{blocks.pop()['content']}\n\n{text}"
        blocks.append({"role": role, "content": text})
    task = prompts.text(debate.language, "council-answer")
    blocks[-1] = {"role": Role.USER, "content": f"{blocks[-1]['content']}\n\n{task}"}
    blocks[0]["content"] = with_seen(debate.context, blocks[0]["content"])
    return _of(speaker, {"role": Role.SYSTEM, "content": "\n\n".join(system)}, *blocks)


def _of(speaker: Participant, *messages: dict[str, object]) -> ModelRequest:
    return ModelRequest(
        provider=speaker.provider,
        model=speaker.model,
        messages=messages,
        effort=speaker.effort,
        temperature=temperature_of(speaker.creativity),
    )


def small_request(record: Record, speaker: Participant) -> ModelRequest:
    """Return the request for an answer of a model that takes no chat messages: the question alone."""
    asked = [one for one in _own_conversation(record, speaker) if one.part == CouncilPart.QUESTION]
    text = "\n\n".join([*(file.text for file in record.debate.context), asked[-1].content])[-_MOST_SMALL:]
    return one_message(speaker.provider, speaker.model, text, max_tokens=SMALL_TOKENS, temperature=0.4)


def differences_request(record: Record, order: Sequence[Message], prompts: Prompts) -> ModelRequest:
    """Return the request that compares the answers, which are numbered in this order and have no names."""
    debate, question = record.debate, record.asked_all.strip()
    text = prompts.text(
        debate.language, "council-differences", question=question, answers=_numbered(debate, order)
    )
    if asks_about_motion(question):
        text += "\n" + prompts.line(debate.language, "council-words", "motion")
    return _to_helper(debate, text, schema=DIFFERENCES)


@dataclass(frozen=True, slots=True)
class ReaderView:
    """What one reader sees of a debate: the statements in order, the options in an order of its own, and which is argued `again`."""

    statements: tuple[Message, ...] = ()
    options: tuple[Option, ...] = ()
    letters: Mapping[str, str] = field(default_factory=dict)
    again: str = ""

    def cited(self, numbers: object) -> tuple[str, ...]:
        """Return the ids of the statements with these numbers, each once; whatever else is given is passed over."""
        numbered = {number: statement.id for number, statement in enumerate(self.statements, 1)}
        given = [number for number in as_list(numbers) if type(number) is int]
        return tuple(numbered[number] for number in dict.fromkeys(given) if number in numbered)


def turn_request(record: Record, speaker: Participant, view: ReaderView, prompts: Prompts) -> ModelRequest:
    """Return the request for a participant's turn in a round: only what is open is argued."""
    return _argued(record, speaker, view, "council-turn", prompts)


def ballot_request(record: Record, voter: Participant, view: ReaderView, prompts: Prompts) -> ModelRequest:
    """Return the request for a secret ballot on the options in this reader's order."""
    request = _argued(record, voter, view, "council-ballot", prompts)
    letters = [*LETTERS[: len(view.options)], OTHER]
    schema = schema_object(
        choice={"type": "string", "enum": letters},
        text=_TEXT,
        confidence={"type": "integer"},
        moved_by=schema_list({"type": "integer"}),
    )
    return replace(request, schema=schema, max_tokens=BALLOT_TOKENS, effort=Effort.AUTO)


def view_of(record: Record, reader: str, number: int, *, ballot: bool) -> ReaderView:
    """Return what a participant sees in a round, or after it for a ballot; letters are drawn anew for each reader."""
    chance = random.Random(f"{record.debate.seed}/{reader}/{number}/{ballot}")
    options = list(record.options(number + ballot, number))
    chance.shuffle(options)
    people = [seat.id for seat in record.debate.participants]
    chance.shuffle(people)
    own = record.openings().get(reader)
    statements = record.statements(number + ballot) if number else [own] if own else []
    return ReaderView(
        tuple(statements),
        tuple(options),
        dict(zip(people, LETTERS, strict=False)),
        "" if ballot else record.argued(number),
    )


def read_vote(text: str, view: ReaderView, message: str) -> Position:
    """Return what a trailer or a ballot says: the option, a new one, how sure, what moved; stored with what was shown."""
    said = read_object(text) or {}
    choice, new = read_choice(text, [(option.id, option.text) for option in view.options]), ""
    if choice == OTHER:
        new = one_line(said.get("text"))
        same = next((option.id for option in view.options if same_words(option.text) == same_words(new)), "")
        choice = same or (f"x{message}" if new else "")
        new = "" if same else new
    return Position(
        shown=tuple(option.id for option in view.options),
        new=new,
        choice=choice,
        confidence=confidence_of(said.get("confidence")),
        moved_by=view.cited(said.get("moved_by")),
    )


def argued_text(
    record: Record, reader: str, view: ReaderView, prompt: str, prompts: Prompts, **more: object
) -> str:
    """Return what a reader is sent of a debate: the question and files, what is settled and open, the statements."""
    debate = record.debate
    lines = prompts.lines(debate.language, "council-words")

    def by(who: str) -> str:
        if who == reader:
            return lines["yours"]
        return lines["by"].format(letter=view.letters[who]) if who in view.letters else lines["outside"]

    said = [
        f"({number}) {by(one.author.id)}: {without_names(one.content.strip(), debate, view.letters)}"
        for number, one in enumerate(view.statements, 1)
    ]
    settled = "\n".join(f"- {one.text}" for one in record.points("agreed")) or f"- {lines['nothing']}"
    options = "\n".join(
        f"{letter}: {without_names(one.text, debate, view.letters)}"
        for letter, one in zip(LETTERS, view.options, strict=False)
    )
    again = [letter for letter, one in zip(LETTERS, view.options, strict=False) if one.id == view.again]
    options += "".join(f"\n\n{lines['again'].format(letter=letter)}" for letter in again)
    return prompts.text(
        debate.language,
        prompt,
        question="\n\n".join([record.asked_all.strip(), *_files(debate, prompts), *_evidence(record, lines)]),
        settled=settled,
        options=options,
        statements="\n\n".join(said),
        **more,
    )


def _argued(
    record: Record, speaker: Participant, view: ReaderView, prompt: str, prompts: Prompts
) -> ModelRequest:
    text = argued_text(record, speaker.id, view, prompt, prompts)
    told = {"role": Role.USER, "content": with_seen(record.debate.context, text)}
    head = "\n\n".join(_instructions(record.debate, speaker, prompts))
    return _of(speaker, {"role": Role.SYSTEM, "content": head}, told) if head else _of(speaker, told)


def _evidence(record: Record, lines: Mapping[str, str]) -> list[str]:
    """Return what tools found for the answers, numbered and cut: nobody argues from what others cannot see."""
    found = [
        f"e{number} ({one_line(call)}):\n{text.strip()[:MOST_EVIDENCE]}"
        for number, (call, text) in enumerate(record.evidence(), 1)
    ]
    return [lines["evidence"], *found] if found else []


def merge_request(record: Record, order: Sequence[Message], prompts: Prompts) -> ModelRequest:
    """Return the request for one answer made of all."""
    question, answers = record.asked_all.strip(), _numbered(record.debate, order)
    text = prompts.text(record.debate.language, "council-merge", question=question, answers=answers)
    return _to_helper(record.debate, text)


def numbered(record: Record) -> list[Message]:
    """Return the answers in the order in which the helper reads them, the first as number 1."""
    found = list(record.answers().values())
    question = record.question
    random.Random(f"{record.debate.seed}/{question.id if question else ''}").shuffle(found)
    return found


def read_differences(text: str, order: Sequence[Message]) -> Differences | None:
    """Return what an answer says of the differences, None where it says nothing that counts.

    `order` are the answers as they were numbered. Each stands under one option at most, and words that are in no
    answer are no quotes.
    """
    said = read_object(text)
    if said is None:
        return None
    options: list[Option] = []
    taken: set[int] = set()
    for one in objects_in(said.get("options"))[:MOST_OPTIONS]:
        option = one_line(one.get("text"))
        answers = [
            number
            for number in as_list(one.get("answers"))
            if type(number) is int and 0 < number <= len(order)
        ]
        backers = [order[number - 1].author.id for number in dict.fromkeys(answers) if number not in taken]
        taken.update(answers)
        if option and backers:
            options.append(Option(id=f"o{len(options) + 1}", text=option, backers=tuple(sorted(backers))))
    if not options:
        return None
    return Differences(
        order=tuple(one.id for one in order),
        options=tuple(options),
        differ=_points(said.get("differ"), order),
        agreed=_points(said.get("agreed"), order),
    )


def with_names(text: str, order: Sequence[Message]) -> str:
    """Return a merged answer that says "(GPT)" where the helper, who knew no names, wrote "(1)"."""

    def named(found: re.Match[str]) -> str:
        numbers = [int(one) for one in re.findall(r"\d+", found[1])]
        if not all(0 < one <= len(order) for one in numbers):
            return found[0]
        return f"({', '.join(order[one - 1].author.name for one in numbers)})"

    return re.sub(r"\((\d{1,2}(?:, ?\d{1,2})*)\)", named, text)


def found_in(text: str, words: str) -> str:
    """Return the part of a text that says these words letter for letter, whatever its spaces, quotes and dashes."""
    plain, places = _plain(text)
    wanted, _ = _plain(words.strip())
    wanted = wanted.strip()
    place = plain.find(wanted) if wanted else -1
    return text[places[place] : places[place + len(wanted) - 1] + 1] if place >= 0 else ""


def _plain(text: str) -> tuple[str, list[int]]:
    """Return a text with plain spaces, quotes and dashes, and each character's place in the text."""
    plain: list[str] = []
    places: list[int] = []
    for place, character in enumerate(text):
        for each in unicodedata.normalize("NFC", character).translate(PLAIN_SIGNS):
            one = " " if each.isspace() else each
            if one == " " and plain and plain[-1] == " ":
                continue
            plain.append(one)
            places.append(place)
    return "".join(plain), places


def _points(value: object, order: Sequence[Message]) -> tuple[ComparedPoint, ...]:
    points: list[ComparedPoint] = []
    for one in objects_in(value)[:MOST_POINTS]:
        text = one_line(one.get("text"), MOST_QUOTE)
        if not text:
            continue
        quotes = []
        for quote in objects_in(one.get("quotes")):
            number, words = quote.get("answer"), quote.get("text")
            if type(number) is not int or not 0 < number <= len(order) or not isinstance(words, str):
                continue
            if words := found_in(order[number - 1].content, words[:MOST_QUOTE]):
                quotes.append(Quote(message=order[number - 1].id, text=words))
        said_in = {quote.message for quote in quotes}
        who = {answer.author.id for answer in order if answer.id in said_in}
        only = who.pop() if len(who) == 1 and len(order) > 2 else ""
        points.append(ComparedPoint(text=text, quotes=tuple(quotes), only=only))
    return tuple(points)


def _own_conversation(record: Record, speaker: Participant) -> list[Message]:
    """Return what a participant was asked and answered since it was last asked afresh, its last question last."""
    said: list[Message] = []
    for one in record.all:
        asked = one.data_as(Question)
        if one.part == CouncilPart.QUESTION and (not asked.to or speaker.id in asked.to):
            if not asked.follows:
                said.clear()
            said.append(one)
        elif (
            one.part == CouncilPart.ANSWER and one.author.id == speaker.id and one.state == MessageState.DONE
        ):
            said.append(one)
    while said and said[-1].part == CouncilPart.ANSWER:
        said.pop()
    return said


def _instructions(debate: Debate, speaker: Participant, prompts: Prompts) -> list[str]:
    """Return what a participant is told of itself, and how long it should answer."""
    own = speaker.system_prompt.strip() or speaker.persona.strip()
    asked = debate.instructions and prompts.line(
        debate.language, "assistant", "folder", text=debate.instructions
    )
    length = length_words(speaker.length, prompts.lines(debate.language, "assistant"))
    return [*filter(None, (own, asked, *length))]


def _files(debate: Debate, prompts: Prompts) -> list[str]:
    words = prompts.lines(debate.language, "assistant")
    return [
        prompts.text(
            debate.language,
            "council-file",
            name=" ".join(file.name.split()),
            text=context_text(file, words),
        )
        for file in debate.context
    ]


def _numbered(debate: Debate, order: Sequence[Message]) -> str:
    return "\n\n".join(
        f"({number}) {without_names(one.content.strip(), debate)}" for number, one in enumerate(order, 1)
    )


def _to_helper(debate: Debate, text: str, schema: Mapping[str, object] | None = None) -> ModelRequest:
    return to_model(debate.council.helper if debate.council else "", text, schema)


def to_model(model: str, content: object, schema: Mapping[str, object] | None = None) -> ModelRequest:
    """Return the request that sends one message to a "provider/model"."""
    provider, _, name = model.partition("/")
    return one_message(provider, name, content, schema=schema)
