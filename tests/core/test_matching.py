"""What is found by what a person types, in Korean too."""

import unicodedata

import pytest

from app.core.texts import finder, fits, fold, name_order


@pytest.mark.parametrize(
    ("text", "typed", "found"),
    [
        ("새 토론 시작", "ㅌㄹ", True),
        ("새 토론 시작", "새토론", True),
        ("새 토론 시작", "토론시작", True),
        ("새 토론 시작", "시작 새", True),
        ("새 토론 시작", "토로", True),
        ("새 토론 시작", "톨", True),
        ("원격 근무를 늘려야 할까?", "원격근무", True),
        (unicodedata.normalize("NFD", "원격 근무"), "원격근", True),
        ("원격 근무", unicodedata.normalize("NFD", "근무"), True),
        ("ＧＰＴ-5", "gpt-5", True),
        ("New chat", "chat new", True),
        ("New chat", "newchat", False),
        ("새 토론 시작", "ㄱㄹ", False),
        ("새 토론 시작", "토론회", False),
        ("a.b", "a.b", True),
        ("토론 (a*", "론(a*", True),
        ("anything", "", True),
    ],
)
def test_what_is_typed_finds(text: str, typed: str, found: bool) -> None:
    assert fits(text, typed) is found
    assert finder(typed)(fold(text)) is found


@pytest.mark.parametrize(
    ("language", "ordered"),
    [
        (
            "ko",
            ["2번 조사원", "10번 조사원", "검토자", "나래", "다온 2", "다온 10", "Éva", "evan", "GPT", "Zoe"],
        ),
        (
            "en",
            ["2번 조사원", "10번 조사원", "Éva", "evan", "GPT", "Zoe", "검토자", "나래", "다온 2", "다온 10"],
        ),
    ],
)
def test_names_are_listed_as_people_expect(language: str, ordered: list[str]) -> None:
    mixed = sorted(ordered, key=lambda one: one[::-1])
    assert mixed != ordered
    assert sorted(mixed, key=lambda one: name_order(one, language)) == ordered
    # However the letters are composed.
    decomposed = [unicodedata.normalize("NFD", one) for one in mixed]
    assert [
        unicodedata.normalize("NFC", one)
        for one in sorted(decomposed, key=lambda one: name_order(one, language))
    ] == ordered
