"""What the catalogue knows of keys and models by their names."""

import pytest

from app.core import catalog
from app.core.catalog import ServerRules


def test_the_best_model_is_one_we_know_else_the_first_for_chat() -> None:
    known = ("gpt-5.2", "gpt-5-mini")
    assert catalog.best_model(known, ("whisper-1", "gpt-5-mini", "gpt-5.2")) == "gpt-5.2"
    assert catalog.best_model(known, ("gpt-5-mini-2025-08-07", "o3")) == "gpt-5-mini"
    assert catalog.best_model(known, ("gpt-5.2-codex", "text-embedding-3-small", "o3")) == "gpt-5.2-codex"
    assert catalog.best_model(known, ("text-embedding-3-small", "o3")) == "o3"
    assert catalog.best_model(known, ()) == "gpt-5.2"
    assert catalog.best_model((), ()) == ""


@pytest.mark.parametrize(
    ("key", "kind"),
    [
        ("sk-ant-api03-abc", "anthropic"),
        ("sk-proj-abc", "openai"),
        ("AIzaSyAbc", "gemini"),
        ("sk-or-v1-abc", "openrouter"),
        ("gsk_abc", "groq"),
        ("0123456789abcdef", ""),
        ("", ""),
    ],
)
def test_a_key_says_whose_it_is(key: str, kind: str) -> None:
    assert catalog.kind_of_key(key) == kind


def test_a_key_that_begins_like_others_is_the_chosen_providers() -> None:
    assert catalog.kind_of_key("sk-0123", "deepseek") == "deepseek"
    assert catalog.kind_of_key("sk-0123", "mistral") == "openai"
    assert catalog.kind_of_key("sk-or-v1-0123", "deepseek") == "openrouter"


@pytest.mark.parametrize(
    ("kind", "address", "own"),
    [
        ("mistral", "https://api.mistral.ai/v1", True),
        ("mistral", "https://API.mistral.ai", True),
        ("mistral", "http://api.mistral.ai/v1", False),
        ("mistral", "https://api.mistral.ai.example.com/v1", False),
        ("mistral", "http://127.0.0.1:8080/v1", False),
        ("azure", "https://acme-1.openai.azure.com/openai/v1", True),
        ("azure", "https://acme.openai.azure.com.example.com/openai/v1", False),
        ("azure", "https://a.b.openai.azure.com", False),
        ("azure", "https://openai.azure.com", False),
        ("openai-compatible", "http://127.0.0.1:8000/v1", False),
    ],
)
def test_what_is_known_of_a_provider_holds_on_its_own_server(kind: str, address: str, own: bool) -> None:
    row = catalog.provider_kind(kind)
    assert row is not None
    assert row.is_own(address) is own
    assert row.rules_at(address) == (row.rules if own else ServerRules())


def test_models_that_do_not_chat_are_left_out() -> None:
    chat = ("gpt-5.2", "claude-opus-4-5", "gemini-3-pro-preview", "llama3.2:3b", "qwen/qwen3-32b", "o3")
    others = (
        "text-embedding-3-small",
        "whisper-1",
        "tts-1-hd",
        "dall-e-3",
        "gpt-image-1",
        "omni-moderation-latest",
        "gpt-4o-realtime-preview",
        "gpt-4o-transcribe",
        "nomic-embed-text:v1.5",
        "bge-reranker-v2",
        "imagen-4.0-generate-001",
        "veo-3.0-generate-001",
    )
    assert catalog.chat_models((*others, *chat, *chat)) == chat


def test_models_that_make_pictures_are_offered_where_they_take_chats() -> None:
    chat = ("gemini-2.5-flash-image", "google/gemini-3-pro-image-preview", "openai/gpt-5-image")
    others = ("gpt-image-1", "imagen-4.0-generate-001", "dall-e-3", "chatgpt-image-latest")
    assert catalog.chat_models((*chat, *others)) == chat
    assert all(map(catalog.makes_pictures, chat)) and not any(
        map(catalog.makes_pictures, (*others, "gemini-2.5-flash"))
    )


def test_an_instruct_model_with_a_date_is_for_chat_and_one_of_the_old_completions_is_not() -> None:
    names = ("Qwen3-30B-A3B-Instruct-2507", "Mistral-Large-Instruct-2411", "gpt-3.5-turbo-instruct-0914")
    assert catalog.chat_models(names) == names[:2]
