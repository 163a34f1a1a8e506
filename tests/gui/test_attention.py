"""The window is marked in the task bar when a debate needs its user, and only then."""

import pytest
from PySide6.QtWidgets import QWidget

from app.core.events import EventBus, PromptAsked, SessionChanged
from app.core.message import Prompt
from app.core.session import Debate, DebateSession
from app.gui.bridge import Bridge
from app.gui.desktop.notifications import Attention


def change(status: str, reason: str, *, moved: bool = True) -> SessionChanged:
    session = DebateSession(id="1", title="T", status=status, reason=reason, debate=Debate(topic="T"))
    return SessionChanged(session_id="1", session=session, status_changed=moved)


@pytest.fixture
def alerts(qtbot):
    window = QWidget()
    qtbot.addWidget(window)
    bus = EventBus()
    bridge = Bridge(bus, window)
    seen: list[QWidget] = []
    attention = Attention(window, bridge, seen.append)
    assert attention.parent() is bridge
    yield bus, window, seen
    bridge.close()


@pytest.mark.parametrize(
    ("status", "reason", "wanted"),
    [
        ("completed", "rounds_done", True),
        ("paused", "two_failures", True),
        ("paused", "rate_limit", True),
        ("paused", "by_user", False),
        ("paused", "app_closed", False),
        ("stopped", "by_user", False),
        ("running", "", False),
    ],
)
def test_what_draws_the_eye(alerts, status, reason, wanted):
    bus, window, seen = alerts
    bus.publish(change(status, reason))
    assert seen == ([window] if wanted else [])
    bus.publish(change(status, reason, moved=False))
    assert len(seen) == wanted


def test_a_window_in_front_needs_none(alerts, qtbot):
    bus, window, seen = alerts
    window.show()
    window.activateWindow()
    qtbot.waitUntil(window.isActiveWindow)
    bus.publish(change("completed", "rounds_done"))
    assert seen == []


def test_a_question_draws_the_eye_while_the_rest_still_runs(alerts):
    bus, window, seen = alerts
    bus.publish(PromptAsked(session_id="1", message_id="m", prompt=Prompt(question="?")))
    assert seen == [window]
