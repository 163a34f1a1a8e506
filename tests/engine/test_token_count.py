"""Requests are counted as providers count them, measured with the tokenizers that come with LiteLLM."""

import importlib.util
import math
import os
import re
from collections.abc import Callable, Iterator
from itertools import accumulate
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.core.provider import ModelRequest
from app.engine.history import Count, GrowingText, TokenCount, count_of, request_tokens, tokens_of
from tests.repeats import examples

_ROOT = Path(__file__).parent.parent.parent
_LITELLM = Path(importlib.util.find_spec("litellm").origin or "").parent  # type: ignore[union-attr]
_TOKENIZERS = _LITELLM / "litellm_core_utils" / "tokenizers"
_FRAME = 4

Tokens = Callable[[str], int]


def _texts(*paths: str) -> list[str]:
    """Return 60 texts of 200 to 3,000 characters, as messages of a chat have them."""
    whole = "\n".join((_ROOT / path).read_text(encoding="utf-8") for path in paths)
    sizes = [200 + 700 * (place % 5) for place in range(60)]
    ends = list(accumulate(sizes))
    whole *= 1 + ends[-1] // len(whole)
    return [whole[end - size : end] for size, end in zip(sizes, ends, strict=True)]


_KOREAN = (
    "resources/i18n/ko.json",
    "resources/prompts/ko/rules.txt",
    "tests/engine/measured_korean.txt",
    "resources/prompts/ko/tasks.txt",
)
_ENGLISH = ("README.md", "app/README.md", "app/DECISIONS.md")
_CODE = ("app/engine/live_session.py", "app/engine/turns/tool_calls.py", "app/storage/session_log.py")


@settings(max_examples=examples(100), deadline=None)
@given(st.lists(st.text(st.sampled_from("abYZ019 \n\t?-한글ㄱé漢🙂"))))
def test_a_text_that_comes_in_pieces_is_counted_as_the_whole(pieces: list[str]) -> None:
    growing, whole = GrowingText(), "".join(pieces)
    for piece in pieces:
        growing.add(piece)
    for model in ("", "claude-opus-4-5", "claude-opus-4-7", "gemma-3"):
        assert growing.count.tokens(model) == tokens_of(whole, model)
    assert bool(growing) == bool(pieces)
    growing.add("and 7 more")
    assert growing.count == count_of(whole + "and 7 more")


def test_of_a_long_text_few_pieces_are_kept() -> None:
    growing = GrowingText()
    for number in range(10_000):
        growing.add(f"w{number % 10} ")
    assert len(growing._pieces) <= 300
    assert growing and growing.count == Count(letters=10_000, digits=10_000, spaces=10_000)


def test_each_kind_of_character_is_counted_apart_and_has_its_weight() -> None:
    count = count_of("abcdeZ 12\t34\n5?!-.가나漢é🙂")
    assert count == Count(letters=6, digits=5, spaces=3, signs=4, hangul=2, others=3)
    plain = 6 * 0.265 + 5 * 1.1 + 3 * 0.1 + 4 * 0.5 + 3
    assert count.tokens() == math.ceil(plain + 2) == 15
    assert count.tokens("gemma-3") == math.ceil(plain + 2 * 0.88)
    assert count.tokens("claude-opus-4-7") == math.ceil((plain + 2 * 1.5) * 1.3) == 21


@pytest.fixture(scope="module")
def tokenizers() -> Iterator[dict[str, Tokens]]:
    """Return the tokens of a text for OpenAI's models and for the Claudes before Opus 4.7."""
    before = os.environ.get("TIKTOKEN_CACHE_DIR")
    os.environ["TIKTOKEN_CACHE_DIR"] = str(_TOKENIZERS)
    import tiktoken
    from tokenizers import Tokenizer

    claude = Tokenizer.from_file(str(_TOKENIZERS / "anthropic_tokenizer.json"))
    yield {
        "gpt-5.2": lambda text: len(tiktoken.get_encoding("o200k_base").encode(text, disallowed_special=())),
        "claude-opus-4-5": lambda text: len(claude.encode(text).ids),
        "llama": lambda text: len(tiktoken.get_encoding("cl100k_base").encode(text, disallowed_special=())),
    }
    if before is None:
        del os.environ["TIKTOKEN_CACHE_DIR"]
    else:
        os.environ["TIKTOKEN_CACHE_DIR"] = before


@pytest.mark.parametrize("model", ["gpt-5.2", "claude-opus-4-5", "llama"])
@pytest.mark.parametrize("paths", [_KOREAN, _ENGLISH, _CODE], ids=["Korean", "English", "code"])
def test_after_the_first_answer_a_request_is_counted_within_8_percent(
    paths: tuple[str, ...], model: str, tokenizers: dict[str, Tokens]
) -> None:
    tokens = tokenizers[model]
    low, high = _errors(model, _texts(*paths), tokens, tokens)
    assert low >= 0.92 and high <= 1.08


# Characters a token of Korean, English and code, measured with 326 texts of 2,000 characters each; o200k is OpenAI's.
_MEASURED = {
    "o200k": (1.78, 3.81, 4.25),
    "gemma-3": (1.81, 3.39, 3.59),
    "qwen-3": (1.63, 3.50, 4.25),
    "deepseek-v3": (1.57, 3.71, 3.96),
    "llama-3": (1.74, 3.81, 4.26),
}


_HANGUL = re.compile("[\uac00-\ud7a3]")
# The share of Hangul in Korean prose, without spaces.
_IN_PROSE = 0.85


@pytest.mark.parametrize("model", [name for name in _MEASURED if name != "o200k"])
@pytest.mark.parametrize(
    ("kind", "paths"), list(enumerate((_KOREAN, _ENGLISH, _CODE))), ids=["Korean", "English", "code"]
)
def test_of_other_tokenizers_stored_measurements_say_the_same(
    kind: int, paths: tuple[str, ...], model: str, tokenizers: dict[str, Tokens]
) -> None:
    """They do not come with LiteLLM: OpenAI's count of each text stands for theirs, by how they differ for its kind: for
    Korean by as much of it as is Korean, because these files hold English as well.
    """
    shares = [usual / measured for usual, measured in zip(_MEASURED["o200k"], _MEASURED[model], strict=True)]

    def tokens(text: str) -> int:
        signs = "".join(text.split())
        korean = 0.0 if kind else min(1.0, len(_HANGUL.findall(signs)) / (_IN_PROSE * len(signs)))
        share = korean * shares[0] + (1 - korean) * shares[kind or 1]
        return round(tokenizers["gpt-5.2"](text) * share)

    def english(text: str) -> int:
        return round(tokenizers["gpt-5.2"](text) * shares[1])

    low, high = _errors(model, _texts(*paths), tokens, english)
    assert low >= 0.92 and high <= 1.08


def _errors(model: str, texts: list[str], tokens: Tokens, tokens_of_system: Tokens) -> tuple[float, float]:
    """Return the lowest and the highest share of the reported tokens that a chat's requests are counted as."""
    count, shares = TokenCount(), []
    system = (_ROOT / "resources/prompts/en/assistant.txt").read_text(encoding="utf-8")[:1_500]
    reported = tokens_of_system(system) + _FRAME
    for place, text in enumerate(texts):
        said = [{"role": ("user", "assistant")[at % 2], "content": texts[at]} for at in range(place + 1)]
        messages = ({"role": "system", "content": system}, *said)
        request = ModelRequest(provider="p", model=model, messages=messages)
        reported += tokens(text) + _FRAME
        if place % 2:
            continue
        if place >= 2:
            shares.append(count.of("one", request) / reported)
        count.learn("one", request, reported)
    return min(shares), max(shares)


@pytest.mark.parametrize("model", ["gpt-5.2", "claude-opus-4-5", "llama"])
@pytest.mark.parametrize("paths", [_KOREAN, _ENGLISH, _CODE], ids=["Korean", "English", "code"])
def test_before_any_answer_a_long_text_is_not_counted_far_too_low(
    paths: tuple[str, ...], model: str, tokenizers: dict[str, Tokens]
) -> None:
    whole = "\n".join(_texts(*paths))
    assert 0.75 <= tokenizers[model](whole) / tokens_of(whole, model) <= 1.25


def test_kinds_of_characters() -> None:
    assert tokens_of("") == 0
    assert tokens_of("a" * 100) == 27
    assert tokens_of("7" * 100) == 111
    assert tokens_of("," * 100) == 50
    assert tokens_of(" " * 100) == 10
    assert tokens_of("語" * 100) == 100
    assert tokens_of("토" * 100) == 100
    assert tokens_of("토" * 100, "claude-opus-4-6") == tokens_of("토" * 100, "claude-opus-4-20250514") == 150
    assert (
        tokens_of("토" * 100, "claude-opus-4-7") == tokens_of("토" * 100, "anthropic/claude-sonnet-5") == 195
    )


def _request(text: str, model: str = "m") -> ModelRequest:
    return ModelRequest(provider="p", model=model, messages=({"role": "user", "content": text},))


def test_a_request_counts_its_tools_calls_and_pictures() -> None:
    plain = _request("Look.")
    picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64," + "A" * 100_000}}
    seen = ModelRequest(
        provider="p",
        model="m",
        messages=({"role": "user", "content": [{"type": "text", "text": "Look."}, picture]},),
    )
    assert request_tokens(seen) - request_tokens(plain) == 1_000
    calls = ({"id": "1", "type": "function", "function": {"name": "find", "arguments": "{}"}},)
    called = ModelRequest(
        provider="p", model="m", messages=({"role": "assistant", "content": "Look.", "tool_calls": calls},)
    )
    assert request_tokens(called) > request_tokens(plain) + 10
    offered = ModelRequest(provider="p", model="m", messages=plain.messages, tools=calls)
    assert request_tokens(offered) > request_tokens(plain) + 10


def test_what_is_learnt_belongs_to_the_session_first_and_to_the_model_else() -> None:
    count, request = TokenCount(), _request("word " * 1_000)
    estimated = request_tokens(request)
    assert count.of("one", request) == estimated
    count.learn("one", request, round(estimated * 1.2))
    count.learn("two", request, round(estimated * 0.9))
    assert count.of("one", request) == pytest.approx(estimated * 1.2, rel=0.01)
    assert count.of("three", request) == pytest.approx(estimated * 0.9, rel=0.01)
    assert count.of("one", _request("word " * 1_000, "other")) == estimated


@pytest.mark.parametrize("reported", [0, 3, 100_000])
def test_a_report_that_cannot_be_the_whole_request_is_not_believed(reported: int) -> None:
    count, request = TokenCount(), _request("word " * 1_000)
    count.learn("one", request, reported)
    assert count.of("one", request) == request_tokens(request)
