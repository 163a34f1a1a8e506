"""The providers Moot knows, one row each, and what is known about their models."""

from dataclasses import dataclass

EMBEDDED = "embedded"
EMBEDDED_MODEL = "smollm2-135m"

CHAT = "chat"
TRANSCRIPT = "transcript"


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderKind:
    """A provider that can be chosen.

    `route` is LiteLLM's prefix, `base_url` the default address, `variable` the environment
    variable its users know, `voice` the name its participant gets. `form` says how a debate is put
    to its models: chat turns, or one transcript with an opener (for a model too small for chat turns).
    `guided` marks models that cannot choose a tool: Moot offers the one that fits. `images` says that
    models take pictures. `calls_at_once` is how many answers a server of this computer can write at once, None
    for any number.
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
    form: str = CHAT
    guided: bool = False
    images: bool = True
    calls_at_once: int | None = None


KINDS: tuple[ProviderKind, ...] = (
    ProviderKind(
        kind="openai",
        label="OpenAI",
        voice="GPT",
        route="openai",
        base_url="https://api.openai.com/v1",
        models=("gpt-5.2", "gpt-5-mini"),
        variable="OPENAI_API_KEY",
    ),
    ProviderKind(
        kind="anthropic",
        label="Anthropic",
        voice="Claude",
        route="anthropic",
        base_url="https://api.anthropic.com",
        models=("claude-opus-4-5", "claude-sonnet-4-5"),
        variable="ANTHROPIC_API_KEY",
    ),
    ProviderKind(
        kind="gemini",
        label="Google Gemini",
        voice="Gemini",
        route="gemini",
        base_url="https://generativelanguage.googleapis.com/v1beta",
        models=("gemini-3-pro-preview", "gemini-2.5-flash"),
        variable="GEMINI_API_KEY",
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
        form=TRANSCRIPT,
        guided=True,
        images=False,
        calls_at_once=4,
    ),
)

EMBEDDED_VOICES: tuple[str, ...] = ("Ada", "Ben", "Cleo")


def provider_kind(kind: str) -> ProviderKind | None:
    """Return the row of a kind, None when this version does not know it."""
    return next((row for row in KINDS if row.kind == kind), None)
