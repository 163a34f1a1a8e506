"""A session: a saved conversation with its plan, its status and the state of its kind; and one in a list.

Why it has its status is a code of `reason.<code>`, numbers after `:`, several joined by `+`. With
`rounds_done+failed_turns:2` all rounds are done and two turns failed. No vote: a code of `no_vote.<code>`.
"""

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import fields, replace
from enum import StrEnum
from typing import Any, Final, Literal, NamedTuple, Self, TypeVar

from app.core import council as core_council
from app.core.catalog import usual_label
from app.core.council import NO_JUDGE, BlindPick, Decision, Ends, Option, Panel, Participant, Verdict, WhatIf
from app.core.criteria import Criterion, Plan
from app.core.definitions import QUEUED, Agent, Group, SavedPrompt, StepState, StepStatus, WorkflowDefinition
from app.core.errors import BY_PROVIDER, FailureKind
from app.core.frozen import Frozen
from app.core.message import Attachment, Author, PromptReason, UsageEntry
from app.core.schedule import Schedule
from app.core.settings import RunLimits
from app.core.texts import Texts


class ExportFormat(StrEnum):
    """What a session can be exported as that is text."""

    MARKDOWN = "md"
    HTML = "html"
    JSON = "json"


PDF: Final = "pdf"
DOCX: Final = "docx"
# The export with a session's files: a Markdown document and the files beside it.
ZIP: Final = "zip"


class Status(StrEnum):
    """The status of a session."""

    IDLE = "idle"
    RUNNING = "running"
    WAITING = "waiting"
    PAUSED = "paused"
    COMPLETED = "completed"
    STOPPED = "stopped"
    ERROR = "error"


# What is asked once in a session that works in a folder of the user's, and then always allowed there.
OF_FOLDER = (PromptReason.READ_FOLDER, PromptReason.WRITE_FOLDER)

ENDED = (Status.COMPLETED, Status.STOPPED, Status.ERROR)


class DebateMode(StrEnum):
    """Who speaks next in a debate: in order, by what was said, in order with roles,
    or all at once (a council).
    """

    ROUND_ROBIN = "round-robin"
    FREE = "free"
    ROLES = "roles"
    COUNCIL = "council"


# The modes of debates in which one speaks after the other.
CLASSIC_MODES = tuple(mode for mode in DebateMode if mode != DebateMode.COUNCIL)

MIN_ROUNDS, MAX_ROUNDS, DEFAULT_ROUNDS = 1, 10, 3


class DebateTools(StrEnum):
    """What participants may use: nothing, searching and reading the web, or what each of those
    that are assistants has.
    """

    NONE = "none"
    READING = "reading"
    OWN = "own"


class Folder(Frozen):
    """Sessions of one project: `instructions` and the paths of `context` files that those begun
    in it are given, and names of `skills` that their assistants have besides their own.
    """

    id: str
    name: str
    instructions: str = ""
    context: tuple[str, ...] = ()
    skills: tuple[str, ...] = ()
    version: int = 1
    kind: str = "folder"


Definition = TypeVar(
    "Definition", Agent, Group, WorkflowDefinition, Panel, Decision, Folder, SavedPrompt, Schedule
)


class AgentMode(StrEnum):
    """What an assistant may do: its work, or change Moot's settings."""

    DEFAULT = "default"
    SETTINGS = "settings"


class SessionSummary(NamedTuple):
    """One line of the list of sessions; what a list shows without opening the session.

    A debate has its mode, rounds and round; `speakers` are the participants' names in order, or the
    assistant's, `always` is the session's, and `is_fork` says that it began as another one stood. `cost_usd`
    is what counts towards the limits so far: of a debate all, else what came after the user's last message;
    None where no price is known. `damaged` counts the lines of its log that could not be read. A tuple,
    because a thousand of them are made before the list shows.
    """

    id: str
    kind: str
    title: str
    status: str
    updated_at: str
    messages: int
    reason: str = ""
    created_at: str = ""
    read_only: bool = False
    mode: str = ""
    rounds: int = 0
    round: int = 0
    folder: str = ""
    asked_by: str = ""
    is_fork: bool = False
    speakers: tuple[str, ...] = ()
    always: tuple[str, ...] = ()
    cost_usd: float | None = 0.0
    chosen_folder: str = ""
    damaged: int = 0
    proposed: tuple[str, ...] = ()


class Hit(Frozen):
    """A place where a text was found; `message_id` is "" for a title, `excerpt` a line around it."""

    session: SessionSummary
    message_id: str = ""
    excerpt: str = ""
    author: Author | None = None
    by_user: bool = False


# A debate can be extended again and again, but hardly this far.
MOST_ROUNDS = 1_000
MAX_TOPIC_CHARACTERS = 8_000


class Council(Frozen):
    """What the user wants of a council; what came of it is in its messages.

    With `differences` one call compares the answers. It is made by `helper`, a "provider/model", "" where
    nobody could: it is chosen at the start, and again before something is asked of it. `again` and `merges`
    count the further comparisons and the merged answers that were asked for since all were asked, `rounds`
    the rounds of debate, of which `debated` were over when more were asked for. `max_usd` is what it may
    cost, 0 for any amount. `judges` read the debate at its end, each a "provider/model": the first, or the
    next where that fails; empty for none. `judged` counts the verdicts that were asked for after the last
    round, beside the first. With `moves` the judge is also asked whether what those cite who changed their
    position argues for the new one. `outsider` is the "provider/model" that answers or objects from outside:
    `checks` and `solos` count the further answers asked for, `stressed` are the rounds in which it alone
    speaks before all vote again. `ends` is how it ends by itself; with `Ends.MERGE` one of the `merges` comes
    without being asked for. `panel` is the name of the panel that was asked, "" for participants who were
    chosen one by one. `offered_rounds` is for how long what is open is debated where the user asks for it.
    `wanted_rounds` is for how long it is debated without being asked for, 0 where it is not. `voteless` are
    the ids of participants that speak, but whose votes do not count: their models failed the voting check.
    `calibrations` say how right the participants' models have been, as the journal knew it at the start.
    `blind` is the blind pick, None where it was not asked for; `read_at` is when the user first read a
    verdict (ISO 8601). `weighed` says that the user wants a headline where a judge found that the answer
    turns on what one wants.
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
    offered_rounds: int = core_council.DEFAULT_COUNCIL_ROUNDS
    wanted_rounds: int = 0
    voteless: tuple[str, ...] = ()
    calibrations: tuple[core_council.Calibration, ...] = ()
    weighed: bool = False
    blind: BlindPick | None = None
    read_at: str = ""

    @property
    def shown_pick(self) -> BlindPick | None:
        """The blind pick if its answers were shown: one whose answers are not written yet is dropped
        with what follows.
        """
        return self.blind if self.blind is not None and self.blind.order else None


class DebateChoices(Frozen):
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
    # Who gives the verdict at the end, a "provider/model"; ANY_JUDGE, NO_JUDGE, or "" for a verdict where
    # there are polls.
    judge: str = ""
    # Who looks for options, compares answers and merges them, a "provider/model"; "" for the cheapest that
    # may.
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
        """Return these choices with another end; who judges, and votes in each round, stay
        where they are still needed.
        """
        polls, final = (ends.votes and self.polls, ends.votes and not self.polls)
        judge = self.judge if self.concludes and self.judge else core_council.ANY_JUDGE
        judge = judge if ends == Ends.VERDICT else NO_JUDGE
        return replace(self, polls=polls, final_ballots=final, judge=judge)

    def chosen(self) -> dict[str, Any]:
        """Return these choices alone, by name."""
        return {field.name: getattr(self, field.name) for field in fields(DebateChoices)}


class Debate(DebateChoices):
    """The set-up of a debate, and how far it is.

    The cursor is `(round, turn)`: `round` counts from 1, `turn` from 0 within the round, and both name the
    next turn. `failures` counts failed turns in a row; `due` are the ids of failed messages whose turns are
    taken again before the cursor's, in order; `left` are the ids of participants whom the user left out.
    `unused_summaries` are the ids of the running notes that the user does not want used, `pinned` those of
    messages that all are sent word for word. `always` are the consent keys of tools that need not ask again.
    `council` is what only a council has, `instructions` its folder's. `no_votes` says why models that take
    part, or would judge, do not vote, as far as that is known.
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
    ballots: tuple[core_council.Ballot, ...] = ()
    verdict: Verdict | None = None
    earlier_verdicts: tuple[Verdict, ...] = ()
    what_ifs: tuple[WhatIf, ...] = ()
    unused_summaries: tuple[str, ...] = ()
    pinned: tuple[str, ...] = ()
    always: tuple[str, ...] = ()
    council: Council | None = None
    instructions: str = ""
    no_votes: tuple[core_council.NoVote, ...] = ()
    # The id of the session that it is a fork of, "" for none.
    fork_of: str = ""

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
        return next((item for item in self.what_ifs if item.round == number), None)

    def no_vote_of(self, participant: Participant) -> str:
        """Return why a participant does not vote, "" where it does or that is not known."""
        name = "/".join(participant.seat)
        return next((vote.reason for vote in self.no_votes if vote.model == name), "")


class QueuedMessage(Frozen):
    """What the user, or the program `by`, sent while the assistant was busy; it waits for its turn.

    `provider` and `model` answer it alone, both "" for the chat's.
    """

    id: str
    text: str
    attachments: tuple[Attachment, ...] = ()
    by: str = ""
    provider: str = ""
    model: str = ""


class AnswerChoice(Frozen):
    """What the user chose for one answer alone: the turn `turn_id`, which follows `follows`.

    `provider` and `model` are empty together: then the speaker uses its own; so it does where `effort` is "".
    """

    turn_id: str
    follows: str
    provider: str = ""
    model: str = ""
    effort: str = ""


class Chat(Frozen):
    """The assistant of a chat, and where in the tree of turns the conversation stands.

    `head` is the id of the last turn of the version that is shown, "" before the first. `mode` is default or
    settings. `always` are the consent keys of tools that need not ask again in this session. `budget_from` is
    the message from which the budget of a user message is counted. `unused_summaries` are the ids of those
    that the user does not want used, `pinned` those of messages that are sent word for word also where a
    summary stands for them, in the order in which they were pinned; `summarise` says that the user has asked
    for one. `history` is the HistoryLength chosen for this chat, "" for that of the settings. `effort` is
    that of all who speak, "" for their own; `provider` and `model` answer in place of the assistant's own,
    both "" for that. `choice` is for the answer that was asked for again with it. `instructions` and
    `context` are those of its folder when it came there. `limits` are those chosen for this session, None for
    those of the settings. `chosen_folder` is the folder of the user's in which its files are, "" for one of
    its own. One that is `forgetful` is told no notes, and none are proposed there. `proposed` are
    the ids of the messages with proposals that wait for the user.
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
    chosen_folder: str = ""
    forgetful: bool = False
    proposed: tuple[str, ...] = ()


class GroupState(Frozen):
    """The group of a session; `members` are assistants' ids, `names` their names, as they were
    when the session began.
    """

    id: str
    name: str
    members: tuple[str, ...]
    names: tuple[str, ...] = ()
    turns_limit: int = 20
    ask_before_hand_over: bool = False

    def name_of(self, member: str) -> str:
        """Return what a member was called; its id in a session that does not say."""
        return dict(zip(self.members, self.names, strict=False)).get(member, member)


class WorkflowState(Frozen):
    """The workflow of a session: its definition as it was when it began, the user's command, and every
    step.
    """

    definition: WorkflowDefinition
    command: str
    steps: tuple[StepState, ...]


class Session(Frozen):
    """A saved conversation without its messages.

    `kind` says which parts it has: a debate has `debate`; a chat has `chat`; a group and a workflow have
    `chat` and `group` or `workflow`. `reason` is a code of the catalogue (`reason.<code>`). `plan` is what
    the assistants set out to do, None where they made none. `source` says which conversation of which
    program it was in a file ("chatgpt/<its id>"), "" for one that began here. `asked_by` is the name of the
    program that began it over MCP, "" where the user did. `unsaid` are the model calls that were paid for and
    led to no message and no ballot. `folder` is the id of the folder it is in; where there is no such folder,
    it is in none. `criteria` say when its work is done.
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
    criteria: tuple[Criterion, ...] = ()
    debate: Debate | None = None
    chat: Chat | None = None
    group: GroupState | None = None
    workflow: WorkflowState | None = None

    def all_criteria(self, *, due: bool = False) -> tuple[Criterion, ...]:
        """Return its criteria and those of a group's plan, whose end is that of the work;
        `due` without those of items that are done.
        """
        plan = self.plan if self.plan is not None and self.group is not None else Plan()
        items = plan.open if due else plan.items
        return (*self.criteria, *(each for item in items for each in item.criteria))

    @property
    def mode(self) -> str:
        """What its assistants may do: an AgentMode."""
        return self.chat.mode if self.chat is not None else AgentMode.DEFAULT

    @property
    def language(self) -> str:
        """The language in which its models are told what Moot tells them."""
        return state.language if (state := self.chat or self.debate) else "en"

    @property
    def always(self) -> tuple[str, ...]:
        """The consent keys of tools that need not ask again in the session."""
        return state.always if (state := self.chat or self.debate) else ()

    def allowing(self, always: Iterable[str]) -> dict[str, object]:
        """Return the changed field of the session where these tools need not ask again, and no others."""
        return self._with(always=tuple(dict.fromkeys(always)))

    @property
    def chosen_folder(self) -> str:
        """The folder that the user chose for its files, "" for its own."""
        return self.chat.chosen_folder if self.chat is not None else ""

    @property
    def proposed(self) -> tuple[str, ...]:
        """The ids of the messages with proposed notes that wait for the user."""
        return self.chat.proposed if self.chat is not None else ()

    @property
    def unused_summaries(self) -> tuple[str, ...]:
        """The ids of the summaries that the user does not want used."""
        return state.unused_summaries if (state := self.chat or self.debate) else ()

    @property
    def pinned(self) -> tuple[str, ...]:
        """The ids of the messages that are always sent word for word."""
        return state.pinned if (state := self.chat or self.debate) else ()

    def without_summaries(self, ids: Iterable[str]) -> dict[str, object]:
        """Return the changed field of the session where the user does not want these summaries used,
        and all others.
        """
        return self._with(unused_summaries=tuple(sorted(ids)))

    def with_pin(self, message_id: str, *, pinned: bool) -> dict[str, object]:
        """Return the changed field of the session where a message is pinned, as the last one,
        or is no longer.
        """
        others = tuple(item for item in self.pinned if item != message_id)
        return self._with(pinned=(*others, message_id) if pinned else others)

    @property
    def without_folder(self) -> Self:
        """The session without the instructions and files of its folder;
        a debate has the files it was set up with.
        """
        files = {} if self.debate is not None else {"context": ()}
        return replace(self, **self._with(instructions="", **files))  # type: ignore[arg-type]

    def _with(self, **changed: Any) -> dict[str, object]:
        if self.debate is not None:
            return {"debate": replace(self.debate, **changed)}
        return {"chat": replace(self.chat, **changed)} if self.chat is not None else {}


class DebateSession(Session):
    """A debate of several models."""

    debate: Debate
    kind: Literal["debate"] = "debate"


class ChatSession(Session):
    """A chat with one assistant and the sub-agents it calls."""

    chat: Chat
    kind: Literal["chat"] = "chat"


class GroupSession(ChatSession):
    """A chat with a group led by an orchestrator, who is the chat's assistant."""

    group: GroupState
    kind: Literal["group"] = "group"  # type: ignore[assignment]


class WorkflowSession(ChatSession):
    """Work in steps; each step is a turn of the assistant of its role, below the workflow's own turn."""

    workflow: WorkflowState
    kind: Literal["workflow"] = "workflow"  # type: ignore[assignment]


_MOST_DIGITS = 9


class Reason(StrEnum):
    """Why a session has its status; each has a text `reason.<code>`. A FailureKind is a reason as well."""

    BY_USER = "by_user"
    APP_CLOSED = "app_closed"
    APP_RESTART = "app_restart"
    SAVE_FAILED = "save_failed"
    FAULT = "fault"
    FROM_FILE = "from_file"
    DAMAGED = "damaged"
    FORKED = "forked"
    QUESTION = "question"
    BUSY = QUEUED
    SUMMARISING = "summarising"
    CHECKING_VOTES = "checking_votes"
    NO_ASSISTANT = "no_assistant"
    FAILED_TURNS = "failed_turns"
    TWO_FAILURES = "two_failures"
    NOBODY_ANSWERED = "nobody_answered"
    NOT_ANSWERED = "not_answered"
    ROUNDS_DONE = "rounds_done"
    TOO_FEW = "too_few"
    EXHAUSTED = "exhausted"
    COMPARED = "compared"
    STEP_FAILED = "step_failed"
    NO_MARKER = "no_marker"
    BLOCKED = "blocked"
    TURNS_LIMIT = "turns_limit"
    STEPS = "steps"
    REPEATED = "repeated"
    BUDGET_MODEL_CALLS = "budget_model_calls"
    BUDGET_TOOL_ROUNDS = "budget_tool_rounds"
    BUDGET_MINUTES = "budget_minutes"
    BUDGET_COST = "budget_cost"
    CRITERIA_UNMET = "criteria_unmet"
    SAID_FAILED = "said_failed"
    SAID_BLOCKED = "said_blocked"


# The reasons of a pause because of a turn: it can be retried or skipped, or its participant left out.
HELD_UP = (FailureKind.RATE_LIMIT, FailureKind.QUOTA, Reason.TWO_FAILURES)

RESTART = "restart"
# The codes for scripts of the limits that can end a run; `budget` is that of money, tool rounds and the
# month.
LIMITS = ("turn_limit", "step_limit", "repeated_call", "budget", "budget_calls", "budget_minutes")
# The stable codes for scripts, whatever else the reasons of sessions become.
_FOR_SCRIPTS = {
    **dict.fromkeys((*FailureKind, Reason.TWO_FAILURES, "nobody_answered"), "provider_error"),
    **dict.fromkeys(("app_closed", "app_restart"), RESTART),
    Reason.BY_USER: "user",
    Reason.FAULT: Reason.FAULT,
    Reason.CRITERIA_UNMET: Reason.CRITERIA_UNMET,
    FailureKind.RATE_LIMIT: "rate_limit",
    FailureKind.BUDGET_MONTH: "budget",
    Reason.TURNS_LIMIT: "turn_limit",
    Reason.STEPS: "step_limit",
    Reason.REPEATED: "repeated_call",
    Reason.BUDGET_MODEL_CALLS: "budget_calls",
    Reason.BUDGET_MINUTES: Reason.BUDGET_MINUTES,
}


def counted(code: str, *counts: int) -> str:
    """Return a code that carries a number, or how many there are of how many."""
    return ":".join((code, *map(str, counts)))


def joined(*reasons: str) -> str:
    """Return several reasons as one."""
    return "+".join(reasons)


def main_code(reason: str) -> str:
    """Return the code of the first part of a reason, without its number."""
    return reason.split("+", 1)[0].partition(":")[0]


def reason_code(reason: str) -> str:
    """Return the code of a reason for scripts, "" where it has none."""
    code = main_code(reason)
    return _FOR_SCRIPTS.get(code, "budget" if code.startswith("budget_") else "")


def code_of_session(session: Session) -> str:
    """Return the code for scripts of why a session has its status; of a workflow, of its first failed
    step.
    """
    if session.workflow is not None and session.reason == Reason.STEP_FAILED:
        failed = (step.reason for step in session.workflow.steps if step.state == StepStatus.FAILED)
        return reason_code(next(failed, ""))
    return reason_code(session.reason)


def resumable(session: Session | SessionSummary) -> bool:
    """Say whether a session can be resumed: it is paused, it was stopped, or a fault ended its run."""
    return session.status in (Status.PAUSED, Status.STOPPED) or _failed(session)


def has_ended(session: Session | SessionSummary) -> bool:
    """Say whether a session has ended; one that was stopped has, and can be resumed."""
    return session.status in ENDED and not _failed(session)


def not_answered(status: str, reason: str) -> bool:
    """Say whether a chat or a group waits for its user because its last answer failed."""
    return (status, reason) == (Status.IDLE, Reason.NOT_ANSWERED)


def rests_as(session: Session | SessionSummary) -> str:
    """Return a session's status as people say it: a group that waits for nobody is done, or was stopped."""
    if session.kind != "group" or session.status != Status.IDLE or not_answered(Status.IDLE, session.reason):
        return session.status
    return Status.STOPPED if main_code(session.reason) == Reason.BY_USER else Status.COMPLETED


def _failed(session: Session | SessionSummary) -> bool:
    """Say whether a fault of the program ended a session's run."""
    return (session.status, session.reason) == (Status.ERROR, Reason.FAULT)


def reason_text(reason: str, texts: Texts) -> str:
    """Return a reason in words; an unknown code of a newer version's file unchanged."""
    return " ".join(_part_text(part, texts) for part in reason.split("+") if part)


def at_limit(session: "Session | SessionSummary") -> bool:
    """Say whether a limit of the user's has paused a session."""
    return session.status == Status.PAUSED and reason_code(session.reason) in LIMITS


def short_reason(session: "Session | SessionSummary", texts: Texts) -> str:
    """Return in a few words what has stopped, paused or failed a session; "" where its status says it all."""
    code, blanks = _with_numbers(session.reason.split("+", 1)[0])
    if session.status in (Status.STOPPED, Status.IDLE) and code == Reason.BY_USER:
        return texts("status.stopped_by_user")
    if session.status == Status.PAUSED and reason_code(code) == RESTART:
        return texts("status.paused_closed")
    if at_limit(session) and not blanks:
        return ""
    with suppress(KeyError, IndexError):
        return texts(f"status.{'at' if at_limit(session) else 'failed'}.{code}", **blanks)
    return ""


def paused_text(session: "Session | SessionSummary", texts: Texts) -> str:
    """Return that a session is paused or was stopped, and why; "" where no reason is known."""
    reason, said = session.reason, short_reason(session, texts)
    if reason_code(reason) in (RESTART, "user"):
        return said or texts("status.paused_by_user")
    if said and at_limit(session):
        return texts("limit.again", state=said)
    why = reason_text(reason, texts)
    return why if said or not reason else texts("discussion.paused", reason=why)


def in_words(details: Mapping[str, object], texts: Texts) -> dict[str, object]:
    """Return what fills the blanks of an error or a notice.

    Pairs of a name and a provider's problem become words, and so do the `problem` of an MCP server, the
    `kind` of a failure and its `detail`.
    """
    words = dict(details)
    for name, value in details.items():
        if isinstance(value, tuple):
            words[name] = "; ".join(f"{who}: {texts(f'provider.{problem}')}" for who, problem in value)
    if f"problem.{details.get('problem')}" in texts:
        words["problem"] = texts(f"problem.{details['problem']}")
    kind = str(details.get("kind"))
    if f"failure.{kind}" not in texts:
        return words
    said = failure_detail(kind, str(details.get("detail", "")), str(details.get("provider", "")), texts)
    return words | {"kind": texts(f"failure.{kind}"), "detail": said}


def failure_text(kind: str, detail: str, provider: str, texts: Texts) -> str:
    """Return why a model did not answer, and on a second line what `failure_detail` says."""
    said = texts(f"failure.{kind}")
    more = failure_detail(kind, detail, provider, texts) if detail not in said else ""
    return f"{said}\n{more}" if more else said


def failure_detail(kind: str, detail: str, provider: str, texts: Texts) -> str:
    """Return the detail of a failure, "" where there is none: marked as the words of `provider` (""
    if not known) if they are.
    """
    detail = detail.strip()
    if not detail or kind not in tuple(FailureKind):
        return ""
    if kind not in BY_PROVIDER:
        return texts("provider.detail", detail=detail)
    label = usual_label(provider)
    return texts("provider.says" if label else "provider.says.unknown", provider=label, detail=detail)


def no_vote_reason(reason: str, words: Callable[..., str]) -> str:
    """Return why a model does not vote in words; `words` gives a text by its key, if it has that."""
    code, blanks = _with_numbers(reason)
    with suppress(KeyError, IndexError):
        return words(f"no_vote.{code}", **blanks)
    return code


def _with_numbers(part: str) -> tuple[str, dict[str, object]]:
    """Return the code of a reason, and its numbers as the blanks of a text."""
    code, *numbers = part.split(":")
    whole = [int(number) for number in numbers if number.isdecimal() and len(number) <= _MOST_DIGITS]
    # An amount of money is counted in cents.
    amounts = [f"{number / 100:.2f}" for number in whole[:1]]
    return code, dict(zip(("amount", "count", "all"), (*amounts, *whole), strict=False))


def _part_text(part: str, texts: Texts) -> str:
    code, blanks = _with_numbers(part)
    for prefix in ("reason", "failure"):
        with suppress(KeyError, IndexError):
            return texts(f"{prefix}.{code}", **blanks)
    return part
