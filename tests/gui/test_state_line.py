"""The line over a chat's box: it names the limit that ended a run, and that Moot was closed."""

import pytest

from app.core.session import Chat, ChatSession, Status
from app.gui.display.i18n import Language
from app.gui.pages.chat.state_line import StateLine
from app.storage.paths import resources_dir


@pytest.mark.parametrize(
    ("language", "status", "reason", "says"),
    [
        ("en", Status.IDLE, "steps:3", "Limit of 3 steps reached"),
        ("en", Status.IDLE, "turns_limit:20", "The group reached its limit of 20 turns."),
        ("en", Status.IDLE, "repeated", "Stopped because the assistant kept repeating the same call."),
        ("en", Status.IDLE, "by_user", ""),
        ("en", Status.IDLE, "", ""),
        ("en", Status.PAUSED, "app_closed", "Paused because Moot was closed"),
        ("en", Status.PAUSED, "budget_minutes", "Paused. Time limit for one message reached"),
        ("ko", Status.IDLE, "turns_limit:20", "그룹이 턴 한도(20턴)에 도달했어요."),
        ("ko", Status.PAUSED, "app_restart", "일시 정지됨 · Moot 종료"),
    ],
)
def test_it_says_why_a_chat_stands(qtbot, language: str, status: str, reason: str, says: str) -> None:
    line = StateLine(Language(resources_dir() / "i18n", language))
    qtbot.addWidget(line)
    chat = Chat(assistant_id="main")
    session = ChatSession(id="0" * 26, title="T", status=status, reason=reason, chat=chat)
    line.show_session(session, read_only=False, damaged=0)
    assert line._text.text().startswith(says)
    assert line.isVisibleTo(line.parentWidget()) == bool(says)
    assert line.resume.isVisibleTo(line) == (status == Status.PAUSED)
