"""The arguments of a tool call as a model wrote them: read strictly, with words for what is wrong."""

import json
from typing import Any

from app.core.tool import ToolError

MAX_ARGUMENTS = 200_000


def read_arguments(text: str) -> dict[str, Any]:
    """Return a call's arguments; none are an empty object. Raises ToolError that says what is wrong."""
    if len(text) > MAX_ARGUMENTS:
        raise ToolError(f"The arguments have {len(text)} characters; at most {MAX_ARGUMENTS} are allowed.")
    if not text.strip():
        return {}
    try:
        value = json.loads(text, parse_constant=_no_constant)
    except RecursionError:
        raise ToolError("The arguments are nested too deeply.") from None
    except ValueError as error:
        raise ToolError(
            f"The arguments are not valid JSON ({error}). They may have been cut: send them again, whole."
        ) from None
    if not isinstance(value, dict):
        raise ToolError(f"The arguments must be one JSON object, not {type(value).__name__}.")
    return value


def is_object(text: str) -> bool:
    """Say whether arguments can be sent back to a provider as they are."""
    try:
        read_arguments(text)
    except ToolError:
        return False
    return bool(text.strip())


def canonical(text: str) -> str:
    """Return arguments so that two calls that mean the same are the same text."""
    try:
        return json.dumps(read_arguments(text), sort_keys=True, ensure_ascii=False)
    except ToolError:
        return text.strip()


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON")
