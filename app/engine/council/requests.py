"""What models are sent beside the turns of a debate, and what of their answers counts: voters, helper,
judge, dissenters; pure.

The question and the files are sent as they are, to everybody. Nobody who answers learns who else is asked. A
judge reads twice, the second time in the opposite order, and learns neither names nor votes nor confidences.
"""

import random
import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field, replace
from itertools import accumulate, islice
from typing import TypeVar

from app.core import council_parts as data
from app.core.council import Option, Participant
from app.core.definitions import Effort
from app.core.files import with_files
from app.core.frozen import Frozen
from app.core.json_values import as_list, objects_in, read_object, schema_list, schema_object
from app.core.message import Author, CouncilPart, Message, MessageState, Role
from app.core.provider import ModelRequest, one_message
from app.engine.council.outcome import State, outcome, support
from app.engine.council.record import MOST_CRUXES, PLAIN_SIGNS, Move, Moved, QuoteState, Record, quotes_of
from app.engine.debate import replies
from app.engine.debate.families import without_names
from app.engine.debate.notes import MOST_STATEMENT, MOST_WITH_FILES, shortened
from app.engine.debate.perspective import asked_as_set_up
from app.engine.history import context_text, merged, tokens_of, with_seen
from app.engine.names import label_of
from app.engine.prompts import Prompts
from app.engine.request import WINDOW, length_words
from app.engine.voting import name_of, seat_of

MOST_POINTS = 6
MOST_QUOTE = 300
MOST_EVIDENCE = 3_000
SMALL_TOKENS = 160
BALLOT_TOKENS = 400
_MOST_SMALL = 6_000

Schema = Mapping[str, object]

_TEXT: Schema = {"type": "string"}
_NUMBER = {"type": "integer"}
_NUMBERS = schema_list(_NUMBER)


_QUOTES = schema_list(schema_object(answer=_NUMBER, text=_TEXT))
DIFFERENCES: Schema = schema_object(
    options=schema_list(schema_object(text=_TEXT, answers=_NUMBERS)),
    differ=schema_list(schema_object(text=_TEXT, quotes=_QUOTES)),
    agreed=schema_list(schema_object(text=_TEXT, quotes=_QUOTES)),
)


def read_options(text: str) -> data.Differences | None:
    """Return the options that an answer names, each once; None where there are not two."""
    said = read_object(text) or {}
    texts = replies.each_once(as_list(said.get("options")))[: replies.MOST_OPTIONS]
    options = replies.numbered_options(texts, "question")
    return data.Differences(options=options) if len(options) > 1 else None


class ReaderView(Frozen, kw_only=False):
    """What one reader sees of a debate: the statements in order, the options in an order of its own,
    and which is argued `again`.
    """

    statements: tuple[Message, ...] = ()
    options: tuple[Option, ...] = ()
    letters: Mapping[str, str] = field(default_factory=dict)
    again: str = ""

    def lettered(self) -> Iterator[tuple[str, Option]]:
        """Yield the options with the letters under which this reader sees them."""
        return zip(replies.LETTERS, self.options, strict=False)

    def chosen(self, text: str) -> str:
        """Return the id of the option that a text chooses, as `read_choice` does."""
        return replies.read_choice(text, [(option.id, option.text) for option in self.options])

    def cited(self, numbers: object) -> tuple[str, ...]:
        """Return the ids of the statements with these numbers, each once;
        whatever else is given is passed over.
        """
        return tuple(self.statements[one - 1].id for one in replies.numbers_in(numbers, len(self.statements)))


def view_of(record: Record, reader: str, number: int, *, ballot: bool) -> ReaderView:
    """Return what a participant sees in a round, or after it for a ballot; letters are drawn anew
    for each reader.
    """
    chance = random.Random(f"{record.debate.seed}/{reader}/{number}/{ballot}")
    options = list(record.options(number + ballot, number))
    chance.shuffle(options)
    people = [seat.id for seat in record.debate.participants]
    chance.shuffle(people)
    own = [opening for who, opening in record.openings.items() if who == reader]
    statements = record.statements(number + ballot) if number else own
    if not record.debate.is_council:
        statements = record.statements(number + ballot)[-WINDOW:]
    letters, again = dict(zip(people, replies.LETTERS, strict=False)), "" if ballot else record.argued(number)
    return ReaderView(tuple(statements), tuple(options), letters, again)


def read_vote(text: str, view: ReaderView, message: str) -> data.Position:
    """Return what a trailer or a ballot says: the option, a new one, how sure, what moved; stored
    with what was shown.
    """
    said = read_object(text) or {}
    choice, new = view.chosen(text), ""
    if choice == replies.OTHER:
        new = replies.one_line(said.get("text"))
        alike = (item.id for item in view.options if replies.same_words(item.text) == replies.same_words(new))
        same = next(alike, "")
        choice = same or (f"x{message}" if new else "")
        new = "" if same else new
    sure, moved_by = replies.confidence_of(said.get("confidence")), view.cited(said.get("moved_by"))
    shown = tuple(option.id for option in view.options)
    return data.Position(shown=shown, new=new, choice=choice, confidence=sure, moved_by=moved_by)


def numbered(record: Record) -> list[Message]:
    """Return the answers in the order in which the helper reads them, the first as number 1."""
    found = list(record.answers().values())
    question = record.question
    random.Random(f"{record.debate.seed}/{question.id if question else ''}").shuffle(found)
    return found


def read_differences(text: str, order: Sequence[Message]) -> data.Differences | None:
    """Return what an answer says of the differences, None where it says nothing that counts.

    `order` are the answers as they were numbered. Each stands under one option at most, and words that are in
    no answer are no quotes.
    """
    said = read_object(text)
    if said is None:
        return None
    options: list[Option] = []
    taken: set[int] = set()
    for item in objects_in(said.get("options"))[: replies.MOST_OPTIONS]:
        option = replies.one_line(item.get("text"))
        answers = replies.numbers_in(item.get("answers"), len(order))
        backers = sorted(order[number - 1].author.id for number in answers if number not in taken)
        taken.update(answers)
        if option and backers:
            options.append(Option(id=f"o{len(options) + 1}", text=option, backers=tuple(backers)))
    if not options:
        return None
    differ, agreed = _points(said.get("differ"), order), _points(said.get("agreed"), order)
    numbered = tuple(message.id for message in order)
    return data.Differences(order=numbered, options=tuple(options), differ=differ, agreed=agreed)


def with_names(text: str, order: Sequence[Message]) -> str:
    """Return a merged answer that says "(GPT)" where the helper, who knew no names, wrote "(1)"."""

    def named(found: re.Match[str]) -> str:
        numbers = [int(item) for item in re.findall(r"\d+", found[1])]
        if not all(0 < number <= len(order) for number in numbers):
            return found[0]
        return f"({', '.join(order[number - 1].author.name for number in numbers)})"

    return re.sub(r"\((\d{1,2}(?:, ?\d{1,2})*)\)", named, text)


def found_in(text: str, words: str) -> str:
    """Return the part of a text that says these words letter for letter, whatever its spaces, quotes
    and dashes.
    """
    wanted = " ".join(words.translate(PLAIN_SIGNS).split())
    places = [found.span() for found in re.finditer(r"\S+", text)]
    plain = " ".join(text[start:end].translate(PLAIN_SIGNS) for start, end in places)
    at = plain.find(wanted)
    if at < 0 or not wanted:
        return ""
    # Each word begins in `plain` behind those before it and a space after each.
    begins = list(accumulate((end - start + 1 for start, end in places), initial=0))

    def place(of: int) -> int:
        word = bisect_right(begins, of) - 1
        return places[word][0] + of - begins[word]

    return text[place(at) : place(at + len(wanted) - 1) + 1]


def _points(value: object, order: Sequence[Message]) -> tuple[data.ComparedPoint, ...]:
    points: list[data.ComparedPoint] = []
    for item in objects_in(value)[:MOST_POINTS]:
        text = replies.one_line(item.get("text"), MOST_QUOTE)
        if not text:
            continue
        quotes, who = [], set()
        for quote in objects_in(item.get("quotes")):
            words = quote["text"] if isinstance(quote.get("text"), str) else ""
            for number in replies.numbers_in([quote.get("answer")], len(order)):
                answer = order[number - 1]
                if found := found_in(answer.content, words[:MOST_QUOTE]):
                    quotes.append(data.Quote(message=answer.id, text=found))
                    who.add(answer.author.id)
        only = who.pop() if len(who) == 1 and len(order) > 2 else ""
        points.append(data.ComparedPoint(text=text, quotes=tuple(quotes), only=only))
    return tuple(points)


def _own_conversation(record: Record, speaker: Participant) -> list[Message]:
    """Return what a participant was asked and answered since it was last asked afresh,
    its last question last.
    """
    said: list[Message] = []
    for message in record.all:
        asked = message.data_as(data.Question)
        answers = message.part == CouncilPart.ANSWER and message.author.id == speaker.id
        if message.part == CouncilPart.QUESTION and (not asked.to or speaker.id in asked.to):
            said = [*(said if asked.follows else ()), message]
        elif answers and message.state == MessageState.DONE:
            said.append(message)
    while said and said[-1].part == CouncilPart.ANSWER:
        said.pop()
    return said


MOST_CASE = 700
MOST_CLAIMS = 12
ORDERS = (1, 2)

SomeClaim = TypeVar("SomeClaim", bound=data.Claim)

_LETTERS = schema_list(_TEXT)
_POINTS = schema_list(schema_object(text=_TEXT, cites=_NUMBERS))


def reading_schema(shown: int, order: int) -> Schema:
    """Return the schema of a reading of so many options; the second asks only for the choice and its case."""
    choice = {"type": "string", "enum": [*replies.LETTERS[:shown], replies.NEITHER]}
    cases = schema_list(schema_object(option=_TEXT, text=_TEXT, cites=_NUMBERS))
    first = {"choice": choice, "confidence": _NUMBER, "cases": cases, "values": {"type": "boolean"}}
    if order != ORDERS[0]:
        return schema_object(**first)
    crux = schema_object(text=_TEXT, settled_by=_TEXT, yes=_LETTERS, no=_LETTERS, cites=_NUMBERS)
    claim = {"text": _TEXT, "who": _TEXT, "cites": _NUMBERS, "for": _LETTERS, "against": _LETTERS}
    said = {"agreed": _POINTS, "open": _POINTS, "cruxes": schema_list(crux)}
    return schema_object(**first, **said, claims=schema_list(schema_object(**claim)), unsupported=_NUMBERS)


def judge_view(record: Record, number: int, order: int) -> ReaderView:
    """Return what a judge sees after a round; the second order reverses letters, options and openings."""
    chance = random.Random(f"{record.debate.seed}/judge/{number}")
    said, options = record.statements(number + 1), list(record.options())
    # In a debate what was said answers what came before it, but for openings that were made unseen.
    unseen = record.debate.is_council or record.debate.independent_opening
    openings = [opening for opening in record.openings.values() if unseen]
    people = [seat.id for seat in record.debate.participants]
    for drawn in (openings, options, people):
        chance.shuffle(drawn)
        if order != ORDERS[0]:
            drawn.reverse()
    first = {opening.id for opening in openings}
    statements = (*openings, *(message for message in said if message.id not in first))
    return ReaderView(statements, tuple(options), dict(zip(people, replies.LETTERS, strict=False)))


def read_reading(text: str, view: ReaderView, judge: str = "", order: int = ORDERS[0]) -> data.JudgeReading:
    """Return what a judge's reading says, with what was shown; without a choice where none can be read."""
    said = read_object(text) or {}
    choice = replies.NEITHER
    if replies.one_line(said.get("choice")).casefold() != replies.NEITHER:
        choice = view.chosen(text)
    shown = tuple(option.id for option in view.options)
    by_letter = {letter: option.id for letter, option in view.lettered()}
    people = {letter: who for who, letter in view.letters.items()}

    def who(value: object) -> list[str]:
        letters = [replies.one_line(name)[-1:].upper() for name in as_list(value)]
        return [people[letter] for letter in dict.fromkeys(letters) if letter in people]

    def points(part: str) -> Iterator[tuple[str, tuple[str, ...], dict[str, object]]]:
        for given in objects_in(said.get(part)):
            yield replies.one_line(given.get("text"), MOST_CASE), view.cited(given.get("cites")), given

    def judged(part: str) -> tuple[data.JudgedPoint, ...]:
        some = islice(points(part), MOST_POINTS)
        return tuple(data.JudgedPoint(text=words, cites=cites) for words, cites, _ in some if words)

    def claims(kind: type[SomeClaim], part: str, holds: str, denies: str) -> Iterator[SomeClaim]:
        for words, cites, given in points(part):
            first = [given["who"]] if given.get("who") else []
            yes, no = who([*first, *as_list(given.get(holds))]), who(given.get(denies))
            # What cites nothing that was said is the judge's own.
            if words and cites:
                claim = kind(
                    text=words,
                    holds=tuple(each for each in yes if each not in no),
                    denies=tuple(each for each in no if each not in yes),
                    cites=cites,
                    settled_by=replies.one_line(given.get("settled_by"), MOST_CASE),
                )
                # Who denies several parts at once may hold some of them; a question is asked as it is.
                whole = no or kind is data.JudgeQuestion
                parts = [words] if whole else replies.parts_of(words)
                yield from (replace(claim, text=item) for item in parts)

    return data.JudgeReading(
        judge=judge,
        order=order,
        # No other option than those shown can be chosen.
        choice=choice if choice in (replies.NEITHER, *shown) else "",
        confidence=replies.confidence_of(said.get("confidence")),
        shown=shown,
        cases=tuple(
            data.BestCase(option=by_letter[sign], text=words, cites=cites)
            for words, cites, given in points("cases")
            if (sign := replies.one_line(given.get("option")).strip(" .()[]*").upper()) in by_letter and words
        ),
        agreed=judged("agreed"),
        open=judged("open"),
        questions=tuple(islice(claims(data.JudgeQuestion, "cruxes", "yes", "no"), MOST_CRUXES)),
        claims=tuple(islice(claims(data.Claim, "claims", "for", "against"), MOST_CLAIMS)),
        unsupported=view.cited(said.get("unsupported")),
        values=said.get("values") is True,
    )


def read_moves(text: str, moves: Sequence[Move]) -> data.JudgedMoves | None:
    """Return what a judge says of these moves, in the order in which they were numbered; None
    where it says nothing of any.
    """
    found: dict[int, list[bool]] = {}
    for item in objects_in((read_object(text) or {}).get("moves")):
        for number in replies.numbers_in([item.get("move")], len(moves)):
            if isinstance(argues := item.get("argues"), bool):
                found.setdefault(number, []).append(argues)
    judged = tuple(
        data.JudgedMove(participant=move.participant, round=move.round, argues=said[0])
        for number, move in enumerate(moves, 1)
        if len(said := found.get(number, [])) == 1
    )
    return data.JudgedMoves(moves=judged) if judged else None


class Requests:
    """What models are sent beside the turns of a debate or a council, as its record is now."""

    def __init__(self, record: Record, prompts: Prompts) -> None:
        self._record, self._debate, self._prompts = record, record.debate, prompts
        language, names = record.debate.language, ("council-words", "assistant")
        self._lines, self._words = (prompts.lines(language, name) for name in names)

    def answer(self, speaker: Participant, verdict: str = "") -> ModelRequest:
        """Return the request for a participant's own answer: what was asked of it,
        and what it answered itself.

        A follow-up has the last `verdict` before it, without names: nobody learns who else is asked.
        """
        system = [*self._instructions(speaker), self._text("council-rules")]
        said = _own_conversation(self._record, speaker)
        # In a debate the question is no message.
        asked, later = said[0].content.strip() if said else self._record.whole_question, said[1:]
        told = [(Role.USER, text) for text in (asked, *self._files())]
        for message in later:
            role = Role.ASSISTANT if message.part == CouncilPart.ANSWER else Role.USER
            told.append((role, message.content.strip()))
        if verdict and later:
            told.insert(-1, (Role.USER, f"{self._lines['verdict']}\n{self._unnamed(verdict)}"))
        told.append((Role.USER, self._text("council-answer")))
        blocks = merged([{"role": role, "content": text} for role, text in told])
        blocks[0]["content"] = with_seen(self._debate.context, blocks[0]["content"])
        return asked_as_set_up(speaker, {"role": Role.SYSTEM, "content": "\n\n".join(system)}, *blocks)

    def small(self, speaker: Participant) -> ModelRequest:
        """Return the request for an answer of a model that takes no chat messages: the question alone."""
        asked = [msg for msg in _own_conversation(self._record, speaker) if msg.part == CouncilPart.QUESTION]
        text = "\n\n".join([*(file.text for file in self._debate.context), asked[-1].content])[-_MOST_SMALL:]
        return one_message(*speaker.seat, text, max_tokens=SMALL_TOKENS, temperature=0.4)

    def differences(self, order: Sequence[Message]) -> ModelRequest:
        """Return the request that compares the answers, which are numbered in this order and have no
        names.
        """
        text, before = self._asking("council-differences", answers=self._numbered(order)), self._record.before
        # What is held as before a what-if round stands under the same words.
        known = self._debate.options or (before.options() if before is not None else ())
        if self._record.asks_about_motion and not self._debate.options:
            text += "\n" + self._lines["motion"]
        elif given := "; ".join(option.text for option in known):
            text += "\n" + self._lines["given"].format(options=given)
        return self._to_helper(text, DIFFERENCES)

    def options(self) -> ModelRequest:
        """Return the request that looks for the answers that a debate's question can have."""
        return self._to_helper(self._asking("debate-options"), schema_object(options=schema_list(_TEXT)))

    def turn(self, speaker: Participant, view: ReaderView) -> ModelRequest:
        """Return the request for a participant's turn in a round: only what is open is argued."""
        return self._argued(speaker, view, "council-turn")

    def ballot(self, voter: Participant, view: ReaderView, notes: str = "") -> ModelRequest:
        """Return the request for a secret ballot on the options in this reader's order.

        `notes` are the running notes of a debate on what is no longer sent.
        """
        choice = {"type": "string", "enum": [*replies.LETTERS[: len(view.options)], replies.OTHER]}
        schema = schema_object(choice=choice, text=_TEXT, confidence=_NUMBER, moved_by=_NUMBERS)
        request = self._argued(voter, view, "council-ballot", notes)
        return replace(request, schema=schema, max_tokens=BALLOT_TOKENS, effort=Effort.AUTO)

    def merge(self, order: Sequence[Message]) -> ModelRequest:
        """Return the request for one answer made of all, with what supports each side."""
        answers = "\n".join([self._numbered(order), *self._support(order)])
        return self._to_helper(self._asking("council-merge", answers=answers))

    def rewrite(self, text: str, characters: int) -> ModelRequest:
        """Return the request that writes an answer anew for the blind pick, in about so many characters."""
        said = self._unnamed(text)
        return self._to_helper(self._asking("blind-answer", text=said, characters=characters))

    def reading(self, judge: str, order: int, view: ReaderView) -> ModelRequest:
        """Return the request for one reading of a judge."""
        prompt = "council-judge" if order == ORDERS[0] else "council-judge-again"
        schema = reading_schema(len(view.options), order)
        return self._to_model(judge, self._argued_text("", view, prompt), schema)

    def moves(self, judge: str, moves: Sequence[Move]) -> ModelRequest:
        """Return the request in which a judge says of each move whether something that it cites argues
        for the new option.
        """
        said = self._record.statements()
        texts = {message.id: self._unnamed(message.content.strip()[:MOST_STATEMENT]) for message in said}
        texts |= {option.id: self._unnamed(option.text) for option in self._record.options()}
        listed = []
        for number, move in enumerate(moves, 1):
            cited = (f"“{texts[cite]}”" for cite in move.cites)
            listed.append("\n".join((f"({number}) {texts.get(move.option, '')}", *cited)))
        judged = schema_object(move=_NUMBER, argues={"type": "boolean"})
        text = self._asking("council-moves", moves="\n\n".join(listed))
        return one_message(*seat_of(judge), text, schema=schema_object(moves=schema_list(judged)))

    def dissent(self, speaker: Participant, headline: str) -> ModelRequest:
        """Return the request for the strongest reason of a participant who holds something else
        than `headline`.
        """
        said = self._record.statements()
        own = ReaderView(tuple(message for message in said if message.author.id == speaker.id))
        case, most = self._unnamed(self._record.best_case(headline)[0]), self._record.texts.get(headline, "")
        text = self._argued_text(speaker.id, own, "council-dissent", headline=most, case=case)
        return self._to_model(name_of(speaker.seat), text)

    def outside(self, model: str, budget: int = 0) -> ModelRequest:
        """Return the request for an answer of a model that is told of no other's; with a `budget`
        of tokens to think in.
        """
        provider, name = seat_of(model)
        request = self.answer(Participant(id="", name="", provider=provider, model=name))
        head, *rest = request.messages
        if budget:
            more = self._text("council-solo", tokens=round(budget, -2) or budget)
            head = {**head, "content": f"{head['content']}\n\n{more}"}
        return replace(request, messages=(head, *rest))

    def objection(self, model: str, view: ReaderView) -> ModelRequest:
        """Return the request that looks for what is wrong with what most hold."""
        return self._to_model(model, self._argued_text("", view, "council-stress"))

    def _text(self, prompt: str, **told: object) -> str:
        return self._prompts.text(self._debate.language, prompt, **told)

    def _asking(self, prompt: str, **told: object) -> str:
        """Return a prompt with the question."""
        return self._text(prompt, question=self._record.whole_question, **told)

    def _unnamed(self, text: str, letters: Mapping[str, str] | None = None) -> str:
        return without_names(text, self._debate, letters)

    def _to_helper(self, text: str, schema: Schema | None = None) -> ModelRequest:
        return one_message(*seat_of(self._record.council.helper), text, schema=schema)

    def _to_model(self, model: str, text: str, schema: Schema | None = None) -> ModelRequest:
        """Return the request that sends a "provider/model" one message, with the files that it sees."""
        return one_message(*seat_of(model), with_seen(self._debate.context, text), schema=schema)

    def _argued(self, speaker: Participant, view: ReaderView, prompt: str, notes: str = "") -> ModelRequest:
        text = self._argued_text(speaker.id, view, prompt, notes)
        if speaker.role:
            text += "\n" + self._lines["side"]
        head = self._instructions(speaker)
        system = [{"role": Role.SYSTEM, "content": "\n\n".join(head)}] if head else []
        files = [file for statement in view.statements if statement.by_user for file in statement.attachments]
        content = with_seen((*self._debate.context, *files), text)
        return asked_as_set_up(speaker, *system, {"role": Role.USER, "content": content})

    def _argued_text(self, who: str, view: ReaderView, prompt: str, notes: str = "", **told: object) -> str:
        """Return what a reader is sent of a debate: the question and files, what is settled and open,
        the statements.
        """
        council, lines, words = self._debate.is_council, self._lines, self._words

        def by(author: Author) -> str:
            if author.id == who:
                return lines["yours"]
            if author.kind == "user":
                return label_of(author)
            letter = view.letters.get(author.id)
            return lines["by"].format(letter=letter) if letter else lines["outside"]

        def text_of(message: Message) -> str:
            text = self._unnamed(with_files(message, words).strip(), view.letters)
            most = MOST_WITH_FILES if message.attachments else MOST_STATEMENT
            return text if council else text[:most]

        said = [f"({n}) {by(item.author)}: {text_of(item)}" for n, item in enumerate(view.statements, 1)]
        settled = "\n".join(f"- {point.text}" for point in self._record.points("agreed"))
        shown = [f"{letter}: {self._unnamed(item.text, view.letters)}" for letter, item in view.lettered()]
        argued = (letter for letter, option in view.lettered() if option.id == view.again)
        again = [lines["again"].format(letter=letter) for letter in argued]
        noted = [f"{words['debate_notes']}\n{notes}"] if notes else []
        about = (self._record.whole_question, *self._files(), *self._evidence(), *noted)
        return self._text(
            prompt,
            question="\n\n".join(about),
            how=lines.get(f"{prompt.removesuffix('-again')}.{'answers' if council else 'turns'}", ""),
            settled=settled or f"- {lines['nothing']}",
            options="\n\n".join(["\n".join(shown), *again]),
            statements="\n\n".join(said if council else shortened(said)),
            **told,
        )

    def _evidence(self) -> list[str]:
        """Return what tools found for the answers, numbered and cut: nobody argues
        from what others cannot see.
        """
        found = [
            f"e{number} ({replies.one_line(call)}):\n{text.strip()[:MOST_EVIDENCE]}"
            for number, (call, text) in enumerate(self._record.evidence(), 1)
        ]
        return [self._lines["evidence"], *found] if found else []

    def _support(self, order: Sequence[Message]) -> Iterator[str]:
        """Yield what supports each option that is held, and which one is better supported; nothing
        where all hold the same.
        """
        record, lines, result = self._record, self._lines, outcome(self._record)
        sides, known = support(result), {*record.voters()} <= {*record.calibrated}
        if len(sides) < 2:
            return
        options = {option.id: option for option in record.options()}
        texts = {side: self._unnamed(options[side].text) for side in sides}
        yield f"\n{lines['support']}"
        for side, (_leads, votes, _came) in sides.items():
            numbers = [n for n, each in enumerate(order, 1) if each.author.id in options[side].backers]
            quotes = [quote.found for number in numbers for quote in quotes_of(order[number - 1])]
            ways = [move.moved for move in result.moves if move.option == side]
            cited, found = ways.count(Moved.CITED), len(quotes) - quotes.count(QuoteState.MISSING)
            # Once it is known of all how right they have been, the weights say it.
            percent = round(200 * (result.after.weighted[side] / votes - 0.5))
            told: dict[str, Mapping[str, object]] = {
                "held": {"votes": votes, "all": len(record.voters())},
                "answers": {"numbers": ", ".join(map(str, numbers))} if numbers else {},
                "right": {"percent": percent} if known else {},
                "moved": {"cited": cited, "drift": len(ways) - cited} if ways else {},
                "quotes": {"found": found, "count": len(quotes)} if quotes else {},
                "judged": {"option": side} if result.choice == side else {},
            }
            said = (lines[f"support.{key}"].format(**values) for key, values in told.items() if values)
            yield f"- {texts[side]}: {'; '.join(said)}"
        values, (best, *_) = result.state == State.VALUES, sides.values()
        first = [texts[side] for side, rank in sides.items() if values or rank == best]
        yield lines["support.alike" if len(first) > 1 else "support.better"].format(option=" / ".join(first))

    def _instructions(self, speaker: Participant) -> list[str]:
        """Return what a participant is told of itself, and how long it should answer."""
        own, of_folder = speaker.system_prompt.strip() or speaker.persona.strip(), self._debate.instructions
        asked = self._words["folder"].format(text=of_folder) if of_folder else ""
        return [*filter(None, (own, asked, *length_words(speaker.length, self._words)))]

    def _files(self) -> list[str]:
        files = ((" ".join(one.name.split()), context_text(one, self._words)) for one in self._debate.context)
        return [self._text("council-file", name=name, text=text) for name, text in files]

    def _numbered(self, order: Sequence[Message]) -> str:
        texts = enumerate((self._unnamed(message.content.strip()) for message in order), 1)
        return "\n\n".join(f"({number}) {text}" for number, text in texts)


def matched(said: data.Position, record: Record, message: str) -> data.Position:
    """Return what an answer from outside holds: an option by its short answer, or a new one."""
    words = replies.same_words(said.answer)
    texts = {option.id: replies.same_words(option.text) for option in record.options()}
    same = [item for item, text in texts.items() if words and (text in words or words in text)]
    if len(same) == 1:
        return replace(said, choice=same[0])
    return replace(said, choice=f"x{message}", new=said.answer) if said.answer else said


def read_dissent(trailer: str) -> data.Dissent:
    """Return what would show that a dissenter is right."""
    said = read_object(trailer) or {}
    return data.Dissent(right_if=replies.one_line(said.get("right_if"), 2 * replies.MOST_OPTION))


def tokens_written(messages: Sequence[Message]) -> int:
    """Return how many tokens a council has generated, without those of models from outside who worked alone.

    Where no usage was reported, or it was paid in another session, they are estimated.
    """
    apart = (CouncilPart.SOLO, CouncilPart.CHECK)
    return sum(
        msg.usage.output_tokens if msg.usage is not None else tokens_of(msg.thinking) + tokens_of(msg.content)
        for msg in messages
        if msg.role == Role.ASSISTANT and msg.part not in apart and not msg.data_as(data.Position).joined
    )
