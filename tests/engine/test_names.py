"""Names in English and Korean text: where they are, and whether they are spoken to."""

import unicodedata

import pytest

from app.core.council import Participant
from app.engine.names import addressed, aliases_of, find_names, mentioned

PEOPLE = tuple(
    Participant(id=person_id, name=name, provider="x", model=model)
    for person_id, name, model in (
        ("claude", "Claude", "claude-opus-4-5"),
        ("gemini", "Gemini", "gemini-3-pro"),
        ("gpt", "GPT-4o", "gpt-4o"),
        ("mini", "GPT-4o-mini", "gpt-4o-mini"),
        ("kim", "김 박사", "m1"),
    )
)

ADDRESSED = [
    ("Claude는 어떻게 생각하나요?", ["claude"]),
    ("클로드님, 설명해 주세요.", ["claude"]),
    ("제미나이님은 어떻게 보시나요?", ["gemini"]),
    ("김 박사님, 답해 주시겠습니까?", ["kim"]),
    ("Claude, what do you think?", ["claude"]),
    ("Gemini, please explain.", ["gemini"]),
    ("I agree. @Gemini should answer.", ["gemini"]),
    ("@제미나이 어떻게 생각해요?", ["gemini"]),
    ("What does Claude say to that?", ["claude"]),
    ("Claude, why? And Gemini, what about you?", ["claude", "gemini"]),
    ("Gemini, why? Claude, why? Gemini, tell me.", ["claude", "gemini"]),
    ("GPT-4o-mini, can you show that?", ["mini"]),
    ("GPT-4o, can you show that?", ["gpt"]),
    ("Gemini의 주장은 무엇인가요?", []),
    ("Is Gemini's point sound?", []),
    ("Claude is right about cost.", []),
    ("Claude and Gemini agree, don't they?", []),
    ("> Claude, what do you think?", []),
    ("```\nClaude, what?\n```\nNothing.", []),
    ("Claudette, what do you think?", []),
    ("라마다 호텔은 어떤가요?", []),
    ("클로드님은요?", ["claude"]),
    ("클로드님께서는 어떻게 보십니까?", ["claude"]),
    ("클로드도요?", ["claude"]),
    ("클로드라면 어떻게 할까요?", ["claude"]),
    ("클로드께선 어떻게 보세요?", ["claude"]),
    ("클로드야 말해 봐.", ["claude"]),
    ("클로드한테 묻고 싶어요.", ["claude"]),
    ("제미나이에게 한 가지 묻겠습니다.", ["gemini"]),
    ("클로드 선생님, 답해 주세요.", ["claude"]),
    ("클로드는 비용을 말했다.", []),
    ("", []),
]


@pytest.mark.parametrize(("text", "expected"), ADDRESSED)
def test_who_is_spoken_to(text: str, expected: list[str]) -> None:
    assert addressed(text, PEOPLE) == expected


def test_a_name_typed_decomposed_is_the_same_name() -> None:
    assert addressed(unicodedata.normalize("NFD", "클로드님, 설명해 주세요."), PEOPLE) == ["claude"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Claude는 옳고 Gemini도 옳다.", {"claude", "gemini"}),
        ("GPT-4o-mini 말고", {"mini"}),
        ("claude-opus-4-5 said so", {"claude"}),
        ("Claudette", set()),
        ("`x`\n> Claude", set()),
    ],
)
def test_who_is_mentioned(text: str, expected: set[str]) -> None:
    assert mentioned(text, PEOPLE) == expected


def test_what_two_could_be_called_names_neither() -> None:
    twins = tuple(Participant(id=name, name=name, provider="x", model="same") for name in ("Ada", "Ben"))
    assert aliases_of(twins) == {"Ada": ("Ada", "에이다"), "Ben": ("Ben", "벤")}
    assert find_names("same", twins) == []
