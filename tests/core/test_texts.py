"""Korean particles: the form that fits what a blank was filled with; and why a model did not answer, in words."""

import re
import unicodedata

import pytest

from app.cli.printing.lines import load_texts
from app.core.errors import BY_PROVIDER, FailureKind
from app.core.message import tokens_text
from app.core.session import failure_detail, failure_text
from app.core.texts import Texts


@pytest.mark.parametrize(
    ("text", "name", "said"),
    [
        ("‘{name}’을(를) 뺐어요.", "비평가", "‘비평가’를 뺐어요."),
        ("‘{name}’을(를) 뺐어요.", "검토관", "‘검토관’을 뺐어요."),
        ("{name}이(가) 답해요", "브라우저", "브라우저가 답해요"),
        ("{name}은(는) 바빠요", "팀 3", "팀 3은 바빠요"),
        ("버전 {name}을(를) 봐요", 12, "버전 12를 봐요"),
        ("‘{name}’(으)로 바꿨어요", "서울", "‘서울’로 바꿨어요"),
        ("‘{name}’(으)로 바꿨어요", "부산", "‘부산’으로 바꿨어요"),
        ("{name}(으)로 저장", "나무", "나무로 저장"),
        ("{name}(으)로 저장", 7, "7로 저장"),
        ("‘{name}’(이)라는 이름", "물", "‘물’이라는 이름"),
        ("‘{name}’(이)라는 이름", "나", "‘나’라는 이름"),
        ("‘{name}’을(를) 뺐어요.", "비평가 (복사본)", "‘비평가 (복사본)’을 뺐어요."),
        ("‘{name}’을(를) 뺐어요.", "왜 그래?!", "‘왜 그래?!’를 뺐어요."),
        ("‘{name}’과(와) 함께", "그룹", "‘그룹’과 함께"),
        ("‘{name}’과(와) 함께", "조사", "‘조사’와 함께"),
        ("기본 모델은 {name}이에요(예요).", "라마", "기본 모델은 라마예요."),
        ("기본 모델은 {name}이에요(예요).", "큰 모델", "기본 모델은 큰 모델이에요."),
        ("{name}이(가) 답해요", "Claude", "Claude가 답해요"),
        ("{name}은(는) 바빠요", "Fast GPT", "Fast GPT는 바빠요"),
        ("‘{name}’(으)로 바꿨어요", "Mistral", "‘Mistral’로 바꿨어요"),
        ("‘{name}’을(를) 뺐어요.", "Qwen (복사본)", "‘Qwen (복사본)’을 뺐어요."),
        (
            "{name}이(가) 답해요",
            unicodedata.normalize("NFD", "검토관"),
            unicodedata.normalize("NFD", "검토관") + "이 답해요",
        ),
        ("{name}이(가) 답해요", "gpt-4o", "gpt-4o이(가) 답해요"),
        ("{name}이(가) 답해요", "x²", "x²이(가) 답해요"),
        ("{name}이(가) 답해요", "", "이(가) 답해요"),
        ("{name} 쪽: 나무을(를)", "숲", "숲 쪽: 나무을(를)"),
    ],
)
def test_a_particle_fits_what_is_before_it(text: str, name: object, said: str) -> None:
    assert Texts("ko", {"key": text})("key", name=name) == said


@pytest.mark.parametrize(
    ("tokens", "short"),
    [
        (950, "950"),
        (6_160, "6.2k"),
        (99_900, "99.9k"),
        (272_000, "272k"),
        (999_999, "999k"),
        (1_250_000, "1.2M"),
    ],
)
def test_numbers_of_tokens_are_short(tokens: int, short: str) -> None:
    assert tokens_text(tokens) == short


@pytest.mark.parametrize(
    ("short", "said"),
    [("950", "950토큰"), ("6.2k", "6,200토큰"), ("27.0k", "2.7만토큰"), ("≈ 260k", "≈ 26만토큰"), ("128k", "12.8만토큰"), ("1.3M", "130만토큰"), ("9k–1.3M", "9,000–130만토큰")],
)  # fmt: skip
def test_large_numbers_of_tokens_are_in_ten_thousands(short: str, said: str) -> None:
    assert Texts("ko", {"key": "{tokens}토큰"})("key", tokens=short) == said
    assert Texts("en", {"key": "{tokens} tokens"})("key", tokens=short) == f"{short} tokens"
    assert Texts("ko", {"key": "{title}"})("key", title="5k run") == "5k run"


@pytest.mark.parametrize(
    ("number", "said"),
    [(1, "첫 번째 할 일"), ("10", "열 번째 할 일"), (11, "11번째 할 일"), ("-", "-번째 할 일")],
)
def test_ordinals_are_words_up_to_the_tenth(number: object, said: str) -> None:
    assert Texts("ko", {"key": "{number}번째 할 일"})("key", number=number) == said
    assert load_texts("ko")("did.checkDone", number=1) == "첫 번째 할 일 완료"


def test_other_languages_and_texts_without_blanks_stay_as_they_are() -> None:
    text = "비평가을(를)"
    assert (Texts("en", {"key": text})("key", name=1), Texts("ko", {"key": text})("key")) == (text, text)


def test_what_a_person_wrote_keeps_its_particles() -> None:
    texts = Texts("ko", {"key": "‘{text}’을(를) 찾지 못했어요."})
    assert texts("key", text="비평가을(를) 부산(으)로") == "‘비평가을(를) 부산(으)로’를 찾지 못했어요."


@pytest.mark.parametrize("kind", FailureKind)
def test_every_failure_is_a_sentence_of_the_language_and_the_providers_words_are_marked(kind: str) -> None:
    korean, english = load_texts("ko"), load_texts("en")
    said = failure_text(kind, "Slow down.", "openai", korean)
    first, second = said.split("\n")
    assert re.search(r"(요|다)\.$", first), first
    assert second == ("OpenAI의 메시지: Slow down." if kind in BY_PROVIDER else "자세한 내용: Slow down.")
    assert failure_text(kind, "", "openai", korean) == first
    assert failure_text(kind, " ", "", english).endswith(".")


def test_a_provider_without_a_name_of_its_own_is_called_the_provider() -> None:
    korean, english = load_texts("ko"), load_texts("en")
    for provider in ("", "openai-compatible", "embedded", "local"):
        assert failure_detail(FailureKind.SERVER, "boom", provider, korean) == "제공자의 메시지: boom"
    assert failure_detail(FailureKind.SERVER, "boom", "my-server", english) == "my-server’s message: boom"
    # The details of other failures are no provider's words, and some are only for the text itself.
    assert failure_detail("busy", "Ada", "openai", korean) == ""
