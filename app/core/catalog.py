"""The providers Moot knows, one row each, and what is known about their models.

A provider with an OpenAI-compatible API needs a row in `PRESETS` only. What another API asks for differently is in
providers/endpoints.py (addresses) and providers/model_host (`request`, `messages`, `trial`).
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from urllib.parse import urlsplit

EMBEDDED = "embedded"
EMBEDDED_MODEL = "smollm2-135m"
EMBEDDED_BYTES = 98_362_432
EMBEDDED_WINDOW = 8_192


class RequestForm(StrEnum):
    """How a debate is put to a model: as chat turns, or as one transcript."""

    CHAT = "chat"
    TRANSCRIPT = "transcript"


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderKind:
    """A provider that can be chosen.

    `route` is LiteLLM's prefix, `base_url` the default address, `variable` the environment variable its users know,
    `voice` the name of its participant, `listed_as` its prefix in LiteLLM's list of prices ("" for its route's).
    `form` says how a debate is put to its models: chat turns, or one transcript
    with an opener (for a model too small for chat turns). `guided` marks models that cannot choose a tool: Moot offers
    the one that fits. `images` says that models take pictures. `calls_at_once` is how many answers a server of this
    computer can write at once, None for any number. `key_page` is where one gets a key; it begins with `key_prefix`.
    """

    kind: str
    label: str
    voice: str
    route: str
    base_url: str
    models: tuple[str, ...]
    variable: str = ""
    local: bool = False
    needs_key: bool = True
    form: str = RequestForm.CHAT
    listed_as: str = ""
    guided: bool = False
    images: bool = True
    calls_at_once: int | None = None
    key_page: str = ""
    key_prefix: str = ""

    def listed(self, model: str) -> str:
        """Return a model's name in LiteLLM's list of prices."""
        return f"{self.listed_as or self.route}/{model}"

    def is_own(self, address: str) -> bool:
        """Return whether an address is on the provider's own server, so that what is known of it holds there."""
        return bool(self.base_url) and _server(address) == _server(self.base_url)


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalServer:
    """A program that serves models on this computer, at its usual address (with `/v1`).

    It is known by what it answers at `path`: a text in which the expression `sign` is found.
    """

    name: str
    address: str
    path: str
    sign: str
    kind: str = "openai-compatible"


# The providers that everybody has from the start, as far as they have models.
USUAL: tuple[ProviderKind, ...] = (
    ProviderKind(
        kind="openai",
        label="OpenAI",
        voice="GPT",
        route="openai",
        base_url="https://api.openai.com/v1",
        models=("gpt-5.2", "gpt-5-mini"),
        variable="OPENAI_API_KEY",
        key_page="https://platform.openai.com/api-keys",
        key_prefix="sk-",
    ),
    ProviderKind(
        kind="anthropic",
        label="Anthropic",
        voice="Claude",
        route="anthropic",
        base_url="https://api.anthropic.com",
        models=("claude-opus-4-5", "claude-sonnet-4-5"),
        variable="ANTHROPIC_API_KEY",
        key_page="https://console.anthropic.com/settings/keys",
        key_prefix="sk-ant-",
    ),
    ProviderKind(
        kind="gemini",
        label="Google Gemini",
        voice="Gemini",
        route="gemini",
        base_url="https://generativelanguage.googleapis.com/v1beta",
        models=("gemini-3-pro-preview", "gemini-2.5-flash"),
        variable="GEMINI_API_KEY",
        key_page="https://aistudio.google.com/apikey",
        key_prefix="AIza",
    ),
    ProviderKind(
        kind="ollama",
        label="Ollama",
        voice="Llama",
        route="openai",
        base_url="http://127.0.0.1:11434/v1",
        models=("llama3.2",),
        local=True,
        needs_key=False,
    ),
    ProviderKind(
        kind="openai-compatible",
        label="OpenAI-compatible server",
        voice="Local",
        route="openai",
        base_url="",
        models=(),
        local=True,
        needs_key=False,
    ),
    ProviderKind(
        kind=EMBEDDED,
        label="On this computer",
        voice="SmolLM2",
        route="openai",
        base_url="",
        models=(EMBEDDED_MODEL,),
        local=True,
        needs_key=False,
        form=RequestForm.TRANSCRIPT,
        guided=True,
        images=False,
        calls_at_once=4,
    ),
)

# The providers that can be added by name. Above each, the pages that its row was written from.
PRESETS: tuple[ProviderKind, ...] = (
    # https://openrouter.ai/docs/quickstart, https://openrouter.ai/docs/use-cases/usage-accounting
    ProviderKind(
        kind="openrouter",
        label="OpenRouter",
        voice="OpenRouter",
        route="openai",
        base_url="https://openrouter.ai/api/v1",
        models=("anthropic/claude-sonnet-4.5", "openai/gpt-5.2", "google/gemini-2.5-flash"),
        variable="OPENROUTER_API_KEY",
        listed_as="openrouter",
        key_page="https://openrouter.ai/settings/keys",
        key_prefix="sk-or-",
    ),
)

KINDS: tuple[ProviderKind, ...] = (*USUAL, *PRESETS)

EMBEDDED_VOICES: tuple[str, ...] = ("Ada", "Ben", "Cleo")

LOCAL_SERVERS: tuple[LocalServer, ...] = (
    LocalServer(
        name="Ollama",
        kind="ollama",
        address="http://127.0.0.1:11434/v1",
        path="/",
        sign=r"^Ollama is running",
    ),
    LocalServer(
        name="LM Studio",
        address="http://127.0.0.1:1234/v1",
        path="/lmstudio-greeting",
        sign=r'"lmstudio"\s*:\s*true',
    ),
    LocalServer(
        name="llama.cpp",
        address="http://127.0.0.1:8080/v1",
        path="/v1/models",
        sign=r'"owned_by"\s*:\s*"llamacpp"',
    ),
    LocalServer(
        name="vLLM",
        address="http://127.0.0.1:8000/v1",
        path="/v1/models",
        sign=r'"owned_by"\s*:\s*"vllm"',
    ),
    LocalServer(
        name="Jan",
        address="http://127.0.0.1:1337/v1",
        path="/openapi.json",
        sign=r'"title"\s*:\s*"Jan API',
    ),
)

_NOT_FOR_CHAT = re.compile(
    r"embed|rerank|whisper|moderation|dall-e|imagen|veo-|tts|transcri|realtime|audio|sora|davinci|babbage"
    r"|gpt-image|-image\b|instruct-\d{4}|stable-diffusion|aqa$",
    re.IGNORECASE,
)


def provider_kind(kind: str) -> ProviderKind | None:
    """Return the row of a kind, None when this version does not know it."""
    return next((row for row in KINDS if row.kind == kind), None)


def _server(address: str) -> tuple[str, str]:
    parts = urlsplit(address)
    return parts.scheme, parts.netloc.lower()


def kind_of_key(key: str, chosen: str = "") -> str:
    """Return the kind of provider a key is of by the way it begins, "" where that says nothing.

    Of several whose keys begin the same way it is the `chosen` one, else the first.
    """
    fits = [row for row in KINDS if row.key_prefix and key.startswith(row.key_prefix)]
    return max(fits, key=lambda row: (len(row.key_prefix), row.kind == chosen)).kind if fits else ""


def chat_models(names: Sequence[str]) -> tuple[str, ...]:
    """Return the models of a server's list that one can chat with, as far as their names tell."""
    return tuple(name for name in dict.fromkeys(names) if name and not _NOT_FOR_CHAT.search(name))


def best_model(known: Sequence[str], listed: Sequence[str]) -> str:
    """Return which model to ask first: one that is `known` where the server lists it, else its first.

    A list may name the dated versions only of what is known by a short name.
    """
    for model in known:
        if any(name == model or re.fullmatch(re.escape(model) + r"-\d[\d-]*", name) for name in listed):
            return model
    return next(iter(chat_models(listed)), "") or next(iter(known), "")
