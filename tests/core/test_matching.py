"""What is found by what a person types, in Korean too."""

import unicodedata

import pytest

from app.core.matching import fits


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
