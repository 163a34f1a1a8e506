"""What a model has refused once, so that it is asked in another way from then on."""

import dataclasses
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from app.core.errors import FailureKind
from app.providers.errors import Classified

_DROPPABLE = (
    "temperature", "max_completion_tokens", "max_tokens", "stop", "stream_options", "response_format", "modalities",
    "reasoning_effort", "thinking", "verbosity", "prompt_cache_key",
)  # fmt: skip
_NO_SYSTEM = re.compile(
    r"system.{0,40}(role|message|instruction|prompt)|role.{0,30}system|developer instruction is not enabled"
    r"|only user and assistant roles",
    re.IGNORECASE,
)
_TOO_MUCH_OUTPUT = re.compile(
    r"max_tokens.{0,60}> (\d+), which is the maximum"
    r"|max(?:_completion)?_tokens is too large.{0,80}at most (\d+) completion tokens"
)
_STRICT_TURNS = re.compile(r"roles must alternate|alternate between", re.IGNORECASE)
_WANTS_THOUGHT = re.compile(r"reasoning_content.{0,80}(must be passed|is missing|is required)")
_NO_TOOLS = re.compile(
    r"(tools?|function)\b.{0,60}(not (supported|enabled|available|allowed)|unsupported|requires)"
    r"|(not|n't|cannot) support.{0,20} (tool|function)|no endpoints found that support tool",
    re.IGNORECASE,
)


@dataclass(slots=True)
class Quirks:
    """How a model must be asked; the fields are those of `ModelQuirks`."""

    without: set[str] = field(default_factory=set)
    new_name_of_max_tokens: bool = False
    no_system: bool = False
    strict_turns: bool = False
    wants_thought: bool = False
    most_output: int = 0

    @classmethod
    def of(cls, known: Mapping[str, Any]) -> "Quirks":
        """Return the quirks that the fields of `ModelQuirks` describe."""
        return cls(**{**known, "without": set(known["without"])})

    def fields(self) -> dict[str, Any]:
        """Return the fields of `ModelQuirks`."""
        return dataclasses.asdict(self) | {"without": sorted(self.without)}

    def learn(self, failure: Classified, sent: Mapping[str, object]) -> bool:
        """Remember a refusal; return whether to ask again with other arguments."""
        if failure.kind not in (FailureKind.BAD_REQUEST, FailureKind.SERVER):
            return False
        refused = failure.detail.lower()
        messages = sent.get("messages")
        has_system = isinstance(messages, list) and bool(messages) and messages[0]["role"] == "system"
        if has_system and _NO_SYSTEM.search(refused):
            self.no_system = True
            return True
        if not self.strict_turns and _STRICT_TURNS.search(refused):
            self.strict_turns = True
            return True
        if failure.kind != FailureKind.BAD_REQUEST:
            return False
        if not self.wants_thought and _WANTS_THOUGHT.search(refused):
            self.wants_thought = True
            return True
        if not self.most_output and (match := _TOO_MUCH_OUTPUT.search(refused)):
            self.most_output = int(match[1] or match[2])
            return True
        if "max_tokens" in sent and "max_completion_tokens" in refused:
            self.new_name_of_max_tokens = True
            return True
        if "response_format" in sent and "output_format" in refused:
            # Anthropic's own name of the parameter.
            self.without.add("response_format")
            return True
        body = sent.get("extra_body")
        for name in _DROPPABLE:
            given = name in sent or (isinstance(body, Mapping) and name in body)
            if given and name in refused and name not in self.without:
                self.without.add("max_tokens" if name == "max_completion_tokens" else name)
                return True
        return False


def explain_refused_tools(failure: Classified, sent: Mapping[str, object]) -> Classified:
    """Say plainly when a model was refused because it cannot call tools.

    It is not asked again without them: an assistant that lost its tools unnoticed would answer as if it had searched
    and acted.
    """
    refused = failure.kind in (
        FailureKind.BAD_REQUEST,
        FailureKind.SERVER,
        FailureKind.MODEL_NOT_FOUND,
        FailureKind.WRONG_PATH,
        FailureKind.WRONG_PATH,
    ) and _NO_TOOLS.search(failure.detail)
    if "tools" not in sent or not refused:
        return failure
    return Classified(kind=FailureKind.NO_TOOLS, detail=failure.detail)
