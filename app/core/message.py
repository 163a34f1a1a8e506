"""A message: one bubble, one API message, one record, one id for life (rows G11, G12)."""

from dataclasses import dataclass

USER = "user"
ASSISTANT = "assistant"
SYSTEM = "system"
TOOL = "tool"

STREAMING = "streaming"
DONE = "done"
STOPPED = "stopped"
FAILED = "failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Author:
    """Who said it: `kind` is user, main, sub, orchestrator or participant; `path` runs from the root."""

    id: str
    name: str
    kind: str = "main"
    path: tuple[str, ...] = ()
    depth: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """A model's wish to run a tool; `arguments` is the JSON text as the model wrote it."""

    id: str
    name: str
    arguments: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """A question to the user: `type` is yesno, options or text; `answered_by` a message id."""

    question: str
    type: str = "text"
    options: tuple[str, ...] = ()
    answered_by: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Attachment:
    """A text or image the user gave along; `text` holds what the model is sent."""

    name: str
    media_type: str = "text/plain"
    text: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """What a turn cost: tokens, and US dollars (None when the price is unknown, 0 when it is free)."""

    provider: str = ""
    model: str = ""
    input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """Why a message failed or was cut: `kind` is a provider failure, `detail` its redacted text."""

    kind: str
    detail: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One utterance; immutable, replaced as a whole when it grows or finishes.

    `state` is streaming, done, stopped or failed. `note` marks a finished answer that carries a
    warning: truncated, length, content_filter or passed (nothing new to say). `created_at` is ISO
    8601 in UTC, `seconds` the time from the request to the end, and `why` the code of the rule
    that chose the speaker (`why.<code>` of the catalogue).
    """

    id: str
    turn_id: str
    role: str
    author: Author
    content: str = ""
    parent_turn_id: str | None = None
    thinking: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str | None = None
    resources: tuple[dict[str, object], ...] = ()
    prompt: Prompt | None = None
    attachments: tuple[Attachment, ...] = ()
    round: int = 0
    state: str = DONE
    note: str = ""
    why: str = ""
    error: Failure | None = None
    usage: Usage | None = None
    seconds: float | None = None
    created_at: str = ""

    @property
    def is_tool_call(self) -> bool:
        """Whether the message asks for tools (row G12)."""
        return bool(self.tool_calls)
