"""The first page as a person uses it: one input that begins a chat, a decision or work."""

from functools import partial
from pathlib import Path

import pytest
from PySide6.QtCore import QMimeData, Qt, QUrl
from PySide6.QtGui import QImage
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel, QWidget

from app.core.definitions import Group
from app.core.draft import NEW
from app.engine.session_kinds import session_document
from app.gui.display.appearance import Language, Look
from app.gui.display.theme import LIGHT
from app.gui.main_window import MainWindow
from app.gui.pages.first_page import FirstCard, ModelChip
from app.gui.window_frame import SIDE_WIDTH, WindowState
from app.storage.paths import DataPaths
from tests import app_driver
from tests.app_driver import Person, at_window
from tests.benchmarks.bench_storage import write_session
from tests.chat_scenes import architect
from tests.gui.seen import saying
from tests.wire.fixtures import wire_home, wire_servers  # noqa: F401

until = partial(app_driver.until, seconds=60.0)


@pytest.fixture
async def person(qapp, data_dir, wire_home):  # noqa: F811
    async with at_window(data_dir) as person:
        yield person


def chips(person: Person) -> list[str]:
    """Return who takes part, as it stands in the input."""
    return [
        chip.text() for chip in person.window.first_page.chips.findChildren(ModelChip) if chip.isVisible()
    ]


def entries(person: Person, name: str) -> list[str]:
    """Return what the menu of a button offers."""
    button = person.find(name)
    button.choices.aboutToShow.emit()
    return [one.text() for one in button.choices.actions() if one.text() and one.isVisible()]


@pytest.mark.slow
async def test_what_is_asked_on_the_first_page_begins_a_chat(person):
    await person.write("composer", "What is a moot?")
    await person.press("composer", Qt.Key.Key_Return)
    page = person.window.chat_page
    await until(lambda: len(person.transcript("transcript")) == 2, what="the answer")
    await until(lambda: page.session.status == "idle")
    assert page.session.title == "What is a moot?"
    assert page.composer.box.toPlainText() == ""
    assert person.window.focusWidget() is page.composer.box
    assert not person.sees("composer_mode") and not person.sees("first_example")


async def test_the_switch_keeps_what_is_typed_and_changes_what_is_in_the_box(person):
    box = person.find("composer")
    await person.write("composer", "Tea or coffee?")
    shown = {
        "chat": {"assistant_button", "tools_button"},
        "decide": {"decide_how", "decide_ends"},
    }
    shown["work"] = {"work_with", "composer_means"}
    for mode, names in shown.items():
        await person.click(f"segment_{mode}")
        assert box.toPlainText() == "Tea or coffee?" and box.hasFocus()
        for other in set.union(*shown.values()):
            assert person.sees(other) == (other in names), (mode, other)
    await person.click("segment_decide")
    box.setFocus()
    QTest.keyClicks(box, " Or both?")
    await person.click("segment_chat")
    assert box.toPlainText() == "Tea or coffee? Or both?"


@pytest.mark.slow
async def test_new_begins_in_the_mode_used_last_also_after_a_restart(qapp, data_dir, wire_home):  # noqa: F811
    async with at_window(data_dir) as person:
        await person.click("segment_decide")
        await person.click("new_button")
        assert person.find("composer_mode").value() == "decide"
        actions = person.window.controller.actions()
        for command, mode in (
            ("new_work", "work"),
            ("new_chat", "chat"),
            ("new_debate", "decide"),
            ("new", "decide"),
        ):
            actions[command]()
            assert person.find("composer_mode").value() == mode and person.find("composer").hasFocus()
    async with at_window(data_dir) as person:
        assert person.find("composer_mode").value() == "decide" and len(chips(person)) >= 2


@pytest.mark.slow
async def test_a_click_takes_a_model_out_and_the_list_brings_it_back(person):
    await person.click("segment_decide")
    setup = person.window.controller.panel.setup
    before = chips(person)
    assert before == [one.name for one in setup.setup().participants] and len(before) >= 2
    count = len(before)
    assert person.hint().startswith(f"at most {count + 1 + 3 * count + 5} calls · ")
    await person.write("composer", "Tabs or spaces?")
    while len(chips(person)) > 1:
        await person.click("model_chip_1")
    assert [one.name for one in setup.setup().participants] == chips(person) == before[-1:]
    # Send says what is lacking, and Enter sends nothing.
    assert person.hint() == person.find("send_button").accessibleName() == "Choose at least two participants."
    assert not person.find("send_button").isEnabled()
    await person.press("composer", Qt.Key.Key_Return)
    assert person.find("composer").toPlainText() == "Tabs or spaces?"
    next(card for card in setup.seats.cards if card.participant().name == before[0]).tick.click()
    assert set(chips(person)) == {before[0], before[-1]}
    assert person.find("send_button").isEnabled()


@pytest.mark.slow
async def test_how_a_decision_is_made_is_chosen_with_its_rounds(person):
    await person.click("segment_decide")
    how = person.find("decide_how")
    assert how.accessibleName() == "How: Answers first"
    assert entries(person, "decide_how") == [
        *("Answers first", "Round robin", "Free discussion", "Assigned roles"),
        *("One model three times (no second opinion)", "Compare the answers", "Search and read the web"),
        "More options…",
    ]
    person.choose_from("decide_how", "Assigned roles")
    person.choose_from("decide_how", "5")
    assert how.accessibleName() == "How: Assigned roles · 5 rounds"
    setup = person.window.controller.panel.setup.setup()
    assert (setup.mode, setup.rounds) == ("roles", 5) and all(one.role for one in setup.participants)
    # What has roles forgets none, and what has none asks for none.
    person.choose_from("decide_how", "Answers first")
    person.window.controller.panel.setup.set_topic("Cars?")
    assert person.window.controller.panel.setup.problem(council=True) == ""
    person.choose_from("decide_how", "More options…")
    await until(lambda: person.sees("debate_topic"))


@pytest.mark.slow
async def test_reading_the_web_is_ticked_once_and_stands_in_the_price(person):
    await person.click("segment_decide")
    how, setup = person.find("decide_how"), person.window.controller.panel.setup
    count = len(setup.setup().participants)
    assert "web" not in person.hint() and "web" not in how.accessibleName()
    person.choose_from("decide_how", "Search and read the web")
    assert setup.setup().tools == "reading"
    assert how.accessibleName() == "How: Answers first · web"
    assert f" · web: up to + {3 * count} calls" in person.hint()
    person.choose_from("decide_how", "Round robin")
    person.choose_from("decide_how", "2")
    assert how.accessibleName() == "How: Round robin · 2 rounds · web"
    assert f" · web: up to + {6 * count} calls" in person.hint()
    # The tick that is there is taken away.
    person.choose_from("decide_how", "Search and read the web")
    assert setup.setup().tools == "none" and "web" not in person.hint()
    # What assistants have beside that is for debates alone.
    setup.tools.choose("own")
    assert "web" not in how.accessibleName()
    person.choose_from("decide_how", "Answers first")
    assert how.accessibleName() == "How: Answers first · web"
    person.choose_from("decide_how", "Search and read the web")
    assert setup.setup().tools == "none"


@pytest.mark.slow
async def test_how_a_decision_ends_is_chosen_once_and_remembered(person):
    await person.click("segment_decide")
    ends, setup = person.find("decide_ends"), person.window.controller.panel.setup
    count = len(setup.setup().participants)
    assert ends.accessibleName() == "Ends with: Verdict"
    assert entries(person, "decide_ends")[:5] == [
        *("Verdict", "Vote", "Merged answer", "No verdict"),
        "Stop after the answers",
    ]
    for chosen, calls in (
        ("Vote", count + 1 + 3 * count),
        ("Merged answer", count + 2),
        ("No verdict", count + 1),
    ):
        person.choose_from("decide_ends", chosen)
        assert ends.accessibleName() == f"Ends with: {chosen}"
        assert person.hint().startswith(f"at most {calls} calls · "), chosen
    # Only a council can end with a merged answer.
    person.choose_from("decide_ends", "Merged answer")
    person.choose_from("decide_how", "Round robin")
    assert ends.accessibleName() == "Ends with: No verdict", "the choice before it"
    assert entries(person, "decide_ends")[:3] == ["Verdict", "Vote", "No verdict"]
    person.choose_from("decide_ends", "Vote")
    whole = setup.setup()
    assert (whole.polls, whole.final_ballots, whole.judge) == (False, True, "none")
    person.choose_from("decide_ends", "Verdict")
    assert (setup.setup().final_ballots, setup.setup().judge) == (True, "any")
    person.choose_from("decide_how", "Answers first")
    assert ends.accessibleName() == "Ends with: Verdict"
    person.choose_from("decide_ends", "Stop after the answers")
    assert person.hint().startswith(f"at most {count + 1} calls · ")


async def test_who_judges_and_who_helps_stand_in_the_menu_and_can_be_changed(person):
    desk = person.window.controller
    setup, ends = desk.panel.setup, person.find("decide_ends")
    await person.click("segment_decide")
    judge, helper = (one.partition("/")[2] for one in setup.helpers(council=True))
    named = [f"Judge: {judge}", f"Helper: {helper}"]
    assert entries(person, "decide_ends")[-2:] == named
    assert ends.accessibleDescription() == " · ".join(named)
    last = setup.setup().participants[-1]
    assert last.model != helper
    person.choose_from("decide_ends", f"{last.name} ({last.model})")
    assert setup.helpers(council=True)[1] == f"{last.provider}/{last.model}"
    assert entries(person, "decide_ends")[-1] == f"Helper: {last.model}"
    setup.conclusion.choose_judge(f"{last.provider}/{last.model}")
    assert entries(person, "decide_ends")[-2] == f"Judge: {last.model}"
    # Where nobody judges nobody is offered; who looks for the options of a debate is.
    person.choose_from("decide_how", "Round robin")
    person.choose_from("decide_ends", "Vote")
    await person.write("composer", "Which database should we use?")
    assert entries(person, "decide_ends")[3:] == [f"Helper: {last.model}"]
    setup.options.setPlainText("PostgreSQL\nSQLite")
    assert person.find("decide_how").accessibleName() == "How: Round robin · 3 rounds · 2 options"
    person.choose_from("decide_ends", "the cheapest model")
    assert setup.chosen_helper == ""
    person.choose_from("decide_how", "Answers first")
    person.choose_from("decide_ends", "Merged answer")
    # What models cost may be known by now.
    await until(lambda: "…" not in person.hint())
    helper = setup.helpers(council=True)[1]
    assert ends.accessibleDescription() == f"Helper: {helper.partition('/')[2]}"
    await person.press("composer", Qt.Key.Key_Return)
    page = desk.council_page
    await until(lambda: page.session is not None, what="the council")
    assert [one.text for one in page.session.debate.options] == ["PostgreSQL", "SQLite"]
    assert page.session.debate.council.helper == helper
    await desk.engine.stop(page.session.id)


async def test_one_model_answers_three_times_and_the_others_stay_out(person):
    desk = person.window.controller
    await person.click("segment_decide")
    several = chips(person)
    person.choose_from("decide_how", "One model three times (no second opinion)")
    assert person.find("decide_how").accessibleName() == "How: One model three times"
    assert chips(person) == several[:1]
    # Three answers, a comparison, two rounds, three ballots, two readings, what moved them, two dissents.
    assert person.hint().startswith("at most 18 calls · ")
    await person.write("composer", "Which database should we use?")
    await person.press("composer", Qt.Key.Key_Return)
    await until(lambda: desk.council_page.session is not None, what="the council")
    debate = desk.council_page.session.debate
    first, *others = debate.participants
    assert len(others) == 2 and {one.seat for one in others} == {first.seat}
    assert len({one.id for one in debate.participants}) == len({one.name for one in debate.participants}) == 3
    live = desk.engine.live(desk.council_page.session.id)
    assert session_document(live)["decision"]["how"] == "alone"
    await desk.engine.stop(desk.council_page.session.id)
    # Who asks several from a chat asks several.
    await person.click("new_button")
    desk.chats.several_requested.emit("Tea or coffee?", ())
    await until(lambda: desk.council_page.session.debate.topic == "Tea or coffee?", what="the other council")
    assert len({one.seat for one in desk.council_page.session.debate.participants}) > 1
    await desk.engine.stop(desk.council_page.session.id)


@pytest.mark.slow
async def test_a_debate_begins_in_the_main_area(person):
    desk = person.window.controller
    await person.click("segment_decide")
    person.choose_from("decide_how", "Round robin")
    setup = desk.panel.setup.setup()
    await person.write("composer", "Should cities ban cars?")
    await person.press("composer", Qt.Key.Key_Return)
    await until(lambda: desk.session_page.session and desk.session_page.isVisible(), what="the debate")
    session = desk.session_page.session
    assert session.debate.topic == "Should cities ban cars?" and session.debate.mode == "round-robin"
    assert session.debate.participants == setup.participants
    assert not desk.panel.isVisible() and desk.panel.setup.topic.toPlainText() == ""
    await desk.engine.stop(session.id)
    await person.click("new_button")
    assert person.find("composer").toPlainText() == "" and not person.sees("first_example"), (
        "it was done once"
    )
    assert person.sees("first_group")


async def test_the_cards_go_when_sessions_come_and_nothing_else_looks_at_all_sessions(
    person, data_dir, monkeypatch
):
    desk, lists = person.window.controller, []
    sessions = desk.engine.sessions
    monkeypatch.setattr(desk.engine, "sessions", lambda: lists.append(1) or sessions())

    def refreshed() -> tuple[int, bool, bool]:
        """Show the page anew in each mode; return how often all sessions were listed, and which cards there are."""
        lists.clear()
        for mode in ("decide", "chat", "work"):
            desk.first_page.show(mode)
            desk.chats.refresh()
        return len(lists), person.sees("first_example"), person.sees("first_group")

    assert refreshed() == (0, True, True)
    # One that comes back from the trash is found by looking at all once.
    paths = DataPaths(data_dir)
    session_id = write_session(paths, "Should cities ban cars?", 1)
    paths.trash.mkdir(exist_ok=True)
    paths.session(session_id).rename(paths.trash / f"{session_id}.1.jsonl")
    await desk.engine.restore(session_id)
    assert refreshed() == (1, False, True)
    assert refreshed() == (0, False, True)
    # One that begins says itself what it is.
    await desk.engine.workflows.start("Ship it.", desk.engine.workflows.all()[0].id)
    assert refreshed() == (0, False, False)


@pytest.mark.slow
async def test_files_go_along_with_a_decision_and_a_picture_is_refused_in_words(person, tmp_path):
    desk, composer = person.window.controller, person.window.chat_page.chat_composer
    await person.click("segment_decide")
    person.choose_from("decide_how", "Round robin")
    long, picture, file = QMimeData(), QMimeData(), QMimeData()
    long.setText("Tabs are one character. " * 400)
    picture.setImageData(QImage(8, 8, QImage.Format.Format_RGB32))
    notes = tmp_path / "notes.md"
    notes.write_text("Three rules.", encoding="utf-8")
    file.setUrls([QUrl.fromLocalFile(str(notes))])
    for given in (long, file):
        composer.message_box.insertFromMimeData(given)
    await until(lambda: len(composer.attachments()) == 2)
    composer.message_box.insertFromMimeData(picture)
    await until(lambda: len(composer.attachments()) == 3)
    await person.write("composer", "Tabs?")
    await person.press("composer", Qt.Key.Key_Return)
    said = [one.text() for one in person.window.toasts.findChildren(QLabel)]
    assert any("begin with an image" in one for one in said)
    assert person.find("composer").toPlainText() == "Tabs?" and len(composer.attachments()) == 3
    await person.click("attachment_remove_3")
    await person.press("composer", Qt.Key.Key_Return)
    await until(lambda: desk.session_page.session is not None, what="the debate")
    debate = desk.session_page.session.debate
    assert [one.text for one in debate.context] == [long.text(), "Three rules."]
    assert not composer.attachments() and not desk.engine.drafts.of(NEW).attachments
    await desk.engine.stop(desk.session_page.session_id)


@pytest.mark.slow
async def test_work_goes_to_a_group_or_a_workflow_that_exists(person):
    desk = person.window.controller
    await person.click("segment_work")
    assert (
        person.hint() == "Choose a group or a workflow."
        and person.find("work_with").accessibleName() == "Choose a group"
    )
    workflows = [one.name for one in desk.engine.workflows.all()]
    assert entries(person, "work_with") == [
        "Ready-made groups…",
        "Propose a group…",
        *workflows,
        "Edit workflows…",
        "Work in a folder of yours…",
    ]
    crew = Group(id="crew", name="Release crew", members=("assistant", "browser"))
    await desk.engine.groups.save(crew)
    await until(
        lambda: person.find("work_with").accessibleName() == "Release crew", what="the one group there is"
    )
    assert "tokens" in person.hint()
    await person.click("composer_means")
    await until(lambda: person.sees("done_means_text"), what="what done means, one click away")
    await person.write("done_means_text", "They are short")
    await person.click("done_means_save")
    assert person.find("composer_means").accessibleName() == "Done means (1)…"
    await person.write("composer", "Write the notes.")
    await person.press("composer", Qt.Key.Key_Return)
    page = person.window.chat_page
    await until(lambda: page.session is not None and page.session.group is not None, what="the group")
    assert page.session.group.name == "Release crew" and page.session.title == "Write the notes."
    assert [one.text for one in page.session.criteria] == ["They are short"]
    await desk.engine.stop(page.session_id)
    await person.click("new_button")
    person.choose_from("work_with", workflows[0])
    assert person.find("work_with").accessibleName() == workflows[0] and "step" in person.hint()
    assert person.window.top_bar.mode.text() == "", "the mode of the group that was chosen before"
    await person.write("composer", "Ship it.")
    await person.press("composer", Qt.Key.Key_Return)
    await until(lambda: page.session is not None and page.session.workflow is not None, what="the workflow")
    assert page.session.workflow.definition.name == workflows[0]
    await desk.engine.stop(page.session_id)


@pytest.mark.slow
@pytest.mark.qt_log_ignore("This plugin does not support", extend=True)
async def test_the_cards_fill_the_box_and_open_the_menu_and_send_nothing(person):
    desk = person.window.controller
    await person.click("first_example")
    assert person.find("composer_mode").value() == "decide"
    assert person.find("composer").toPlainText().startswith("Postgres or SQLite")
    await person.write("composer", "")
    await person.click("first_group")
    assert person.find("composer_mode").value() == "work"
    await until(person.find("work_with").choices.isVisible, what="the menu of groups")
    person.find("work_with").choices.close()
    assert not desk.engine.sessions() and not person.sees("first_connect"), "providers are ready"


@pytest.mark.qt_log_ignore("This plugin does not support", extend=True)
async def test_another_model_answers_from_now_on_and_another_assistant_has_its_own(person, wire_servers):  # noqa: F811
    desk, page = person.window.controller, person.window.chat_page
    await desk.engine.assistants.save(architect(model="openai-wire"))
    composer = page.chat_composer
    await until(lambda: "Architect" in [one.text() for one in composer.assistant.choices.actions()])
    next(one for one in composer.assistant.choices.actions() if one.text() == "Architect").trigger()
    assert composer.assistant.text() == "Architect"
    assert person.find("composer_model").accessibleName() == "Model: openai-wire"
    await person.click("composer_model")
    menu = person.find("model_menu")
    assert menu.list.model().index(0, 0).data() == "The assistant’s own model"
    QTest.keyClicks(menu.search, "anthropic")
    QTest.keyClick(menu, Qt.Key.Key_Return)
    assert person.find("composer_model").accessibleName() == "Model: anthropic-wire"
    await person.write("composer", "Hello.")
    await person.click("send_button")
    await until(
        lambda: page.session and page.session.status == "idle" and len(wire_servers["anthropic"].requests)
    )
    assert page.session.chat.assistant_id == "architect" and not wire_servers["openai"].requests
    assert (page.session.chat.provider, page.session.chat.model) == ("anthropic", "anthropic-wire")
    composer.model.chosen.emit("", "")
    await until(lambda: person.find("composer_model").accessibleName() == "Model: openai-wire")
    await person.write("composer", "Again.")
    await person.click("send_button")
    await until(lambda: len(wire_servers["openai"].requests) == 1 and page.session.status == "idle")
    # Or the next message alone.
    composer.model.chosen_once.emit("anthropic", "anthropic-wire")
    assert person.find("composer_model").accessibleName() == "Model: anthropic-wire"
    await person.write("composer", "Once.")
    await person.click("send_button")
    await until(lambda: len(wire_servers["anthropic"].requests) == 2 and page.session.status == "idle")
    assert person.find("composer_model").accessibleName() == "Model: openai-wire"


async def test_a_group_with_a_long_name_is_shortened_and_stays_chosen_when_the_window_changes(person):
    desk, work = person.window.controller, person.find("work_with")
    name = "The very patient reviewers & friends"
    await desk.engine.groups.save(Group(id="patient", name=name, members=("assistant", "browser")))
    await person.click("segment_work")
    await until(lambda: work.text().startswith("The very"))
    for size in ((1000, 700), (1440, 900)):
        person.window.resize(*size)
        await person.settle()
        assert work.text() == "The very patient reviewe…"
        assert "reviewers &amp; friends" in work.toolTip()
        assert work.accessibleName() == name


@pytest.mark.slow
async def test_a_decision_that_cannot_start_opens_setup_with_its_topic(person):
    desk = person.window.controller
    await person.click("segment_decide")
    person.choose_from("decide_how", "Assigned roles")
    card = next(one for one in desk.panel.setup.seats.cards if one.chosen)
    role = f"role_{card.participant().id}"
    await until(lambda: card.findChild(QWidget, role) is not None)
    await person.choose(role, "Custom…")
    await person.write("composer", "Should cities ban cars?")
    await person.press("composer", Qt.Key.Key_Return)
    await until(lambda: person.sees("debate_topic"))
    setup = desk.panel.setup
    assert person.window.main_area.isAncestorOf(setup) and not desk.panel.isVisible(), "in the main area"
    assert setup.topic.toPlainText() == "Should cities ban cars?"
    assert saying(setup, " a role.")
    # The panel has the same form, and what was typed.
    await person.click("debate_button")
    assert desk.panel.isAncestorOf(setup) and person.sees("debate_topic")
    assert setup.topic.toPlainText() == "Should cities ban cars?"
    assert person.sees("composer_mode") and not desk.engine.sessions()


@pytest.mark.slow
@pytest.mark.slow
async def test_a_topic_that_is_set_up_elsewhere_is_in_the_draft_until_its_debate_begins(person):
    desk = person.window.controller
    await person.click("segment_decide")
    person.choose_from("decide_how", "Round robin")
    await person.write("composer", "Tabs or spaces?")
    person.choose_from("decide_how", person.window.language("first.more_options"))
    form = desk.panel.setup
    await until(lambda: form.isVisible() and form.topic.toPlainText() == "Tabs or spaces?")
    assert desk.engine.drafts.of(NEW).text == "Tabs or spaces?"
    await desk.engine.debates.start(form.setup())
    await until(lambda: desk.engine.drafts.of(NEW).text == "")
    desk.show_new()
    assert person.window.chat_page.composer.box.toPlainText() == ""


@pytest.mark.parametrize(
    ("language", "says", "size"), [("en", "knows English only", "from 731 MB"), ("ko", "영어만", "731MB부터")]
)
async def test_without_a_provider_the_first_card_says_how_to_get_one(qapp, data_dir, language, says, size):
    async with at_window(data_dir, language=language) as person:
        await until(lambda: person.sees("first_connect") and person.sees("first_better_model"))
        cards = [card for card in person.window.findChildren(FirstCard) if card.isVisible()]
        left, *others = sorted(cards, key=lambda card: card.x())
        assert left.isAncestorOf(person.find("first_connect")) and len(others) == 2
        await until(lambda: says in left.text.text() and size in left.text.text())


async def test_the_small_model_alone_is_offered_for_no_comparison(qapp, data_dir):
    async with at_window(data_dir) as person:
        await until(lambda: person.sees("first_connect"))
        assert person.find("first_connect").text() == "Add a provider"
        await person.click("segment_decide")
        # It cannot compare answers, so nothing offers that.
        assert person.hint() == "at most 2 calls · free"


@pytest.mark.slow
async def test_a_topic_that_the_small_model_does_not_understand_is_asked_about(qapp, data_dir):
    async with at_window(data_dir) as person:
        controller = person.window.controller
        await person.click("segment_decide")
        person.choose_from("decide_how", "Round robin")
        await person.write("composer", "재택근무를 늘려야 할까?")
        await person.click("send_button")
        await until(lambda: person.sees("confirm_dialog"))
        await person.click("confirm_cancel")
        setup = controller.panel.setup
        await until(setup.isVisible)
        assert setup.setup().topic == "재택근무를 늘려야 할까?" and not controller.engine.sessions()
        await person.click("debate_start")
        await until(lambda: person.sees("confirm_dialog"))
        await person.click("confirm_agree")
        page = controller.session_page
        await until(lambda: page.session is not None and page.isVisible())
        assert saying(page.controls, "did not understand the topic")


@pytest.mark.slow
async def test_what_is_told_in_passing_hides_nothing_one_writes_or_sends_with(person):
    person.window.toasts.show_toast("Something to know, which is said in a line of some length.")
    toast = person.find("toast")
    await until(toast.isVisible)
    await person.click("new_button")
    for part in (person.find("composer"), person.find("send_button"), person.window.top_bar):
        there = toast.rect().translated(toast.mapTo(person.window, toast.rect().topLeft()))
        assert not there.intersects(part.rect().translated(part.mapTo(person.window, part.rect().topLeft())))


@pytest.mark.slow
async def test_who_opens_moot_again_can_write_at_once(qapp, data_dir, wire_home):  # noqa: F811
    async with at_window(data_dir) as person:
        await person.write("composer", "What is a moot?")
        await person.press("composer", Qt.Key.Key_Return)
        await until(lambda: person.window.controller.chat_page.session_id)
    async with at_window(data_dir) as person:
        box = person.window.controller.chat_page.composer.box
        await until(lambda: person.window.focusWidget() is box, seconds=10)


async def test_before_moot_is_ready_nothing_is_lost_and_nothing_false_is_said(qapp, data_dir):
    window = MainWindow(LIGHT, WindowState(data_dir))
    resources = Path(__file__).parents[2] / "resources"
    window.furnish(Language(resources / "i18n", "en"), Look(qapp, resources, "light"))
    composer = window.chat_page.chat_composer
    composer.box.setPlainText("A question in a hurry")
    QTest.keyClick(composer.box, Qt.Key.Key_Return)
    assert composer.box.toPlainText() == "A question in a hurry"
    said = "\n".join(label.text() for label in window.findChildren(QLabel))
    assert "not installed" not in said and "Nothing leaves it" not in said
    assert window.side_bar.providers_button.text() == ""
    window.resize(1440, 900)
    window.show()
    assert abs(window.side_bar.width() - SIDE_WIDTH) < 20, "the sidebar is as wide as it will be"
    window.close()
    window.deleteLater()
