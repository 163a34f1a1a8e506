"""*Propose a group…*: the model and its price first, then the group for editing, and one step that makes it, with undo."""

import json
from dataclasses import replace

import pytest
from PySide6.QtWidgets import QWidget

from app.core.definitions import Agent
from app.gui.dialogs.definition_dialogs import ProposalDialog
from app.gui.pages.groups.group_page import GroupForm
from app.gui.widgets.text import Paragraph, plain_tip
from tests.app_driver import Person, at_window, until
from tests.wire import Answer, Fault
from tests.wire.fixtures import wire_home, wire_servers  # noqa: F401

TASK = "Plan the opening of our hanok."
COOK = {
    "name": "Cook",
    "role": "Breakfast",
    "instructions": "You plan breakfasts.",
    "tools": ["web_search", "rm_rf"],
    "why": "Guests eat.",
}
PROPOSED = {
    "name": "Hanok & desk",
    "instructions": "Begin with the guests.",
    "orchestrator": "",
    "members": [
        {"name": "Dana", "role": "", "instructions": "", "tools": [], "why": "She knows them."},
        COOK,
    ],
}
DANA = Agent(id="dana-1", name="Dana", role="Guests", instructions="You know guests.")


@pytest.fixture
async def person(qapp, data_dir, wire_home, wire_servers):  # noqa: F811
    server = wire_servers["openai"]
    server.script(server.model, lambda _request: Answer(json.dumps(PROPOSED)))
    async with at_window(data_dir) as person:
        await person.window.controller.engine.assistants.save(DANA)
        yield person


def dialog(person: Person) -> ProposalDialog:
    [found] = person.window.findChildren(ProposalDialog)
    return found


def inside(person: Person, name: str) -> QWidget:
    return dialog(person).findChild(QWidget, name)


def kept(person: Person) -> tuple[set[str], list[str]]:
    engine = person.window.controller.engine
    own = {one.name for one in engine.assistants.all() if not engine.assistants.is_built_in(one.id)}
    return own, [one.name for one in engine.groups.all()]


def entries(person: Person) -> list[str]:
    button = person.find("work_with")
    button.choices.aboutToShow.emit()
    return [one.text() for one in button.choices.actions() if one.text()]


async def offered(person: Person, task: str = TASK) -> None:
    """Have the group offered on the first page, in the mode Work."""
    await person.click("new_button")
    await person.click("segment_work")
    await person.write("composer", task)
    person.choose_from("work_with", "Propose a group…")
    if task:
        await until(lambda: person.sees("propose_make"))


async def proposed(person: Person) -> None:
    await person.click("propose_make")
    await until(lambda: inside(person, "member_cards").isVisible(), what="the proposal")


async def test_the_model_and_the_price_are_named_before_it_is_asked(person, wire_servers):  # noqa: F811
    server = wire_servers["openai"]
    calls = len(server.requests)
    await offered(person)
    assert "openai-wire" in inside(person, "propose_said").text()
    await until(lambda: inside(person, "propose_price").text() != "", what="the price")
    await person.settle()
    assert len(server.requests) == calls and not inside(person, "member_cards").isVisible()
    await proposed(person)
    assert len(server.requests) == calls + 1
    await person.click("propose_cancel")
    assert kept(person) == ({"Dana"}, []), "nothing is made"
    assert person.find("composer").toPlainText() == TASK


async def test_a_proposal_is_changed_then_made_at_once_and_taken_back(person):
    await offered(person)
    await proposed(person)
    said = inside(person, "propose_said").text()
    assert "Cook: tools: rm_rf" in said
    assert inside(person, "group_name").text() == "Hanok & desk"
    cards = inside(person, "member_cards")
    assert [one.title for one in cards.rows.rows] == ["Dana", "Cook"]
    why = dialog(person).findChild(Paragraph, "propose_why")
    assert why.text().startswith("She knows them.") and "joins as it is" in why.text()
    assert inside(person, "assistant_name").isReadOnly(), "who is there is only looked at"
    await until(
        lambda: "$" in inside(person, "propose_price").text() or inside(person, "propose_price").text()
    )
    person_row = cards.rows.row_of(cards.ids()[1])
    cards.setCurrentRow(person_row)
    assert why.text() == "Guests eat."
    assert inside(person, "assistant_instructions").toPlainText() == "You plan breakfasts."
    assert not inside(person, "assistant_name").isReadOnly()
    inside(person, "assistant_name").setText("")
    inside(person, "propose_make").click()
    assert kept(person) == ({"Dana"}, []), "without a name it is not made"
    inside(person, "assistant_name").setText("Chef")
    assert [one.title for one in cards.rows.rows] == ["Dana", "Chef"]
    inside(person, "group_name").setText("Opening")
    await person.click("propose_make")
    await until(lambda: kept(person) == ({"Dana", "Chef"}, ["Opening"]))
    engine = person.window.controller.engine
    chef = engine.assistants.find("Chef")
    assert (chef.tools, chef.role) == (("files", "web_search"), "Breakfast")
    assert engine.groups.find("Opening").members == ("dana-1", chef.id)
    await until(lambda: person.sees("work_with") and person.find("work_with").text() == "Opening")
    assert person.find("composer").toPlainText() == TASK, "the task stands at the input"
    assert not person.window.findChildren(ProposalDialog) or not dialog(person).isVisible()
    await until(lambda: person.sees("toast_action"))
    await person.click("toast_action")
    await until(lambda: kept(person) == ({"Dana"}, []))


async def test_what_is_made_after_the_proposal_was_closed_can_be_taken_back(person):
    await offered(person)
    await proposed(person)
    inside(person, "propose_make").click()
    dialog(person).reject()
    await until(lambda: kept(person) == ({"Dana", "Cook"}, ["Hanok & desk"]), what="the group")
    await until(lambda: person.sees("toast_action"), what="the undo")
    assert person.find("toast").text == "Made “Hanok & desk”."
    assert person.find("work_with").text() != "Hanok & desk", "the user is elsewhere"
    await person.click("toast_action")
    await until(lambda: kept(person) == ({"Dana"}, []))


async def test_of_assistants_with_one_name_it_is_said_which_is_proposed(person):
    other = replace(DANA, id="dana-2", role="Taxes", description="Files & forms.")
    await person.window.controller.engine.assistants.save(other)
    await offered(person)
    await proposed(person)
    said = inside(person, "propose_said").text().splitlines()
    [which] = (line for line in said if line.startswith("Several assistants have this name."))
    assert which.endswith("Proposed is: Dana (Guests)")
    # The other one is told from it where it is added.
    form = dialog(person)._group
    form._offer()
    offers = form._offers
    assert offers.toolTipsVisible()
    assert [one.toolTip() for one in offers.actions() if one.text() == "Dana"] == [
        plain_tip("Files & forms.")
    ]


async def test_cancel_ends_the_call_and_makes_nothing(person, wire_servers):  # noqa: F811
    server = wire_servers["openai"]
    server.script(server.model, lambda _request: Answer(json.dumps(PROPOSED), pace=30.0, pieces=9))
    await offered(person)
    await person.click("propose_make")
    await until(lambda: len(server.requests) == 1)
    assert (
        not inside(person, "propose_make").isEnabled()
        and "working out" in inside(person, "propose_said").text()
    )
    await person.click("propose_cancel")
    await until(lambda: server.requests[0].closed_at is not None, what="the end of the call")
    assert kept(person) == ({"Dana"}, [])


async def test_members_are_taken_out_and_added(person):
    await offered(person)
    await proposed(person)
    form = dialog(person).findChild(GroupForm)
    for one in form.members:
        form.remove(one)
    assert not inside(person, "propose_make").isEnabled(), "nobody is left"
    offers = inside(person, "group_add_member").menu()
    offers.aboutToShow.emit()
    next(one for one in offers.actions() if one.text() == "New assistant").trigger()
    assert (
        inside(person, "assistant_name").text() == "New assistant"
        and inside(person, "propose_make").isEnabled()
    )
    form.add("dana-1")
    await person.click("propose_make")
    await until(lambda: kept(person) == ({"Dana", "New assistant"}, ["Hanok & desk"]))


async def test_from_a_chat_the_question_goes_with_it_to_the_new_group(person, wire_servers):  # noqa: F811
    server, engine = wire_servers["openai"], person.window.controller.engine
    server.script(
        server.model,
        lambda request: Answer("Ask a cook." if len(server.requests) < 2 else json.dumps(PROPOSED)),
    )
    await person.click("new_button")
    await person.click("segment_chat")
    await person.write("composer", TASK)
    await person.click("send_button")
    await until(lambda: len(person.transcript("transcript")) == 2, what="the answer")
    page = person.window.chat_page
    await until(lambda: page.session.status == "idle")
    session_id = page.session_id
    page.chat_composer.propose_group.trigger()
    await until(lambda: person.sees("propose_make"))
    await proposed(person)
    asked = server.requests[-1].messages[-1].text
    assert TASK in asked and "Ask a cook." in asked
    assert len(engine.live(session_id).session.unsaid) == 1
    await person.click("propose_make")
    await until(lambda: person.sees("work_with"))
    assert page.session is None and person.find("composer").toPlainText() == TASK
    assert [one.kind for one in engine.sessions()] == ["chat"], "nothing is sent"


async def test_what_goes_wrong_is_said_and_can_be_tried_again(person, wire_servers):  # noqa: F811
    server = wire_servers["openai"]
    await offered(person, "")
    await until(lambda: person.sees("toast"))
    assert person.find("toast").text == "Write the task first."
    for wrong, words in ((Answer("Ask Dana."), "Try again"), (Fault("e401"), "does not accept the key")):
        server.script(server.model, lambda _request, wrong=wrong: wrong)
        if not person.sees("propose_make"):
            await offered(person)
        await person.click("propose_make")
        await until(lambda words=words: words in inside(person, "propose_said").text(), what=words)
        await until(lambda: inside(person, "propose_make").isEnabled())
    server.script(server.model, lambda _request: Answer(json.dumps(PROPOSED)))
    await proposed(person)
    await person.click("propose_cancel")
    assert kept(person) == ({"Dana"}, [])
