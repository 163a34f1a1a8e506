"""A message: one bubble on the screen, one message of a provider's API, one record, one id."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, fields, replace
from enum import StrEnum
from typing import Any, Final, TypeVar

from app.core.definitions import SWITCH_ASSISTANT
from app.core.errors import Failure
from app.core.forms import FormField
from app.core.ids import new_id, utc_now
from app.core.texts import Texts, exact


class Role(StrEnum):
    """The role of a message, in the words of the providers' APIs."""

    USER = "user"
    ASSISTANT = "assistant"
    SYSTEM = "system"
    TOOL = "tool"
    SUMMARY = "summary"


class SummaryNote(StrEnum):
    """How a summary came about: by itself, asked for, changed by the user, without a model,
    by shortening results.
    """

    AUTO = "auto"
    ASKED = "asked"
    EDITED = "edited"
    EXTRACT = "extract"
    PRUNED = "pruned"


class CouncilPart(StrEnum):
    """What a message of a council is; all that was said and asked is in its messages."""

    QUESTION = "question"
    ANSWER = "answer"
    DIFFERENCES = "differences"
    OPTIONS = "options"
    ARGUE = "argue"
    CHOICE = "choice"
    MERGE = "merge"
    TURN = "turn"
    BALLOT = "ballot"
    READING = "reading"
    MOVES = "moves"
    DISSENT = "dissent"
    SOLO = "solo"
    CHECK = "check"
    REWRITE = "rewrite"


SPOKEN = (
    "",
    CouncilPart.QUESTION,
    CouncilPart.ANSWER,
    CouncilPart.MERGE,
    CouncilPart.TURN,
    CouncilPart.DISSENT,
    CouncilPart.SOLO,
    CouncilPart.CHECK,
)
"""The parts that are shown as rows; the others are read by Moot."""


class MessageState(StrEnum):
    """The state of a message."""

    STREAMING = "streaming"
    DONE = "done"
    STOPPED = "stopped"
    FAILED = "failed"


MCP_CALLER: Final = "mcp"
"""The id of an author that is a program, which speaks through `moot mcp`; its kind is that of the user."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Author:
    """The author of a message."""

    id: str
    name: str
    # user, main, sub, orchestrator or participant.
    kind: str = "main"
    # The ids of the assistants from the root to this one.
    path: tuple[str, ...] = ()
    depth: int = 0

    @property
    def program(self) -> str:
        """The name of the program that spoke in the user's place through MCP, "" for everybody else."""
        return self.name if (self.kind, self.id) == ("user", MCP_CALLER) else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """A call of a tool."""

    id: str
    name: str
    # The JSON text as the model wrote it.
    arguments: str = ""
    # The provider whose external agent made the call itself and told of it, "" where Moot answers the call.
    by: str = ""


class PromptType(StrEnum):
    """What kind of answer a question takes."""

    YESNO = "yesno"
    OPTIONS = "options"
    TEXT = "text"
    FORM = "form"
    APPROVAL = "approval"


class PromptReason(StrEnum):
    """Why Moot asks for an approval, or that a page or an external agent asks,
    or whether such an agent may work.

    READ_FOLDER and WRITE_FOLDER are asked once each in a session that works in a folder of the user's, and
    are then among what is always allowed there; ADDRESS for each address that the user did not name.
    """

    TOOL = "tool"
    MAY_HAVE_RUN = "may_have_run"
    PAGE = "page"
    AGENT_ASKS = "agent_asks"
    AGENT_WORKS = "agent_works"
    READ_FOLDER = "read_folder"
    WRITE_FOLDER = "write_folder"
    ADDRESS = "address"


class Consent(StrEnum):
    """The answers to an approval.

    `always` holds in the session and `forever` until it is revoked; both are for the tool, for all tools of
    its server, or for those of them that only read.
    """

    ALLOW = "allow"
    ALWAYS = "always"
    ALWAYS_READING = "always-reading"
    ALWAYS_SERVER = "always-server"
    FOREVER = "forever"
    FOREVER_READING = "forever-reading"
    FOREVER_SERVER = "forever-server"
    DENY = "deny"


AGENT_OPTION: Final = "option-"
"""What an answer begins with that chooses one of an external agent's own options; its number from 1
follows.
"""

DENY_BECAUSE: Final = "deny-"
"""What an answer begins with that denies a call and tells the assistant the reason, which follows."""


def denied_because(answer: str) -> str:
    """Return the reason in an answer that denies a call, "" for none."""
    return answer.removeprefix(DENY_BECAUSE) if answer.startswith(DENY_BECAUSE) else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """A question to the user; open as long as nobody answered it and it was not dismissed."""

    question: str
    # A PromptType.
    type: str = PromptType.TEXT
    # What can be chosen; of an external agent's approval the labels of the answers it offers besides allow
    # and deny.
    options: tuple[str, ...] = ()
    # What each of an external agent's options means: allow_always, reject_always, allow_once or reject_once.
    kinds: tuple[str, ...] = ()
    # The message that answers it.
    answered_by: str | None = None
    # What the user said: a text, the JSON of a form, a Consent.
    answer: str = ""
    dismissed: bool = False
    # Of an approval: the key of the tool, and its arguments as JSON text; of a page: the tool whose result
    # holds it.
    tool: str = ""
    arguments: str = ""
    # Why Moot asks, a PromptReason, "" for a question of an assistant or a server.
    reason: str = ""
    # Whose question, tool or page it is: an MCP server, or an external agent.
    server: str = ""
    # Of an approval: the tool as it was when Moot asked, and whether it only reads.
    consent: str = ""
    reads: bool = False
    # The server's own name and description of the tool.
    name: str = ""
    about: str = ""
    # Of a form.
    fields: tuple[FormField, ...] = ()
    # An address that the question is about.
    link: str = ""

    @property
    def called(self) -> str:
        """What the tool of an approval is called: the server's name of it with the server, else its key;
        to be shown.
        """
        return exact(f"{self.name} ({self.server})" if self.name else self.tool)

    @property
    def denied_because(self) -> str:
        """The reason that the user gave for denying a call, "" for none."""
        return denied_because(self.answer)

    @property
    def takes_text(self) -> bool:
        """Whether a text written as a message can answer it."""
        return self.type not in (PromptType.APPROVAL, PromptType.FORM)

    @property
    def open(self) -> bool:
        """Whether the user has yet to answer."""
        return self.answered_by is None and not self.dismissed

    @property
    def joins(self) -> bool:
        """Whether it is an open approval that may be answered together with others of its turn."""
        alone = self.tool == SWITCH_ASSISTANT or self.reason not in ("", PromptReason.TOOL)
        return self.open and self.type == PromptType.APPROVAL and not alone

    def is_about(self, call: ToolCall, tool: str, consent: str) -> bool:
        """Whether it is an approval of exactly this call: what was shown must be what runs."""
        shown = (self.type, self.tool, self.question, self.arguments, self.consent)
        return shown == (PromptType.APPROVAL, tool, call.name, call.arguments, consent)


@dataclass(frozen=True, slots=True, kw_only=True)
class Attachment:
    """An attached file."""

    name: str
    media_type: str = "text/plain"
    # Of a text or a document.
    text: str = ""
    # Of an image, and of a PDF file that is sent as it looks: the file in base 64.
    data: str = ""
    # Of such a PDF file: JPEG pictures of its pages in base 64, for models that take no PDF files.
    pages: tuple[str, ...] = ()
    # Of a text that was not UTF-8.
    encoding: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """What one or more calls of a model used."""

    provider: str = ""
    model: str = ""
    input_tokens: int = 0
    output_tokens: int = 0
    # Of the input: what came from the provider's cache, and what was put there.
    cached_tokens: int = 0
    cache_written_tokens: int = 0
    # Of the output: what was thought.
    reasoning_tokens: int = 0
    # US dollars: None where the price is unknown, 0 where it is free.
    cost_usd: float | None = None
    # What the cache saved, less what writing to it cost.
    saved_usd: float = 0.0
    # Whether the provider reported no tokens, or the answer was cut.
    estimated: bool = False
    # Whether the user pays for it otherwise, by a subscription to an external agent that named no cost.
    subscribed: bool = False

    def __add__(self, other: "Usage") -> "Usage":
        """Return what this and another call of the same model used; what is unknown of either is unknown
        of both.
        """
        pairs = {name: (getattr(self, name), getattr(other, name)) for name in AMOUNTS}
        sums: dict[str, Any] = {name: None if None in pair else sum(pair) for name, pair in pairs.items()}
        return replace(self, **sums, estimated=self.estimated or other.estimated)

    @property
    def tokens(self) -> int:
        """All tokens, read and written."""
        return self.input_tokens + self.output_tokens


AMOUNTS = tuple(field.name for field in fields(Usage) if type(field.default) in (int, float, type(None)))
"""The fields of `Usage` that are added up: all tokens and dollars."""


class PartData:
    """What a message of a council holds beside its text; which class it is depends on its `part`
    (`core/council_parts`).
    """

    __slots__ = ()


Data = TypeVar("Data", bound=PartData)

SHORTEST_MEASURED_S = 0.2
"""An answer that is written in less time came at once, and has no speed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One utterance; immutable, replaced as a whole when it grows or finishes.

    A turn is an agent speaking once. The turns without a parent form a tree, in which turns that follow the
    same one are versions of each other. A summary belongs to no turn of the tree: in what models are sent it
    stands for every turn up to one.
    """

    id: str
    # What the messages of one turn share.
    turn_id: str
    role: str
    author: Author
    content: str = ""
    # Of a sub-agent's turn: the caller's turn, and the call that it answers.
    parent_turn_id: str | None = None
    parent_call_id: str | None = None
    # The turn before in the tree, "" for the first.
    follows: str | None = None
    # Of an answer: the message with the question.
    answers: str | None = None
    # In a debate: the failed message whose turn this one takes again.
    retakes: str = ""
    # "provider/model".
    model: str = ""
    # The Effort the model was asked for, "" where that was left to it or it takes none.
    effort: str = ""
    thinking: str = ""
    # From the first thought to the first word or call.
    thinking_seconds: float | None = None
    tool_calls: tuple[ToolCall, ...] = ()
    # Of a tool's result: the call that it answers.
    tool_call_id: str | None = None
    # What the provider must be sent back as it came, as signed thinking.
    provider_state: dict[str, object] | None = None
    # What the result of an MCP server's tool holds besides its text.
    resources: tuple[dict[str, object], ...] = ()
    # Of a tool's result: what the loop does next where that is not to go on, wait or end.
    control: str = ""
    # What the request said last of the session's state where that was news: the plan, the turns left, the
    # mode.
    told: str = ""
    # What it asks the user.
    prompt: Prompt | None = None
    attachments: tuple[Attachment, ...] = ()
    # Of a debate, from 1.
    round: int = 0
    # In a council: what the message is, a CouncilPart, and what was read in its text or is wanted. Elsewhere
    # CRITERIA for the answer of a checker.
    part: str = ""
    data: PartData | None = field(default=None, metadata={"by_part": True})
    state: str = MessageState.DONE
    # Of a finished answer: a warning, as truncated, length, content_filter or passed (nothing new to say); of
    # a summary: a SummaryNote.
    note: str = ""
    # The code of the rule that chose the speaker (`why.<code>` of the catalogue).
    why: str = ""
    error: Failure | None = None
    usage: Usage | None = None
    # From the request to the end.
    seconds: float | None = None
    # From the request to the first word or call; None where more than one try was counted.
    first_word_seconds: float | None = None
    # Of a summary: the last turn that it stands for, and the last message of that turn where it stands for a
    # part of it.
    through: str = ""
    through_message: str = ""
    # Of a summary: whom it is for, "" for all.
    agent_id: str = ""
    # Of a summary: the tokens of what it stands for.
    replaces: int | None = None
    # ISO 8601 in UTC.
    created_at: str = ""

    @property
    def own_calls(self) -> tuple[ToolCall, ...]:
        """The calls that Moot answers, without those that an external agent told of."""
        return tuple(call for call in self.tool_calls if not call.by)

    @property
    def ended(self) -> bool:
        """Whether it came to its end, well or badly, and was not cut."""
        return self.state in (MessageState.DONE, MessageState.FAILED)

    @property
    def is_interim(self) -> bool:
        """Whether it is a step on the way to an answer: a call, its result, a question
        or what the user said to it, or what a sub-agent said.
        """
        called = bool(self.tool_calls) or self.parent_turn_id is not None
        return called or self.role in (Role.TOOL, Role.SYSTEM) or self.answers is not None

    def data_as(self, kind: type[Data]) -> Data:
        """Return its data if that is of this class, else an empty object of it."""
        return self.data if isinstance(self.data, kind) else kind()

    @property
    def asks(self) -> bool:
        """Whether it is a question that waits for the user."""
        return self.prompt is not None and self.prompt.open

    @property
    def tokens_per_second(self) -> float | None:
        """How fast the answer was written, from its first token on; None where that is unknown
        or it came at once.
        """
        if self.usage is None or self.seconds is None or self.first_word_seconds is None:
            return None
        tokens, taken = self.usage.output_tokens, self.seconds - self.first_word_seconds
        if self.thinking_seconds is not None:
            taken += self.thinking_seconds
        else:
            # What was thought unseen came before the first word.
            tokens -= self.usage.reasoning_tokens
        return round(tokens / taken, 1) if taken >= SHORTEST_MEASURED_S and tokens > 0 else None

    def dismissed(self) -> "Message":
        """Return the question as one that needs no answer."""
        assert self.prompt is not None
        return replace(self, prompt=replace(self.prompt, dismissed=True))

    @property
    def by_user(self) -> bool:
        """Whether the user wrote it; a workflow's own request to a step has the role user as well."""
        return self.role == Role.USER and self.author.kind != "orchestrator"


Messages = Sequence[Message]
"""Messages in their order."""


def finished_calls(messages: Iterable[Message]) -> Iterator[tuple[ToolCall, Message]]:
    """Yield the tool calls that have ended well, each with its result."""
    calls: dict[tuple[str, str], ToolCall] = {}
    for message in messages:
        calls |= {(message.turn_id, call.id): call for call in message.tool_calls}
        call = calls.get((message.turn_id, message.tool_call_id or ""))
        if message.role == Role.TOOL and message.state == MessageState.DONE and call is not None:
            yield call, message


def new_message(role: str, author: Author, turn_id: str | None = None, **fields: Any) -> Message:
    """Return a message that is made now, in a turn of its own where none is named."""
    made = {"id": new_id(), "turn_id": new_id() if turn_id is None else turn_id, "created_at": utc_now()}
    return Message(role=role, author=author, **{**made, **fields})


def user_name(author: Author, texts: Texts) -> str:
    """Return how the author of a message of the user's side is called: the user, or a program through MCP."""
    return texts("transcript.through_mcp", name=author.program) if author.program else texts("transcript.you")
