"""The line of a terminal that says how long a model has been thinking."""

import pytest

from app.cli import command_run
from app.cli.command_run import ThinkingLine
from app.cli.printing.lines import load_texts
from app.core.events import (
    MessageDelta,
    MessageFinished,
    SessionChanged,
    ToolFinished,
    ToolStarted,
    TurnStarted,
)
from app.core.message import Author, Message, Role
from app.core.session import Debate, DebateSession, Status

ADA = Author(id="ada", name="Ada")
TURN = TurnStarted(session_id="s", turn_id="t", author=ADA)


class _Time:
    def __init__(self) -> None:
        self.now = 100.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> _Time:
    made = _Time()
    monkeypatch.setattr(command_run, "time", made)
    return made


def test_a_long_silence_is_counted_until_the_model_speaks(clock: _Time) -> None:
    line = ThinkingLine(load_texts("en"))
    assert line.line(clock.now) == ""
    line.listen((TURN,))
    assert line.line(clock.now + 9) == ""
    assert line.line(clock.now + 130) == "Ada is thinking, 2:10. Ctrl-C stops it."
    clock.now += 130
    line.listen((MessageDelta(session_id="s", message_id="m", offset=0, text="", thinking="Hm."),))
    assert line.line(clock.now) != "", "a thought is no word"
    line.listen((MessageDelta(session_id="s", message_id="m", offset=0, text="Yes"),))
    assert line.line(clock.now + 999) == ""


def test_a_tool_is_no_thought_and_its_result_begins_anew(clock: _Time) -> None:
    line = ThinkingLine(load_texts("en"))
    line.listen((TURN,))
    line.listen((ToolStarted(session_id="s", turn_id="t", tool_call_id="c", name="n", arguments=""),))
    assert line.line(clock.now + 60) == ""
    line.listen((ToolFinished(session_id="s", turn_id="t", tool_call_id="c", name="n", ok=True, content=""),))
    assert line.line(clock.now + 9) == ""
    assert "0:12" in line.line(clock.now + 12)
    message = Message(id="m", turn_id="t", role=Role.ASSISTANT, author=ADA)
    line.listen((MessageFinished(session_id="s", message=message),))
    assert line.line(clock.now + 99) == ""


def test_how_far_the_voting_check_is_stands_there_but_not_amid_a_line(clock: _Time) -> None:
    line = ThinkingLine(load_texts("en"))

    def changed(reason: str, status: Status = Status.RUNNING) -> SessionChanged:
        session = DebateSession(id="s", title="T", debate=Debate(topic="T"), status=status, reason=reason)
        return SessionChanged(session_id="s", session=session, status_changed=True)

    line.listen((changed("checking_votes:5:12"),))
    said = "Checking who may vote: 5 of 12 · to skip it, in another terminal: moot resume s --skip-check"
    assert line.line(clock.now) == said
    line.listen((TURN, MessageDelta(session_id="s", message_id="m", offset=0, text="Yes")))
    assert line.line(clock.now) == ""
    message = Message(id="m", turn_id="t", role=Role.ASSISTANT, author=ADA)
    line.listen((MessageFinished(session_id="s", message=message), changed("checking_votes:6:12")))
    assert "6 of 12" in line.line(clock.now)
    line.listen((changed(""),))
    assert line.line(clock.now) == ""
