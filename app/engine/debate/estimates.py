"""What a debate, a workflow or a group's work will cost before it begins; `engine.estimates` for the
faces.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial

from app.core.catalog import RequestForm
from app.core.council import Seat
from app.core.definitions import Agent, Group, WorkflowDefinition
from app.core.errors import ProviderError
from app.core.frozen import Frozen
from app.core.provider import Models, Price, ProviderStatus
from app.core.session import AgentMode, DebateChoices, DebateTools, GroupState
from app.core.texts import amount_text
from app.engine.debate.modes import form_of, system_prompt
from app.engine.debate.perspective import TRANSCRIPT_CONTEXT
from app.engine.debate.setup import DebateSetup, draft_of
from app.engine.history import tokens_of
from app.engine.library.agents import AgentDirectory
from app.engine.prompts import Prompts
from app.engine.request import WINDOW
from app.engine.voting import CALL_TOKENS, VotingChecks, seat_of

# Of which model, the tokens it reads and those it writes.
Call = tuple[Seat, int, int]
# The calls for short answers (0), or for long ones (1).
Calls = Callable[[int], list[Call]]
Prices = Mapping[Seat, Price | None]

# Tokens of an answer: short, and as long as asked for; of what is written, thinking as well.
SAID = (120, 450)
WRITTEN = (120, 800)
# What a ballot and a verdict are, thinking as well; what a judge is told beside what was said.
BALLOT = (25, 200)
VERDICT = (410, 1_500)
# What a judge says when it reads again in another order: its choice and the case for it, thinking as well.
AGAIN = (60, 400)
_JUDGE = 500
# What looking for the options of a question takes beside the question, and the options.
_FINDING, _FOUND = 150, 60
# What somebody writes who holds something else than most, and how many at most do.
_DISSENT, _DISSENTERS = 170, (0, 2)

# How often a participant reads the web before it answers, at most.
MOST_READINGS = 3
# What the call of a tool has, and what it finds.
_CALLED, _FOUND_THERE = 40, 5_000

# How often a step of a workflow asks its model, and what the result of a tool in between has.
STEP_CALLS = (1, 3)
_RESULT = 400


class Speaker(Frozen):
    """A speaker: its provider and model, and the tokens of all it is sent except what others say.

    `said` and `written` are the tokens of a short and of a long answer; others read what is `said`. One that
    `reads` may look at the web before it speaks.
    """

    pair: Seat
    sent: int
    said: tuple[int, int] = SAID
    written: tuple[int, int] = WRITTEN
    reads: bool = False


class Estimate(Frozen):
    """What turns will use, at least and at most.

    `usd` is None where no price is known, `partly` says that one is not, and `free` that nothing costs
    anything. `unasked` are the models whose price has not been looked up yet. `checks` are the calls with
    which models are checked that were not yet, before they vote or judge, and `reads` those with which
    participants read the web: they are in the tokens and the dollars, and no turns.
    """

    turns: int
    tokens: tuple[int, int]
    usd: tuple[float, float] | None
    partly: bool = False
    free: bool = False
    unasked: tuple[Seat, ...] = ()
    checks: int = 0
    reads: int = 0


def estimate(
    speakers: Sequence[Speaker], turns: int, prices: Prices, conclusion: Calls = lambda _length: []
) -> Estimate:
    """Return what turns will use that speakers take one after the other, the last messages before them.

    `conclusion` gives the calls that come beside them, for short turns (0) and for long ones (1).
    """
    taking = [speakers[turn % len(speakers)] for turn in range(turns)]

    def calls_of(length: int) -> list[Call]:
        said, calls = list[int](), list[Call]()
        for speaker in taking:
            sent = speaker.sent + sum(said[-WINDOW:])
            calls.append((speaker.pair, sent, speaker.written[length]))
            calls += reading_calls(speaker.pair, sent) if length and speaker.reads else []
            said.append(speaker.said[length])
        return calls + conclusion(length)

    found = _summed(calls_of, prices, [speaker.pair for speaker in taking])
    return replace(found, reads=MOST_READINGS * sum(speaker.reads for speaker in taking))


def reading_calls(seat: Seat, sent: int) -> list[Call]:
    """Return the calls beside an answer whose model reads the web as often as it may, each with what it found
    before.
    """
    return [(seat, sent + _FOUND_THERE * found, _CALLED) for found in range(1, MOST_READINGS + 1)]


def estimate_steps(steps: Sequence[tuple[Speaker, int]], prices: Prices) -> Estimate:
    """Return what steps will use, each by its assistant, with the results of so many steps before it.

    At most each goes on after tools, and reads again what it was sent and all that came since.
    """

    def calls_of(length: int) -> list[Call]:
        calls = list[Call]()
        for step, before in steps:
            sent, written = step.sent + before * step.said[length], step.written[length]
            again = range(STEP_CALLS[length])
            calls += [(step.pair, sent + time * (written + _RESULT), written) for time in again]
        return calls

    return _summed(calls_of, prices, [speaker.pair for speaker, _ in steps])


def _summed(calls_of: Calls, prices: Prices, taking: Sequence[Seat]) -> Estimate:
    """Sum up the calls for short answers (0) and for long ones (1); `taking` are the models
    that take the turns.
    """
    calls, tokens, usd = list[Call](), [], []
    for length in (0, 1):
        calls = calls_of(length)
        tokens.append(sum(read + written for _pair, read, written in calls))
        priced = [(prices.get(pair), read, written) for pair, read, written in calls]
        usd.append(sum(price.cost_of(read, written) for price, read, written in priced if price is not None))
    known = [price for pair in taking if (price := prices.get(pair)) is not None]
    paid = any(not price.free for price in known)
    partly = len(known) < len(taking)
    money = (usd[0], usd[1]) if known and (paid or not partly) else None
    unasked = tuple(dict.fromkeys(pair for pair, _, _ in calls if pair not in prices))
    found = Estimate(turns=len(taking), tokens=(tokens[0], tokens[1]), usd=money, unasked=unasked)
    return replace(found, partly=partly, free=not partly and not paid)


def price_range(words: Callable[..., str], estimate: Estimate, partly: str = "estimate.partly") -> str:
    """Return the range of money of an estimate; … while prices are fetched.

    `words` gives a text by its key, `partly` is that for a range that leaves out what has no known price.
    """
    if estimate.unasked:
        return words("estimate.asking")
    if estimate.usd is None:
        return words("cost.unknown")
    least, most = estimate.usd
    if most >= 0.01 > least:
        text = words("estimate.up_to", most=amount_text(most))
    else:
        text = words("estimate.money", least=amount_text(least), most=amount_text(most))
    return words(partly, money=text) if estimate.partly else text


def beside_text(words: Callable[..., str], estimate: Estimate) -> str:
    """Return how many calls read the web at most, and how many check models before they vote or judge for
    the first time; "" for none.
    """
    counts = {"estimate.reads": estimate.reads, "estimate.checks": estimate.checks}
    return " · ".join(words(key, count=count) for key, count in counts.items() if count)


def price_text(words: Callable[..., str], estimate: Estimate) -> str:
    """Return what calls cost, for a place beside what they are for; "+" stands for what has no known
    price.
    """
    return words("cost.free") if estimate.free else price_range(words, estimate, "estimate.partly.short")


# Of a debate's request: whose turn it is and the frame around the topic; of a small model's: all of it.
_CUE = 80
_TRANSCRIPT = 120
_TRANSCRIPT_SAID = (20, 60)
# What an assistant is told beside its instructions, and a tool with its parameters.
_NOTES = 300
_TOOL = 120


def calls_at_end(setup: DebateChoices, speakers: Sequence[Speaker], judge: str, length: int) -> list[Call]:
    """Return the calls for the votes and the verdict that are wanted, for short turns (0) or long ones."""
    said, calls = [item.said[length] for item in speakers] * setup.rounds, list[Call]()
    if setup.votes:
        able = [item for item in speakers if item.said != _TRANSCRIPT_SAID]
        after = range(setup.rounds + 1) if setup.polls else (setup.rounds,)
        heard = [sum(said[: number * len(speakers)][-WINDOW:]) for number in after]
        calls += [(item.pair, item.sent + before, BALLOT[length]) for before in heard for item in able]
    if setup.concludes:
        voters = [(speaker.pair, _JUDGE + speaker.said[length] * setup.rounds) for speaker in speakers]
        calls += verdict_calls(judge, _JUDGE + sum(said), voters, length)
    return calls


def verdict_calls(judge: str, read: int, voters: Sequence[tuple[Seat, int]], length: int) -> list[Call]:
    """Return the two readings of a "provider/model" that `read` so many tokens; none without a judge.

    Where some of the voters, each with what it reads, hold something else, they write why, and the judge says
    of moves whether they are argued for.
    """
    dissents = [(seat, own, _DISSENT) for seat, own in voters[: _DISSENTERS[length]]]
    written = (VERDICT, AGAIN, *[BALLOT] * bool(dissents))
    return [*((seat_of(judge), read, each[length]) for each in written), *dissents] if judge else []


@dataclass(eq=False, repr=False)
class Estimates:
    """Estimates what is about to begin; prices are asked for once and kept."""

    _models: Models
    _directory: AgentDirectory
    _prompts: Prompts
    _providers: Callable[[], list[ProviderStatus]]
    _voting: VotingChecks
    _prices: dict[Seat, Price | None] = field(default_factory=dict, init=False)

    async def ask(self, pairs: Iterable[Seat]) -> None:
        """Ask for the prices of models; one that cannot be asked for has none until the program ends."""
        for pair in pairs:
            price = None
            with suppress(ProviderError):
                price = await self._models.price(*pair)
            self._prices[pair] = price

    async def priced(self, estimated: Callable[[], Estimate]) -> Estimate:
        """Return an estimate once the prices that it lacks were asked for."""
        await self.ask(estimated().unasked)
        return estimated()

    def debate(self, setup: DebateSetup, context_tokens: int, judge: str = "", finder: str = "") -> Estimate:
        """Return what a debate of these participants will use; makes no call and reads no file.

        `judge` is the "provider/model" that gives the verdict, where one is wanted, `finder` who looks for
        options.
        """
        speakers = self._speakers(setup, context_tokens)
        checked = [speaker.pair for speaker in speakers if setup.votes]
        checked += [seat_of(judge)] if judge and setup.concludes else []
        checks = self._checks(checked)
        found_by = seat_of(finder)
        finding = [(found_by, _FINDING + tokens_of(setup.topic, found_by[1]), _FOUND)] if finder else []

        def conclusion(length: int) -> list[Call]:
            return [*calls_at_end(setup, speakers, judge, length), *finding, *checks]

        found = estimate(speakers, len(speakers) * setup.rounds, self._prices, conclusion)
        return replace(found, checks=len(checks))

    def _checks(self, seats: Iterable[Seat]) -> list[Call]:
        """Return the calls that check those of these models that were not checked yet."""
        return [(seat, *CALL_TOKENS) for seat in dict.fromkeys(seats) for _ in range(self._voting.left(seat))]

    def conclusion(self, setup: DebateSetup, context: int, judge: str = "") -> Estimate:
        """Return what the votes and the verdict of a debate will use that is set up so.

        Its files have so many tokens, the `context`.
        """
        return self.of_calls(partial(calls_at_end, setup, self._speakers(setup, context), judge))

    def _speakers(self, setup: DebateSetup, context_tokens: int) -> list[Speaker]:
        statuses = {status.config.id: status for status in self._providers()}
        debate, speakers = draft_of(setup, [*statuses.values()]).debate, list[Speaker]()
        for participant in debate.participants:
            status = statuses.get(participant.provider)
            model = participant.model or (status.default_model if status else "")
            pair = participant.provider, model
            reads = setup.tools == DebateTools.READING and self._directory.model(*pair).may_call
            speaker = Speaker(pair=pair, sent=tokens_of(setup.topic, model), reads=reads)
            sent = tokens_of(system_prompt(debate, participant, self._prompts), model) + context_tokens + _CUE
            if form_of(status.config.kind if status else "") == RequestForm.TRANSCRIPT:
                sent = _TRANSCRIPT + min(context_tokens, TRANSCRIPT_CONTEXT // 4)
                speaker = replace(speaker, said=_TRANSCRIPT_SAID, written=_TRANSCRIPT_SAID)
            speakers.append(replace(speaker, sent=speaker.sent + sent))
        return speakers

    def of_calls(self, calls: Calls, checked: Sequence[Seat] = (), reading: Sequence[Call] = ()) -> Estimate:
        """Return what calls will use that are given for short answers (0) and for long ones (1);
        the turns are their number.

        The models in `checked` are checked first, where that was not done yet; `reading` are the calls with
        which the web is read at most.
        """
        checks, made = self._checks(checked), (calls(0), calls(1))
        beside, pairs = (checks, [*checks, *reading]), [pair for pair, _, _ in made[1]]
        found = _summed(lambda length: made[length] + beside[length], self._prices, pairs)
        return replace(found, checks=len(checks), reads=len(reading))

    def group(self, group: Group, agents: Sequence[Agent] = ()) -> Estimate:
        """Return what one message to a group will use at most: each turn of the orchestrator's hands over.

        `agents` are the members of a group that is not saved yet.
        """
        state = GroupState(id=group.id, name=group.name, members=group.members)
        provider, model = group.orchestrator.provider, group.orchestrator.model
        leader = Agent(
            id=group.id, name=group.name, provider=provider, model=model, instructions=group.instructions
        )
        lead, members = self._agent(leader), map(self._agent, agents or self._directory.members(state))
        speakers = [speaker for member in members for speaker in (lead, member)]
        return estimate(speakers, 2 * group.turns_limit if speakers else 0, self._prices)

    def workflow(self, definition: WorkflowDefinition, command: str) -> Estimate:
        """Return what the steps of a workflow will use, each with what those it depends on came to."""
        steps = []
        for step in definition.steps:
            speaker = self._agent(self._directory.workers(step)[0])
            told = sum(tokens_of(text, speaker.pair[1]) for text in (command, step.prompt))
            steps.append((replace(speaker, sent=speaker.sent + _TOOL + told), len(step.depends_on)))
        return estimate_steps(steps, self._prices)

    def _agent(self, agent: Agent) -> Speaker:
        used = self._directory.model_of(agent)
        tools = len(self._directory.tools(agent, AgentMode.DEFAULT))
        sent = tokens_of(agent.instructions, used.model) + _NOTES + tools * _TOOL
        return Speaker(pair=(used.provider, used.model), sent=sent)
