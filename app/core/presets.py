"""The providers that can be added by name: one row each, and above it the pages that it was written from.

A council hides who wrote an answer: a name that is an everyday word, and the models of a new maker, belong in
engine/debate/families.py as well.
"""

from app.core.provider_kind import ProviderKind, ServerRules

PRESETS: tuple[ProviderKind, ...] = (
    # https://openrouter.ai/docs/quickstart, https://openrouter.ai/docs/use-cases/usage-accounting,
    # https://openrouter.ai/docs/faq (the makers' prices are passed on)
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
        resells=True,
    ),
    # https://api-docs.deepseek.com, https://api-docs.deepseek.com/guides/json_mode (objects, but no schemas)
    ProviderKind(
        kind="deepseek",
        label="DeepSeek",
        voice="DeepSeek",
        route="openai",
        base_url="https://api.deepseek.com/v1",
        models=("deepseek-v4-pro", "deepseek-v4-flash"),
        variable="DEEPSEEK_API_KEY",
        listed_as="deepseek",
        images=False,
        key_page="https://platform.deepseek.com/api_keys",
        key_prefix="sk-",
        rules=ServerRules(without=("response_format",), wants_thought=True),
    ),
    # https://platform.kimi.ai/docs/api/models-overview (a K2 or later refuses any temperature but its own)
    ProviderKind(
        kind="moonshot",
        label="Moonshot AI (Kimi)",
        voice="Kimi",
        route="openai",
        base_url="https://api.moonshot.ai/v1",
        models=("kimi-k3", "kimi-k2.6"),
        variable="MOONSHOT_API_KEY",
        listed_as="moonshot",
        key_page="https://platform.moonshot.ai/console/api-keys",
        key_prefix="sk-",
        rules=ServerRules(without=("temperature",), wants_thought=True),
    ),
    # https://docs.mistral.ai/api (fields that it does not know are refused), https://docs.mistral.ai/capabilities/function_calling;
    # it reports its usage unasked.
    ProviderKind(
        kind="mistral",
        label="Mistral AI",
        voice="Mistral",
        route="openai",
        base_url="https://api.mistral.ai/v1",
        models=("mistral-large-latest", "mistral-medium-latest", "mistral-small-latest"),
        variable="MISTRAL_API_KEY",
        listed_as="mistral",
        key_page="https://console.mistral.ai/api-keys",
        rules=ServerRules(without=("stream_options",), short_call_ids=True, speech_after_tools=True),
    ),
    # https://docs.x.ai/docs/guides/reasoning (models that think refuse `stop`)
    ProviderKind(
        kind="xai",
        label="xAI",
        voice="Grok",
        route="openai",
        base_url="https://api.x.ai/v1",
        models=("grok-4.7", "grok-4.20-non-reasoning"),
        variable="XAI_API_KEY",
        listed_as="xai",
        key_page="https://console.x.ai",
        key_prefix="xai-",
        rules=ServerRules(without=("stop",)),
    ),
    # https://console.groq.com/docs/openai, https://console.groq.com/docs/structured-outputs (not while it streams)
    ProviderKind(
        kind="groq",
        label="Groq",
        voice="Groq",
        route="openai",
        base_url="https://api.groq.com/openai/v1",
        models=("openai/gpt-oss-120b", "openai/gpt-oss-20b"),
        variable="GROQ_API_KEY",
        listed_as="groq",
        key_page="https://console.groq.com/keys",
        key_prefix="gsk_",
        rules=ServerRules(without=("response_format",)),
    ),
    # https://docs.together.ai/docs/inference/openai-compatibility
    ProviderKind(
        kind="together",
        label="Together AI",
        voice="Together",
        route="openai",
        base_url="https://api.together.ai/v1",
        models=("moonshotai/Kimi-K3", "zai-org/GLM-5.3", "openai/gpt-oss-120b"),
        variable="TOGETHER_API_KEY",
        listed_as="together_ai",
        key_page="https://api.together.ai/settings/api-keys",
    ),
    # https://docs.z.ai/api-reference/llm/chat-completion (no `stream_options`, no schemas)
    ProviderKind(
        kind="zai",
        label="Z.ai",
        voice="GLM",
        route="openai",
        base_url="https://api.z.ai/api/paas/v4",
        models=("glm-5.3", "glm-5.3-flash"),
        variable="ZAI_API_KEY",
        listed_as="zai",
        key_page="https://z.ai/manage-apikey/apikey-list",
        rules=ServerRules(without=("stream_options", "response_format")),
    ),
    # https://inference-docs.cerebras.ai/resources/openai, https://inference-docs.cerebras.ai/api-reference/chat-completions
    ProviderKind(
        kind="cerebras",
        label="Cerebras",
        voice="Cerebras",
        route="openai",
        base_url="https://api.cerebras.ai/v1",
        models=("gpt-oss-120b", "gemma-4-31b"),
        variable="CEREBRAS_API_KEY",
        listed_as="cerebras",
        key_page="https://cloud.cerebras.ai",
        key_prefix="csk-",
        rules=ServerRules(max_completion_tokens=True),
    ),
    # https://learn.microsoft.com/azure/ai-foundry/openai/api-version-lifecycle (a key goes as a bearer token; a model is
    # called by the name of its deployment, behind which may be one that refuses `max_tokens`)
    ProviderKind(
        kind="azure",
        label="Azure OpenAI",
        voice="Azure",
        route="openai",
        base_url="",
        models=(),
        variable="AZURE_OPENAI_API_KEY",
        listed_as="azure",
        key_page="https://ai.azure.com",
        address_form="https://NAME.openai.azure.com/openai/v1",
        own_names=True,
        rules=ServerRules(max_completion_tokens=True),
    ),
    # https://lmstudio.ai/docs/developer/openai-compat
    ProviderKind(
        kind="lm-studio",
        label="LM Studio",
        voice="LM Studio",
        route="openai",
        base_url="http://127.0.0.1:1234/v1",
        models=(),
        local=True,
        needs_key=False,
    ),
    # https://docs.vllm.ai/en/stable/serving/openai_compatible_server.html
    ProviderKind(
        kind="vllm",
        label="vLLM",
        voice="vLLM",
        route="openai",
        base_url="http://127.0.0.1:8000/v1",
        models=(),
        local=True,
        needs_key=False,
    ),
)
