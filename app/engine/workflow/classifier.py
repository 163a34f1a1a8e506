"""Which workflow a command calls for (row W3): by whole words, else by a model's choice; pure.

A keyword counts as a whole word in English; a Korean one may carry particles behind it.
"""

import re
from collections.abc import Mapping, Sequence

from app.core.workflow import WorkflowDefinition
from app.engine.debate.names import normal

NONE = "none"

_HANGUL = re.compile("[\uac00-\ud7a3]")


def by_keyword(command: str, definitions: Sequence[WorkflowDefinition]) -> WorkflowDefinition | None:
    """Return the one definition whose keywords a command holds most of; None for none, or for a tie."""
    text = normal(command)
    counts = {one.id: sum(_holds(text, word) for word in one.keywords) for one in definitions}
    most = max(counts.values(), default=0)
    best = [one for one in definitions if counts[one.id] == most]
    return best[0] if most and len(best) == 1 else None


def question(command: str, definitions: Sequence[WorkflowDefinition]) -> tuple[str, Mapping[str, object]]:
    """Return the prompt that asks a model for its choice, and the schema of the answer."""
    listed = "\n".join(f"- {one.id}: {one.name}" for one in definitions)
    text = (
        "Which of these kinds of work does the command below ask for? Answer with its id alone, "
        f"or {NONE} if it is none of them.\n\n{listed}\n- {NONE}: something else\n\nCommand: {command[:2_000]}"
    )
    choice = {"type": "string", "enum": [*(one.id for one in definitions), NONE]}
    return text, {"type": "object", "properties": {"id": choice}, "required": ["id"]}


def choice_of(answer: str, definitions: Sequence[WorkflowDefinition]) -> WorkflowDefinition | None:
    """Return the definition an answer names, and only that one; None for anything else."""
    words = set(re.findall(r"[\w-]+(?:\.[\w-]+)*", answer.casefold(), re.ASCII))
    named = [one for one in definitions if one.id.casefold() in words]
    return named[0] if len(named) == 1 and NONE not in words - {named[0].id.casefold()} else None


def _holds(text: str, keyword: str) -> bool:
    word = normal(keyword).strip()
    if not word:
        return False
    right = "" if _HANGUL.search(word) else r"(?![\w])"
    return re.search(rf"(?<![\w]){re.escape(word)}{right}", text, re.IGNORECASE) is not None
