"""A request from the parent, and the arguments for LiteLLM that are made from it."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from app.core.catalog import makes_pictures, provider_kind
from app.core.errors import FailureKind
from app.core.model_facts import Effort, ModelFacts, read_facts
from app.core.provider import CachePlan
from app.core.provider_kind import ProviderKind, RequestForm, ServerRules
from app.providers.embedded_server import ServerSpec
from app.providers.endpoints import ModelLimits, is_open_router
from app.providers.errors import Classified
from app.providers.model_host.effort import effort_arguments, takes_temperature
from app.providers.model_host.messages import (
    called_functions,
    fold_system,
    join_turns,
    legal_messages,
    shorten_ids,
    speak_after_tools,
)
from app.providers.model_host.quirks import Quirks
from app.providers.model_host.tool_schemas import LegalTools, legal_tools

# Anthropic has no default of its own. What it advises for streams: fewer would cut models in the middle of a thought.
_CLAUDE_OUTPUT = 64_000
_CLAUDE_MOST_OUTPUT = 128_000
# OpenRouter sets credit aside for the longest answer that is allowed.
_ROUTED_OUTPUT = 16_000
# For the thought of a model that has to answer in few tokens.
_THOUGHT_OUTPUT = 4_000

_AFFORDABLE = re.compile(r"can only afford (\d+)")


# The fields of a request that are read by themselves.
_READ = ("id", "op", "limits", "facts", "rules", "cache", "server")


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelCall:
    """One request: which provider and model, what to send, with which key and which limits."""

    call_id: str
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
    quirks: dict[str, Any] | None = None
    server: ServerSpec | None = None

    @classmethod
    def from_line(cls, line: Mapping[str, Any]) -> "ModelCall":
        """Read a line from the parent."""
        values = {name: value for name, value in line.items() if name not in _READ}
        limits, facts = ModelLimits(**line["limits"]), read_facts(line.get("facts", {}))
        rules = ServerRules(**line.get("rules", {}))
        cache = CachePlan(**line["cache"]) if line.get("cache") else None
        server = ServerSpec(**line["server"]) if line.get("server") else None
        return cls(
            call_id=line["id"], limits=limits, facts=facts, rules=rules, cache=cache, server=server, **values
        )

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


def litellm_arguments(call: ModelCall, quirks: Quirks, tools: LegalTools | None = None) -> dict[str, Any]:
    """Return the keyword arguments for `litellm.acompletion`; `tools` are the call's own where they are None."""
    tools = tools or tools_of(call)
    messages = legal_messages(
        call.kind, tools.messages(call.messages), thoughts=call.rules.wants_thought or quirks.wants_thought
    )
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
    arguments: dict[str, Any] = {
        "max_completion_tokens" if new_name else "max_tokens": max_tokens,
        "temperature": call.temperature if takes_temperature(call.facts, call.effort) else None,
        "stop": call.stop or None,
        "stream_options": {"include_usage": True},
        "response_format": call.schema and _response_format(call.schema),
        **effort_arguments(call.kind, call.facts, call.effort, max_tokens),
        "modalities": ["text", "image"] if _answers_with_pictures(call) else None,
    }
    arguments = {
        name: value
        for name, value in arguments.items()
        if value is not None and name.replace("completion_", "") not in {*call.rules.without, *quirks.without}
    }
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
    return arguments | {
        "model": f"{call.row.route}/{call.model}",
        "messages": messages,
        "api_base": call.base_url,
        # Without a key LiteLLM would take one from the environment and send it to this address.
        "api_key": call.key or "no-key",
        "stream": True,
        "max_retries": 0,
        "num_retries": 0,
    }


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


def affordable_output(failure: Classified) -> int | None:
    """Return how many tokens an account can still pay for, where a request was refused for allowing more."""
    match = _AFFORDABLE.search(failure.detail) if failure.kind == FailureKind.QUOTA else None
    return int(match[1]) or None if match else None


def _response_format(schema: dict[str, Any]) -> dict[str, Any]:
    return {"type": "json_schema", "json_schema": {"name": "answer", "schema": schema}}
