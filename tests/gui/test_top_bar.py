"""The bar over the main area, alone: what its state says while a question is open."""

from pathlib import Path

import pytest

from app.core.session import Chat, Debate, DebateSession, Reason, Session, Status
from app.gui.display.appearance import Language, Look
from app.gui.navigation.top_bar import TopBar
from tests.app_driver import at_window, until
from tests.gui.every_page import CHAT, GROUP, WORK, keep_all

RESOURCES = Path(__file__).parents[2] / "resources"


def test_a_question_asked_while_the_session_runs_is_its_state(qapp, qtbot):
    look = Look(qapp, RESOURCES, "light")
    bar = TopBar(Language(RESOURCES / "i18n", "en"), look)
    qtbot.addWidget(bar)
    bar.show_state(Session(id="s1", title="Trip", chat=Chat(assistant_id="a1"), status=Status.RUNNING))
    assert bar.status.text() == "Running"
    bar.show_asking({"s2": "answer"})
    assert bar.status.text() == "Running"
    bar.show_asking({"s2": "answer", "s1": "approval"})
    assert bar.status.text() == "Needs your approval"
    bar.show_asking({})
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


async def test_the_buttons_of_plan_and_workflow_are_there_where_these_have_something_to_show(qapp, data_dir):
    await keep_all(data_dir)
    async with at_window(data_dir) as person:
        desk = person.window.controller

        async def seen(session_id: str) -> list[str]:
            desk.show_session(session_id)
            await person.settle(0.3)
            return [name for name in ("debate_button", "workflow_button", "plan_button") if person.sees(name)]

        assert await seen(CHAT) == ["debate_button"]
        assert await seen(GROUP) == ["debate_button", "plan_button"]
        assert await seen(WORK) == ["debate_button", "workflow_button"]
        desk.show_new()
        await person.settle(0.3)
        assert not person.sees("workflow_button")
        # By its key the panel opens all the same, and its button is there as long as it is open.
        await person.click("workflow_button")
        await until(lambda: person.sees("workflow_button") and person.sees("workflow_command"))
        await person.click("workflow_button")
        await until(lambda: not person.sees("workflow_button") and not person.sees("workflow_command"))
        await person.click("segment_work")
        menu = person.find("work_with").choices
        menu.aboutToShow.emit()
        next(action for action in menu.actions() if action.text() == "Edit workflows…").trigger()
        await until(lambda: person.sees("workflow_graph"))
