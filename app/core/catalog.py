"""The providers Moot knows, one row each, and what is known about their models.

A provider with an OpenAI-compatible API needs a row in core/presets.py; app/README.md lists what belongs to it. What
another API asks for differently is in providers/endpoints.py (addresses) and providers/model_host (`request`,
`host`).
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from app.core.external_agents import DEFAULT_MODEL
from app.core.presets import PRESETS
from app.core.provider import ProviderStatus
from app.core.provider_kind import ProviderKind, RequestForm

EMBEDDED = "embedded"
COMPATIBLE = "openai-compatible"
EMBEDDED_MODEL = "smollm2-135m"
EMBEDDED_BYTES = 98_362_432
EMBEDDED_WINDOW = 8_192
# Models that were downloaded to this computer; each runs in a llama.cpp server that Moot starts.
LOCAL = "local"
# External agents: programs that the user has, which ask models themselves.
PROGRAM = "program"


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalServer:
    """A program that serves models on this computer, at its usual address (with `/v1`).

    It is known by what it answers at `path`: a text in which the expression `sign` is found.
    """

    name: str
    address: str
    path: str
    sign: str
    kind: str = COMPATIBLE


# The providers that everybody has from the start, as far as they have models.
USUAL: tuple[ProviderKind, ...] = (
    ProviderKind(
        kind="openai",
        label="OpenAI",
        voice="GPT",
        route="openai",
        base_url="https://api.openai.com/v1",
        models=("gpt-5.2", "gpt-5.4-mini"),
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
        models=("claude-opus-5", "claude-sonnet-5"),
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
        models=("gemini-3.1-pro-preview", "gemini-3.8-flash"),
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
        kind=COMPATIBLE,
        label="OpenAI-compatible server",
        voice="",
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
        in_moot=True,
        form=RequestForm.TRANSCRIPT,
        guided=True,
        images=False,
        calls_at_once=4,
    ),
    ProviderKind(
        kind=LOCAL,
        label="Downloaded models",
        voice="",
        route="openai",
        base_url="",
        models=(),
        local=True,
        needs_key=False,
        in_moot=True,
        images=False,
        calls_at_once=2,
    ),
)

EXTERNAL_AGENT = ProviderKind(
    kind=PROGRAM,
    label="External agent",
    voice="Agent",
    route="",
    base_url="",
    models=(DEFAULT_MODEL,),
    needs_key=False,
    images=False,
    calls_at_once=3,
    votes=False,
)

KINDS: tuple[ProviderKind, ...] = (*USUAL, *PRESETS, EXTERNAL_AGENT)

# Of other services; in each both signs occur.
_KEY_NAMES = (
    "sk",
    "rk",
    "pk",
    "gsk",
    "hf",
    "r8",
    "ghp",
    "gho",
    "ghs",
    "github_pat",
    "glpat",
    "pplx",
    "nvapi",
)
KEY_STARTS: tuple[str, ...] = (
    *(f"{name}{end}" for name in _KEY_NAMES for end in "-_"),
    *dict.fromkeys(kind.key_prefix for kind in KINDS if kind.key_prefix),
    "AKIA",
    "ya29.",
)
"""How keys begin: those of the providers, and well-known ones of other services."""

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
        kind="lm-studio",
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
        kind="vllm",
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

# Words first: a list may have thousands of names, and the expression is ten times as slow.
_NOT_FOR_CHAT = (
    "embed", "rerank", "whisper", "moderation", "dall-e", "imagen", "veo-", "tts", "transcri", "realtime", "audio",
    "sora", "davinci", "babbage", "gpt-image", "stable-diffusion",
)  # fmt: skip
_ENDS_NOT_FOR_CHAT = re.compile(r"-image\b|turbo-instruct-\d{4}|aqa$")
_MAKES_PICTURES = re.compile(r"\bgemini-[\w.-]*-image\b|\bnano-banana|\bgpt-\d[\w.-]*-image\b")


def provider_kind(kind: str) -> ProviderKind | None:
    """Return the row of a kind, None when this version does not know it."""
    return next((row for row in KINDS if row.kind == kind), None)


def usual_label(provider_id: str) -> str:
    """Return the name of a provider whose id is that of a kind, of another one its id; "" where the kind has no name."""
    kind = provider_kind(provider_id)
    if kind is None:
        return provider_id
    return "" if kind.kind in (COMPATIBLE, EMBEDDED, LOCAL, PROGRAM) else kind.label


def kind_of_key(key: str, chosen: str = "") -> str:
    """Return the kind of provider a key is of by the way it begins, "" where that says nothing.

    Of several whose keys begin the same way it is the `chosen` one, else the first.
    """
    fits = [row for row in KINDS if row.key_prefix and key.startswith(row.key_prefix)]
    return max(fits, key=lambda row: (len(row.key_prefix), row.kind == chosen)).kind if fits else ""


def chat_models(names: Sequence[str]) -> tuple[str, ...]:
    """Return the models of a server's list that one can chat with, as far as their names tell."""
    return tuple(name for name in dict.fromkeys(names) if name and _is_for_chat(name.lower()))


def _is_for_chat(name: str) -> bool:
    if any(word in name for word in _NOT_FOR_CHAT):
        return False
    if "-image" in name and makes_pictures(name):
        return True
    maybe_not = "-image" in name or "instruct-" in name or name.endswith("aqa")
    return not (maybe_not and _ENDS_NOT_FOR_CHAT.search(name))


def makes_pictures(model: str) -> bool:
    """Return whether a model answers a chat with pictures too, as far as its name tells."""
    return _MAKES_PICTURES.search(model.lower()) is not None


def best_model(known: Sequence[str], listed: Sequence[str]) -> str:
    """Return which model to ask first: one that is `known` where the server lists it, else its first.

    A list may name the dated versions only of what is known by a short name.
    """
    for model in known:
        if any(name == model or re.fullmatch(re.escape(model) + r"-\d[\d-]*", name) for name in listed):
            return model
    return next(iter(chat_models(listed)), "") or next(iter(known), "")


_COMPATIBLE_LABEL = next(kind.label for kind in KINDS if kind.kind == COMPATIBLE)


def shown_label(status: ProviderStatus, words: Callable[[str], str]) -> str:
    """Return a provider's name; only those that say what it is are translated."""
    if status.label == _COMPATIBLE_LABEL:
        return words("provider.compatible")
    if status.config.kind in (EMBEDDED, LOCAL) and not status.config.label:
        return words(f"provider.{status.config.kind}.label")
    return status.label
