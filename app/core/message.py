"""A message: one bubble on the screen, one message of a provider's API, one record, one id.

Also the forms that MCP servers put to the user in one, and what calls of models used and cost.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, field, fields, replace
from datetime import date, datetime
from enum import StrEnum
from operator import add, attrgetter
from typing import Any, Final, Self, TypeVar
from urllib.parse import urlsplit

from app.core.criteria import Plan
from app.core.definitions import SWITCH_ASSISTANT
from app.core.errors import Failure
from app.core.frozen import Frozen
from app.core.ids import new_id, utc_now
from app.core.json_values import object_in
from app.core.memory import Note
from app.core.settings import RunLimits
from app.core.texts import Texts, amount_text, exact

_EMAIL = re.compile(r"[^@\s]+@[^@\s]+\.[^@\s]+")
_YES = {"yes", "y", "true", "ja", "예", "네", "1"}
_NO = {"no", "n", "false", "nein", "아니요", "아니오", "0"}

# Stands for the value of a hidden field wherever an answer is kept.
HIDDEN: Final = "(hidden)"


class FieldKind(StrEnum):
    """What a field takes."""

    TEXT = "text"
    EMAIL = "email"
    URI = "uri"
    DATE = "date"
    DATE_TIME = "date-time"
    INTEGER = "integer"
    NUMBER = "number"
    YESNO = "yesno"
    ONE = "one"
    MANY = "many"


class FormField(Frozen):
    """A field: `key` is the server's name for it, `label` and `detail` what the user reads.

    `options` are what can be chosen and `labels` their words. `default` are the values at first, as texts.
    `least` and `most` bound a number, the characters of a text, or how many are chosen. A `hidden` field asks
    for a secret: its value is not shown while it is typed, and is kept nowhere.
    """

    key: str
    label: str
    detail: str = ""
    kind: str = FieldKind.TEXT
    required: bool = False
    options: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
    default: tuple[str, ...] = ()
    least: float | None = None
    most: float | None = None
    hidden: bool = False


def means_yes(answer: str) -> bool | None:
    """Return whether an answer means yes, None where it means neither yes nor no."""
    word = answer.strip().casefold()
    return True if word in _YES else False if word in _NO else None


def problem_of(field: FormField, values: Sequence[str]) -> str:
    """Return a code for what is wrong with the values of a field, "" if they fit;
    each has a text `form.wrong.<code>`.
    """
    values = [value.strip() for value in values if value.strip()]
    if not values:
        return "empty" if field.required else ""
    if field.kind == FieldKind.MANY:
        if _range(field, len(values)):
            return "count"
        return "" if set(values) <= set(field.options) else "option"
    value = values[0]
    if field.kind == FieldKind.ONE:
        return "" if value in field.options else "option"
    if field.kind == FieldKind.YESNO:
        return "" if means_yes(value) is not None else "yesno"
    if field.kind in (FieldKind.INTEGER, FieldKind.NUMBER):
        number = _number(value, field.kind)
        if number is None:
            return field.kind
        return "range" if _range(field, number) else ""
    if _range(field, len(value)):
        return "length"
    return "" if _fits(field.kind, value) else field.kind


def value_of(field: FormField, values: Sequence[str]) -> object:
    """Return the value of a field that fits, in the type the server expects; None where it was left empty."""
    values = [value.strip() for value in values if value.strip()]
    if field.kind == FieldKind.MANY:
        return list(values) if values or field.required else None
    if not values:
        return None
    if field.kind == FieldKind.YESNO:
        return means_yes(values[0])
    is_number = field.kind in (FieldKind.INTEGER, FieldKind.NUMBER)
    return _number(values[0], field.kind) if is_number else values[0]


def read_form(text: str, fields: Sequence[FormField]) -> dict[str, tuple[str, ...]] | None:
    """Return the values by field of an answer: a JSON object, `name=value` lines, or the value
    of the only field.
    """
    found = object_in(text)
    if found is None and len(fields) == 1 and "=" not in text:
        found = {fields[0].key: text}
    if found is None:
        pairs = [line.partition("=") for line in re.split(r"[\n;]", text) if line.strip()]
        found = {key.strip(): value.strip() for key, _, value in pairs}
    known = {name: field for field in fields for name in (field.label, field.key)}
    if not set(found) <= set(known):
        return None
    return {known[name].key: _texts(known[name], value) for name, value in found.items()}


def form_text(values: Mapping[str, Sequence[str]]) -> str:
    """Return the values by field as the text of an answer."""
    return json.dumps({key: list(each) for key, each in values.items()}, ensure_ascii=False)


def without_hidden(text: str, fields: Sequence[FormField]) -> str:
    """Return an answer that fits as it is kept: with `HIDDEN` in place of what was entered in hidden
    fields.
    """
    hidden = {field.key for field in fields if field.hidden}
    values = read_form(text, fields) if hidden else None
    if not values:
        return text
    return form_text({key: (HIDDEN,) if key in hidden and each else each for key, each in values.items()})


def _texts(field: FormField, value: object) -> tuple[str, ...]:
    if isinstance(value, str):
        parts: list[object] = [*value.split(",")] if field.kind == FieldKind.MANY else [value]
    else:
        parts = list(value) if isinstance(value, list) else [value]
    words = [part if isinstance(part, str) else json.dumps(part) for part in parts if part is not None]
    by_label = dict(zip(field.labels, field.options, strict=False))
    return tuple(by_label.get(word.strip(), word.strip()) for word in words if word.strip())


def _number(text: str, kind: str) -> int | float | None:
    try:
        return int(text) if kind == FieldKind.INTEGER else float(text)
    except ValueError:
        return None


def _range(field: FormField, number: float) -> bool:
    """Say whether a number is outside the bounds; NaN is."""
    least = field.least if field.least is not None else float("-inf")
    most = field.most if field.most is not None else float("inf")
    return not least <= number <= most


def _fits(kind: str, value: str) -> bool:
    try:
        if kind == FieldKind.DATE:
            date.fromisoformat(value)
        elif kind == FieldKind.DATE_TIME:
            datetime.fromisoformat(value)
        elif kind == FieldKind.URI:
            return bool(urlsplit(value).scheme)
    except ValueError:
        return False
    return kind != FieldKind.EMAIL or _EMAIL.fullmatch(value) is not None


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


# The parts that are shown as rows; the others are read by Moot.
SPOKEN = (
    *("", CouncilPart.QUESTION, CouncilPart.ANSWER, CouncilPart.MERGE, CouncilPart.TURN),
    *(CouncilPart.DISSENT, CouncilPart.SOLO, CouncilPart.CHECK),
)


class MessageState(StrEnum):
    """The state of a message."""

    STREAMING = "streaming"
    DONE = "done"
    STOPPED = "stopped"
    FAILED = "failed"


# The id of an author that is a program, which speaks through `moot mcp`; its kind is that of the user.
MCP_CALLER: Final = "mcp"


class Author(Frozen):
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


class ToolCall(Frozen):
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


# What an answer begins with that chooses one of an external agent's own options; its number from 1 follows.
AGENT_OPTION: Final = "option-"

# What an answer begins with that denies a call and tells the assistant the reason, which follows.
DENY_BECAUSE: Final = "deny-"


def denied_because(answer: str) -> str:
    """Return the reason in an answer that denies a call, "" for none."""
    return answer.removeprefix(DENY_BECAUSE) if answer.startswith(DENY_BECAUSE) else ""


class Prompt(Frozen):
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


class Attachment(Frozen):
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


Attachments = tuple[Attachment, ...]


class Usage(Frozen):
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


# The fields of `Usage` that are added up: all tokens and dollars.
AMOUNTS = tuple(field.name for field in fields(Usage) if type(field.default) in (int, float, type(None)))


class PartData(Frozen):
    """What a message of a council holds beside its text; which class it is depends on its `part`
    (`core/council_parts`).
    """

    __slots__ = ()


Data = TypeVar("Data", bound=PartData)

# An answer that is written in less time came at once, and has no speed.
SHORTEST_MEASURED_S = 0.2


class Message(Frozen):
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
    # Of the result of a tool that changed the session's plan: the plan before and after, empty for none.
    plans: tuple[Plan, ...] = ()
    # What the request said last of the session's state where that was news: the plan, the turns left, the
    # mode.
    told: str = ""
    # What it asks the user.
    prompt: Prompt | None = None
    # Of a tool's result: what is proposed to be remembered.
    proposal: Note | None = None
    attachments: Attachments = ()
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


# Messages in their order.
Messages = Sequence[Message]


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


class UsageEntry(Usage):
    """What one call of a model used, with the message it made and its author."""

    # That of a call which made no message is of its own.
    message_id: str = ""
    # ISO 8601 in UTC.
    at: str = ""
    session_id: str = ""
    author_id: str = ""
    author: str = ""

    @classmethod
    def of(cls, usage: Usage, message_id: str, at: str, session_id: str, author: Author | None) -> Self:
        """Return the entry of what a message, or a call that made none, used."""
        who: dict[str, Any] = {"author_id": author.id, "author": author.name} if author else {}
        return cls(message_id=message_id, at=at, session_id=session_id, **who, **asdict(usage))

    @property
    def month(self) -> str:
        """The calendar month in UTC, as providers bill it: `2026-11`."""
        return self.at[:7]


_NOTHING = Usage(cost_usd=0.0)
_amounts = attrgetter(*AMOUNTS)


class Total(Frozen, kw_only=False):
    """The sum of some calls."""

    # What they used together; the cost is that of the calls with a known price.
    used: Usage = _NOTHING
    # How many calls there are, how many without a known price, and how many of those a subscription pays for.
    calls: int = 0
    unpriced: int = 0
    subscribed: int = 0
    # The calls whose tokens were counted by Moot alone.
    estimated: int = 0

    @classmethod
    def of(cls, *calls: Usage) -> "Total":
        """Return the sum of these calls."""
        return totals(("", call) for call in calls).get("", cls())

    def __add__(self, other: "Total") -> "Total":
        return Total(*(getattr(self, field.name) + getattr(other, field.name) for field in fields(self)))

    @property
    def known_usd(self) -> float:
        """The dollars of the calls with a known price."""
        return self.used.cost_usd or 0.0

    @property
    def cost_usd(self) -> float | None:
        """The known dollars, None where none of the calls has a price."""
        return None if self.calls and self.unpriced == self.calls else self.known_usd


def totals(calls: Iterable[tuple[str, Usage]]) -> dict[str, Total]:
    """Return the sum of the calls that have the same name.

    They are as many as a month has calls, or the whole ledger: a record is made of each sum, and of no call.
    """
    sums: dict[str, list[Any]] = {}
    nothing: list[Any] = [0, 0, 0, 0, *_amounts(_NOTHING)]
    for name, call in calls:
        amounts = [amount or 0 for amount in _amounts(call)]
        counts = (1, call.cost_usd is None, call.subscribed, call.estimated)
        sums[name] = [*map(add, sums.get(name, nothing), (*counts, *amounts))]
    return {name: _total(*each) for name, each in sums.items()}


def _total(calls: int, unpriced: int, subscribed: int, estimated: int, *amounts: Any) -> Total:
    values = dict(zip(AMOUNTS, amounts, strict=True))
    return Total(Usage(**values, estimated=estimated > 0), calls, unpriced, subscribed, estimated)


def tokens_text(tokens: int) -> str:
    """Return a number of tokens in short: `950`, `6.2k`, `272k`, `1.3M`."""
    if tokens < 1_000:
        return str(tokens)
    if tokens < 100_000:
        return f"{tokens / 1_000:.1f}k"
    return f"{tokens // 1_000}k" if tokens < 1_000_000 else f"{tokens / 1_000_000:.1f}M"


def used_text(total: Total, tokens: int | None = None) -> str:
    """Return the tokens of calls, or a part of them, in short: `≈ 6.2k` where some of them are estimated."""
    text = tokens_text(total.used.tokens if tokens is None else tokens)
    return f"≈ {text}" if total.estimated else text


def limits_text(words: Callable[..., str], limits: RunLimits) -> str:
    """Return limits in short: `30 min · 100 calls · $2`."""
    parts = [words("unit.minutes", amount=limits.minutes)] if limits.minutes else []
    parts += [words("limits.calls", count=limits.calls)] if limits.calls else []
    parts += [words("unit.usd", amount=f"{limits.usd:g}")] if limits.usd else []
    return " · ".join(parts) or words("setting.no_limit")


def near_text(words: Callable[..., str], limit: str, spent: float, most: float) -> str:
    """Return that a run has used most of what it may, as its event says."""
    return words(f"limit.near.{limit}", spent=f"{spent:.3g}", most=f"{most:g}")


def saved_text(words: Callable[..., str], total: Total) -> str:
    """Return what the providers' caches saved in words, "" where they saved nothing."""
    return words("cost.saved", amount=amount_text(total.used.saved_usd)) if total.used.saved_usd > 0 else ""


def spent_text(words: Callable[..., str], total: Total) -> str:
    """Return the money and the tokens of calls, and what the providers' caches saved, in words."""
    text = words("cost.tokens", cost=money_text(words, total), tokens=used_text(total))
    return " · ".join(filter(None, (text, saved_text(words, total))))


def money_text(words: Callable[..., str], total: Total) -> str:
    """Return what calls cost in words."""
    known = total.known_usd
    if not total.calls:
        return words("cost.money", amount=amount_text(0))
    if total.subscribed and total.subscribed == total.unpriced and not known:
        return words("cost.subscription")
    if total.cost_usd is None or (not known and total.unpriced):
        return words("cost.unknown")
    if total.unpriced:
        return words("cost.least", amount=amount_text(known))
    if not known:
        return words("cost.free")
    return words("cost.about" if total.estimated else "cost.money", amount=amount_text(known))
