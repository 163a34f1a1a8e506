"""The bar over the main area, alone: what its state says while a question is open."""

from pathlib import Path

import pytest

from app.core.session import Chat, Debate, DebateSession, Reason, Session, Status
from app.gui.display.appearance import Language, Look
from app.gui.navigation.top_bar import TopBar

RESOURCES = Path(__file__).parents[2] / "resources"


def test_a_question_asked_while_the_session_runs_is_its_state(qapp, qtbot):
    look = Look(qapp, RESOURCES, "light")
    bar = TopBar(Language(RESOURCES / "i18n", "en"), look)
    qtbot.addWidget(bar)
    bar.show_state(Session(id="s1", title="Trip", chat=Chat(assistant_id="a1"), status=Status.RUNNING))
    assert bar.status.text() == "Running"
    bar.show_asking(frozenset({"s2"}))
    assert bar.status.text() == "Running"
    bar.show_asking(frozenset({"s2", "s1"}))
    assert bar.status.text() == "Needs you"
    bar.show_asking(frozenset())
    assert bar.status.text() == "Running"
    look.deleteLater()


@pytest.mark.parametrize(
    ("status", "reason", "said"),
    [
        (Status.COMPLETED, "", ""),
        (Status.COMPLETED, Reason.COMPARED, ""),
        (Status.COMPLETED, Reason.TOO_FEW, "Failed: too few participants"),
        (Status.STOPPED, Reason.BY_USER, "Stopped by you"),
    ],
)
def test_the_steps_of_a_decision_that_is_over_say_its_state_and_the_bar_does_not(
    qapp, qtbot, status, reason, said
):
    look = Look(qapp, RESOURCES, "light")
    bar = TopBar(Language(RESOURCES / "i18n", "en"), look)
    qtbot.addWidget(bar)
    bar.show_state(DebateSession(id="s1", title="T", debate=Debate(topic="T"), status=status, reason=reason))
    assert bar.status.text() == said
    look.deleteLater()
