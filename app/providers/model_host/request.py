"""A request from the parent, and what is sent for it: messages that the provider accepts, and arguments
for LiteLLM.

A chat may have begun with another provider. A wished effort becomes what the model takes; quirks are what a
model has refused once, so that it is asked in another way from then on; and marks tell the provider what it
shall keep.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from hashlib import sha256
from typing import Any
from urllib.parse import urlsplit

from app.core.catalog import ProviderKind, RequestForm, ServerRules, makes_pictures, provider_kind
from app.core.definitions import Effort
from app.core.errors import FailureKind, ProviderError
from app.core.frozen import Frozen
from app.core.provider import CachePlan, ModelFacts, ModelQuirks, TakesTemperature
from app.core.texts import clean_values
from app.providers.embedded_server import ServerSpec
from app.providers.endpoints import ModelLimits, is_open_router
from app.providers.model_host.tool_schemas import LegalTools, legal_tools

_THINKING = (Effort.LOW, Effort.MEDIUM, Effort.HIGH, Effort.MAX)
# Claudes before 4.6 are told how many tokens their thought may have, and need some for the answer.
_BUDGETS = {Effort.LOW: 4_000, Effort.MEDIUM: 8_000, Effort.HIGH: 16_000, Effort.MAX: 32_000}
_ANSWER_TOKENS = 4_000
_SMALLEST_BUDGET = 1_024


def effort_arguments(kind: str, facts: ModelFacts, effort: str, max_tokens: int | None) -> dict[str, Any]:
    """Return the arguments for an effort; without any the model does as it does by itself."""
    if facts.efforts == ():
        return {}
    if kind == "anthropic":
        return _claude_arguments(facts, effort, max_tokens or 0)
    named = _named(facts, effort)
    if not named:
        return {}
    if kind == "deepseek" and named == Effort.NONE:
        return {"extra_body": {"thinking": {"type": "disabled"}}}
    if kind in ("openai", "gemini"):
        return {"reasoning_effort": named}
    # LiteLLM refuses, changes or sends elsewhere what it believes to know of a model of that name.
    return {"extra_body": {"reasoning_effort": named}}


def takes_temperature(facts: ModelFacts, effort: str) -> bool:
    """Return whether a model takes a temperature while it is asked for an effort; if that is not known,
    it does.
    """
    if facts.temperature == TakesTemperature.WITHOUT_EFFORT:
        return not facts.thinks_at(effort)
    return facts.temperature != TakesTemperature.NO


def _named(facts: ModelFacts, effort: str) -> str:
    """Return the effort that comes nearest to the wish, by the provider's name for it, ""
    for the model's own.
    """
    known = facts.efforts
    if effort == Effort.NONE:
        return Effort.NONE if known is None or Effort.NONE in known else ""
    if effort not in _THINKING:
        return ""
    if known is not None and effort not in known:
        able = [item for item in _THINKING if item in known]
        place = _THINKING.index(Effort(effort))
        effort = min(able, key=lambda item: abs(_THINKING.index(item) - place), default=Effort.AUTO)
    if effort == Effort.AUTO:
        return ""
    return facts.top_effort or Effort.HIGH if effort == Effort.MAX else str(effort)


def _claude_arguments(facts: ModelFacts, effort: str, max_tokens: int) -> dict[str, Any]:
    known = facts.efforts
    if effort == Effort.NONE:
        switched_off = known is not None and Effort.NONE in known and facts.thinks_at(Effort.AUTO)
        return {"thinking": {"type": "disabled"}} if switched_off else {}
    if effort not in _THINKING:
        # It thinks by itself, but shows its thought only if asked.
        thinks = known is not None and facts.thinks_at(Effort.AUTO)
        return {"thinking": {"type": "adaptive", "display": "summarized"}} if thinks else {}
    if known is not None and not facts.top_effort:
        budget = min(_BUDGETS[Effort(effort)], max_tokens - _ANSWER_TOKENS)
        enough = budget >= _SMALLEST_BUDGET
        return {"thinking": {"type": "enabled", "budget_tokens": budget}} if enough else {}
    return {"reasoning_effort": _named(facts, effort)}


_DROPPABLE = (
    "temperature", "max_completion_tokens", "max_tokens", "stop", "stream_options", "response_format",
    "modalities",
    "reasoning_effort", "thinking", "verbosity", "prompt_cache_key",
)  # fmt: skip
_NO_SYSTEM = re.compile(
    r"(?i)system.{0,40}(role|message|instruction|prompt)|role.{0,30}system|only user and assistant roles"
    r"|developer instruction is not enabled"
)
_TOO_MUCH_OUTPUT = re.compile(
    r"max_tokens.{0,60}> (\d+), which is the maximum"
    r"|max(?:_completion)?_tokens is too large.{0,80}at most (\d+) completion tokens"
)
_STRICT_TURNS = re.compile(r"roles must alternate|alternate between", re.IGNORECASE)
_WANTS_THOUGHT = re.compile(r"reasoning_content.{0,80}(must be passed|is missing|is required)")
_NO_TOOLS = re.compile(
    r"(?i)(tools?|function)\b.{0,60}(not (supported|enabled|available|allowed)|unsupported|requires)"
    r"|(not|n't|cannot) support.{0,20} (tool|function)|no endpoints found that support tool"
)


def learnt(quirks: ModelQuirks, failure: ProviderError, sent: Mapping[str, object]) -> ModelQuirks | None:
    """Return the quirks with what a refusal teaches; None where there is no other way to ask."""
    if failure.kind not in (FailureKind.BAD_REQUEST, FailureKind.SERVER):
        return None
    refused = failure.detail.lower()
    messages = sent.get("messages")
    has_system = isinstance(messages, list) and bool(messages) and messages[0]["role"] == "system"
    if has_system and _NO_SYSTEM.search(refused):
        return replace(quirks, no_system=True)
    if not quirks.strict_turns and _STRICT_TURNS.search(refused):
        return replace(quirks, strict_turns=True)
    if failure.kind != FailureKind.BAD_REQUEST:
        return None
    if not quirks.wants_thought and _WANTS_THOUGHT.search(refused):
        return replace(quirks, wants_thought=True)
    if not quirks.most_output and (match := _TOO_MUCH_OUTPUT.search(refused)):
        return replace(quirks, most_output=int(match[1] or match[2]))
    if "max_tokens" in sent and "max_completion_tokens" in refused:
        return replace(quirks, new_name_of_max_tokens=True)
    body = sent.get("extra_body")
    for name in _DROPPABLE:
        # Anthropic has a name of its own for the parameter.
        named = name in refused or (name == "response_format" and "output_format" in refused)
        given = name in sent or (isinstance(body, Mapping) and name in body)
        if given and named and name not in quirks.without:
            dropped = "max_tokens" if name == "max_completion_tokens" else name
            return replace(quirks, without=tuple(sorted({*quirks.without, dropped})))
    return None


def explain_refused_tools(failure: ProviderError, sent: Mapping[str, object]) -> ProviderError:
    """Say plainly when a model was refused because it cannot call tools.

    It is not asked again without them: an assistant that lost its tools unnoticed would answer as if it had
    searched and acted.
    """
    kinds = {FailureKind.BAD_REQUEST, FailureKind.SERVER, FailureKind.MODEL_NOT_FOUND, FailureKind.WRONG_PATH}
    refused = "tools" in sent and failure.kind in kinds and _NO_TOOLS.search(failure.detail)
    return ProviderError(FailureKind.NO_TOOLS, failure.detail) if refused else failure


Message = dict[str, Any]

# The kinds of providers that do not speak OpenAI's API; each has a state of its own.
OWN_PROTOCOLS = ("anthropic", "gemini")

_FIELDS = ("role", "content", "tool_calls", "tool_call_id")
_NOT_OF_A_NAME = re.compile(r"[^a-zA-Z0-9_-]")
_BAD_ESCAPE = re.compile(r"\\u(?:d[89a-f]|0000)", re.IGNORECASE)
_SHORT_ID = re.compile(r"[a-zA-Z0-9]{9}")
_LONGEST_NAME = 64
_LONGEST_ID = 40
_NO_JSON = object()


def legal_messages(kind: str, messages: list[Message], *, thoughts: bool = False) -> list[Message]:
    """Return the messages as this kind of provider accepts them; changes nothing in place.

    With `thoughts` a model gets back what it thought before its calls, which most refuse.
    """
    legal = [_legal_message(kind, message) for message in messages]
    if thoughts:
        for message, made in zip(messages, legal, strict=True):
            if "tool_calls" in made:
                # An answer of another model has no thought, but none may be without one.
                made["reasoning_content"] = message.get("reasoning_content") or " "
    return legal


def fold_system(messages: list[Message]) -> list[Message]:
    """Put the system text into the first user message, for models that have no system role."""
    system = "\n\n".join(text_of(message["content"]) for message in messages if message["role"] == "system")
    rest = [message for message in messages if message["role"] != "system"]
    if not system:
        return rest
    said = {"role": "user", "content": system}
    if rest and rest[0]["role"] == "user":
        return [_joined(said, rest[0]), *rest[1:]]
    return [said, *rest]


def join_turns(messages: list[Message]) -> list[Message]:
    """Join successive messages of one role, for models that insist on alternating turns."""
    joined: list[Message] = []
    for message in messages:
        before = joined[-1] if joined else {}
        plain = message["role"] in ("user", "assistant") and "tool_calls" not in message
        if plain and before.get("role") == message["role"] and "tool_calls" not in before:
            joined[-1] = _joined(before, message)
        else:
            joined.append(message)
    return joined


def shorten_ids(messages: list[Message]) -> list[Message]:
    """Give the tool calls, and their results, ids of nine letters and digits where they have others."""
    short = [dict(message) for message in messages]
    for message in short:
        if "tool_call_id" in message:
            message["tool_call_id"] = _short_id(message["tool_call_id"])
        if "tool_calls" in message:
            message["tool_calls"] = [call | {"id": _short_id(call["id"])} for call in message["tool_calls"]]
    return short


def speak_after_tools(messages: list[Message]) -> list[Message]:
    """Put an assistant's message without words between the result of a tool and a user's message."""
    spoken: list[Message] = []
    for message in messages:
        if message["role"] == "user" and spoken and spoken[-1]["role"] == "tool":
            spoken.append({"role": "assistant", "content": "…"})
        spoken.append(message)
    return spoken


def is_json(text: str) -> bool:
    """Return whether the text is a whole JSON value."""
    return _loads(text) is not _NO_JSON


def text_of(content: object) -> str:
    """Return the text of a message's content, which may be a text, a list of parts or None."""
    if isinstance(content, list):
        return "\n".join(part["text"] for part in content if part.get("type") == "text")
    return str(content or "")


def called_functions(messages: list[Message]) -> list[Message]:
    """Return a bare definition of every function that the messages call."""
    calls = [call for message in messages for call in message.get("tool_calls") or ()]
    names = dict.fromkeys(call["function"]["name"] for call in calls)
    bare = {"type": "object", "properties": {}}
    return [{"type": "function", "function": {"name": name, "parameters": bare}} for name in names]


def _joined(one: Message, other: Message) -> Message:
    contents = one["content"], other["content"]
    if isinstance(contents[0], list) or isinstance(contents[1], list):
        return one | {"content": [part for content in contents for part in _parts(content)]}
    return one | {"content": "\n\n".join(filter(None, contents))}


def _parts(content: object) -> list[Message]:
    return content if isinstance(content, list) else [{"type": "text", "text": text_of(content)}]


def _legal_message(kind: str, message: Message) -> Message:
    legal = {name: message[name] for name in _FIELDS if name in message}
    if kind == "anthropic" and message.get("thinking_blocks"):
        legal["thinking_blocks"] = message["thinking_blocks"]
    beside = () if kind in OWN_PROTOCOLS else message.get("calls_sent_back") or ()
    if kind not in OWN_PROTOCOLS:
        legal = {**(message.get("sent_back") or {}), **legal}
    if kind == "gemini" and message.get("images"):
        legal["images"] = message["images"]
        if signatures := message.get("thought_signatures"):
            legal["provider_specific_fields"] = {"thought_signatures": signatures}
    elif message.get("images") and not text_of(legal.get("content")).strip():
        legal["content"] = "[image]"
    if calls := legal.pop("tool_calls", None):
        more = (*beside, *({} for _ in calls))
        legal["tool_calls"] = [more[place] | _legal_call(kind, call) for place, call in enumerate(calls)]
        # Gemini refuses an empty text beside a call, and LiteLLM replaces it for Anthropic.
        legal["content"] = legal.get("content") or None
    elif isinstance(content := legal.get("content"), list):
        parts = [part for part in content if not _is_blank(part)] or content
        # The number of a file's pages is for the estimate alone.
        legal["content"] = [{name: part[name] for name in part if name != "pages"} for part in parts]
    if "tool_call_id" in legal:
        legal["tool_call_id"] = _legal_id(kind, legal["tool_call_id"])
        if kind == "gemini":
            # LiteLLM would parse a result that looks like JSON or an image, and fail on a page that only
            # looks like it; this is the object that it makes of any other text.
            legal["content"] = json.dumps({"content": text_of(legal.get("content"))})
    return legal


def _is_blank(part: Message) -> bool:
    """Return whether a part is an empty text, as beside an image sent alone; no provider accepts one."""
    return part.get("type") == "text" and not part["text"].strip()


def _legal_call(kind: str, call: Message) -> Message:
    function = call["function"]
    name = _NOT_OF_A_NAME.sub("_", function["name"])[:_LONGEST_NAME] or "unnamed"
    called = {"name": name, "arguments": _legal_arguments(function.get("arguments") or "")}
    return {"id": _legal_id(kind, call["id"]), "type": "function", "function": called}


def _legal_id(kind: str, call_id: str) -> str:
    # Gemini's ids carry the signature of its thoughts and must go back unchanged.
    if kind == "gemini" or (len(call_id) <= _LONGEST_ID and not _NOT_OF_A_NAME.search(call_id)):
        return call_id
    return f"call_{sha256(call_id.encode()).hexdigest()[:24]}"


def _short_id(call_id: str) -> str:
    return call_id if _SHORT_ID.fullmatch(call_id) else sha256(call_id.encode()).hexdigest()[:9]


def _legal_arguments(arguments: str) -> str:
    if not isinstance(value := _loads(arguments), dict):
        return "{}"
    # A lone surrogate or a NUL may be written as an escape, which providers decode and then refuse.
    return json.dumps(clean_values(value)) if _BAD_ESCAPE.search(arguments) else arguments


def _loads(text: str) -> object:
    """Return what a text says in JSON, `_NO_JSON` where it is none."""
    try:
        return json.loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError):
        return _NO_JSON


def _refuse(constant: str) -> None:
    raise ValueError(constant)


# Anthropic has no default of its own. What it advises for streams: fewer would cut models in the middle of a
# thought.
_CLAUDE_OUTPUT = 64_000
_CLAUDE_MOST_OUTPUT = 128_000
# OpenRouter sets credit aside for the longest answer that is allowed.
_ROUTED_OUTPUT = 16_000
# For the thought of a model that has to answer in few tokens.
_THOUGHT_OUTPUT = 4_000

_AFFORDABLE = re.compile(r"can only afford (\d+)")


class ModelCall(Frozen):
    """One request: which provider and model, what to send, with which key and which limits."""

    id: str
    kind: str
    base_url: str
    key: str
    model: str
    messages: list[dict[str, Any]]
    limits: ModelLimits
    max_tokens: int | None = None
    temperature: float | None = None
    stop: list[str] = field(default_factory=list)
    opener: str = ""
    tools: list[dict[str, Any]] = field(default_factory=list)
    schema: dict[str, Any] | None = None
    effort: str = Effort.AUTO
    facts: ModelFacts = field(default_factory=ModelFacts)
    cache: CachePlan | None = None
    options: dict[str, Any] = field(default_factory=dict)
    rules: ServerRules = field(default_factory=ServerRules)
    quirks: ModelQuirks = field(default_factory=ModelQuirks)
    server: ServerSpec | None = None

    @property
    def row(self) -> ProviderKind:
        """The catalogue's row of the provider's kind."""
        row = provider_kind(self.kind)
        if row is None:
            raise ValueError(f"unknown kind of provider: {self.kind}")
        return row

    @property
    def secrets(self) -> tuple[str, ...]:
        """The texts that must not leave the host in an error."""
        return (self.key,) if self.key else ()


def tools_of(call: ModelCall, refused: Sequence[str] = ()) -> LegalTools:
    """Return the tools of a request as its provider accepts them, without those that it has refused."""
    # Those that make pictures refuse tools; nobody expects them to act.
    acts = not _answers_with_pictures(call) or call.facts.tools is True
    return legal_tools(call.kind, call.tools if acts else (), refused)


def litellm_arguments(
    call: ModelCall, quirks: ModelQuirks, tools: LegalTools | None = None
) -> dict[str, Any]:
    """Return the keyword arguments for `litellm.acompletion`; `tools` are the call's own where they are
    None.
    """
    tools = tools or tools_of(call)
    thoughts = call.rules.wants_thought or quirks.wants_thought
    messages = legal_messages(call.kind, tools.messages(call.messages), thoughts=thoughts)
    if call.rules.short_call_ids:
        messages = shorten_ids(messages)
    if call.rules.speech_after_tools:
        messages = speak_after_tools(messages)
    if quirks.no_system:
        messages = fold_system(messages)
    if quirks.strict_turns:
        messages = join_turns(messages)
    if call.opener and call.row.form == RequestForm.TRANSCRIPT:
        messages.append({"role": "assistant", "content": call.opener})
    max_tokens = output_limit(call)
    if max_tokens is not None and quirks.most_output:
        max_tokens = min(max_tokens, quirks.most_output)
    new_name = call.rules.max_completion_tokens or quirks.new_name_of_max_tokens
    form = {"type": "json_schema", "json_schema": {"name": "answer", "schema": call.schema}}
    arguments: dict[str, Any] = {
        "max_completion_tokens" if new_name else "max_tokens": max_tokens,
        "temperature": call.temperature if takes_temperature(call.facts, call.effort) else None,
        "stop": call.stop or None,
        "stream_options": {"include_usage": True},
        "response_format": form if call.schema else None,
        **effort_arguments(call.kind, call.facts, call.effort, max_tokens),
        "modalities": ["text", "image"] if _answers_with_pictures(call) else None,
    }
    without = {*call.rules.without, *quirks.without}
    for name in [name for name in arguments if name.replace("completion_", "") in without]:
        del arguments[name]
    arguments = {name: value for name, value in arguments.items() if value is not None}
    if body := arguments.pop("extra_body", None):
        arguments["extra_body"] = {name: value for name, value in body.items() if name not in quirks.without}
    if call.server is not None and call.options:
        arguments["extra_body"] = dict(call.options)
    if tools.tools:
        arguments["tools"] = tools.tools
    elif call.kind == "anthropic" and (called := called_functions(messages)):
        # Anthropic refuses a history of calls without their functions, and LiteLLM would invent one that
        # the model could then call.
        arguments |= {"tools": called, "tool_choice": "none"}
    arguments |= {"model": f"{call.row.route}/{call.model}", "messages": messages}
    # Without a key LiteLLM would take one from the environment and send it to this address.
    arguments |= {"api_base": call.base_url, "api_key": call.key or "no-key"}
    return arguments | {"stream": True, "max_retries": 0, "num_retries": 0}


def _answers_with_pictures(call: ModelCall) -> bool:
    if call.row.local:
        return False
    known = call.facts.picture_out
    return makes_pictures(call.model) if known is None else known


def output_limit(call: ModelCall) -> int | None:
    """Return how many tokens an answer may have, its thought included; None leaves it to the provider."""
    most = call.facts.most_output
    thinks = call.facts.efforts is not None and call.facts.thinks_at(call.effort)
    if call.max_tokens is not None:
        limit = call.max_tokens + (_THOUGHT_OUTPUT if thinks else 0)
    elif call.kind == "anthropic":
        limit = _CLAUDE_MOST_OUTPUT if call.effort == Effort.MAX and most else _CLAUDE_OUTPUT
    elif is_open_router(call.base_url):
        limit = _ROUTED_OUTPUT
    else:
        return None
    return min(limit, most) if most else limit


def affordable_output(failure: ProviderError) -> int | None:
    """Return how many tokens an account can still pay for, where a request was refused for allowing more."""
    match = _AFFORDABLE.search(failure.detail) if failure.kind == FailureKind.QUOTA else None
    return int(match[1]) or None if match else None


_CLAUDE = re.compile(r"^~?anthropic/claude")
# Those that keep only what ends at a breakpoint.
_BREAKPOINTS = re.compile(r"^gpt-(?:5\.(?:[6-9]|\d\d)|[6-9]|\d\d)")
# Anthropic looks for what it keeps in this many blocks before a mark; a second mark half-way finds what is
# further back.
_FAR_BACK = 15
_LEAST_KEPT = 1_024
_BYTES_PER_TOKEN = 3


def with_marks(call: ModelCall, arguments: dict[str, Any], quirks: ModelQuirks) -> dict[str, Any]:
    """Return the arguments of a call with its cache plan; without one, or for other providers,
    each text is one.
    """
    told: dict[str, Any] = {}
    if call.kind == "openai" and call.cache is not None and "prompt_cache_key" not in quirks.without:
        told["prompt_cache_key"] = call.cache.key
    plan, messages = call.cache, arguments["messages"]
    native = call.kind == "anthropic"
    routed = is_open_router(call.base_url) and bool(_CLAUDE.match(call.model))
    breaks = _is_openai(call) and bool(_BREAKPOINTS.match(call.model))
    if plan is None or not plan.life or not (native or routed or breaks):
        return arguments | told | {"messages": [_with_one_text(message) for message in messages]}
    life = {"ttl": "1h"} if plan.life == "1h" else {}
    mark: dict[str, Any] = {"cache_control": {"type": "ephemeral"} | life}
    if breaks:
        mark = {"prompt_cache_breakpoint": {"mode": "explicit"}}
    size, marked = len(json.dumps(arguments.get("tools", []))), []
    places = set(_places(messages, plan))
    for at, message in enumerate(messages):
        parts = message["content"] if isinstance(message.get("content"), list) else [message.get("content")]
        long = []
        for number, part in enumerate(parts):
            size += len(str(part).encode("utf-8", "replace"))
            enough = size // _BYTES_PER_TOKEN >= (call.facts.cache_min or _LEAST_KEPT)
            long += [number] if enough and (at, number) in places else []
        marked.append(_marked(message, long, mark, whole=native) if long else message)
    return arguments | told | {"messages": marked}


def _is_openai(call: ModelCall) -> bool:
    host = urlsplit(call.base_url).hostname or ""
    return call.kind == "openai" and (host == "openai.com" or host.endswith(".openai.com"))


def _places(messages: list[Message], plan: CachePlan) -> list[tuple[int, int]]:
    """Return where the marks are, as (message, part): the system text, the brief, far back, and the
    newest.
    """
    places = [(0, 0)] if messages[0]["role"] == "system" else []
    first = len(places)
    if plan.brief and len(messages) > first:
        # What is seen of the files comes before the brief.
        content = messages[first].get("content")
        parts = content if isinstance(content, list) else []
        texts = (number for number, part in enumerate(parts) if part.get("type") == "text")
        places.append((first, next(texts, 0)))
    if not plan.grows:
        return places
    asked = [at for at in range(first, len(messages)) if messages[at]["role"] in ("user", "tool")]
    ends = [(at, _count_of_parts(messages[at]) - 1) for at in asked]
    if plan.tail and ends and ends[-1][0] == len(messages) - 1:
        at, part = ends.pop()
        ends += [(at, part - 1)] if part else []
    if not ends:
        return places
    behind = 0
    for at in range(ends[-1][0], first - 1, -1):
        if behind >= _FAR_BACK and messages[at]["role"] in ("user", "tool"):
            places.append((at, _count_of_parts(messages[at]) - 1))
            break
        behind += _count_of_parts(messages[at]) + len(messages[at].get("tool_calls") or ())
    return [*places, ends[-1]]


def _count_of_parts(message: Message) -> int:
    return len(message["content"]) if isinstance(message.get("content"), list) else 1


def _marked(message: Message, parts: list[int], mark: dict[str, Any], *, whole: bool) -> Message:
    """Return a message with marks at these parts; where it is `whole`, a text stays one."""
    if isinstance(message["content"], list):
        content = [part | mark if at in parts else part for at, part in enumerate(message["content"])]
        return message | {"content": content}
    if whole:
        return message | mark
    return message | {"content": [{"type": "text", "text": message["content"]} | mark]}


def _with_one_text(message: Message) -> Message:
    """Return a message whose texts are one: not every server takes a list of them."""
    content = message.get("content")
    if not isinstance(content, list) or any(part.get("type") != "text" for part in content):
        return message
    return message | {"content": "\n\n".join(part["text"] for part in content)}
