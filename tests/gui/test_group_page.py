"""A conversation with a group as a person has it: beginning, watching, steering; against a local provider."""

import json
from functools import partial

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QFileDialog

from app.core.criteria import Plan, PlanItem
from app.core.session import GroupSession
from app.engine.group import director
from app.gui.widgets.approval_card import HandOverCard
from tests import app_driver
from tests.app_driver import Person, at_window
from tests.chat_scenes import call, said_last
from tests.files.documents import a_pdf
from tests.group_scenes import CAREFULLY, CREW, SHIP, STEPS, WHICH, crew, leads, members, replies
from tests.gui.seen import saying, texts_in
from tests.wire import Answer
from tests.wire.fixtures import wire_home, wire_servers  # noqa: F401

# The first answer waits for the child process that asks models; on a busy machine that takes long.
until = partial(app_driver.until, seconds=120.0)
MODEL = "openai-wire"
ALT = Qt.KeyboardModifier.AltModifier
KEYS = Qt.Key


@pytest.fixture
async def person(qapp, data_dir, wire_home, wire_servers):  # noqa: F811
    async with at_window(data_dir) as person:
        person.window.activateWindow()
        await set_up(person)
        wire_servers["openai"].script(MODEL, replies(0.5))
        yield person


async def set_up(person: Person, **fields: object) -> None:
    """Save the crew and its members."""
    engine = person.window.controller.engine
    for agent in members(MODEL):
        await engine.assistants.save(agent)
    await engine.groups.save(crew(MODEL, **fields))


async def begin(person: Person, text: str) -> object:
    """Choose the group in the sidebar's way, write to it, and return its page."""
    person.window.controller.show_new(group_id="crew")
    await person.write("composer", text)
    await person.press("composer", KEYS.Key_Return)
    page = person.window.controller.chat_page
    await until(lambda: page.session is not None, what="the conversation")
    return page


async def at_work(person: Person) -> object:
    """Return the page once the first step is done and the architect's sub-agent speaks."""
    page = await begin(person, SHIP)
    live = await person.window.controller.engine.open(page.session_id)
    await until(
        lambda: any(live.text_of(one.id) for one in live.streaming() if one.author.depth),
        what="the sub-agent",
    )
    await until(page.box.members.count)
    return page


def plan_of(page: object) -> list[tuple[str, bool]]:
    plan = page.box.plan._plan  # type: ignore[attr-defined]
    return [(item.text, item.done) for item in plan.items]


async def test_choosing_a_group_is_group_mode_and_the_message_goes_to_it(person):
    person.window.controller.show_new(group_id="crew")
    top, box = person.window.top_bar, person.find("composer")
    assert top.mode.text() == "Group mode"
    assert box.placeholderText() == "What needs doing?"
    with_whom = person.find("work_with")
    await until(lambda: "Release crew" in with_whom.accessibleName())
    assert not person.sees("assistant_button")
    assert not person.sees("orchestrator_box")
    page = await begin(person, WHICH)
    assert isinstance(page.session, GroupSession)
    assert top.mode.text() == "Group mode"
    await until(lambda: person.sees("orchestrator_box"), what="the box, a step after the page")
    await until(lambda: page.session.status == "waiting")
    said = person.transcript("transcript")
    assert f"Orchestrator ({CREW}" in said[1]
    person.window.controller.show_new("architect")
    assert person.sees("assistant_button")
    assert not person.sees("group_button")
    assert not top.mode.text()


@pytest.mark.slow
async def test_the_orchestrator_reads_a_pdf_that_is_attached(person, wire_servers, tmp_path):  # noqa: F811
    path = tmp_path / "report.pdf"
    path.write_bytes(a_pdf(["Sales rose by 12 percent in spring", "and fell by 3 percent in summer"]))
    person.window.controller.show_new(group_id="crew")
    await person.click("attach_button")
    await until(lambda: person.window.findChild(QFileDialog) is not None)
    dialog = person.window.findChild(QFileDialog)
    dialog.filesSelected.emit([str(path)])
    dialog.close()
    await until(lambda: person.sees("attachment_remove_1"), what="the file")
    await person.write("composer", WHICH)
    await person.press("composer", KEYS.Key_Return)
    await until(lambda: wire_servers["openai"].requests, what="the request")
    asked = str(wire_servers["openai"].requests[0].messages[-1])
    for words in (WHICH, "report.pdf", "[page 2]", "fell by 3 percent in summer"):
        assert words in asked


@pytest.mark.slow
async def test_an_at_completes_the_name_of_a_member_by_keyboard(person, wire_servers):  # noqa: F811
    person.window.controller.show_new(group_id="crew")
    box = person.find("composer")
    box.setFocus()
    QTest.keyClicks(box, "@")
    names = person.find("name_list")
    assert names.isVisible()
    assert [names.item(row).text() for row in range(names.count())] == ["Architect", "Backend", "QA"]
    QTest.keyClick(box, KEYS.Key_Down)
    assert box.accessibleDescription() == "Backend"
    QTest.keyClick(box, KEYS.Key_Escape)
    assert not names.isVisible()
    QTest.keyClicks(box, "b")
    assert [names.item(row).text() for row in range(names.count())] == ["Backend"]
    QTest.keyClick(box, KEYS.Key_Return)
    assert box.toPlainText() == "@Backend "
    assert not names.isVisible()
    QTest.keyClicks(box, "build it @q")
    assert not names.isVisible()
    QTest.keyClick(box, KEYS.Key_Return)
    page = person.window.controller.chat_page
    await until(lambda: any("Done." in one for one in person.transcript("transcript")), what="the answer")
    live = await person.window.controller.engine.open(page.session_id)
    assert [one.author.id for one in live.messages][:2] == ["user", "backend"]


@pytest.mark.slow
async def test_the_box_says_how_it_stands_and_unfolds_by_keyboard(qapp, data_dir, person):
    page = await at_work(person)
    box, toggle = page.box, person.find("orchestrator_toggle")
    assert not box.is_unfolded
    assert {"Orchestrator", "1 of 4", "turn 2 of 20"} <= {*texts_in(box)}
    # Where no price is known, the top bar says so once.
    assert "no price known" in person.window.top_bar.cost.text()
    assert "Architect: 1 sub-agent" in box.accessibleDescription()
    assert "Running" in box.accessibleDescription()
    toggle.setFocus()
    QTest.keyClick(toggle, KEYS.Key_Space)
    assert box.is_unfolded
    assert toggle.accessibleName() == "Hide plan and assistants"
    assert [box.members.item(row).note for row in range(3)] == ["1 sub-agent", "idle", "idle"]
    rows = box.plan.rows()
    assert "1 of 4: Find what is missing offline, done" in rows[0].accessibleName()
    assert rows[1].accessibleName().endswith("next")
    QTest.keyClick(toggle, KEYS.Key_Tab)
    assert person.window.focusWidget() is rows[0]
    QTest.keyClick(rows[0], KEYS.Key_Down)
    assert person.window.focusWidget() is rows[1]
    stops = []
    for _ in range(3):
        QTest.keyClick(person.window.focusWidget(), KEYS.Key_Tab)
        stops.append(person.window.focusWidget())
    assert stops == [person.find("orchestrator_plan_add"), box.members, box.asks]
    rows[1].setFocus()
    assert person.window.state.flag("orchestrator_unfolded", False)
    QTest.keyClick(rows[1], KEYS.Key_Escape)
    assert not box.is_unfolded
    assert person.window.focusWidget() is toggle
    QTest.keyClick(toggle, KEYS.Key_Space)
    await person.click("orchestrator_stop")
    await until(lambda: page.session.status == "stopped")
    assert not person.sees("orchestrator_stop")
    assert not person.window.controller.groups._silence.isActive()
    assert all(box.members.item(row).note == "idle" for row in range(3))


@pytest.mark.slow
async def test_the_plan_is_ticked_rewritten_moved_struck_out_and_added_to(person):
    page = await at_work(person)
    box = page.box
    box.unfold(True)
    await person.settle()
    rows = box.plan.rows()
    rows[1].setFocus()
    QTest.keyClick(rows[1], KEYS.Key_Space)
    await until(lambda: plan_of(page)[1] == (STEPS[1], True))
    QTest.keyClick(rows[1], KEYS.Key_Space)
    await until(lambda: plan_of(page)[1] == (STEPS[1], False))
    QTest.keyClick(rows[1], KEYS.Key_Return)
    assert person.window.focusWidget() is rows[1].box
    rows[1].box.setPlainText("Design it twice")
    QTest.keyClick(rows[1].box, KEYS.Key_Return)
    await until(lambda: plan_of(page)[1] == ("Design it twice", False))
    assert person.window.focusWidget() is rows[1]
    QTest.keyClick(rows[1], KEYS.Key_Down, ALT)
    await until(lambda: [text for text, _ in plan_of(page)][1:3] == [STEPS[2], "Design it twice"])
    assert person.window.focusWidget() is rows[2]
    QTest.keyClick(rows[2], KEYS.Key_Delete)
    await until(lambda: len(plan_of(page)) == 3)
    await person.click("toast_action")
    await until(lambda: [text for text, _ in plan_of(page)][2] == "Design it twice", what="it to be back")
    await person.write("orchestrator_plan_add", "Tell everyone")
    await person.press("orchestrator_plan_add", KEYS.Key_Return)
    await until(lambda: plan_of(page)[-1] == ("Tell everyone", False))
    QTest.mouseClick(rows[0], Qt.MouseButton.LeftButton, pos=rows[0].rect().center())
    await until(lambda: rows[0].up.isVisible())
    QTest.mouseClick(rows[0].down, Qt.MouseButton.LeftButton)
    await until(lambda: plan_of(page)[1] == (STEPS[0], True))


@pytest.mark.slow
async def test_what_is_rewritten_while_the_plan_changes_meets_the_item_that_was_meant(person):
    page = await at_work(person)
    page.box.unfold(True)
    rows = page.box.plan.rows()
    rows[2].setFocus()
    QTest.keyClick(rows[2], KEYS.Key_Return)
    rows[2].box.setPlainText("Implement it")
    items = tuple(PlanItem(text=text) for text in (STEPS[2], STEPS[3]))
    await person.window.controller.engine.groups.change_plan(page.session_id, Plan(items=items))
    await person.window.controller.engine.groups.change_plan(
        page.session_id, Plan(items=(PlanItem(text="First"), *items, PlanItem(text="Last")))
    )
    QTest.keyClick(page.box.plan.rows()[1].box, KEYS.Key_Return)
    assert [text for text, _ in plan_of(page)] == ["First", STEPS[2], STEPS[3], "Last"]


@pytest.mark.slow
async def test_a_hand_over_waits_for_the_user_who_may_rewrite_it(person, wire_servers):  # noqa: F811
    await set_up(person, ask_before_hand_over=True)
    told: list[str] = []
    plain = replies(0.5)

    def reply(request):
        if not leads(request):
            told.append(said_last(request))
            return Answer("Two gaps: the importer assumes a reachable index, and more.")
        if told:
            return Answer(calls=(call("reportResult", "call_9", result_in_detail="It is all there."),))
        return plain(request)

    wire_servers["openai"].script(MODEL, reply)
    page = await begin(person, CAREFULLY)
    await until(lambda: person.sees("prompt_card"), what="the card")
    card = person.find("prompt_card", HandOverCard)
    assert card.accessibleName() == "Hand over to Architect?"
    assert person.find("hand_over_instruction").toPlainText() == "List what the importer lacks offline"
    await until(lambda: page.box._dot._tone == "warn", what="the state of the box")
    assert person.window.focusWidget() is card
    assert page.box.asks.isChecked()
    await person.write("hand_over_instruction", "List what it lacks, shortest first")
    await person.click("hand_over_allow")
    await until(lambda: told, what="the member")
    assert "shortest first" in told[0]
    await until(lambda: page.session.status == "idle")
    assert "It is all there." in person.transcript("transcript")[-1]


@pytest.mark.slow
async def test_a_hand_over_is_refused_by_its_button_and_not_by_enter(person, wire_servers):  # noqa: F811
    refused: list[str] = []
    plain = replies(0.5)

    def reply(request):
        words = json.dumps(request.body["messages"])
        if "call_2" in words:
            refused.append(str(request.body["messages"][-1]["content"]))
            return Answer(calls=(call("reportResult", "call_9", result_in_detail="Then not."),))
        return plain(request)

    wire_servers["openai"].script(MODEL, reply)
    await set_up(person, ask_before_hand_over=True)
    page = await begin(person, CAREFULLY)
    await until(lambda: person.sees("prompt_card"), what="the card")
    await person.settle(0.7)
    QTest.keyClick(person.window.focusWidget(), KEYS.Key_Return)
    await person.settle(0.3)
    assert not refused and person.sees("prompt_card")
    await person.click("hand_over_deny")
    await until(lambda: page.session.status == "idle")
    assert "Then not." in person.transcript("transcript")[-1]
    assert refused


@pytest.mark.slow
async def test_asking_before_hand_overs_is_switched_in_the_box(person):
    page = await at_work(person)
    page.box.unfold(True)
    await person.settle()
    await person.press("ask_before_hand_over", KEYS.Key_Space)
    await until(lambda: page.session.group.ask_before_hand_over)
    assert page.box.asks.isChecked()
    await person.press("ask_before_hand_over", KEYS.Key_Space)
    await until(lambda: not page.session.group.ask_before_hand_over)


@pytest.mark.slow
async def test_a_member_that_is_silent_can_be_left_behind(person, wire_servers, monkeypatch):  # noqa: F811
    plain = replies(0.5)

    def reply(request):
        told = json.dumps(request.body["messages"])
        if leads(request) and "call_2" in told:
            return Answer(calls=(call("reportResult", "call_9", result_in_detail="Without the architect."),))
        return plain(request) if leads(request) else Answer("Never said.", delay=60.0)

    wire_servers["openai"].script(MODEL, reply)
    monkeypatch.setattr(director, "SILENT", 0.5)
    page = await begin(person, SHIP)
    await until(lambda: person.sees("orchestrator_without"), what="the offer")
    assert person.find("orchestrator_without").text() == "Continue without Architect"
    assert "No word from Architect for a while" in page.box.accessibleDescription()
    assert "No word from Architect for a while" in page.box._meta.text()
    menu = page.box.members.menu_of(page.box.members.ids()[0])
    assert [action.text() for action in menu.actions()] == [
        "Write to Architect",
        "Continue without Architect",
    ]
    await person.click("orchestrator_without")
    report = "Without the architect."
    await until(lambda: report in person.transcript("transcript")[-1], what="the report")
    await until(lambda: page.session.status == "idle")
    assert not person.sees("orchestrator_without")


@pytest.mark.slow
async def test_members_who_work_at_once_are_shown_and_each_can_be_left_behind(person, wire_servers):  # noqa: F811
    slow = Answer(" ".join(f"word{number}" for number in range(900)), pace=0.2)

    def reply(request):
        if not leads(request):
            return slow
        if "call_a" in json.dumps(request.body["messages"]):
            return Answer(calls=(call("reportResult", "call_c", result_in_detail="Without both."),))
        hands = (("call_a", "Backend", "Build it."), ("call_b", "QA", "Check it."))
        return Answer(
            calls=tuple(
                call("switchAssistant", call_id, assistant=who, instruction=what)
                for call_id, who, what in hands
            )
        )

    wire_servers["openai"].script(MODEL, reply)
    page = await begin(person, SHIP)
    box = page.box

    def doing():
        return [member.doing for member in box._work.members]

    await until(lambda: doing() == ["idle", "working", "working"], what="both at work")
    await until(lambda: person.sees("agent_stop_0") and person.sees("agent_stop_1"))
    for place, name in ((1, "Backend"), (2, "QA")):
        menu = box.members.menu_of(box.members.ids()[place])
        assert menu.actions()[-1].text() == f"Continue without {name}"
    await person.click("agent_stop_0")
    await until(lambda: doing() == ["idle", "idle", "working"], what="the other goes on")
    assert page.session.status == "running"
    menu.actions()[-1].trigger()
    await until(lambda: "Without both." in person.transcript("transcript")[-1], what="the report")
    live = person.window.controller.engine.live(page.session_id)
    results = [one.content for one in live.messages if one.role == "tool" and one.state == "failed"]
    assert len(results) == 2
    assert all("The user stopped it." in one for one in results)


@pytest.mark.slow
async def test_the_panel_shows_the_goal_and_todos_of_any_chat(person, wire_servers):  # noqa: F811
    assert not person.sees("plan_panel")
    await person.click("plan_button")
    assert person.sees("plan_panel")
    panel = person.window.controller.groups.panel
    assert saying(panel, "Open a chat")
    wire_servers["openai"].script(MODEL, lambda request: Answer("Fine."))
    page = person.window.controller.chat_page
    person.window.controller.show_new("architect")
    await person.write("composer", "Hello.")
    await person.press("composer", KEYS.Key_Return)
    await until(lambda: page.session and page.session.status == "idle")
    assert saying(panel, "one to-do per line")
    await person.write("plan_goal", "Ship it")
    person.find("plan_goal").setModified(True)
    await person.press("plan_goal", KEYS.Key_Return)
    await until(lambda: page.session.plan and page.session.plan.goal == "Ship it")
    for text in ("one", "two"):
        await person.write("panel_plan_add", text)
        await person.press("panel_plan_add", KEYS.Key_Return)
        await until(lambda: page.session.plan.items and page.session.plan.items[-1].text == text)  # noqa: B023
    assert not saying(panel, "one to-do per line")
    rows = panel.list.rows()
    rows[0].setFocus()
    QTest.keyClick(rows[0], KEYS.Key_Space)
    await until(lambda: page.session.plan.items[0].done)
    assert "1 of 2" in texts_in(panel)
    await person.click("debate_button")
    assert not person.sees("plan_panel")
    await person.click("plan_button")
    assert not person.window.controller.panel.isVisible()
    await person.click("plan_close")
    assert not person.sees("plan_panel")


@pytest.mark.parametrize("language", ["ko", pytest.param("en", marks=pytest.mark.slow)])
@pytest.mark.parametrize("panel", [False, True])
async def test_nothing_of_the_box_is_cut_in_the_smallest_window(
    qapp,
    data_dir,
    wire_home,  # noqa: F811
    wire_servers,  # noqa: F811
    language,
    panel,
):
    async with at_window(data_dir, language=language, theme="dark", size=(900, 600)) as person:
        await set_up(person, name="Release crew of the whole northern office, its branches and its friends")
        wire_servers["openai"].script(MODEL, replies(0.5))
        page = await at_work(person)
        person.window.top_bar.plan_button.setChecked(panel)
        page.box.unfold(True)
        await person.settle(0.1)
        box = page.box
        assert person.window.width() == 900
        for part in (box.toggle, box.stop, box._title, box._done, box._bar, box._meta, box.asks):
            if part.isVisible():
                place = part.mapTo(box, part.rect().topLeft())
                assert place.x() >= 0, part
                assert place.x() + part.width() <= box.width(), part
                assert part.width() >= min(part.sizeHint().width(), 60), part
        assert page.transcript.height() > 60
        assert box.stop.isVisible()
        await person.click("orchestrator_stop")
        await until(lambda: not box.stop.isVisible())
        await person.window.controller.engine.groups.change_plan(page.session_id, None)
        await until(lambda: not box._done.isVisible())
        await person.settle(0.1)
        assert box._group.isVisible() or panel
        assert box._title.width() >= box._title.sizeHint().width()
        assert not box._meta.isVisible() or box._meta.width() >= box._meta.sizeHint().width()


@pytest.mark.slow
async def test_the_window_remembers_what_was_unfolded(qapp, data_dir):
    async with at_window(data_dir) as person:
        assert not person.window.controller.chat_page.box.is_unfolded
        person.window.controller.chat_page.box.toggle.click()
        await person.click("plan_button")
    async with at_window(data_dir) as person:
        assert person.window.controller.chat_page.box.is_unfolded
        assert person.sees("plan_panel")
