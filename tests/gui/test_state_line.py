"""The line over a chat's box: it names the limit that ended a run, and that Moot was closed."""

import pytest

from app.core.events import RetryScheduled
from app.core.message import Author
from app.core.session import Chat, ChatSession, Status
from app.gui.display.appearance import Language
from app.gui.pages.chat.chat_page import StateLine
from app.storage.paths import resources_dir
from tests.gui.seen import texts_in


@pytest.mark.parametrize(
    ("language", "status", "reason", "says"),
    [
        ("en", Status.PAUSED, "steps:3", "Paused at 3 steps. Resume to allow as much again."),
        ("en", Status.PAUSED, "turns_limit:20", "Paused at 20 turns. Resume to allow as much again."),
        ("en", Status.PAUSED, "budget_cost:200", "Paused at $2.00. Resume to allow as much again."),
        (
            "en",
            Status.PAUSED,
            "repeated",
            "Paused. Stopped because the assistant kept repeating the same call.",
        ),
        ("en", Status.STOPPED, "by_user", "Stopped by you"),
        ("en", Status.IDLE, "", ""),
        ("en", Status.PAUSED, "app_closed", "Moot was closed"),
        ("en", Status.PAUSED, "budget_minutes", "Paused. Time limit for one message reached."),
        ("ko", Status.PAUSED, "turns_limit:20", "20턴에서 일시 정지. 재개하면 같은 만큼 더 진행해요."),
        ("ko", Status.PAUSED, "app_restart", "Moot가 종료되어 일시 정지됨"),
        ("ko", Status.STOPPED, "by_user", "중지됨 · 사용자 요청"),
    ],
)
def test_it_says_why_a_chat_stands(qtbot, look, language: str, status: str, reason: str, says: str) -> None:
    line = StateLine(Language(resources_dir() / "i18n", language), look)
    qtbot.addWidget(line)
    chat = Chat(assistant_id="main")
    session = ChatSession(id="0" * 26, title="T", status=status, reason=reason, chat=chat)
    line.show_session(session, read_only=False, damaged=0)
    assert " ".join(texts_in(line)).startswith(says)
    assert line.isVisibleTo(line.parentWidget()) == bool(says)
    assert line.resume.isVisibleTo(line) == (status in (Status.PAUSED, Status.STOPPED))
    limit = reason.startswith(("steps", "turns", "budget", "repeated"))
    assert line.extend.isVisibleTo(line) == limit


@pytest.mark.parametrize(
    ("language", "seconds", "says"),
    [
        ("en", 3.6, "Guide: Asked again (2 of 3) in 4 s. The provider is overloaded right now."),
        ("en", 0.0, "Guide: Asked again (2 of 3). The provider is overloaded right now."),
        ("ko", 3.6, "Guide: 4초 뒤 다시 요청해요(3회 중 2회째). 제공자 서버에 요청이 몰려 있어요."),
    ],
)
def test_it_says_how_often_a_model_was_asked_again(
    qtbot, look, language: str, seconds: float, says: str
) -> None:
    line = StateLine(Language(resources_dir() / "i18n", language), look)
    qtbot.addWidget(line)
    chat = ChatSession(id="0" * 26, title="T", status=Status.RUNNING, chat=Chat(assistant_id="main"))
    line.show_session(chat, read_only=False, damaged=0)
    author = Author(id="main", name="Guide", kind="assistant")
    fault = {"seconds": seconds, "reason": "overloaded", "repeat": 2, "repeats": 3}
    line.show_retry(RetryScheduled(session_id=chat.id, turn_id="t", author=author, **fault))
    assert texts_in(line) == [says]
    assert not line.resume.isVisibleTo(line), "the provider is not paused, so that nothing can be ended"
