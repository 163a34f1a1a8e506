"""Korean texts use one term for each thing and no home-made words."""

import re

import pytest

from tests.core.people_read import files_in, texts_in

TEXTS, FILES = texts_in("ko"), files_in("ko")

# What is not written, what is written instead, and the keys that may have it.
EVERYWHERE = [
    ("참여자|목소리", "참가자", ()),
    ("구성원", "멤버", ()),
    ("제공업체|공급자", "제공자", ()),
    ("하위 어시스턴트", "하위 에이전트", ()),
    ("걸음", "단계", ()),
    ("낱말", "키워드", ()),
    ("어림", "예상", ()),
    ("그림", "이미지", ()),
    ("적어 주|적으세", "입력하다, 쓰다", ()),
    ("허락", "허용", ()),
    ("거절", "거부", ()),
    ("아이디", "ID", ()),
    ("되살리|되살려", "복원", ()),
    ("멈추|멈춰|멈췄|멈춘|멈춤", "일시 정지, 중지", ()),
    ("줄 서기|손이 비|제때|물러났", "대기열, 이전 작업", ()),
    ("에 이르|이르렀", "도달", ()),
    (r"돌아가요|돌아가는|에서 도는", "실행", ()),
    ("[0-9}]번(?!째)", "회", ()),
    ("이어가|보여줘|보여주", "이어 가다, 보여 주다", ()),
]
IN_THE_WINDOW = [
    ("(?<!하위 )(?<!외부 )에이전트", "어시스턴트", ()),
    ("사람", "참가자", ("cli.doctor.choose_private_dir",)),
    ("부르|불러|부를 수", "호출", ()),
    ("넘기|넘길|넘긴", "맡기기", ()),
    ("인자", "입력값", ()),
    (
        "차례",
        "발언, 턴",
        (
            *("busy.do.queue", "busy.strategy.queue", "cli.help.mode", "mode.round-robin"),
            *("cli.your_turn", "status.your_turn"),
        ),
    ),
    ("중단", "중지", ("usage.estimated.one", "usage.estimated.other")),
    ("계속하기|끝내기", "재개, 종료", ()),
    ("이어 가기", "재개", ("transcript.continue_from",)),
    ("제거|지우|지워|지웠", "삭제, 빼기", ()),
    ("(?<![삭해])제한", "한도", ()),
    ("갈라", "분기", ()),
    ("내 컴퓨터", "이 컴퓨터", ()),
    (r"(?<![가-힣])답(?!변)", "답변, 응답", ()),
    (r"(?<!포)함$", "-됨", ()),
    (r"\} (MB|kB|토큰|초|개|명(?!령)|회|건)", "attached units and counters", ()),
    (r"\}–[${]", "~", ()),
    ("Moot[을은이과](?![가-힣])", "Moot를, Moot는", ()),
    ("습니다|세요\\?|십시오", "해요체", ()),
]
SESSIONS = (
    "error.title_empty",
    "error.message_not_found",
    *(key for key in TEXTS if key.startswith("usage.")),
)


@pytest.mark.parametrize(("pattern", "better", "allowed"), EVERYWHERE + IN_THE_WINDOW)
def test_the_window_and_the_terminal_say_it_the_same_way(
    pattern: str, better: str, allowed: tuple[str, ...]
) -> None:
    found = {key: text for key, text in TEXTS.items() if key not in allowed and re.search(pattern, text)}
    assert not found, f"better: {better}"
    assert all(re.search(pattern, TEXTS[key]) for key in allowed), "no key is allowed in vain"


@pytest.mark.parametrize(("pattern", "better", "allowed"), EVERYWHERE)
def test_prompts_and_definitions_say_it_the_same_way(
    pattern: str, better: str, allowed: tuple[str, ...]
) -> None:
    assert not [name for name, text in FILES.items() if re.search(pattern, text)], f"better: {better}"


def test_a_session_is_not_called_a_chat() -> None:
    assert not {key: TEXTS[key] for key in SESSIONS if "대화" in TEXTS[key]}
