"""Settings mode as a person switches to it: what reads and plans goes on, what acts is refused; on the wire."""

import json
from functools import partial

import pytest
from PySide6.QtCore import Qt

from app.core.definitions import Group, Leader
from app.core.message import Role
from app.core.session import AgentMode, Status
from tests import app_driver
from tests.app_driver import Person, at_window
from tests.chat_scenes import architect, call, said_last
from tests.group_scenes import leads
from tests.wire import Answer, Recorded, Reply
from tests.wire.fixtures import wire_home, wire_servers  # noqa: F401

until = partial(app_driver.until, seconds=60.0)
MODEL = "openai-wire"
OPENER = architect(id="opener", name="Opener", model=MODEL, tools=("open_url", "get_pages"), sub_agents=())
BOSS = architect(id="boss", name="Boss", model=MODEL, tools=("subAgent", "open_url"), sub_agents=("opener",))
OPEN = call("open_url", url="https://example.org/")


def replies(request: Recorded) -> Reply:
    """Answer as a model that opens a page whatever it is offered; a boss sends somebody else first."""
    messages = request.body["messages"]
    if any(one["role"] == "tool" for one in messages):
        return Answer("As you wish.")
    if leads(request):
        told = "As you wish." in json.dumps(messages)
        return (
            Answer("All is told.")
            if told
            else Answer(calls=(call("switchAssistant", assistant="Opener", instruction="Open it."),))
        )
    names = offered(request)
    if "subAgent" in names and "Send" in said_last(request):
        return Answer(calls=(call("subAgent", name="opener", task="Open it."),))
    return Answer(calls=(OPEN,))


def offered(request: Recorded) -> list[str]:
    return [one["function"]["name"] for one in request.body.get("tools", ())]


@pytest.fixture
async def person(qapp, data_dir, wire_home, wire_servers):  # noqa: F811
    wire_servers["openai"].script(MODEL, replies)
    async with at_window(data_dir) as person:
        engine = person.window.controller.engine
        await engine.assistants.save(OPENER)
        await engine.assistants.save(BOSS)
        leader = Leader(provider="openai", model=MODEL)
        await engine.groups.save(Group(id="two", name="Two", members=("opener", "boss"), orchestrator=leader))
        yield person


async def say(person: Person, text: str) -> object:
    await person.write("composer", text)
    await person.press("composer", Qt.Key.Key_Return)
    page = person.window.controller.chat_page
    await until(lambda: page.session is not None and page.session.title)
    return page


def results(person: Person, page: object) -> list[str]:
    live = person.window.controller.engine.live(page.session_id)  # type: ignore[attr-defined]
    return [one.content for one in live.messages if one.role == Role.TOOL]


def palette(person: Person, name: str) -> None:
    desk = person.window.controller
    next(one for one in desk.palette.commands() if one.id == name).act()


async def test_a_chat_in_settings_mode_is_not_offered_what_acts_and_is_refused_it(person, wire_servers):  # noqa: F811
    desk, chip = person.window.controller, person.window.top_bar.mode
    desk.show_new("opener")
    switch = desk.chat_page.chat_composer.settings_mode
    assert switch in person.find("tools_button").choices.actions()
    assert "can’t open pages" in switch.text()
    menu = person.find("tools_button").choices

    def tools() -> tuple[str, dict[str, tuple[bool, bool]]]:
        switches = menu.actions()[0].menu().actions()
        named = {one.text(): (one.isChecked(), one.isEnabled()) for one in switches}
        return menu.actions()[0].text(), named

    title, before = tools()
    assert title == "Built in · 2 of 2 on" and set(before.values()) == {(True, True)}
    switch.trigger()
    await until(lambda: chip.text() == "Settings mode")
    title, now = tools()
    assert title == "Built in · 1 of 2 on", "what settings mode closes is not on"
    assert sorted(now.values()) == [(False, False), (True, True)]
    page = await say(person, "Open the page.")
    await until(lambda: page.session.status == Status.IDLE, what="the answer")
    assert (
        page.session.chat.mode == AgentMode.SETTINGS and chip.text() == "Settings mode" and switch.isChecked()
    )
    [result] = results(person, page)
    assert result.startswith("open_url may not be used in settings mode") and "get_pages" in result
    assert [offered(one) for one in wire_servers["openai"].requests if offered(one)] == [["get_pages"]] * 2
    assert "You are in settings mode" in json.dumps(wire_servers["openai"].requests[-1].body["messages"])
    # Back again, in the chat there is: it is offered, and asks.
    switch.trigger()
    await until(lambda: not chip.text())
    assert tools() == ("Built in · 2 of 2 on", before)
    wire_servers["openai"].script(MODEL, lambda _: Answer(calls=(OPEN,)))
    await say(person, "Open it now.")
    await until(lambda: page.session.status == Status.WAITING, what="the approval")
    assert "open_url" in offered(wire_servers["openai"].requests[-1])
    desk.show_new("opener")
    assert not switch.isChecked() and not chip.text()


@pytest.mark.slow
@pytest.mark.parametrize(
    "partner", [{"group_id": "two"}, {"assistant_id": "boss"}], ids=["group", "sub-agent"]
)
async def test_it_is_handed_down_to_members_and_sub_agents(person, wire_servers, partner):  # noqa: F811
    desk = person.window.controller
    desk.show_new(**partner)
    palette(person, "settings_mode")
    expected = "Group mode · Settings mode" if "group_id" in partner else "Settings mode"
    await until(lambda: person.window.top_bar.mode.text() == expected)
    page = await say(person, "Send somebody to open it.")
    await until(lambda: page.session.status == Status.IDLE, what="the answer")
    assert any(one.startswith("open_url may not be used in settings mode") for one in results(person, page))
    assert not any("open_url" in offered(one) for one in wire_servers["openai"].requests)
    assert person.window.top_bar.mode.text() == expected
