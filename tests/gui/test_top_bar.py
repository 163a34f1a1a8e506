"""The bar over the main area, alone: what its state says while a question is open."""

from pathlib import Path

from app.core.session import Chat, Session, Status
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
    assert bar.status.text() == "Waiting for you"
    bar.show_asking(frozenset())
    assert bar.status.text() == "Running"
    look.deleteLater()
