"""The voting check: whether a model chooses for what an option says, or for the place where it stands.

Asked for either of two options, some models always name one place, which looks like a vote. So each is asked
some questions in both orders, once at an address. One that answers too few of them alike speaks, but neither
votes nor judges; nor does one judge that misses broken premises. What was answered is kept at once.
"""

import asyncio
import contextlib
import re
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace

from app.core.catalog import ProviderKind, RequestForm, provider_kind
from app.core.council import NoVote, NoVoteReason, Participant, Seat
from app.core.errors import ProviderError
from app.core.events import EventBus, VotingChecked
from app.core.json_values import object_in, schema_object
from app.core.owned_tasks import end_tasks, start_owned
from app.core.provider import one_message
from app.core.session import Debate, Reason, Status, counted, main_code, no_vote_reason
from app.core.store import Documents
from app.engine.live_session import LiveSession
from app.engine.providers import provider_of
from app.engine.turns.context import MeteredModels

# A question with two options; models answer them in English, whatever language a debate has.
QUESTIONS = (
    ("Which is heavier?", "a brick", "a feather"),
    ("Which meal comes first in the day?", "breakfast", "dinner"),
    ("What do fish breathe with?", "gills", "lungs"),
    ("Which is colder?", "ice", "steam"),
    ("Which number is larger?", "71", "17"),
    ("Where is bread sold?", "in a bakery", "in a library"),
    ("What is a hammer for?", "driving in nails", "cutting paper"),
    ("Which animal can fly?", "an eagle", "a horse"),
)
# How many of them a model of a known provider is asked, and the part of its questions that must be stable.
FEW = 2
LEAST_STABLE = 0.75
# Two arguments each, the second of which rests on a premise that is false: a judge has to see that without
# being told to look for it. Nothing else tells them apart: some broken ones say more than the sound one, some
# less.
_ARGUMENTS = (
    "A dolphin has lungs, so it must come up for air.",
    "A dolphin is a fish, and all fish live on air alone, as sailors know, so it must come up for air.",
    "A quarter of 80 is 20, so a coat of 80 euros costs 60 euros with a quarter off.",
    "A third of 80 is 20, so a coat of 80 euros costs 60 euros with a third off.",
    "130 of 200 guests want breakfast earlier, more than half, so it should be earlier.",
    "90 of 200 guests want breakfast earlier, far more than half, a clear wish, so it should be earlier.",
    "The sun rises in the east and sets in the west, so a room that faces east is lit in the morning.",
    "The sun stands in the east all day, so a room that faces east is lit in the morning.",
    "Water expands as it freezes, so a full bottle may burst in the freezer.",
    "Water shrinks as it freezes, as any engineer will confirm, so a full bottle may burst in the freezer.",
    "February has the fewest days of all months, so a monthly rent costs the most per day in February.",
    "October has the fewest days, so a monthly rent costs the most per day in October.",
    "Antibiotics act on bacteria, not on viruses, so they do not help against a cold, which is viral.",
    "Antibiotics act on viruses, not on bacteria, so they do not help against a cold, which is bacterial.",
    "2,000 people drawn by lot say more about a town than 20 do, so the larger survey counts.",
    "20 people drawn by lot say more than 2,000 do, as few err less than many, so the smaller one counts.",
)
PREMISES = tuple(zip(_ARGUMENTS[::2], _ARGUMENTS[1::2], strict=True))
# Of those who guess, one in 28 misses no more.
MOST_MISSED = 1
# The code of why a model that votes does not judge, with how many premises it missed, of how many.
MISSED_PREMISES = "missed_premises"
# About how many tokens a call of the check reads and writes.
CALL_TOKENS = (70, 10)

# As many as a ballot has: a model may think first.
_MOST_TOKENS = 400
_LETTERS = ("A", "B")
_SCHEMA = schema_object(choice={"type": "string", "enum": [*_LETTERS]})
_BETTER = "Which argument supports its conclusion better?"
_CHOICE = re.compile(r"\b[AB]\b")
# What is kept of an answer: that it chose the right option, the wrong one, or that this cannot be read.
_RIGHT, _WRONG, _UNREAD = "rw-"


def name_of(seat: Seat) -> str:
    """Return a model as "provider/model"."""
    return "/".join(seat)


def seat_of(name: str) -> Seat:
    """Return the seat of a "provider/model"."""
    provider, _, model = name.partition("/")
    return provider, model


class VotingChecks:
    """Knows which models may vote and judge, and checks the others; `engine.voting` for the faces."""

    def __init__(self, documents: Documents, models: MeteredModels, bus: EventBus) -> None:
        self._documents = documents
        self._models = models
        self._bus = bus
        # Two sessions that need the same check: the second waits, and asks what the first has not.
        self._locks: defaultdict[Seat, asyncio.Lock] = defaultdict(asyncio.Lock)

    def reason(self, seat: Seat) -> str:
        """Return why a model may not vote, as `NoVote` has it; "" where it may, or was not checked yet."""
        kind, _ = self._server(seat)
        if kind is not None and kind.form == RequestForm.TRANSCRIPT:
            return NoVoteReason.TOO_SMALL
        if kind is not None and not kind.votes:
            return NoVoteReason.WORDS_ONLY
        stable, asked = self.result(seat)
        failed = 0 <= stable < LEAST_STABLE * asked
        return counted(NoVoteReason.FOLLOWS_ORDER, stable, asked) if failed else ""

    def judge_reason(self, seat: Seat) -> str:
        """Return why a model may not judge; "" where it may, or was not asked about premises."""
        if (reason := self.reason(seat)) or self.result(seat)[0] < 0:
            return reason
        answers = self._models.known_facts(*seat).answers[2 * len(QUESTIONS) :]
        missed = len(answers) - answers.count(_RIGHT)
        return counted(MISSED_PREMISES, missed, len(answers)) if missed > MOST_MISSED else ""

    def result(self, seat: Seat) -> tuple[int, int]:
        """Return how many questions a model answered alike, -1 where it was not checked, and of how many."""
        facts, (_, address) = self._models.known_facts(*seat), self._server(seat)
        # What an earlier version found has no address, and was of all questions.
        if facts.stable < 0 or facts.address not in ("", address):
            return -1, len(QUESTIONS)
        return facts.stable, min(len(facts.answers) // 2 or len(QUESTIONS), len(QUESTIONS))

    def calls(self, seat: Seat) -> int:
        """Return how many calls a model's check takes, few for a known provider; 0 where it is never
        checked.
        """
        kind, _ = self._server(seat)
        if kind is None or not kind.votes or kind.form == RequestForm.TRANSCRIPT:
            return 0
        return 2 * len(QUESTIONS) + len(PREMISES) if kind.local else 2 * FEW

    def left(self, seat: Seat) -> int:
        """Return how many calls a model's check still takes: 0 for one that was checked, or never is."""
        checked = self.result(seat)[0] >= 0
        return 0 if checked else self.calls(seat) - len(self._answers(seat))

    async def run(
        self,
        seat: Seat,
        live: LiveSession | None = None,
        *,
        may_ask: Callable[[], bool] = lambda: True,
        told: Callable[[], object] = lambda: None,
        again: bool = False,
    ) -> int:
        """Check a model, with `again` one that was checked as well;
        return how many questions it answered alike.

        What it used is counted in the session `live`; `told` is called after each answer. Raises
        ProviderError: then, and once it may not ask any more (-1), what was answered is kept.
        """
        async with self._locks[seat]:
            if not again and not self.left(seat):
                return self.result(seat)[0]
            calls, address = self.calls(seat), self._server(seat)[1]
            answers, stable = "" if again else self._answers(seat), -1
            while len(answers) < calls:
                if not may_ask():
                    return -1
                answers += await self._answer(seat, len(answers), live)
                if len(answers) == calls:
                    in_orders = answers[: 2 * len(QUESTIONS)]
                    pairs = zip(in_orders[::2], in_orders[1::2], strict=True)
                    stable = sum(first == second != _UNREAD for first, second in pairs)
                # A result stands until there is another one.
                if stable >= 0 or not again:
                    self._models.note_stable(*seat, stable, answers, address)
                told()
        session_id = live.id if live is not None else ""
        may_vote, reason = not self.reason(seat), self.judge_reason(seat)
        checked = VotingChecked(
            session_id=session_id, model=name_of(seat), may_vote=may_vote, may_judge=not reason, reason=reason
        )
        self._bus.publish(checked)
        return stable

    def _answers(self, seat: Seat) -> str:
        """Return what a model has answered at its address, where it was not checked to the end."""
        facts, (_, address) = self._models.known_facts(*seat), self._server(seat)
        return facts.answers if facts.stable < 0 and facts.address == address else ""

    def _server(self, seat: Seat) -> tuple[ProviderKind | None, str]:
        """Return the kind of a model's provider, None for one that is gone, and the address it is asked
        at.
        """
        config = provider_of(self._documents, seat[0])
        kind = provider_kind(config.kind) if config is not None else None
        address = (config and config.base_url) or (kind and kind.base_url) or ""
        return kind, address.rstrip("/")

    async def _answer(self, seat: Seat, number: int, live: LiveSession | None) -> str:
        """Ask a question, and return what is kept of the answer; of two in a row the options stand
        in both orders.
        """
        twice = 2 * len(QUESTIONS)
        asked = QUESTIONS[number // 2] if number < twice else (_BETTER, *PREMISES[number - twice])
        question, *options = asked
        shown = options[::-1] if number % 2 else options
        lines = [question, "", *(f"{letter}: {text}" for letter, text in zip(_LETTERS, shown, strict=True))]
        lines += ["", 'Answer with the letter of the right option: {"choice": "A"} or {"choice": "B"}.']
        text = "\n".join(lines)
        request = one_message(*seat, text, max_tokens=_MOST_TOKENS, temperature=0.0, schema=_SCHEMA)
        session_id = live.id if live is not None else ""
        used = live.note_unsaid if live is not None else lambda _: None
        letter = _letter(await self._models.ask(request, session_id, used=used))
        if not letter:
            return _UNREAD
        return _RIGHT if shown[_LETTERS.index(letter)] == options[0] else _WRONG


def _letter(answer: str) -> str:
    """Return the letter that an answer names, "" where it names none or both."""
    said = object_in(answer)
    if said is not None:
        answer = str(said.get("choice", ""))
    found = set(_CHOICE.findall(answer))
    return found.pop() if len(found) == 1 else ""


@dataclass(eq=False, repr=False)
class SessionChecks:
    """The voting checks that one session needs: side by side, beside its answers, and counted in its usage.

    While they run, the session's reason says how many answers there are. They ask as long as `may_ask` allows
    it; `changed` is called when one has ended.
    """

    _checks: VotingChecks
    _live: LiveSession
    may_ask: Callable[[], bool] = lambda: True
    changed: Callable[[], object] = lambda: None
    _known: set[Seat] = field(default_factory=set, init=False)
    _tasks: dict[Seat, asyncio.Task[None]] = field(default_factory=dict, init=False)
    # Whether no other check begins: the user does not want to wait for any.
    _skipping: bool = field(default=False, init=False)

    def __post_init__(self) -> None:
        # What was skipped is checked after all where the user asks for more in a session that was over.
        self._anew = self._live.session.status == Status.COMPLETED

    def begin(self, seats: Iterable[Seat]) -> None:
        """Check the models that were not checked yet; of the others keep why they do not vote."""
        running = len(self._tasks)
        for seat in dict.fromkeys(seats):
            if seat in self._known:
                continue
            skipped = not self._anew and self._kept(seat) == NoVoteReason.SKIPPED
            if not self._checks.left(seat):
                reason = self._reason(seat)
                # What a program holds is read in its words.
                self._keep(seat, "" if reason == NoVoteReason.WORDS_ONLY else reason)
            elif skipped or self._skipping:
                self._keep(seat, NoVoteReason.SKIPPED)
            elif self.may_ask():
                self._keep(seat, "")
                self._tasks[seat] = start_owned(self._check(seat), name=f"voting check of {name_of(seat)}")
                self._tasks[seat].add_done_callback(self._on_end)
            else:
                continue
            self._known.add(seat)
        debate = self._live.debate_session.debate
        if (sorted_out := with_voters(debate)) != debate:
            self._live.change(debate=sorted_out)
        if len(self._tasks) > running:
            self._tell()

    def runs(self, *seats: Seat) -> bool:
        """Say whether one of these models is being checked, or any at all where none is named."""
        return any(not task.done() for seat, task in self._tasks.items() if not seats or seat in seats)

    async def may_vote(self, seat: Seat) -> bool:
        """Return whether a model may vote here, once its check has ended; one still unchecked may."""
        await self._checked(seat)
        reason = self._kept(seat)
        return not reason or votes_with(reason)

    async def may_judge(self, seat: Seat) -> bool:
        """Return whether a model may judge here, once its check has ended; one still unchecked may."""
        await self._checked(seat)
        if reason := self._checks.judge_reason(seat):
            self._keep(seat, reason)
        return not self._kept(seat)

    async def _checked(self, seat: Seat) -> None:
        self.begin([seat])
        if self.runs(seat):
            await asyncio.wait({self._tasks[seat]})

    def skip(self) -> None:
        """Go on at once: the models that are not checked yet do not vote here."""
        self._skipping = True
        left = [seat for seat, task in self._tasks.items() if not task.done()]
        for seat in left:
            self._tasks[seat].cancel()
            self._keep(seat, NoVoteReason.SKIPPED)
        if left:
            self._live.notice("votes_skipped", level="info", models=", ".join(model for _, model in left))

    async def again(self, seat: Seat) -> None:
        """Check a model once more; what is found holds in the session at once. Raises ProviderError."""
        await self._checks.run(seat, self._live, again=True)
        self._keep(seat, self._reason(seat))

    async def close(self) -> None:
        """End the checks; what was answered is kept."""
        await end_tasks(*self._tasks.values())

    async def _check(self, seat: Seat) -> None:
        # One that cannot be asked stays unchecked, and is checked the next time.
        with contextlib.suppress(ProviderError):
            await self._checks.run(seat, self._live, may_ask=self.may_ask, told=self._tell)
            if reason := self._reason(seat):
                self._keep(seat, reason)
            if reason and not votes_with(reason):
                self._live.notice("votes_not_counted", level="info", models=seat[1])

    def _tell(self) -> None:
        """Say in the session how far the checks are."""
        session = self._live.session
        if session.status != Status.RUNNING:
            return
        done = [seat for seat, task in self._tasks.items() if task.done()]
        if len(done) < len(self._tasks):
            asked = [seat for seat in self._tasks if seat not in done or not self._checks.left(seat)]
            every = sum(map(self._checks.calls, asked))
            answered = every - sum(map(self._checks.left, asked))
            self._live.change(reason=counted(Reason.CHECKING_VOTES, answered, every))
        elif main_code(session.reason) == Reason.CHECKING_VOTES:
            self._live.change(reason="")

    def _on_end(self, _: asyncio.Task[None]) -> None:
        self._tell()
        self.changed()

    def _reason(self, seat: Seat) -> str:
        """Return why a model does not vote, or why it does not judge where it would here."""
        debate, name = self._live.debate_session.debate, name_of(seat)
        judges = (debate.judge, *(debate.council.judges if debate.council is not None else ()))
        if name in judges or votes_with(self._kept(seat)):
            return self._checks.judge_reason(seat)
        return self._checks.reason(seat)

    def _kept(self, seat: Seat) -> str:
        """Return why a model does not vote or judge, as the session keeps it, "" where it does."""
        name = name_of(seat)
        kept = self._live.debate_session.debate.no_votes
        return next((vote.reason for vote in kept if vote.model == name), "")

    def _keep(self, seat: Seat, reason: str) -> None:
        """Keep in the session why a model does not vote or judge, "" where it does."""
        if reason == self._kept(seat):
            return
        debate, name = self._live.debate_session.debate, name_of(seat)
        others = tuple(vote for vote in debate.no_votes if vote.model != name)
        no_votes = (*others, NoVote(model=name, reason=reason)) if reason else others
        self._live.change(debate=with_voters(replace(debate, no_votes=no_votes)))
        if votes_with(reason):
            self._live.notice("no_judging", level="info", models=seat[1])


def votes_with(reason: str) -> bool:
    """Say whether what is kept of a model, as `NoVote` has it, is only why it does not judge."""
    return main_code(reason) == MISSED_PREMISES


def no_vote_text(debate: Debate, participant: Participant, words: Callable[..., str]) -> str:
    """Return that a participant does not vote or judge, and why, "" where that is not known.

    `words` gives a text by its key.
    """
    if not (reason := debate.no_vote_of(participant)):
        return ""
    key = "verdict.no_judging.why" if votes_with(reason) else "verdict.no_vote.why"
    return words(key, name=participant.name, reason=no_vote_reason(reason, words))


def with_voters(debate: Debate) -> Debate:
    """Return a debate in which nobody votes or reads whose check has failed or was skipped.

    Who only missed broken premises votes.
    """
    if debate.council is None:
        return debate
    unchecked = (NoVoteReason.FOLLOWS_ORDER, NoVoteReason.SKIPPED)
    codes = {vote.model: main_code(vote.reason) for vote in debate.no_votes}
    voteless = (item.id for item in debate.participants if codes.get(name_of(item.seat)) in unchecked)
    judges = (item for item in debate.council.judges if codes.get(item) not in (*unchecked, MISSED_PREMISES))
    council = replace(debate.council, voteless=tuple(voteless), judges=tuple(judges))
    return replace(debate, council=council)
