"""The providers Moot knows, one row each; the user's own, with their models; addresses as users write them.

Also the external agents Moot knows, and how the tools of each are taken away. A provider with an
OpenAI-compatible API needs a row in `PRESETS`; app/README.md lists what belongs to it. What another API asks
for differently is in providers/endpoints.py (addresses) and providers/model_host (`request`, `host`).
"""

import ipaddress
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import field
from enum import StrEnum
from hashlib import sha256
from urllib.parse import urlsplit

from app.core.frozen import Frozen

# The place of the files of a recipe, in its arguments and variables.
FOLDER = "{folder}"
DEFAULT_MODEL = "default"

# The modes in which programs ask nobody before they change files or run commands; Moot uses none of them.
UNASKED_MODES = (
    *("bypasspermissions", "yolo", "full-access", "agent-full-access", "danger-full-access"),
    *("autoedit", "acceptedits"),
)

_RULES = (
    "You take part in a conversation between several models and a person. "
    "Answer with your own contribution as plain text. "
    "You have no tools and no files."
)


class AgentRecipe(Frozen):
    """A program that speaks the Agent Client Protocol, and how it is kept from using tools.

    `seen` is the version the recipe was written for. `variables` and `files` (by name) take its tools away,
    `session` is sent as `_meta` of a session. `system_prompt` is the mode in which a session takes a system
    text, "" for none. `mode` is the mode a session must have. `hosted` are beginnings of models that may be
    asked only when the user chose them. With `message_ids`, text without one is a notice; None where that is
    not known. `images` says whether it takes pictures, as long as it has not said so itself. An agent that
    works in a folder has its tools: then `work_args` take the place of `args`, `work_variables` and
    `work_mode` that of the others; its mode must be none of `UNASKED_MODES`. `notices` are beginnings of
    lines that are no answer, `complaints` of texts that say why there is none. `install` and `login` are
    commands for the user to run.
    """

    name: str
    label: str
    voice: str
    executable: str
    args: tuple[str, ...] = ()
    seen: str = ""
    install: str = ""
    login: str = ""
    variables: Mapping[str, str] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)
    session: Mapping[str, object] = field(default_factory=dict)
    system_prompt: str = ""
    mode: str = ""
    work_args: tuple[str, ...] = ()
    work_variables: Mapping[str, str] = field(default_factory=dict)
    work_mode: str = ""
    hosted: tuple[str, ...] = ()
    message_ids: bool | None = None
    images: bool = False
    notices: tuple[str, ...] = ()
    complaints: tuple[str, ...] = ()


# What a program that is not in the table is run with: nothing takes its tools away.
OTHER = AgentRecipe(name="other", label="External agent", voice="Agent", executable="")

RECIPES: tuple[AgentRecipe, ...] = (
    AgentRecipe(
        name="claude", label="Claude Code", voice="Claude", executable="claude-agent-acp",
        seen="0.101.0", install="npm install -g @agentclientprotocol/claude-agent-acp",
        login="claude-agent-acp --cli",
        variables={"CLAUDE_CODE_DISABLE_FILE_MENTIONS": "1"},
        session={"claudeCode": {"options": {
            "tools": [], "settingSources": [], "strictMcpConfig": True, "promptSuggestions": False,
            "title": "Moot",
        }}},
        system_prompt="override", mode="default",
        work_variables={"CLAUDE_CODE_DISABLE_FILE_MENTIONS": "1"}, work_mode="default",
        message_ids=True, images=True,
    ),
    AgentRecipe(
        name="codex", label="Codex", voice="GPT", executable="codex-acp",
        seen="2.6.0", install="npm install -g @agentclientprotocol/codex-acp", login="codex login",
        variables={
            "CODEX_CONFIG": json.dumps({
                "features": {"shell_tool": False, "unified_exec": False},
                "tools": {"view_image": False, "web_search": False},
                "project_doc_max_bytes": 0,
                "base_instructions": _RULES,
            }),
            "INITIAL_AGENT_MODE": "read-only",
        },
        system_prompt="append", mode="read-only",
        # Here it asks before it changes a file.
        work_variables={"INITIAL_AGENT_MODE": "read-only"}, work_mode="read-only",
        message_ids=True, images=True,
        notices=("Warning: Model metadata",), complaints=("exceeded retry limit",),
    ),
    AgentRecipe(
        name="gemini", label="Gemini CLI", voice="Gemini", executable="gemini",
        args=("--acp", "--admin-policy", f"{FOLDER}/policy.toml"),
        seen="0.61.0", install="npm install -g @google/gemini-cli", login="gemini",
        variables={"GEMINI_SYSTEM_MD": f"{FOLDER}/system.md"},
        files={
            "policy.toml": '[[rule]]\ntoolName = "*"\ndecision = "deny"\npriority = 999\n',
            "system.md": _RULES + "\n",
        },
        work_args=("--acp",), work_mode="default",
        message_ids=False, images=True, notices=("[MODE_UPDATE]",),
    ),
    AgentRecipe(
        name="opencode", label="opencode", voice="opencode", executable="opencode", args=("acp",),
        seen="1.18.33", install="npm install -g opencode-ai", login="opencode auth login",
        variables={
            "OPENCODE_CONFIG_CONTENT": json.dumps({
                "share": "disabled", "autoupdate": False, "permission": {"*": "deny"},
                "agent": {
                    "moot": {"mode": "primary", "prompt": _RULES, "permission": {"*": "deny"}},
                    "title": {"disable": True},
                },
                "default_agent": "moot",
            }),
            "OPENCODE_DISABLE_PROJECT_CONFIG": "1", "OPENCODE_DISABLE_CLAUDE_CODE": "1", "OPENCODE_PURE": "1",
        },
        mode="moot",
        work_variables={"OPENCODE_CONFIG_CONTENT": json.dumps({
            "share": "disabled", "autoupdate": False, "permission": {"*": "ask"},
            "agent": {"title": {"disable": True}},
        })},
        work_mode="build",
        # Without a login it silently asks a free model of its maker.
        hosted=("opencode/",), message_ids=True, images=True,
    ),
)  # fmt: skip


def recipe_of(name: str) -> AgentRecipe:
    """Return the recipe of a name; a program that is not in the table has the one without rules."""
    return next((recipe for recipe in RECIPES if recipe.name == name), OTHER)


# The most tokens that a user can say a window has.
MOST_WINDOW = 99_999_999


class ProviderConfig(Frozen):
    """One entry of `providers.json`; `kind` is a row of the catalogue, `models` the user's own list.

    `window` is how many tokens a request to its models may have, as the user says; 0 leaves it to what is
    known. `windows` says the same of single models, by name. Of a program, `command` with its `args` is what
    runs, `env` are names of variables that it gets from Moot's environment, and `recipe` names how it is kept
    from using tools (`core.catalog`).
    """

    id: str
    kind: str
    label: str = ""
    base_url: str = ""
    models: tuple[str, ...] = ()
    enabled: bool = True
    window: int = 0
    windows: dict[str, int] = field(default_factory=dict)
    command: str = ""
    args: tuple[str, ...] = ()
    env: tuple[str, ...] = ()
    recipe: str = ""

    @property
    def fingerprint(self) -> str:
        """What the consent to run a program is bound to."""
        bound = ["program", self.command, list(self.args), sorted(self.env), self.recipe]
        return sha256(json.dumps(bound).encode()).hexdigest()

    def work_consent(self, folder: str) -> str:
        """Return what the consent to the program's work in a folder is bound to; begins with its
        fingerprint.
        """
        return f"{self.fingerprint}/{sha256(folder.encode('utf-8', 'replace')).hexdigest()}"


class ModelList(Frozen):
    """The models a provider listed the last time (`models.json`); those in `hidden` can't chat,
    as their names tell.
    """

    provider: str
    fetched_at: str
    models: tuple[str, ...]
    hidden: tuple[str, ...] = ()


def server_of(address: str) -> str:
    """Return the scheme, host and port of an address."""
    return "/".join(address.split("/", 3)[:3]).lower()


class RequestForm(StrEnum):
    """How a debate is put to a model: as chat turns, or as one transcript."""

    CHAT = "chat"
    TRANSCRIPT = "transcript"


class ServerRules(Frozen):
    """What a server that speaks OpenAI's API wants otherwise than OpenAI.

    `without` are arguments that it refuses. `short_call_ids` says that the ids of tool calls are nine letters
    and digits, `speech_after_tools` that only an assistant may speak after the result of a tool,
    `wants_thought` that a model gets back what it thought before its calls.
    """

    without: tuple[str, ...] = ()
    max_completion_tokens: bool = False
    short_call_ids: bool = False
    speech_after_tools: bool = False
    wants_thought: bool = False


class ProviderKind(Frozen):
    """A provider that can be chosen.

    `route` is LiteLLM's prefix, `base_url` the default address, `variable` the environment variable its users
    know, `voice` the name of its participant, `listed_as` its prefix in LiteLLM's list of prices ("" for its
    kind). `form` says how a debate is put to its models: chat turns, or one transcript with an opener (for a
    model too small for chat turns). `guided` marks models that cannot choose a tool: Moot offers the one that
    fits. `images` says that models take pictures. `calls_at_once` is how many answers a server of this
    computer can write at once, None for any number. `key_page` is where one gets a key; it begins with
    `key_prefix`. A provider whose address differs from user to user has no `base_url`, but an `address_form`
    in which NAME stands for what differs. With `own_names` users give the models their names, and the
    server's list does not have them. `rules` hold at the provider's own address only. With `in_moot`, Moot
    runs the models itself, on this computer. Without `votes` its models answer in words and hold to no form,
    so that they neither vote nor judge. One that `resells` names models "maker/model" and passes on their
    makers' prices.
    """

    kind: str
    label: str
    voice: str
    route: str = "openai"
    base_url: str = ""
    models: tuple[str, ...] = ()
    own_variable: str = ""
    local: bool = False
    form: str = RequestForm.CHAT
    listed_as: str = ""
    guided: bool = False
    images: bool = True
    calls_at_once: int | None = None
    key_page: str = ""
    key_prefix: str = ""
    address_form: str = ""
    own_names: bool = False
    in_moot: bool = False
    votes: bool = True
    resells: bool = False
    rules: ServerRules = ServerRules()

    @property
    def variable(self) -> str:
        """The environment variable for its key, "" where it needs none."""
        return self.own_variable or (f"{self.kind.upper()}_API_KEY" if self.key_page else "")

    @property
    def needs_key(self) -> bool:
        """Whether it answers only with a key: then there is a variable for that."""
        return bool(self.variable)

    @property
    def path(self) -> str:
        """The path of the API on the provider's server."""
        return urlsplit(self.base_url or self.address_form).path

    def listed(self, model: str) -> str:
        """Return a model's name in LiteLLM's list of prices."""
        return f"{self.listed_as or self.kind}/{model}"

    def priced(self, model: str) -> tuple[str, ...]:
        """Return the names in LiteLLM's list whose price is that of a model."""
        name = model.partition("/")[2]
        # Anthropic's own names have no dots.
        return (self.listed(model), *((name, name.replace(".", "-")) if self.resells and name else ()))

    def is_own(self, address: str) -> bool:
        """Return whether an address is on the provider's own server, so that what is known of it holds
        there.
        """
        if self.base_url:
            return server_of(address) == server_of(self.base_url)
        before, _, after = server_of(self.address_form).partition("name")
        form = f"{before}[a-z0-9-]+{re.escape(after)}"
        return bool(after) and re.fullmatch(form, server_of(address)) is not None

    def rules_at(self, address: str) -> ServerRules:
        """Return the rules of the server at an address."""
        return self.rules if self.is_own(address) else ServerRules()


# Those that can be added by name; above each the pages that its row was written from. A council hides who
# wrote an answer: a name that is an everyday word, and the models of a new maker, belong in
# engine/debate/families.py as well.
PRESETS: tuple[ProviderKind, ...] = (
    # https://openrouter.ai/docs/quickstart, https://openrouter.ai/docs/use-cases/usage-accounting,
    # https://openrouter.ai/docs/faq (the makers' prices are passed on)
    ProviderKind(
        kind="openrouter", label="OpenRouter", voice="OpenRouter", base_url="https://openrouter.ai/api/v1",
        models=("anthropic/claude-sonnet-4.5", "openai/gpt-5.2", "google/gemini-2.5-flash"),
        key_page="https://openrouter.ai/settings/keys", key_prefix="sk-or-",
        resells=True,
    ),
    # https://api-docs.deepseek.com, https://api-docs.deepseek.com/guides/json_mode (objects, but no schemas)
    ProviderKind(
        kind="deepseek", label="DeepSeek", voice="DeepSeek", base_url="https://api.deepseek.com/v1",
        models=("deepseek-v4-pro", "deepseek-v4-flash"),
        images=False,
        key_page="https://platform.deepseek.com/api_keys", key_prefix="sk-",
        rules=ServerRules(without=("response_format",), wants_thought=True),
    ),
    # https://platform.kimi.ai/docs/api/models-overview (a K2 or later refuses any temperature but its own)
    ProviderKind(
        kind="moonshot", label="Moonshot AI (Kimi)", voice="Kimi", base_url="https://api.moonshot.ai/v1",
        models=("kimi-k3", "kimi-k2.6"),
        key_page="https://platform.moonshot.ai/console/api-keys", key_prefix="sk-",
        rules=ServerRules(without=("temperature",), wants_thought=True),
    ),
    # https://docs.mistral.ai/api (fields that it does not know are refused),
    # https://docs.mistral.ai/capabilities/function_calling; it reports its usage unasked.
    ProviderKind(
        kind="mistral", label="Mistral AI", voice="Mistral", base_url="https://api.mistral.ai/v1",
        models=("mistral-large-latest", "mistral-medium-latest", "mistral-small-latest"),
        key_page="https://console.mistral.ai/api-keys",
        rules=ServerRules(without=("stream_options",), short_call_ids=True, speech_after_tools=True),
    ),
    # https://docs.x.ai/docs/guides/reasoning (models that think refuse `stop`)
    ProviderKind(
        kind="xai", label="xAI", voice="Grok", base_url="https://api.x.ai/v1",
        models=("grok-4.7", "grok-4.20-non-reasoning"),
        key_page="https://console.x.ai", key_prefix="xai-",
        rules=ServerRules(without=("stop",)),
    ),
    # https://console.groq.com/docs/openai, https://console.groq.com/docs/structured-outputs (not while it
    # streams)
    ProviderKind(
        kind="groq", label="Groq", voice="Groq", base_url="https://api.groq.com/openai/v1",
        models=("openai/gpt-oss-120b", "openai/gpt-oss-20b"),
        key_page="https://console.groq.com/keys", key_prefix="gsk_",
        rules=ServerRules(without=("response_format",)),
    ),
    # https://docs.together.ai/docs/inference/openai-compatibility
    ProviderKind(
        kind="together", label="Together AI", voice="Together", base_url="https://api.together.ai/v1",
        models=("moonshotai/Kimi-K3", "zai-org/GLM-5.3", "openai/gpt-oss-120b"),
        listed_as="together_ai",
        key_page="https://api.together.ai/settings/api-keys",
    ),
    # https://docs.z.ai/api-reference/llm/chat-completion (no `stream_options`, no schemas)
    ProviderKind(
        kind="zai", label="Z.ai", voice="GLM", base_url="https://api.z.ai/api/paas/v4",
        models=("glm-5.3", "glm-5.3-flash"),
        key_page="https://z.ai/manage-apikey/apikey-list",
        rules=ServerRules(without=("stream_options", "response_format")),
    ),
    # https://inference-docs.cerebras.ai/resources/openai,
    # https://inference-docs.cerebras.ai/api-reference/chat-completions
    ProviderKind(
        kind="cerebras", label="Cerebras", voice="Cerebras", base_url="https://api.cerebras.ai/v1",
        models=("gpt-oss-120b", "gemma-4-31b"),
        key_page="https://cloud.cerebras.ai", key_prefix="csk-",
        rules=ServerRules(max_completion_tokens=True),
    ),
    # https://learn.microsoft.com/azure/ai-foundry/openai/api-version-lifecycle (a key goes as a bearer token;
    # a model is called by the name of its deployment, behind which may be one that refuses `max_tokens`)
    ProviderKind(
        kind="azure", label="Azure OpenAI", voice="Azure",
        own_variable="AZURE_OPENAI_API_KEY",
        key_page="https://ai.azure.com",
        address_form="https://NAME.openai.azure.com/openai/v1", own_names=True,
        rules=ServerRules(max_completion_tokens=True),
    ),
    # https://lmstudio.ai/docs/developer/openai-compat
    ProviderKind(
        kind="lm-studio", label="LM Studio", voice="LM Studio", base_url="http://127.0.0.1:1234/v1",
        local=True,
    ),
    # https://docs.vllm.ai/en/stable/serving/openai_compatible_server.html
    ProviderKind(kind="vllm", label="vLLM", voice="vLLM", base_url="http://127.0.0.1:8000/v1", local=True),
)  # fmt: skip


_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:/")
_WORD = re.compile(r"[\w-]+")


def with_scheme(address: str) -> str:
    """Return an address without blanks around it and with a scheme: http near this computer, https elsewhere.

    One that is no address stays none, and so does a single word other than localhost.
    """
    text = address.strip()
    if not text or _SCHEME.match(text) or (_WORD.fullmatch(text) and text.lower() != "localhost"):
        return text
    try:
        if ipaddress.ip_address(text).version == 6:
            text = f"[{text}]"
    except ValueError:
        pass
    return f"http://{text}" if is_near(f"http://{text}") else f"https://{text}"


def is_near(address: str) -> bool:
    """Return whether an address is on this computer or in its local network."""
    try:
        host = urlsplit(with_scheme(address)).hostname or ""
    except ValueError:
        return False
    try:
        return not ipaddress.ip_address(host).is_global
    except ValueError:
        return "." not in host or host.endswith((".local", ".localhost"))


EMBEDDED = "embedded"
COMPATIBLE = "openai-compatible"
# Servers that may not say what a model reads. Ollama and LM Studio say it, and run one with less than it was
# made for.
SILENT = (COMPATIBLE, "vllm")
EMBEDDED_MODEL = "smollm2-135m"
EMBEDDED_BYTES = 98_362_432
EMBEDDED_WINDOW = 8_192
# Models that were downloaded to this computer; each runs in a llama.cpp server that Moot starts.
LOCAL = "local"
# External agents: programs that the user has, which ask models themselves.
PROGRAM = "program"


class LocalServer(Frozen, kw_only=False):
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
        kind="openai", label="OpenAI", voice="GPT", base_url="https://api.openai.com/v1",
        models=("gpt-5.2", "gpt-5.4-mini"),
        key_page="https://platform.openai.com/api-keys", key_prefix="sk-",
    ),
    ProviderKind(
        kind="anthropic", label="Anthropic", voice="Claude", route="anthropic",
        base_url="https://api.anthropic.com",
        models=("claude-opus-5", "claude-sonnet-5"),
        key_page="https://console.anthropic.com/settings/keys", key_prefix="sk-ant-",
    ),
    ProviderKind(
        kind="gemini", label="Google Gemini", voice="Gemini", route="gemini",
        base_url="https://generativelanguage.googleapis.com/v1beta",
        models=("gemini-3.1-pro-preview", "gemini-3.8-flash"),
        key_page="https://aistudio.google.com/apikey", key_prefix="AIza",
    ),
    ProviderKind(
        kind="ollama", label="Ollama", voice="Llama", base_url="http://127.0.0.1:11434/v1",
        models=("llama3.2",),
        local=True,
    ),
    ProviderKind(kind=COMPATIBLE, label="OpenAI-compatible server", voice="", local=True),
    ProviderKind(
        kind=EMBEDDED, label="On this computer", voice="SmolLM2",
        models=(EMBEDDED_MODEL,),
        local=True, in_moot=True, form=RequestForm.TRANSCRIPT, guided=True, images=False, calls_at_once=4,
    ),
    ProviderKind(
        kind=LOCAL, label="Downloaded models", voice="",
        local=True, in_moot=True, images=False, calls_at_once=2,
    ),
)  # fmt: skip

EXTERNAL_AGENT = ProviderKind(
    kind=PROGRAM, label="External agent", voice="Agent", route="",
    models=(DEFAULT_MODEL,),
    images=False, calls_at_once=3, votes=False,
)  # fmt: skip

KINDS: tuple[ProviderKind, ...] = (*USUAL, *PRESETS, EXTERNAL_AGENT)

# Of other services; in each both signs occur.
_KEY_NAMES = (
    "sk", "rk", "pk", "gsk", "hf", "r8", "ghp", "gho", "ghs", "github_pat", "glpat", "pplx", "nvapi",
)  # fmt: skip
# How keys begin: those of the providers, and well-known ones of other services.
KEY_STARTS: tuple[str, ...] = (
    *(f"{name}{end}" for name in _KEY_NAMES for end in "-_"),
    *dict.fromkeys(kind.key_prefix for kind in KINDS if kind.key_prefix),
    "AKIA",
    "ya29.",
)

EMBEDDED_VOICES: tuple[str, ...] = ("Ada", "Ben", "Cleo")

# Each with its address, and the path and the sign by which it is known.
LOCAL_SERVERS: tuple[LocalServer, ...] = (
    LocalServer("Ollama", "http://127.0.0.1:11434/v1", "/", r"^Ollama is running", kind="ollama"),
    LocalServer(
        "LM Studio",
        "http://127.0.0.1:1234/v1",
        "/lmstudio-greeting",
        r'"lmstudio"\s*:\s*true',
        kind="lm-studio",
    ),
    LocalServer("llama.cpp", "http://127.0.0.1:8080/v1", "/v1/models", r'"owned_by"\s*:\s*"llamacpp"'),
    LocalServer("vLLM", "http://127.0.0.1:8000/v1", "/v1/models", r'"owned_by"\s*:\s*"vllm"', kind="vllm"),
    LocalServer("Jan", "http://127.0.0.1:1337/v1", "/openapi.json", r'"title"\s*:\s*"Jan API'),
)

# Words first: a list may have thousands of names, and the expression is ten times as slow.
_NOT_FOR_CHAT = (
    "embed", "rerank", "whisper", "moderation", "dall-e", "imagen", "veo-", "tts", "transcri", "realtime",
    "audio",
    "sora", "davinci", "babbage", "gpt-image", "stable-diffusion",
)  # fmt: skip
_ENDS_NOT_FOR_CHAT = re.compile(r"-image\b|turbo-instruct-\d{4}|aqa$")
_MAKES_PICTURES = re.compile(r"\bgemini-[\w.-]*-image\b|\bnano-banana|\bgpt-\d[\w.-]*-image\b")


def provider_kind(kind: str) -> ProviderKind | None:
    """Return the row of a kind, None when this version does not know it."""
    return next((row for row in KINDS if row.kind == kind), None)


def usual_label(provider_id: str) -> str:
    """Return the name of a provider whose id is that of a kind, of another one its id; ""
    where the kind has no name.
    """
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
