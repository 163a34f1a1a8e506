"""The family of a model: models of one family tend to be wrong together."""

import re
from collections.abc import Iterator, Mapping

from app.core.catalog import provider_kind, usual_label
from app.core.council import Participant
from app.core.session import Debate
from app.engine.names import find_traces

_FAMILIES = {
    "anthropic": "claude",
    "openai": "gpt chatgpt o1 o3 o4 codex",
    "google": "gemini gemma palm",
    "mistral": "mistral mixtral ministral codestral magistral devstral pixtral",
    "meta": "llama meta-llama",
    "alibaba": "qwen qwq",
    "deepseek": "deepseek",
    "xai": "grok",
    "cohere": "command aya c4ai",
    "microsoft": "phi",
    "moonshot": "kimi moonshot",
    "zhipu": "glm chatglm",
    "huggingface": "smollm",
}


def family_of(model: str) -> str:
    """Return the family of a model by its name, whatever the provider; the name's first word
    where it is unknown.
    """
    name = model.rsplit("/", 1)[-1].casefold()
    for family, beginnings in _FAMILIES.items():
        if name.startswith(tuple(beginnings.split())):
            return family
    return re.split(r"[^a-z0-9가-힣]+", name, maxsplit=1)[0] or name


# Providers' ids and voices, and beginnings of models' names, that are everyday words.
_EVERYDAY = "local embedded program agent together openai-compatible command phi aya palm codex o1 o3 o4"


def traces_of(participant: Participant) -> Iterator[str]:
    """Yield the words that tell who wrote something: the name, the model, its family's names
    and the provider's.
    """
    name = participant.model.rsplit("/", 1)[-1].casefold()
    kind = provider_kind(participant.provider)
    begins = (word for words in _FAMILIES.values() for word in words.split() if name.startswith(word))
    own = (participant.name, participant.model, name, participant.provider, *begins)
    everyday = _EVERYDAY.split()
    for word in (*own, usual_label(participant.provider), kind.voice if kind else ""):
        if word.strip() and word.casefold() not in everyday:
            yield word


def without_names(text: str, debate: Debate, letters: Mapping[str, str] | None = None) -> str:
    """Return a text with letters for all words that tell who wrote it, except for those that the question
    or a file says.
    """
    asked = "\n".join((debate.topic, *(file.text for file in debate.context)))
    traces = [(item.id, word) for item in debate.participants for word in traces_of(item)]
    known = {asked[trace.start : trace.end].casefold() for trace in find_traces(asked, traces)}
    hidden = text
    for found in reversed(find_traces(text, traces)):
        if text[found.start : found.end].casefold() not in known:
            letter = (letters or {}).get(found.participant_id, "…")
            hidden = f"{hidden[: found.start]}{letter}{hidden[found.end :]}"
    return re.sub(r"^\s*\((\d+)\)", r"[\1]", hidden, flags=re.MULTILINE)
