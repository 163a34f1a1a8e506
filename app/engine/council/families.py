"""The family of a model: models of one family tend to be wrong together."""

import re

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
