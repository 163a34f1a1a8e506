"""The family of a model: models of one family tend to be wrong together."""

import re
from collections.abc import Iterator

from app.core.catalog import provider_kind
from app.core.session import Participant

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
    """Return the family of a model by its name, whatever the provider; the name's first word where it is unknown."""
    name = model.rsplit("/", 1)[-1].casefold()
    for family, beginnings in _FAMILIES.items():
        if name.startswith(tuple(beginnings.split())):
            return family
    return re.split(r"[^a-z0-9가-힣]+", name, maxsplit=1)[0] or name


# Providers' ids and beginnings of models' names that are everyday words.
_EVERYDAY = frozenset(
    [
        "local",
        "embedded",
        "program",
        "openai-compatible",
        "command",
        "phi",
        "aya",
        "palm",
        "codex",
        "o1",
        "o3",
        "o4",
    ]
)


def traces_of(participant: Participant) -> Iterator[str]:
    """Yield the words that tell who wrote something: the name, the model, its family's names and the provider's."""
    name = participant.model.rsplit("/", 1)[-1].casefold()
    kind = provider_kind(participant.provider)
    begins = (word for words in _FAMILIES.values() for word in words.split() if name.startswith(word))
    own = (participant.name, participant.model, name, participant.provider, *begins)
    for word in (*own, *((kind.label, kind.voice) if kind else ())):
        if word.strip() and word.casefold() not in _EVERYDAY:
            yield word
