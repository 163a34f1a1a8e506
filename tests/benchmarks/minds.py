"""Simulated minds that hold a council: each knows the others only from the request that it is sent.

What they are asked, when, and what counts of what they say is the program's own: `next_steps`, the requests, the readers
and `outcome`. They check the program; they claim nothing about models.
"""

import json
import random
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from app.core.council import BINS, Calibration, Participant
from app.core.message import Author, CouncilPart, Message, Role
from app.core.provider import ModelRequest
from app.core.session import Council, Debate, DebateMode
from app.engine.council.director import CouncilStep, next_steps, seen_by
from app.engine.council.outcome import CouncilOutcome, outcome
from app.engine.council.record import Record
from app.engine.council.requests import (
    ReaderView,
    Requests,
    numbered,
    read_differences,
    read_reading,
    read_vote,
)
from app.engine.debate.replies import TrailerCleaner, read_trailer
from tests.benchmarks.puzzles import Answer, Puzzle
from tests.builders import PROMPTS

NAMES = ("Claude", "GPT", "Gemini", "Mistral", "Qwen")
REASONS = 270
"""The tokens of the 180 words of reasons that a statement has, which are counted and not written."""
_STATEMENT = re.compile(r"^\((\d+)\) (Your own|Participant [A-Z]): (.*?)(?=^\(\d+\) |\Z)", re.M | re.S)
_OPTION = re.compile(r"^([A-Z]): (.+)$", re.M)
_ANSWER = re.compile(r"^\((\d+)\) (.*?)(?=^\(\d+\) |\Z)", re.M | re.S)


@dataclass(frozen=True, slots=True)
class Regime:
    """What the minds are like: `right` alone, in one draw of the family with the share `alike`.

    A peer who is right puts `mended` of those right who are wrong, one who is wrong leads `misled` of the others astray, and
    `gives_in` of those follow a majority whom neither moved. `copies` follow any peer, whatever it says. Of those who give in
    the share `lies` names a statement all the same: one of its own, one that isn't there, or one for something else.
    With `known` it is known of each how often it has been right.
    """

    right: tuple[float, ...]
    alike: float = 0.3
    mended: float = 0.5
    misled: float = 0.1
    gives_in: float = 0.1
    families: str = "abcde"
    copies: bool = False
    lies: float = 0.0
    known: bool = False


REGIMES = {
    "sound": Regime((0.7,) * 3),
    "voter": Regime((0.7,) * 3, copies=True),
    "conformist": Regime((0.7,) * 3, 0.3, 0.15, 0.1, 0.6),
    "one family": Regime((0.7,) * 3, 0.85, 0.4, 0.1, 0.3, "aaa"),
    "strong + 2 weak": Regime((0.85, 0.5, 0.5), 0.3, 0.3, 0.3, 0.5, "abb"),
    "five mixed": Regime((0.65,) * 5, 0.35, 0.35, 0.12, 0.3),
    "false citers": Regime((0.65,) * 5, 0.35, 0.35, 0.12, 0.5, lies=0.2),
    "two sides": Regime((0.85, 0.75, 0.5, 0.5, 0.5), 0.4, 0.35, 0.12, 0.5, "abccc", known=True),
}
JUDGE_RIGHT, JUDGE_FIRST, JUDGE_FOLLOWS = 0.65, 0.25, 0.25
"""How often the judge's own work is right, and how often it takes the first option, or what most say, instead."""
MODELS = {"a": "claude-x", "b": "gpt-x", "c": "gemini-x", "d": "mistral-x", "e": "qwen-x"}


@dataclass(slots=True)
class Held:
    """A council that was held: its tokens are those of all requests and answers."""

    debate: Debate
    messages: list[Message]
    tokens: int = 0
    requests: list[tuple[CouncilStep, ModelRequest]] | None = None

    @property
    def result(self) -> CouncilOutcome:
        """What follows from it."""
        return outcome(Record(self.debate, self.messages))


@dataclass(slots=True)
class Minds:
    """The minds of a council on one puzzle; what they draw depends on whose turn it is, never on when it comes."""

    regime: Regime
    puzzle: Puzzle
    seed: str
    # Whether a mind changed what it held for a statement, by its seat and the round.
    changes: dict[tuple[int, int], bool] = field(default_factory=dict)

    def chance(self, *parts: object) -> random.Random:
        """Return the draws for one moment."""
        return random.Random("/".join(map(str, (self.seed, *parts))))

    def alone(self, seat: int) -> Answer:
        """Return the answer of a mind that knows no other's."""
        family, right = self.regime.families[seat], self.regime.right[seat]
        own, common = self.chance("own", seat), self.chance("family", family)
        chance = common if own.random() < self.regime.alike else own
        return self.puzzle.solution if chance.random() < right else self._wrong(chance)

    def _wrong(self, chance: random.Random) -> Answer:
        solution = self.puzzle.solution
        while True:
            answer = tuple(chance.random() < 0.5 for _ in solution)
            if answer != solution:
                return answer

    def after(
        self, own: Answer, others: Sequence[tuple[int, Answer]], chance: random.Random
    ) -> tuple[Answer, int]:
        """Return what a mind holds after it has read the others' statements, and the number of the one that moved it."""
        regime, solution = self.regime, self.puzzle.solution
        if regime.copies:
            number, answer = chance.choice([*others, (0, own)])
            return answer, number if answer != own else 0
        for number, answer in others:
            share = regime.mended if answer == solution else regime.misled
            if answer != own and solution in (answer, own) and chance.random() < share:
                return answer, number
        held = [answer for _, answer in others]
        most = max(held, key=held.count)
        if most != own and held.count(most) * 2 > len(held) and chance.random() < regime.gives_in:
            return most, 0
        return own, 0

    def reply(self, step: CouncilStep, request: ModelRequest) -> str:
        """Answer a request by what stands in it."""
        text = str(request.messages[-1]["content"])
        if step.part == CouncilPart.DIFFERENCES:
            return self._compared(text)
        if step.part == CouncilPart.READING:
            return self._judged(text)
        if step.part == CouncilPart.MERGE:
            return self._merged(text)
        if step.part == CouncilPart.DISSENT:
            return "Because."
        seat = int(step.who[1:])
        if step.part == CouncilPart.ANSWER:
            answer, sure = self.alone(seat), self.chance("sure", seat).randint(55, 95)
            said = json.dumps({"answer": self.puzzle.text(answer), "confidence": sure})
            return f"{self.puzzle.text(answer)}. Because.\n@@ {said}"
        own, others = self.puzzle.solution, {}
        for number, who, words in _STATEMENT.findall(text):
            answer = self.puzzle.read(words.partition(". ")[0])
            assert answer is not None, words
            if who == "Your own":
                own = answer
            else:
                others[who] = (int(number), answer)
        moved = 0
        if step.part == CouncilPart.TURN:
            # The letters are drawn for each reader: the order in which it hears the others is chance.
            heard, chance, before = sorted(others.values()), self.chance("turn", seat, step.number), own
            own, moved = self.after(own, heard, chance)
            if own != before:
                self.changes[seat, step.number] = moved > 0
                if not moved and chance.random() < self.regime.lies:
                    said = {number for number, _who, _words in _STATEMENT.findall(text)}
                    for_it = {number for number, answer in heard if answer == own}
                    moved = chance.choice(
                        [number for number in range(1, len(said) + 3) if number not in for_it]
                    )
        words = self.puzzle.text(own)
        letter = next((one for one, option in _OPTION.findall(text) if option == words), "other")
        said = json.dumps(
            {"choice": letter, "text": words, "confidence": 70, "moved_by": [moved] if moved else []}
        )
        return said if step.part == CouncilPart.BALLOT else f"{words}. Because.\n@@ {said}"

    def _judged(self, text: str) -> str:
        """Judge as a model of medium worth: by place in the list, by what most say, or by own work, which is often right."""
        letters, chance = {option: letter for letter, option in _OPTION.findall(text)}, self.chance("judge")
        way, right, draw = chance.random(), chance.random() < JUDGE_RIGHT, chance.random()
        said = [words.partition(". ")[0] for _number, _who, words in _STATEMENT.findall(text)]
        if way < JUDGE_FIRST:
            chosen = "A"
        elif way < JUDGE_FIRST + JUDGE_FOLLOWS:
            chosen = letters.get(max(sorted(said), key=said.count), "none")
        elif right:
            chosen = letters.get(self.puzzle.text(self.puzzle.solution), "none")
        else:
            wrong = sorted(option for option in letters if option != self.puzzle.text(self.puzzle.solution))
            chosen = letters[wrong[int(draw * len(wrong))]] if wrong else "none"
        lists: dict[str, list[object]] = {"cases": [], "agreed": [], "open": [], "cruxes": []}
        return json.dumps({"choice": chosen, "confidence": 70, **lists})

    def _merged(self, text: str) -> str:
        """Take the side that is said to be the better supported, both of two that are alike, else the average."""
        told = re.search(r"^(?:Better|Alike) supported: (.+)$", text, re.M)
        if told:
            return told[1]
        answers = [self.puzzle.read(words.partition(". ")[0]) for _number, words in _ANSWER.findall(text)]
        return self.puzzle.text(average([one for one in answers if one is not None]))

    def _compared(self, text: str) -> str:
        holds: dict[str, list[int]] = {}
        for number, words in _ANSWER.findall(text):
            holds.setdefault(words.partition(". ")[0], []).append(int(number))
        options = [{"text": words, "answers": numbers} for words, numbers in holds.items()]
        return json.dumps({"options": options, "differ": [], "agreed": []})


def average(answers: Sequence[Answer]) -> Answer:
    """Return the answer in the middle of several: each person is what the mean of them says."""
    return tuple(2 * sum(kinds) > len(answers) for kinds in zip(*answers, strict=True))


def hold(
    minds: Minds,
    goes_on: Callable[[Held], Council | None],
    chance: random.Random | None = None,
    *,
    keep: bool = False,
) -> Held:
    """Hold a council; `goes_on` says what the user wants next, None for nothing.

    With `chance` the calls end in any order, and the program is killed now and then: what was under way is asked again.
    """
    regime = minds.regime
    people = tuple(
        Participant(id=f"p{seat}", name=NAMES[seat], provider=f"r{seat}", model=MODELS[regime.families[seat]])
        for seat in range(len(regime.right))
    )
    debate = Debate(
        topic=minds.puzzle.question,
        mode=DebateMode.COUNCIL,
        participants=people,
        seed=hash_of(minds.seed),
        council=Council(helper="r9/helper", calibrations=_known(regime, people)),
    )
    question = Message(
        id="q",
        turn_id="q",
        role=Role.USER,
        author=Author(id="user", name="You"),
        content=debate.topic,
        part="question",
    )
    held = Held(debate, [question], requests=[] if keep else None)
    flying: dict[CouncilStep, tuple[ModelRequest, ReaderView, list[Message]]] = {}
    while True:
        due = next_steps(Record(held.debate, held.messages))
        if not due:
            more = goes_on(held)
            if more is None:
                return held
            held.debate = replace(held.debate, council=more)
            continue
        if chance is not None and chance.random() < 0.15:
            flying.clear()
        for step in due:
            if step not in flying:
                flying[step] = _begun(held, step)
        place = chance.randrange(len(flying)) if chance is not None else 0
        for step in [[*flying][place]] if chance is not None else [*flying]:
            held.messages.append(_ended(held, minds, step, *flying.pop(step)))


def _known(regime: Regime, people: Sequence[Participant]) -> tuple[Calibration, ...]:
    """Return how often each has been right: each seat of a model has the same share."""
    rates = {
        f"{one.provider}/{one.model}": round(100 * right)
        for one, right in zip(people, regime.right, strict=True)
    }
    known = rates.items() if regime.known else ()
    return tuple(Calibration(model=model, rates=(rate,) * len(BINS)) for model, rate in known)


def hash_of(text: str) -> int:
    """Return a number for a text, the same in every process."""
    return random.Random(text).getrandbits(32)


def _begun(held: Held, step: CouncilStep) -> tuple[ModelRequest, ReaderView, list[Message]]:
    debate, messages = held.debate, held.messages
    record = Record(debate, messages)
    order = [] if step.who else numbered(record)
    view, asking = seen_by(record, step), Requests(record, PROMPTS)
    if step.part == CouncilPart.DIFFERENCES:
        return asking.differences(order), view, order
    if step.part == CouncilPart.MERGE:
        return asking.merge(order), view, order
    if step.part == CouncilPart.READING:
        return asking.reading(step.model, step.order, view), view, order
    speaker = next(one for one in debate.participants if one.id == step.who)
    if step.part == CouncilPart.DISSENT:
        headline = outcome(Record(debate, messages)).headline
        return asking.dissent(speaker, headline), view, order
    if step.part == CouncilPart.ANSWER:
        return asking.answer(speaker), view, order
    argue = asking.turn if step.part == CouncilPart.TURN else asking.ballot
    return argue(speaker, view), view, order


def _ended(
    held: Held, minds: Minds, step: CouncilStep, request: ModelRequest, view: ReaderView, order: list[Message]
) -> Message:
    reply = minds.reply(step, request)
    spoken = step.part in (CouncilPart.ANSWER, CouncilPart.TURN)
    held.tokens += (sum(len(str(one["content"])) for one in request.messages) + len(reply)) // 4
    read = len(order) if not step.who else 0 if step.part == CouncilPart.ANSWER else len(view.statements)
    held.tokens += REASONS * (read + spoken)
    if held.requests is not None:
        held.requests.append((step, request))
    number = f"{step.part}-{step.who}-{step.number}-{step.order}-{step.retakes}"
    name = next((one.name for one in held.debate.participants if one.id == step.who), "helper")
    message = Message(
        id=number,
        turn_id=number,
        role=Role.ASSISTANT,
        author=Author(id=step.who or "helper", name=name, kind="participant"),
        part=step.part,
        round=step.number,
        retakes=step.retakes,
    )
    if step.part == CouncilPart.DIFFERENCES:
        return replace(message, content=reply, data=read_differences(reply, order))
    if step.part == CouncilPart.READING:
        data = read_reading(reply, view, step.model, step.order)
        return replace(message, content=reply, data=data)
    if step.part == CouncilPart.MERGE:
        return replace(message, content=reply)
    if step.part == CouncilPart.BALLOT:
        return replace(message, content=reply, data=read_vote(reply, view, number))
    cleaner = TrailerCleaner.for_name(name)
    shown = cleaner.feed(reply)[0] + cleaner.finish()[0]
    said = (
        read_trailer(cleaner.trailer)
        if step.part == CouncilPart.ANSWER
        else read_vote(cleaner.trailer, view, number)
    )
    return replace(message, content=shown.strip(), data=said)


# What the user wants


def cheap(held: Held) -> Council | None:
    """Debate only what is open, for at most two rounds."""
    council = held.debate.council
    assert council is not None
    open_ = sum(count > 0 for count in held.result.after.votes.values()) > 1
    return replace(council, rounds=2, judges=("r8/judge",)) if open_ and not council.rounds else None


def forced(held: Held) -> Council | None:
    """Debate for three rounds whatever comes of each, with a ballot of all after each."""
    council = held.debate.council
    assert council is not None
    return replace(council, rounds=council.rounds + 1, debated=council.rounds) if council.rounds < 3 else None


def three_rounds(held: Held) -> Council | None:
    """Debate for three rounds at once, in which each says in its turn what it holds."""
    council = held.debate.council
    assert council is not None
    return replace(council, rounds=3) if not council.rounds else None


def merged(held: Held) -> Council | None:
    """Merge the answers as they are."""
    council = held.debate.council
    assert council is not None
    return replace(council, merges=1) if not council.merges else None


def argued_and_merged(held: Held) -> Council | None:
    """Debate for three rounds at once, and merge then."""
    return three_rounds(held) or merged(held)


def merge_right(held: Held, minds: Minds) -> float:
    """Return how much of a merged answer is right, by the label of its puzzle: 1, a share of sides that are alike, or 0."""
    [text] = [one.content for one in held.messages if one.part == CouncilPart.MERGE]
    sides = [minds.puzzle.read(one) for one in text.split(" / ")]
    return sides.count(minds.puzzle.solution) / len(sides)


def average_right(held: Held, minds: Minds) -> tuple[bool, float]:
    """Return whether the average of what all hold is right, by the label of its puzzle, and of how many of them that is."""
    record = Record(held.debate, held.messages)
    texts = {one.id: one.text for one in record.options()}
    votes = (record.vote(who, record.rounds).choice for who in record.voters())
    held_now = [answer for one in votes if (answer := minds.puzzle.read(texts.get(one, ""))) is not None]
    solution = minds.puzzle.solution
    return average(held_now) == solution, held_now.count(solution) / len(held_now)


def share_right(held: Held, minds: Minds, *, before: bool = False) -> float:
    """Return how much of an outcome is right: 1, a share of a tie, or 0; `before` counts the first answers."""
    result = held.result
    tally = result.before if before else result.after
    texts = {one.id: one.text for one in Record(held.debate, held.messages).options()}
    leaders = [minds.puzzle.read(texts[one]) for one in tally.leaders()]
    return leaders.count(minds.puzzle.solution) / len(leaders) if leaders else 0.0


def first_reading_right(held: Held, minds: Minds) -> float | None:
    """Return whether the judge was right that reads once and decides alone; None where nobody judged."""
    record = Record(held.debate, held.messages)
    readings = [one for one in record.readings() if one.order == 1]
    if not readings:
        return None
    texts = {one.id: one.text for one in record.options()}
    return float(minds.puzzle.read(texts.get(readings[0].choice, "")) == minds.puzzle.solution)
