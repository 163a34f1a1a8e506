"""A session: a saved conversation with its plan, its status and the state of its kind."""

from collections.abc import Iterable
from dataclasses import dataclass, fields, replace
from typing import Any, Literal, Self

from app.core.council import ANY_JUDGE, DEFAULT_COUNCIL_ROUNDS, NO_JUDGE, Participant
from app.core.council_parts import Option
from app.core.message import Attachment
from app.core.settings import RunLimits
from app.core.summary import DEFAULT_ROUNDS, VOTING_ENDS, AgentMode, DebateMode, DebateTools, Ends, Status
from app.core.usage import UsageEntry
from app.core.verdict import Ballot, BlindPick, Calibration, NoVote, Verdict, WhatIf
from app.core.workflow import StepState, WorkflowDefinition


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanItem:
    """One step of a plan."""

    text: str
    done: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """The goal of a session, and the steps to it in their order; items are counted from 0."""

    goal: str = ""
    items: tuple[PlanItem, ...] = ()

    @property
    def open(self) -> tuple[PlanItem, ...]:
        """The items that are not done."""
        return tuple(item for item in self.items if not item.done)


MIN_PARTICIPANTS = 2
# A debate can be extended again and again, but hardly this far.
MOST_ROUNDS = 1_000
MAX_TOPIC_CHARACTERS = 8_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Council:
    """What the user wants of a council; what came of it is in its messages.

    With `differences` one call compares the answers. It is made by `helper`, a "provider/model", "" where nobody could:
    it is chosen at the start, and again before something is asked of it.
    `again` and `merges` count the further comparisons and the merged answers that were asked for since all were asked,
    `rounds` the rounds of debate, of which `debated` were over when more were asked for. `max_usd` is what it may cost, 0 for any amount.
    `judges` read the debate at its end, each a "provider/model": the first, or the next where that fails; empty for none.
    `judged` counts the verdicts that were asked for after the last round, beside the first. With `moves` the judge is also asked
    whether what those cite who changed their position argues for the new one.
    `outsider` is the "provider/model" that answers or objects from outside: `checks` and `solos` count the further answers asked
    for, `stressed` are the rounds in which it alone speaks before all vote again.
    `ends` is how it ends by itself; with `Ends.MERGE` one of the `merges` comes without being asked for.
    `panel` is the name of the panel that was asked, "" for participants who were chosen one by one. `offered_rounds` is for how
    long what is open is debated where the user asks for it. `wanted_rounds` is for how long it is debated without being asked
    for, 0 where it is not.
    `voteless` are the ids of participants that speak, but whose votes do not count: their models failed the voting check.
    `calibrations` say how right the participants' models have been, as the journal knew it at the start.
    `blind` is the blind pick, None where it was not asked for; `read_at` is when the user first read a verdict (ISO 8601).
    `weighed` says that the user wants a headline where a judge found that the answer turns on what one wants.
    """

    differences: bool = True
    helper: str = ""
    again: int = 0
    merges: int = 0
    rounds: int = 0
    debated: int = 0
    max_usd: float = 0.0
    judges: tuple[str, ...] = ()
    judged: int = 0
    moves: bool = False
    outsider: str = ""
    checks: int = 0
    solos: int = 0
    stressed: tuple[int, ...] = ()
    ends: Ends = Ends.NONE
    panel: str = ""
    offered_rounds: int = DEFAULT_COUNCIL_ROUNDS
    wanted_rounds: int = 0
    voteless: tuple[str, ...] = ()
    calibrations: tuple[Calibration, ...] = ()
    weighed: bool = False
    blind: BlindPick | None = None
    read_at: str = ""

    @property
    def shown_pick(self) -> BlindPick | None:
        """The blind pick if its answers were shown: one whose answers are not written yet is dropped with what follows."""
        return self.blind if self.blind is not None and self.blind.order else None


@dataclass(frozen=True, slots=True, kw_only=True)
class DebateChoices:
    """How a debate is held: what its draft, its set-up and the debate itself have in common."""

    rounds: int = DEFAULT_ROUNDS
    # Whether nobody reads what others said first before having spoken.
    independent_opening: bool = False
    # What participants may use.
    tools: str = DebateTools.NONE
    # Whether all vote in secret before the first round and after each.
    polls: bool = False
    # Whether all vote in secret once, at the end.
    final_ballots: bool = False
    # Who gives the verdict at the end, a "provider/model"; ANY_JUDGE, NO_JUDGE, or "" for a verdict where there are polls.
    judge: str = ""
    # Who looks for options, compares answers and merges them, a "provider/model"; "" for the cheapest that may.
    helper: str = ""

    @property
    def concludes(self) -> bool:
        """Whether a verdict is made at the end."""
        return self.judge != NO_JUDGE and bool(self.judge or self.polls)

    @property
    def votes(self) -> bool:
        """Whether all vote by themselves, after each round or at the end."""
        return self.polls or self.final_ballots

    @property
    def ends(self) -> Ends:
        """How it ends by itself."""
        votes = Ends.VOTE if self.votes else Ends.NONE
        return Ends.VERDICT if self.concludes else votes

    def ending(self, ends: Ends) -> Self:
        """Return these choices with another end; who judges, and votes in each round, stay where they are still needed."""
        votes, judge = ends in VOTING_ENDS, self.judge if self.concludes and self.judge else ANY_JUDGE
        return replace(
            self,
            polls=votes and self.polls,
            final_ballots=votes and not self.polls,
            judge=judge if ends == Ends.VERDICT else NO_JUDGE,
        )

    def chosen(self) -> dict[str, Any]:
        """Return these choices alone, by name."""
        return {one.name: getattr(self, one.name) for one in fields(DebateChoices)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Debate(DebateChoices):
    """The set-up of a debate, and how far it is.

    The cursor is `(round, turn)`: `round` counts from 1, `turn` from 0 within the round, and both name the next turn.
    `failures` counts failed turns in a row; `due` are the ids of failed messages whose turns are taken again before the
    cursor's, in order; `left` are the ids of participants whom the user left out. `unused_summaries` are the ids of the
    running notes that the user does not want used, `pinned` those of messages that all are sent word for word. `always` are
    the consent keys of tools that need not ask again. `council` is what only a council has, `instructions` its folder's.
    `no_votes` says why models that take part, or would judge, do not vote, as far as that is known.
    """

    topic: str
    mode: DebateMode = DebateMode.ROUND_ROBIN
    round: int = 1
    turn: int = 0
    seed: int = 0
    failures: int = 0
    due: tuple[str, ...] = ()
    left: tuple[str, ...] = ()
    participants: tuple[Participant, ...] = ()
    context: tuple[Attachment, ...] = ()
    language: str = "en"
    options: tuple[Option, ...] = ()
    # Ballots and verdicts of earlier versions, which today are messages.
    ballots: tuple[Ballot, ...] = ()
    verdict: Verdict | None = None
    earlier_verdicts: tuple[Verdict, ...] = ()
    what_ifs: tuple[WhatIf, ...] = ()
    unused_summaries: tuple[str, ...] = ()
    pinned: tuple[str, ...] = ()
    always: tuple[str, ...] = ()
    council: Council | None = None
    instructions: str = ""
    no_votes: tuple[NoVote, ...] = ()

    @property
    def is_council(self) -> bool:
        """Whether all answer first, unseen by each other; else they speak in turns."""
        return self.mode == DebateMode.COUNCIL

    @property
    def verdicts(self) -> tuple[Verdict, ...]:
        """The verdicts of earlier versions, the newest last."""
        return self.earlier_verdicts if self.verdict is None else (*self.earlier_verdicts, self.verdict)

    def what_if(self, number: int) -> WhatIf | None:
        """Return what began a round after the end, None for a round that was set up."""
        return next((one for one in self.what_ifs if one.round == number), None)

    def no_vote_of(self, participant: Participant) -> str:
        """Return why a participant does not vote, "" where it does or that is not known."""
        name = "/".join(participant.seat)
        return next((one.reason for one in self.no_votes if one.model == name), "")


@dataclass(frozen=True, slots=True, kw_only=True)
class QueuedMessage:
    """What the user, or the program `by`, sent while the assistant was busy; it waits for its turn.

    `provider` and `model` answer it alone, both "" for the chat's.
    """

    id: str
    text: str
    attachments: tuple[Attachment, ...] = ()
    by: str = ""
    provider: str = ""
    model: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerChoice:
    """What the user chose for one answer alone: the turn `turn_id`, which follows `follows`.

    `provider` and `model` are empty together: then the speaker uses its own; so it does where `effort` is "".
    """

    turn_id: str
    follows: str
    provider: str = ""
    model: str = ""
    effort: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Chat:
    """The assistant of a chat, and where in the tree of turns the conversation stands.

    `head` is the id of the last turn of the version that is shown, "" before the first. `mode` is default or settings.
    `always` are the consent keys of tools that need not ask again in this session. `budget_from` is the message from
    which the budget of a user message is counted. `unused_summaries` are the ids of those that the user does not
    want used, `pinned` those of messages that are sent word for word also where a summary stands for them, in the order
    in which they were pinned; `summarise` says that the user has asked for one. `history` is the HistoryLength chosen for this chat, ""
    for that of the settings. `effort` is that of all who speak, "" for their own; `provider` and `model` answer in place of
    the assistant's own, both "" for that. `choice` is for the answer that was asked for again with it. `instructions`
    and `context` are those of its folder when it came there. `limits` are those chosen for this session, None for those
    of the settings.
    """

    assistant_id: str
    assistant_name: str = ""
    head: str = ""
    mode: str = AgentMode.DEFAULT
    queue: tuple[QueuedMessage, ...] = ()
    always: tuple[str, ...] = ()
    budget_from: str = ""
    language: str = "en"
    unused_summaries: tuple[str, ...] = ()
    pinned: tuple[str, ...] = ()
    summarise: bool = False
    history: str = ""
    effort: str = ""
    provider: str = ""
    model: str = ""
    choice: AnswerChoice | None = None
    instructions: str = ""
    context: tuple[Attachment, ...] = ()
    limits: RunLimits | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupState:
    """The group of a session; `members` are assistants' ids as they were when the session began."""

    id: str
    name: str
    members: tuple[str, ...]
    turns_limit: int = 20
    ask_before_hand_over: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkflowState:
    """The workflow of a session: its definition as it was when it began, the user's command, and every step."""

    definition: WorkflowDefinition
    command: str
    steps: tuple[StepState, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """A saved conversation without its messages.

    `kind` says which parts it has: a debate has `debate`; a chat has `chat`; a group and a workflow have `chat` and
    `group` or `workflow`. `reason` is a code of the catalogue (`reason.<code>`). `plan` is what the assistants set out
    to do, None where they made none. `source` says which conversation of which other program it was
    ("chatgpt/<its id>"), "" for one of Moot's own. `asked_by` is the name of the program that began it over MCP, "" where
    the user did. `unsaid` are the model calls that were paid for and led to
    no message and no ballot. `folder` is the id of the folder it is in; where there is no such folder, it is in none.
    """

    id: str
    title: str
    kind: str = "chat"
    status: str = Status.IDLE
    reason: str = ""
    created_at: str = ""
    updated_at: str = ""
    version: int = 1
    plan: Plan | None = None
    source: str = ""
    folder: str = ""
    asked_by: str = ""
    unsaid: tuple[UsageEntry, ...] = ()
    debate: Debate | None = None
    chat: Chat | None = None
    group: GroupState | None = None
    workflow: WorkflowState | None = None

    @property
    def mode(self) -> str:
        """What its assistants may do: an AgentMode."""
        return self.chat.mode if self.chat is not None else AgentMode.DEFAULT

    @property
    def always(self) -> tuple[str, ...]:
        """The consent keys of tools that need not ask again in the session."""
        state = self.chat or self.debate
        return state.always if state is not None else ()

    def allowing(self, always: Iterable[str]) -> dict[str, object]:
        """Return the changed field of the session where these tools need not ask again, and no others."""
        return self._with(always=tuple(dict.fromkeys(always)))

    @property
    def unused_summaries(self) -> tuple[str, ...]:
        """The ids of the summaries that the user does not want used."""
        state = self.chat or self.debate
        return state.unused_summaries if state is not None else ()

    @property
    def pinned(self) -> tuple[str, ...]:
        """The ids of the messages that are always sent word for word."""
        state = self.chat or self.debate
        return state.pinned if state is not None else ()

    def without_summaries(self, ids: Iterable[str]) -> dict[str, object]:
        """Return the changed field of the session where the user does not want these summaries used, and all others."""
        return self._with(unused_summaries=tuple(sorted(ids)))

    def with_pin(self, message_id: str, *, pinned: bool) -> dict[str, object]:
        """Return the changed field of the session where a message is pinned, as the last one, or is no longer."""
        others = tuple(one for one in self.pinned if one != message_id)
        return self._with(pinned=(*others, message_id) if pinned else others)

    def _with(self, **changed: tuple[str, ...]) -> dict[str, object]:
        if self.debate is not None:
            return {"debate": replace(self.debate, **changed)}  # type: ignore[arg-type]
        return {"chat": replace(self.chat, **changed)} if self.chat is not None else {}  # type: ignore[arg-type]


@dataclass(frozen=True, slots=True, kw_only=True)
class DebateSession(Session):
    """A debate of several models."""

    debate: Debate
    kind: Literal["debate"] = "debate"


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatSession(Session):
    """A chat with one assistant and the sub-agents it calls."""

    chat: Chat
    kind: Literal["chat"] = "chat"


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupSession(ChatSession):
    """A chat with a group led by an orchestrator, who is the chat's assistant."""

    group: GroupState
    kind: Literal["group"] = "group"  # type: ignore[assignment]


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkflowSession(ChatSession):
    """Work in steps; each step is a turn of the assistant of its role, below the workflow's own turn."""

    workflow: WorkflowState
    kind: Literal["workflow"] = "workflow"  # type: ignore[assignment]
