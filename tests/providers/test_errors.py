"""The classifier as a table, without LiteLLM: what it must tell apart, and what it must not say."""

import socket
import ssl
import time
from email.utils import formatdate
from types import SimpleNamespace

import httpx
import pytest
from aiohttp import ClientPayloadError

from app.core.errors import FailureKind
from app.providers.errors import chain, classify, classify_status, readable

KEY = "canary-0123456789"


class ApiError(Exception):
    """Has what LiteLLM's errors have."""

    def __init__(self, text: str, status: int | None = None, **more: object) -> None:
        super().__init__(text)
        self.status_code = status
        for name, value in more.items():
            setattr(self, name, value)


class ContextWindowExceededError(ApiError):
    """Known by its name."""


class Timeout(ApiError):
    """Known by its name."""


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (ApiError("slow down", 429), "rate_limit"),
        (ApiError('{"error": {"code": "insufficient_quota"}}', 429), "quota"),
        (ApiError("payment required", 402), "quota"),
        (ApiError("Your credit balance is too low", 400), "quota"),
        (ApiError("You exceeded your quota, check your plan and billing", 429), "quota"),
        (ApiError('check your plan and billing "retryDelay": "7s"', 429), "rate_limit"),
        (ApiError("no", 401), "authentication"),
        (ApiError("API key not valid. Please pass a valid API key.", 400), "authentication"),
        (ApiError("no", 403), "permission"),
        (ApiError("requires moderation and your input was flagged", 403), "prompt_blocked"),
        (ApiError("Loading model", 503), "overloaded"),
        (ApiError("not implemented", 501), "bad_request"),
        (ApiError("whatever it says", 413), "context_window"),
        (
            ApiError("Request too large for model `m` on tokens per minute (TPM): Limit 8, Requested 9", 413),
            "too_large",
        ),
        (
            ApiError("Request too large for m in organization o on tokens per min (TPM): Limit 8", 429),
            "too_large",
        ),
        (
            ApiError("Rate limit reached on tokens per min (TPM): Limit 8, Used 7, try again in 6s", 429),
            "rate_limit",
        ),
        (httpx.ReadError("", request=None), "interrupted"),
        (httpx.ConnectError("All connection attempts failed"), "network"),
        (ApiError("no such model", 404), "model_not_found"),
        (ApiError("404 page not found", 404), "wrong_path"),
        (ApiError("boom", 500), "server"),
        (ApiError("bad gateway", 502), "server"),
        (ApiError("overloaded_error", 500), "overloaded"),
        (ApiError("", 529), "overloaded"),
        (ApiError("prompt is too long: 9 tokens > 8 maximum", 400), "context_window"),
        (ContextWindowExceededError("", 400), "context_window"),
        (ApiError("content_policy_violation", 400), "content_filter"),
        (ApiError("no such field", 400), "bad_request"),
        (ApiError("unprocessable", 422), "bad_request"),
        (Timeout("late", 408), "no_answer"),
        (ApiError("Expecting value: line 1 column 1 (char 0)"), "bad_response"),
        (ConnectionResetError(104, "reset"), "interrupted"),
        (ConnectionRefusedError(111, "refused"), "network"),
        (socket.gaierror(-2, "Name or service not known"), "network"),
        (ssl.SSLError(1, "wrong version number"), "network"),
        (
            ssl.SSLCertVerificationError(1, "certificate verify failed: self-signed certificate"),
            "certificate",
        ),
    ],
)
def test_kind(error: Exception, kind: str) -> None:
    assert classify(error).kind == kind
    assert kind in tuple(FailureKind)


def test_a_lost_connection_is_found_under_what_litellm_makes_of_it() -> None:
    outer = ApiError("litellm.InternalServerError: Connection error.", 500)
    outer.__cause__ = ApiError("Connection error.")
    outer.__cause__.__context__ = ConnectionRefusedError(111, "Connection refused")
    found = classify(outer)
    assert (found.kind, found.detail) == ("network", "[Errno 111] Connection refused")
    assert found.retry_after is None


def test_a_connection_that_broke_off_needs_no_english_words_behind_the_user_s_own() -> None:
    outer = ApiError("litellm.APIError: OpenAIException", None)
    outer.__cause__ = ClientPayloadError("Response payload is not completed")
    assert classify(outer).detail == ""


def test_the_original_of_a_broken_stream_counts() -> None:
    outer = ApiError("litellm.MidStreamFallbackError: x", 503, original_exception=ApiError("slow down", 429))
    assert classify(outer).kind == "rate_limit"


def test_a_chain_that_bites_its_tail_ends() -> None:
    one, other = ApiError("one"), ApiError("other")
    one.__cause__, other.__cause__ = other, one
    assert list(chain(one)) == [one, other]


def test_how_long_to_wait() -> None:
    headers = {"Retry-After": "7"}
    assert classify(ApiError("", 429, litellm_response_headers=headers)).retry_after == 7
    assert classify(ApiError("", 429, response=SimpleNamespace(headers=headers))).retry_after == 7
    assert classify(ApiError("", 429, headers={"llm_provider-retry-after-ms": "1500"})).retry_after == 1.5
    date = {"retry-after": formatdate(time.time() + 30, usegmt=True)}
    wait = classify(ApiError("", 429, headers=date)).retry_after
    assert wait is not None and 25 < wait <= 31
    assert classify(ApiError("", 429, headers={"retry-after": "soon"})).retry_after is None
    year = 366 * 86_400
    for far in ("Fri, 31 Dec 99999 23:59:59 GMT", "Fri, 31 Dec 9999 23:59:59 GMT", "1e99", "inf"):
        assert classify(ApiError("", 503, headers={"retry-after": far})).retry_after == year, far
    assert classify(ApiError("", 503, headers={"retry-after": "nan"})).retry_after == 0
    assert classify(ApiError('b\'{\\"retryDelay\\": \\"7s\\"}\'', 429)).retry_after == 7
    outer = ApiError("", 503, original_exception=ApiError("", 429, headers=headers))
    assert classify(outer).retry_after == 7


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("litellm.RateLimitError: RateLimitError: OpenAIException - Slow down.", "Slow down."),
        ('litellm.X: AnthropicException - {"error": {"message": "Say \\"please\\""}}', 'Say "please"'),
        ("<!DOCTYPE html><html><title>Log in </title>", "Log in"),
        ("<HTML><body>", ""),
        ("two\n  lines", "two lines"),
        ("Broken. Original exception: ValueError: long story", "Broken"),
        ("x" * 1000, "x" * 300),
        ("litellm.NotFoundError: OpenAIException - Error code: 404 - {'detail': 'Not Found'}", "Not Found"),
        ('GeminiException - b\'{\\n "error": {"message": "\\xec\\x84\\x9c it\\\'s"}}\'', "서 it's"),
        ('AnthropicException - b"plain \\\\words"', "plain \\words"),
        ('{"errors": [{"msg": "one"}, {"msg": "two"}]}', "one; two"),
        ('{"unknown": 1}', '{"unknown": 1}'),
        ("[" * 5000 + "]" * 5000, "[" * 300),
        (
            '{"error": {"message": "Provider returned error", "metadata": {"raw": "{\\"error\\": {\\"message\\": \\"too big\\"}}"}}}',
            "too big",
        ),
        (
            '{"error": {"message": "Provider returned error", "metadata": {"raw": "Bad <tool> name"}}}',
            "Bad <tool> name",
        ),
        ('{"error": {"message": "No key", "metadata": {"raw": null, "provider_name": "X"}}}', "No key"),
        (
            '{"detail": [{"type": "missing", "loc": ["body", "messages", 0, "role"], "msg": "Field required"}]}',
            "messages.0.role: Field required",
        ),
        ('{"message": "{\\"error\\": {\\"message\\": \\"inner\\"}}"}', "inner"),
        ("<TITLE>Gate\n way</Title>" + "<title>" * 9, "<TITLE>Gate way</Title>" + "<title>" * 9),
    ],
)
def test_the_providers_own_words(text: str, words: str) -> None:
    assert readable(text) == words


@pytest.mark.threat("T1")
@pytest.mark.parametrize(
    "text", [f"wrong key {KEY}!", f'{{"message": "key {KEY}"}}', f"<title>{KEY}</title><html>"]
)
def test_no_key_in_the_words(text: str) -> None:
    assert KEY not in readable(text, (KEY,))
    assert KEY not in classify(ApiError(text, 401), (KEY,)).detail
    assert KEY not in classify_status(401, text, {}, (KEY,)).detail


def test_what_looks_like_a_key_goes_too() -> None:
    for key in (
        "sk-abcdefgh12345678",
        "AIzaSyA1234567890",
        "gsk_abcdefgh12345678",
        "gsk-abcdefgh12345678",
        "csk-abcdefgh12345678",
    ):
        assert readable(f"Incorrect: {key}.") == "Incorrect: [key]."


def test_the_words_of_the_server_behind_a_router_are_found_where_litellm_leaves_them_out() -> None:
    body = {"message": "Provider returned error", "metadata": {"raw": '{"error": {"message": "too big"}}'}}
    outer = ApiError("litellm.BadRequestError: OpenAIException - Provider returned error", 400, body=body)
    found = classify(outer)
    assert (found.kind, found.detail, found.retry_after) == ("bad_request", "too big", None)


TOO_LONG = (
    "This model's maximum prompt length is 131072 but the request contains 140000 tokens.",
    "Prompt exceeds max length",
    "Please reduce the length of the messages or completion.",
    "The number of tokens to keep from the initial prompt is greater than the context length.",
    "The prompt (total length 40000) is too long to fit into the model (context length 32768).",
    "`inputs` tokens + `max_new_tokens` must be <= 8193. Given: 9000 `inputs` tokens",
    "prompt token count of 140000 exceeds the limit of 128000",
    "Request body too large for gpt-4o model. Max size: 8000 tokens.",
    "invalid params, context window exceeds limit (2013)",
    "prompt too long; exceeded max context length by 5000 tokens",
    "Input is too long for requested model.",
    "Invalid request: Your request exceeded model token limit: 8192",
    "Range of input length should be [1, 30720]",
)


@pytest.mark.parametrize("words", TOO_LONG)
def test_a_request_is_too_long_in_any_words(words: str) -> None:
    assert classify(ApiError(words, 400)).kind == "context_window"


@pytest.mark.parametrize(
    "words",
    ["max_tokens must be at most 8192", "Unknown name 'length': the field is too long", "Invalid image size"],
)
def test_other_refusals_are_not_too_long(words: str) -> None:
    assert classify(ApiError(words, 400)).kind == "bad_request"


def test_the_window_that_llama_cpp_names_in_a_field_is_kept() -> None:
    body = '{"error": {"message": "the request exceeds the available context size", "n_ctx": 4096}}'
    assert classify(ApiError(body, 400)).detail.endswith("(n_ctx: 4096)")
    assert classify_status(400, body, {}).detail.endswith("(n_ctx: 4096)")


@pytest.mark.parametrize(
    "sign", [" ", "[", "`", "*", "\\", "<", "7", "exceed", "<title>", '"message":', "Error"]
)
def test_reading_an_error_takes_linear_time(sign: str) -> None:
    assert cost_of(sign, 80_000) < 40 * max(cost_of(sign, 8_000), 0.001)


def cost_of(sign: str, size: int) -> float:
    """Return the seconds of the processor that a body of one sign takes."""
    begun = time.thread_time()
    classify(ApiError(f"x{(sign * size)[:size]}x", 500))
    return time.thread_time() - begun
