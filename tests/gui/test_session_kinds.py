"""A debate's state: the same words everywhere, and a debate without speakers is no success."""

from pathlib import Path

import pytest

from app.core.session import Debate, DebateSession, SessionSummary
from app.gui.display.appearance import Language
from app.gui.display.descriptions import failed, state_of

FOLDER = Path(__file__).parents[2] / "resources" / "i18n"


def summary(status: str, reason: str = "", at: int = 2) -> SessionSummary:
    return SessionSummary(
        id="1",
        kind="debate",
        title="T",
        status=status,
        reason=reason,
        updated_at="",
        messages=3,
        rounds=3,
        round=at,
    )


@pytest.mark.parametrize(
    ("status", "reason", "words", "tone"),
    [
        ("running", "", "Running", "accent"),
        ("running", "busy", "Waiting in the queue", "warn"),
        ("paused", "two_failures", "Paused at round 2", "warn"),
        ("completed", "rounds_done", "Completed", "ok"),
        ("completed", "too_few", "Failed: too few participants", "error"),
        ("stopped", "by_user", "Stopped by you", "neutral"),
        ("stopped", "", "Stopped", "neutral"),
        ("paused", "by_user", "Paused at round 2", "neutral"),
        ("paused", "app_restart", "Moot was closed", "accent"),
        ("paused", "budget_model_calls:100", "Paused at 100 calls", "warn"),
        ("paused", "budget_cost:150", "Paused at $1.50", "warn"),
        ("paused", "step_failed", "Failed: unfinished step", "error"),
        ("error", "fault", "Failed: internal error", "error"),
        ("error", "damaged", "Failed: damaged file", "error"),
    ],
)
def test_words_and_tone(qapp, status, reason, words, tone):
    assert state_of(summary(status, reason), Language(FOLDER, "en")) == (words, tone)


def test_a_session_and_its_summary_say_the_same(qapp):
    language = Language(FOLDER, "ko")
    session = DebateSession(id="1", title="T", status="paused", debate=Debate(topic="T", rounds=3, round=2))
    assert (
        state_of(session, language)
        == state_of(summary("paused"), language)
        == ("2라운드에서 일시 정지", "warn")
    )


def test_a_debate_past_its_last_round_is_paused_at_the_last(qapp):
    assert state_of(summary("paused", at=4), Language(FOLDER, "en"))[0] == "Paused at round 3"


def test_a_chat_whose_last_answer_failed_is_marked(qapp):
    chat = summary("idle", "not_answered")._replace(kind="chat")
    assert state_of(chat, Language(FOLDER, "en")) == ("Failed: no answer", "error")
    assert state_of(chat, Language(FOLDER, "ko")) == ("실패: 답변 없음", "error")
    assert state_of(chat._replace(reason=""), Language(FOLDER, "en")) == ("Your turn", "neutral")


@pytest.mark.parametrize(
    ("kind", "reason", "english", "korean"),
    [
        ("chat", "", "Your turn", "내 차례"),
        ("group", "", "Completed", "완료"),
        ("group", "by_user", "Stopped by you", "중지됨 · 사용자 요청"),
        ("group", "not_answered", "Failed: no answer", "실패: 답변 없음"),
    ],
)
def test_a_group_that_waits_for_nobody_is_done_or_stopped(qapp, kind, reason, english, korean):
    group = summary("idle", reason)._replace(kind=kind)
    assert [state_of(group, Language(FOLDER, name))[0] for name in ("en", "ko")] == [english, korean]


def test_what_failed():
    assert failed("idle", "not_answered")
    assert failed("completed", "too_few")
    assert failed("error", "")
    assert not failed("completed", "rounds_done")
    assert not failed("paused", "too_few")
