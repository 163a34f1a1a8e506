"""Addresses are completed where users leave the path out, and refused where they are none."""

import pytest

from app.core.errors import ProviderError
from app.providers.endpoints import complete_address


@pytest.mark.parametrize(
    ("kind", "address", "complete"),
    [
        ("openai", "https://api.openai.com/v1", "https://api.openai.com/v1"),
        ("openai", "https://api.openai.com", "https://api.openai.com/v1"),
        ("openai-compatible", "http://lab:8080/", "http://lab:8080/v1"),
        ("openai-compatible", "http://lab/api/openai", "http://lab/api/openai"),
        ("ollama", " http://127.0.0.1:11434 ", "http://127.0.0.1:11434/v1"),
        ("gemini", "https://g.example", "https://g.example/v1beta"),
        ("groq", "https://api.groq.com", "https://api.groq.com/openai/v1"),
        ("azure", "https://acme.openai.azure.com/", "https://acme.openai.azure.com/openai/v1"),
        ("zai", "http://127.0.0.1:1", "http://127.0.0.1:1/api/paas/v4"),
        ("anthropic", "https://api.anthropic.com/v1/", "https://api.anthropic.com"),
        ("anthropic", "https://api.anthropic.com", "https://api.anthropic.com"),
        ("openai", "http://[::1]:8080/v1", "http://[::1]:8080/v1"),
        ("openai", "api.openai.com/v1", "https://api.openai.com/v1"),
        ("openai-compatible", "lab:8080", "http://lab:8080/v1"),
        ("openai-compatible", "192.168.0.9:8080/v1/ ", "http://192.168.0.9:8080/v1"),
        ("openai-compatible", "http://lab/v1/chat/completions", "http://lab/v1"),
        ("openai-compatible", "http://lab/chat/completions/", "http://lab"),
        ("ollama", "[::1]:11434", "http://[::1]:11434/v1"),
        ("ollama", "::1", "http://[::1]/v1"),
    ],
)
def test_complete(kind: str, address: str, complete: str) -> None:
    assert complete_address(kind, address) == complete


@pytest.mark.parametrize(
    "address",
    [
        "",
        "http:/host/v1",
        "ftp://host/v1",
        "http://",
        "http:///v1",
        "http://host:port/v1",
        "http://host:99999/v1",
        "http://user:secret@host/v1",
        "http://a b/v1",
        "http://host/v1?key=x",
        "http://[::1",
        "javascript:alert(1)",
    ],
)
def test_refused(address: str) -> None:
    with pytest.raises(ProviderError) as raised:
        complete_address("openai", address)
    assert raised.value.kind == "bad_request"
