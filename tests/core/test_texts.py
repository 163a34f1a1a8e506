"""Korean particles: the form that fits what a blank was filled with."""

import pytest

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
        ("{name}이(가) 답해요", "Claude", "Claude이(가) 답해요"),
        ("{name}이(가) 답해요", "x²", "x²이(가) 답해요"),
    ],
)
def test_a_particle_fits_what_is_before_it(text: str, name: object, said: str) -> None:
    assert Texts("ko", {"key": text})("key", name=name) == said


def test_other_languages_and_texts_without_blanks_stay_as_they_are() -> None:
    text = "비평가을(를)"
    assert (Texts("en", {"key": text})("key", name=1), Texts("ko", {"key": text})("key")) == (text, text)
