"""What follows from each message of a debate or a council: questions, answers, options, votes, differences;
pure.

Nothing depends on the order in which answers that were asked for side by side came in. Also which of the
claims that a judge found decide the answer, and quotes, looked up in the files of the question: a quote is
text in quotation marks that is long enough to tell; spaces, quotation marks, dashes and capitals do not
count.
"""

import re
import unicodedata
from bisect import bisect_right
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from difflib import SequenceMatcher
from enum import StrEnum
from functools import cached_property
from itertools import islice

from app.core import council_parts as data
from app.core.council import Calibration, Option, Participant
from app.core.files import NEW_PAGE
from app.core.frozen import Frozen
from app.core.message import Attachment, CouncilPart, Data, Message, MessageState, finished_calls
from app.core.session import MOST_ROUNDS, Debate
from app.engine.council.earlier import earlier_council, earlier_options, with_earlier
from app.engine.debate import replies
from app.engine.debate.modes import asks_about_motion, side_of, yes_and_no
from app.engine.debate.perspective import is_said

MOST_CRUXES = 3
# A claim decides the answer where the shares of those who hold it differ at least by so much.
APART = 0.5


def cruxes(
    reading: data.JudgeReading, everybody: Collection[str], sides: Sequence[Collection[str]]
) -> list[data.Claim]:
    """Return the claims that divide those who vote for what leads from the others, the most cited first,
    at most three.

    A claim counts where somebody holds it and somebody denies it, and where the share of those who hold it
    among the voters of one of the `sides` and among all others differs by APART or more. A question of the
    judge stands for the claim that has the same sides and a statement in common.
    """

    def divides(claim: data.Claim) -> bool:
        for side in sides:
            others = [item for item in everybody if item not in side]
            if side and others and abs(_share(claim, side) - _share(claim, others)) >= APART:
                return bool(claim.holds and claim.denies)
        return False

    found: list[data.Claim] = []
    for claim in (*reading.questions, *reading.claims):
        said = any(replies.same_words(item.text) == replies.same_words(claim.text) for item in found)
        beside = any(_sides(item) == _sides(claim) and {*item.cites} & {*claim.cites} for item in found)
        if divides(claim) and not said and not beside:
            found.append(claim)
    return sorted(found, key=lambda item: -len(item.cites))[:MOST_CRUXES]


def _share(claim: data.Claim, people: Collection[str]) -> float:
    return sum(person in claim.holds for person in people) / len(people)


def _sides(claim: data.Claim) -> tuple[set[str], set[str]]:
    return {*claim.holds}, {*claim.denies}


LEAST_LETTERS, LEAST_HANGUL = 12, 6
NEARLY = 0.9
MOST_QUOTES = 12
MOST_LENGTH = 400

_MARKED = re.compile(
    rf"“([^”\n]{{2,{MOST_LENGTH}}})”|„([^“”\n]{{2,{MOST_LENGTH}}})[“”]|«([^»\n]{{2,{MOST_LENGTH}}})»"
    rf"|「([^」\n]{{2,{MOST_LENGTH}}})」|『([^』\n]{{2,{MOST_LENGTH}}})』|‘([^’\n]{{2,{MOST_LENGTH}}})’"
    rf'|"([^"\n]{{2,{MOST_LENGTH}}})"'
)
_CODE = re.compile(r"```.*?(?:```|\Z)|`[^`\n]+`", re.DOTALL)
_ENDS = " .,;:!?"
_LEFT_OUT = re.compile(r"\s*(?:\[\s*)?(?:…|\.\.\.)(?:\s*\])?\s*")
PLAIN_SIGNS = str.maketrans("“”„‟«»＂‘’‚‛`´‐‑‒–—―−", '"' * 7 + "'" * 6 + "-" * 7)
# At most so many places are compared with a quote of which nothing was found word for word.
_PIECES, _PLACES = 8, 2


class QuoteState(StrEnum):
    """Whether a quote is in the files."""

    EXACT = "exact"
    NEARLY = "nearly"
    MISSING = "missing"


class Sources:
    """The texts in which quotes are looked up; made once for all statements, which takes a while
    for long files.
    """

    def __init__(self, files: Sequence[Attachment]) -> None:
        self._files: list[tuple[str, str, list[int]]] = []
        for file in files:
            plain, starts = "", []
            for page in file.text.split(NEW_PAGE):
                starts.append(len(plain))
                plain += f"{_plain(page)} "
            self._files.append((file.name, plain, starts))

    def look_up(self, text: str) -> data.FileQuote:
        """Return where a quote is; of one with something left out, all parts must be in one file."""
        parts = [plain for item in _LEFT_OUT.split(text) if (plain := _plain(item).strip(_ENDS))]
        best = data.FileQuote(text=text, found=QuoteState.MISSING)
        for name, source, starts in self._files:
            places = [_place(part, source) for part in parts]
            if not parts or any(place < 0 for place, _ in places):
                continue
            page = bisect_right(starts, places[0][0]) if len(starts) > 1 else 0
            exact = all(whole for _, whole in places)
            state = QuoteState.EXACT if exact else QuoteState.NEARLY
            found = data.FileQuote(text=text, found=state, file=name, page=page)
            if exact:
                return found
            best = found if best.found == QuoteState.MISSING else best
        return best

    def check(self, text: str, others: Sequence[str] = ()) -> list[data.FileQuote]:
        """Return what is quoted in a text, looked up; words of `others`, who are no source, are passed
        over.
        """
        if not self._files:
            return []
        said, exact = "\n".join(map(_plain, others)), QuoteState.EXACT
        found = map(self.look_up, islice(dict.fromkeys(_quoted(text)), MOST_QUOTES))
        return [item for item in found if item.found == exact or _plain(item.text).strip(_ENDS) not in said]


def quotes_of(message: Message) -> list[data.FileQuote]:
    """Return the quotes of a statement as they were looked up when it ended."""
    return [quote for quote in message.data_as(data.Quoting).quotes if quote.found in tuple(QuoteState)]


def _quoted(text: str) -> Iterator[str]:
    for marked in _MARKED.finditer(_CODE.sub(" ", text)):
        words = next(group for group in marked.groups() if group is not None).strip()
        hangul = sum("가" <= word <= "힣" for word in words)
        if hangul >= LEAST_HANGUL or sum(map(str.isalpha, words)) >= LEAST_LETTERS:
            yield words


def _plain(text: str) -> str:
    """Return a text in which spaces, quotation marks, dashes and capitals are told apart no more."""
    return " ".join(unicodedata.normalize("NFC", text).translate(PLAIN_SIGNS).casefold().split())


def _place(part: str, source: str) -> tuple[int, bool]:
    """Return where words are in a text, -1 for nowhere, and whether they are there word for word."""
    if (place := source.find(part)) >= 0:
        return place, True
    # Few changes leave some piece as it is.
    size = max(3, len(part) // (len(part) // 10 + 2))
    starts = range(0, len(part) - size + 1, max(size, len(part) // _PIECES))
    votes: Counter[int] = Counter()
    for start in starts:
        place = source.find(part[start : start + size])
        for _ in range(_PIECES):
            if place < 0:
                break
            votes[max(0, place - start) // 4] += 1
            place = source.find(part[start : start + size], place + 1)
    room = len(part) // 10 + 4
    for near, _ in votes.most_common(_PLACES):
        begin = max(0, near * 4 - room)
        window = source[begin : near * 4 + len(part) + room]
        blocks = SequenceMatcher(None, part, window, autojunk=False).get_matching_blocks()[:-1]
        blocks = [block for block in blocks if block.size > 1]
        same = sum(block.size for block in blocks)
        if blocks:
            length = blocks[-1].b + blocks[-1].size - blocks[0].b
            if 2 * same / (len(part) + length) >= NEARLY:
                return begin + blocks[0].b, False
    return -1, False


# The parts that say what a participant holds after a round, the first that is known counts.
VOTES = (CouncilPart.BALLOT, CouncilPart.TURN)
# What a vote without a confidence counts for, in percent.
UNSURE = 50


class Vote(Frozen):
    """What a participant holds after a round (0: its own answer); `choice` is an option's id, "" for a
    blank.
    """

    participant: str
    round: int = 0
    choice: str = ""
    confidence: int | None = None
    moved_by: tuple[str, ...] = ()


class Moved(StrEnum):
    """How a participant came to hold what it votes for."""

    STAYED = "stayed"
    # It names a statement of somebody else who held that option, and that argues for it where a judge was
    # asked.
    CITED = "cited"
    DRIFT = "drift"


class Move(Frozen, kw_only=False):
    """A change of what a participant votes for: the round after which, its new option, and what counts
    of what it cites.

    `argues` is whether that argues for the option, as a judge says; None where none was asked, or nothing
    counts.
    """

    participant: str
    round: int
    option: str
    moved: Moved
    cites: tuple[str, ...]
    argues: bool | None


class Record:
    """The messages of a debate or a council, read."""

    def __init__(self, debate: Debate, messages: Sequence[Message]) -> None:
        self.debate = debate
        self.council = debate.council or earlier_council(debate)
        messages = with_earlier(debate, messages)
        # The messages with those that are interim.
        self.all = messages
        if any(message.tool_calls for message in messages):
            messages = [message for message in messages if not message.is_interim]
        self.messages = messages
        places = [place for place, message in enumerate(messages) if message.part == CouncilPart.QUESTION]
        # The places of the questions whose answers are compared by themselves.
        self.new = [place for place in places if messages[place].data_as(data.Question).is_new]
        # The messages since the last of them: since all were asked, or a what-if round began.
        self.since = messages[self.new[-1] :] if self.new else messages
        self._latest = messages[places[-1] :] if places else messages
        # The question that was asked last.
        self.question = messages[places[-1]] if places else None
        # The text of the question that all were asked last.
        self.asked_all = messages[self.new[-1]].content if self.new else debate.topic
        asked = self.since[0].data_as(data.Question) if self.new else data.Question()
        # Whether all vote after the answers, without a turn before that.
        self.concludes = asked.concludes
        # Who was not asked in a what-if round still says what it said before.
        self._heard = messages if asked.to else self.since

    @cached_property
    def before(self) -> "Record | None":
        """The council as it stood before its what-if round, None where that is none."""
        return Record(self.debate, self.messages[: self.new[-1]]) if self.concludes else None

    @cached_property
    def _asked(self) -> list[str]:
        """What all were asked last, behind the questions that it goes on from."""
        texts: list[str] = []
        for asked in (self.messages[place] for place in self.new):
            texts = [*(texts if asked.data_as(data.Question).follows else ()), asked.content.strip()]
        if not self.debate.is_council:
            begun = {what_if.message for what_if in self.debate.what_ifs}
            texts = [self.debate.topic.strip()]
            texts += [message.content.strip() for message in self.messages if message.id in begun]
        return texts or [self.debate.topic.strip()]

    @property
    def whole_question(self) -> str:
        """What all were asked last, below the questions that it goes on from."""
        return "\n\n".join(self._asked)

    @property
    def asks_about_motion(self) -> bool:
        """Whether the answer is for or against a motion; a what-if round goes on with that of before."""
        return asks_about_motion(self._asked[0])

    def asked(self) -> list[Participant]:
        """Return whom the last question is for."""
        wanted = self.question.data_as(data.Question).to if self.question else ()
        return [item for item in self.debate.participants if not wanted or item.id in wanted]

    def last(self, part: str, who: str = "", *, number: int | None = None) -> Message | None:
        """Return the message of a part (of a round) that ended last since all were asked."""
        if who and number is not None:
            return self._last.get((part, who, number))
        fits = (message for message in reversed(self._ended(part)) if number in (None, message.round))
        return next((fit for fit in fits if who in ("", fit.author.id)), None)

    def replied(self, who: str) -> Message | None:
        """Return the answer to the last question that ended last, well or badly."""
        answers = (item for item in reversed(self._latest) if item.part == CouncilPart.ANSWER and item.ended)
        return next((answer for answer in answers if answer.author.id == who), None)

    @cached_property
    def _last(self) -> dict[tuple[str, str, int], Message]:
        """The message of a part, an author and a round that ended last since all were asked."""
        return {(item.part, item.author.id, item.round): item for item in self.since if item.ended}

    def held(self, kind: type[Data], part: str, who: str = "", *, number: int | None = None) -> Data:
        """Return what the message holds that `last` finds, an empty object of this class where there is
        none.
        """
        message = self.last(part, who, number=number)
        return message.data_as(kind) if message else kind()

    def count(self, part: str, *, number: int | None = None) -> int:
        """Return how many messages of a part (of a round) ended since all were asked."""
        return sum(number in (None, message.round) for message in self._ended(part))

    def _ended(self, part: str) -> list[Message]:
        """Return the messages of a part that ended since all were asked."""
        return [message for message in self.since if message.part == part and message.ended]

    def evidence(self) -> list[tuple[str, str]]:
        """Return what tools found for the answers since all were asked, as (the call, its result),
        by participant.
        """
        begun, places = self.since[0].id if self.since else "", list(self.names)
        done = [(call, result) for call, result in finished_calls(self.all) if result.id > begun]
        done = [item for item in done if item[1].author.id in places]
        done.sort(key=lambda item: places.index(item[1].author.id))
        return [(f"{call.name} {call.arguments}", result.content) for call, result in done]

    def answers(self) -> dict[str, Message]:
        """Return everybody's latest answer to a question since all were asked, in the participants' order."""
        answers = (each for each in self._heard if each.part == CouncilPart.ANSWER and each.content.strip())
        return self._last_of_each(answer for answer in answers if answer.state == MessageState.DONE)

    @cached_property
    def openings(self) -> dict[str, Message]:
        """The answers that the differences are about, where there are any: those that were compared,
        or joined later.

        In a debate it is what each said first.
        """
        if not self.debate.is_council:
            return self._last_of_each(reversed(self._said))
        if not (numbered := self.compared.order):
            return self.answers()
        heard = ((message, message.data_as(data.Position).joined) for message in self._heard)
        return self._last_of_each(message for message, joined in heard if joined or message.id in numbered)

    def _last_of_each(self, messages: Iterable[Message]) -> dict[str, Message]:
        """Return the last of these messages of each participant, in the participants' order."""
        found = {message.author.id: message for message in messages}
        return {item.id: found[item.id] for item in self.debate.participants if item.id in found}

    @cached_property
    def _said(self) -> list[Message]:
        """What was said in turns in a debate."""
        return [message for message in self.since if not message.part and is_said(message)]

    @cached_property
    def compared(self) -> data.Differences:
        """What the call for the differences said, empty where there is none that could be read."""
        read = [message.data for message in self.since if isinstance(message.data, data.Differences)]
        return read[-1] if read else data.Differences()

    def points(self, kind: str) -> tuple[data.ComparedPoint, ...]:
        """Return what the answers `differ` on, or what is `agreed`."""
        return self.compared.agreed if kind == "agreed" else self.compared.differ

    @cached_property
    def rounds(self) -> int:
        """How many rounds of debate have begun; a what-if round may have votes alone.

        What a damaged file has of more than MOST_ROUNDS is ignored.
        """
        parts = (CouncilPart.TURN, CouncilPart.CHECK, CouncilPart.BALLOT)
        return max(self._rounds_of(*parts, *([] if self.debate.is_council else [""])), default=0)

    def _rounds_of(self, *parts: str) -> set[int]:
        rounds = {message.round for message in self.since if message.part in parts and message.ended}
        return {number for number in rounds if 0 <= number <= MOST_ROUNDS}

    def statements(self, before: int | None = None) -> list[Message]:
        """Return what is argued from in a round, or in all: the answers that were compared,
        then the turns round by round.
        """
        before = self.rounds + 1 if before is None else before
        if not self.debate.is_council:
            return [message for message in self._said if message.round < before]
        found = [*self.openings.values()]
        for number in range(1, before):
            turns = [self.last(CouncilPart.TURN, opening, number=number) for opening in self.openings]
            turns.append(self.last(CouncilPart.CHECK, number=number))
            if again := self.argued(number + 1):
                # What the minority wrote is read by all who argue its view again.
                minority = (item for item in self.openings if self.vote(item, number).choice == again)
                turns += [self.last(CouncilPart.DISSENT, item, number=number) for item in minority]
            found += [turn for turn in turns if turn is not None and turn.state == MessageState.DONE]
        return found

    def argued(self, number: int) -> str:
        """Return the option that the user wants argued again in a round, "" for none."""
        return self.standing(self.held(data.ArguedOption, CouncilPart.ARGUE, number=number).option)

    def cast(self, who: str, number: int) -> list[Message]:
        """Return a participant's ballots of a round that ended, in order: one
        that could not be read is asked for again.
        """
        ballots = self._ended(CouncilPart.BALLOT)
        return [ballot for ballot in ballots if (ballot.author.id, ballot.round) == (who, number)]

    def rewritten(self) -> dict[bool, list[Message]]:
        """Return the answers written anew for the blind pick that ended, the last first: of all (True),
        of one model alone.
        """
        found = [item for item in reversed(self.messages) if item.part == CouncilPart.REWRITE and item.ended]
        return {
            side: [message for message in found if message.data_as(data.Rewritten).of_panel == side]
            for side in (True, False)
        }

    def blind_texts(self) -> dict[bool, str]:
        """Return the answers of a blind pick that there are: what all came to (True), and one model alone."""
        done = {
            side: next((message.content for message in found if message.state == MessageState.DONE), "")
            for side, found in self.rewritten().items()
        }
        return {side: text for side, text in done.items() if text}

    @property
    def alone(self) -> Message | None:
        """The answer of one model that was asked alone: one for the blind pick,
        in a council else the surest's own.
        """
        solo = self.last(CouncilPart.SOLO)
        if solo is not None and solo.state == MessageState.DONE:
            return solo
        answers = self.answers().values()
        return max(answers, key=lambda message: message.data_as(data.Position).confidence or 0, default=None)

    def asked_to_read(self, judge: str, order: int, number: int) -> Message | None:
        """Return the message of a judge's reading after a round, for the verdict asked for last,
        where it has ended.
        """
        reads = ((judgement.data_as(data.JudgeReading), judgement) for judgement in self.judgements(number))
        return next((message for read, message in reads if (read.judge, read.order) == (judge, order)), None)

    def judgements(self, number: int) -> list[Message]:
        """Return the readings after a round that ended, for the verdict asked for last."""
        read, wanted = self._ended(CouncilPart.READING), (number, self.council.judged)
        return [item for item in read if (item.round, item.data_as(data.JudgeReading).asked) == wanted]

    def readings(self) -> tuple[data.JudgeReading, ...]:
        """Return what a judge read after the last round, in its orders: the first that could
        of those who were wanted.
        """
        found: dict[str, dict[int, data.JudgeReading]] = {}
        for judgement in self.judgements(self.rounds):
            read = judgement.data_as(data.JudgeReading)
            if read.choice and judgement.state == MessageState.DONE:
                cases = tuple(replace(case, option=self.standing(case.option)) for case in read.cases)
                read = replace(read, choice=self.standing(read.choice), cases=cases)
                found.setdefault(read.judge, {})[read.order] = read
        first = next((found[judge] for judge in self.council.judges if judge in found), {})
        return tuple(first[order] for order in sorted(first))

    def best_case(self, option: str) -> tuple[str, tuple[str, ...]]:
        """Return the case for an option and what it cites, by the first reading, else the second; ""
        where there is none.
        """
        cases = (case for reading in self.readings() for case in reading.cases if case.option == option)
        return next(((case.text, case.cites) for case in cases), ("", ()))

    def vote(self, who: str, number: int) -> Vote:
        """Return what a participant held after a round: by its ballot, else by what its turn said, else
        as before.
        """
        if who in self.council.voteless:
            return Vote(participant=who)
        for each in (item for item in self._voted if 0 < item <= number):
            for part in VOTES:
                said = self.held(data.Position, part, who, number=each)
                if said.choice:
                    return self._vote(who, each, said)
        return self.ballots.get(who) or Vote(participant=who)

    @cached_property
    def _voted(self) -> list[int]:
        """The rounds of which there are ballots or turns that say what is held, the last first."""
        return sorted(self._rounds_of(*VOTES), reverse=True)

    @property
    def voted_rounds(self) -> list[int]:
        """The rounds after which there was a vote, in order; 0 is before the first, or by the answers."""
        return sorted({0, *self._voted} if self.debate.is_council else self._voted)

    @property
    def polls(self) -> list[tuple["Record", int]]:
        """All votes so far: the record in which all voted, and the round after which; of a council
        also those before its what-if rounds.

        What all answer anew in such a round is no vote.
        """
        earlier = self.before.polls if self.before is not None else []
        return [*earlier, *((self, number) for number in self.voted_rounds[int(self.concludes) :])]

    def moved(self, who: str, number: int) -> tuple[Moved | None, tuple[str, ...]]:
        """Return how a participant came to its vote after a round, None for its first or none,
        and what counts of what it cites.

        A statement counts that is another's, was made since the vote before, and whose author held the new
        option then; none does where a judge found that they do not argue for it.
        """
        now, (stood, before) = self.vote(who, number), self._vote_before(who, number)
        if now.round != number or not (now.choice and before.choice):
            return None, ()
        was, is_now = stood.texts.get(before.choice, before.choice), self.texts.get(now.choice, now.choice)
        if replies.same_words(was) == replies.same_words(is_now):
            return Moved.STAYED, ()
        # A ballot is cast after its round was heard, what a turn says is said beside the others' turns.
        heard = bool(self.held(data.Position, CouncilPart.BALLOT, who, number=before.round).choice)
        first, since = (before.round + heard if stood is self else 0), {item.id for item in self.since}
        said = {item.id: item for item in self.statements(number + 1) if item.round >= first}
        # A ballot repeats what the turn before it came to, and may not name again what moved that.
        held = (self.held(data.Position, part, who, number=number) for part in VOTES)
        named = [cite for item in held if self.standing(item.choice) == now.choice for cite in item.moved_by]
        others = (said[item] for item in dict.fromkeys(named) if item in said and item in since)
        others = (item for item in others if item.author.id != who)
        cites = tuple(msg.id for msg in others if self.vote(msg.author.id, msg.round).choice == now.choice)
        counts = cites and self._judged_moves.get((who, number), True)
        return (Moved.CITED, cites) if counts else (Moved.DRIFT, ())

    def _vote_before(self, who: str, number: int) -> tuple["Record", Vote]:
        """Return the vote before that after a round, and where it was cast.

        What all answer anew in a what-if round is no vote: that of the round before it counts.
        """
        earlier = [item for item in self.voted_rounds if item < number]
        if self.before is not None and earlier == [0]:
            return self.before, self.before.vote(who, self.before.rounds)
        return self, self.vote(who, earlier[-1]) if earlier else Vote(participant=who)

    @cached_property
    def _judged_moves(self) -> dict[tuple[str, int], bool]:
        """By participant and round, whether what it cites argues for its new option, as a judge says."""
        read = (message.data for message in self.since if isinstance(message.data, data.JudgedMoves))
        return {(move.participant, move.round): move.argues for judged in read for move in judged.moves}

    @cached_property
    def moves(self) -> tuple[Move, ...]:
        """The changes of votes, by participant and round."""
        found = []
        for who in self.voters():
            for number in self.voted_rounds:
                moved, cites = self.moved(who, number)
                if moved is not None and moved != Moved.STAYED:
                    option, argues = self.vote(who, number).choice, self._judged_moves.get((who, number))
                    found.append(Move(who, number, option, moved, cites, argues))
        return tuple(found)

    @property
    def unjudged(self) -> list[Move]:
        """The changes of votes that cite something of which no judge has said whether it argues
        for the new option.
        """
        return [move for move in self.moves if move.moved == Moved.CITED and move.argues is None]

    @cached_property
    def calibrated(self) -> dict[str, Calibration]:
        """By participant, how right its model has been, where that is known."""
        known = {calibration.model: calibration for calibration in self.council.calibrations}
        models = {item.id: f"{item.provider}/{item.model}" for item in self.debate.participants}
        return {who: known[model] for who, model in models.items() if model in known}

    def weights(self, votes: Sequence[Vote]) -> dict[str, float]:
        """Return what each vote weighs, by participant: half for its own sake, the rest by how sure
        that one is.

        Where it is known how right its model has been, that counts in place of what it says.
        """
        return {vote.participant: 0.5 + self._sureness(vote) / 200 for vote in votes}

    def _sureness(self, vote: Vote) -> int:
        if vote.confidence is None:
            return UNSURE
        known = self.calibrated.get(vote.participant)
        return vote.confidence if known is None else known.rate(vote.confidence)

    @cached_property
    def joined(self) -> list[str]:
        """Who takes part with an answer that was given from outside."""
        return [who for who, answer in self.openings.items() if answer.data_as(data.Position).joined]

    def voters(self) -> list[str]:
        """Return the participants whose votes count: in a council those that have answered."""
        people = self.openings if self.debate.is_council else [item.id for item in self.debate.participants]
        return [person for person in people if person not in self.council.voteless]

    def voted(self, who: str, number: int) -> bool:
        """Say whether a participant said in a round what it holds."""
        return self.vote(who, number).round == number

    def stands(self, number: int) -> bool:
        """Say whether a round moved nobody, or all agree; a blank is never stable."""
        voters = self.voters()
        now = [self.vote(voter, number) for voter in voters]
        blank = any(vote.round != number or not vote.choice for vote in now)
        if blank or any(self.unread(voter, number) for voter in voters):
            return False
        before = [self.vote(voter, number - 1) for voter in voters]
        same = [(vote.round, vote.choice) for vote in before] == [(number - 1, vote.choice) for vote in now]
        return same or len({vote.choice for vote in now}) == 1

    def unread(self, who: str, number: int) -> bool:
        """Say whether a participant was asked to vote after a round, and no ballot of it could be read."""
        cast = self.cast(who, number)
        return bool(cast) and not any(message.data_as(data.Position).choice for message in cast)

    def options(self, before: int | None = None, cast: int | None = None) -> tuple[Option, ...]:
        """Return what can be held: as the user wrote it last, else by the differences,
        else by the short answers.

        Behind them stand those that turns of rounds `before` one brought and ballots of rounds before `cast`,
        or all.
        """
        found = list(self.first_options())
        known = {*self.edited.became, *(option.id for option in found)}
        for number, brought in self._brought:
            late = before if brought.origin != CouncilPart.BALLOT or cast is None else cast
            first = self._same[brought.id] == brought.id and brought.id not in known
            if first and (late is None or number < late):
                found.append(brought)
                known.add(brought.id)
        return tuple(found)

    @cached_property
    def texts(self) -> dict[str, str]:
        """What can be held, in words, by the option's id."""
        return {option.id: option.text for option in self.options()}

    @cached_property
    def every_option(self) -> list[str]:
        """What can be held, in words, and behind that what could be before a what-if round alone."""
        texts, known = [*self.texts.values()], {*map(replies.same_words, self.texts.values())}
        earlier = self.before.every_option if self.before is not None else []
        return [*texts, *(text for text in earlier if replies.same_words(text) not in known)]

    def place_of(self, choice: str, stood: "Record") -> int | None:
        """Return the place in `every_option` of what was chosen in a record of `polls`, None for a blank."""
        words, text = replies.same_words, stood.texts.get(choice, "")
        places = (place for place, option in enumerate(self.every_option) if words(option) == words(text))
        return next(places, None) if text else None

    @cached_property
    def letters(self) -> dict[str, str]:
        """The letter of each option by its id."""
        return dict(zip(self.texts, replies.LETTERS, strict=False))

    @cached_property
    def names(self) -> dict[str, str]:
        """The names of the participants by their ids."""
        return {participant.id: participant.name for participant in self.debate.participants}

    @cached_property
    def edited(self) -> data.EditedOptions:
        """The options as the user wrote them last."""
        return self.held(data.EditedOptions, CouncilPart.OPTIONS)

    @cached_property
    def _brought(self) -> list[tuple[int, Option]]:
        """The options that turns, ballots and objections brought, by round and in the participants' order."""
        found = []
        openings = list(self.openings)
        for number in range(self.rounds + 1) if self.debate.is_council else self.voted_rounds:
            said = [self.last(CouncilPart.TURN, item, number=number) for item in openings] if number else []
            said += [self.last(CouncilPart.CHECK, number=number)]
            said += [] if number else [self.openings[item] for item in self.joined]
            said += [self.last(CouncilPart.BALLOT, opening, number=number) for opening in openings]
            for message in filter(None, said):
                held = message.data_as(data.Position)
                if text := replies.one_line(held.new):
                    found.append((number, Option(id=held.choice, text=text, origin=message.part)))
        return found

    @cached_property
    def _same(self) -> dict[str, str]:
        """By the id of an option that was brought, the id of the first that says the same."""
        first: dict[str, str] = {}
        brought = [option for _, option in self._brought]
        for option in (*self._compared_options(), *self.first_options(), *brought):
            first.setdefault(replies.same_words(option.text), option.id)
        return {option.id: first[replies.same_words(option.text)] for option in brought}

    def standing(self, choice: str) -> str:
        """Return the id under which an option that was chosen stands by now."""
        choice = self._same.get(choice, choice)
        return self.edited.became.get(choice, choice)

    def _vote(self, who: str, number: int, said: data.Position) -> Vote:
        choice, sure = self.standing(said.choice), said.confidence
        return Vote(participant=who, round=number, choice=choice, confidence=sure, moved_by=said.moved_by)

    def first_options(self) -> tuple[Option, ...]:
        """Return what can be held before anybody argued."""
        found = self._compared_options()
        if not self.edited.options:
            return found
        backers = {option.id: option.backers for option in found}
        for old, new in self.edited.became.items():
            if old != new:
                backers[new] = (*backers.get(new, ()), *backers.get(old, ()))
        once = {backer: tuple(dict.fromkeys(who)) for backer, who in backers.items()}
        return tuple(replace(opt, backers=once.get(opt.id, ())) for opt in map(_option, self.edited.options))

    def _compared_options(self) -> tuple[Option, ...]:
        """Return the options: those given, those by the differences or found in the question,
        else by the short answers.
        """
        words, found = replies.same_words, [*map(_option, self.compared.options)] or self._grouped()
        backers, options = {words(opt.text): opt.backers for opt in found}, map(_option, self.debate.options)
        given = [replace(option, backers=backers.get(words(option.text), ())) for option in options]
        known = {words(option.text) for option in given}
        others = (option for option in found if words(option.text) not in known)
        return (*given, *others, *earlier_options(self.debate, self.messages))

    @cached_property
    def ballots(self) -> dict[str, Vote]:
        """By participant, what all who vote hold by their own answers; who has none is not there."""
        held = {who: option.id for option in self.first_options() for who in option.backers}
        found = {}
        openings = self.openings
        for who in self.voters():
            small = self.held(data.Position, CouncilPart.BALLOT, who, number=0)
            said = openings[who].data_as(data.Position) if who in openings else data.Position()
            if who not in held and small.choice:
                found[who] = self._vote(who, 0, small)
            else:
                own = self.standing(said.choice) if said.joined else ""
                found[who] = Vote(participant=who, choice=held.get(who, own), confidence=said.confidence)
        return found

    @property
    def grouped(self) -> bool:
        """Whether the options are the short answers, because nobody compared the answers."""
        return not self.compared.options

    def _grouped(self) -> tuple[Option, ...]:
        """Return the short answers, each once; where an answer has none, its first sentence.

        In a debate they are Yes and No, if its question asks for one of them.
        """
        motion = self.asks_about_motion
        if not self.debate.is_council:
            plain = motion and not self.debate.options and not self.debate.ballots
            return replies.numbered_options(yes_and_no(self.asked_all) if plain else (), "motion")
        groups: dict[str, tuple[str, list[str]]] = {}
        for who, answer in self.answers().items():
            text = replies.one_line(answer.data_as(data.Position).answer) or first_sentence(answer.content)
            side, word = side_of(text) if motion else ("", "")
            # "Yes, ban them" and "Yes" are the same vote on a motion.
            text = word[:1].upper() + word[1:] if side else text
            groups.setdefault(side or replies.same_words(text), (text, []))[1].append(who)
        several = [*islice(groups.values(), replies.MOST_OPTIONS)]
        options = replies.numbered_options((text for text, _ in several), "motion" if motion else "answers")
        backed = zip(options, several, strict=True)
        return tuple(replace(option, backers=tuple(backers)) for option, (_, backers) in backed)


def first_sentence(text: str) -> str:
    """Return the first sentence of an answer, without its Markdown."""
    lines = (item.strip(" #*_>-`") for item in text.splitlines())
    line = replies.without_marks(next(filter(None, lines), ""))
    first = re.match(r".*?[.!?。！？](?=\s|\Z)", line, re.DOTALL)
    return replies.one_line(first[0] if first else line, replies.MOST_OPTION)


def _option(stored: Option) -> Option:
    return replace(stored, text=replies.one_line(stored.text), origin=stored.origin or "differences")
