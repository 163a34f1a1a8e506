"""Setup: who may sit down, what is refused and why, and what Start hands over (row D2)."""

import json
from dataclasses import replace

import pytest
from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QInputMethodEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel, QPlainTextEdit, QWidget

from app.core.draft import Draft, ParticipantDraft, SetupDraft
from app.core.provider import ModelFacts, Price
from app.core.texts import has_hangul
from app.gui.panels.debate.participant_list import ParticipantCard
from app.gui.widgets.controls import IconButton, ScrollingPage, TextBox
from tests.app_driver import at_window, until
from tests.files.documents import a_locked_pdf, a_pdf
from tests.gui.models import give_keys, give_prices, models_of
from tests.gui.seen import inside, saying, texts_in
from tests.wire import WireServer
from tests.wire.providers_file import write_providers

SMALL = "A very small English-only model on this computer."
pytestmark = pytest.mark.qt_log_ignore("This plugin does not support", extend=True)


@pytest.fixture
async def person(qapp, data_dir):
    async with at_window(data_dir) as person:
        person.window.controller.debates.show_setup()
        yield person


def cards(person) -> list[ParticipantCard]:
    return person.window.controller.panel.setup.seats.cards


def card_of(person, seat: str) -> ParticipantCard:
    return next(card for card in cards(person) if card.candidate.participant.id == seat)


async def test_start_says_what_is_missing(person):
    setup = person.window.controller.panel.setup
    assert not setup.start.isEnabled()
    assert "Enter a topic first." in texts_in(setup)
    await person.write("debate_topic", "Tabs or spaces?")
    assert setup.start.isEnabled()
    assert "About 6 turns · free on this computer" in texts_in(setup)
    card_of(person, "ada").tick.setChecked(False)
    assert not setup.start.isEnabled()
    assert "Choose at least two participants." in texts_in(setup)


@pytest.mark.slow
async def test_enter_in_the_topic_starts_where_the_debate_can_start(person):
    started = []
    person.window.controller.panel.setup.start_requested.connect(
        lambda setup, _paths: started.append(setup.topic)
    )
    await person.press("debate_topic", Qt.Key.Key_Return)
    assert started == []
    await person.write("debate_topic", "Tabs or spaces?")
    box = person.find("debate_topic")
    QTest.keyClick(box, Qt.Key.Key_Return, Qt.KeyboardModifier.ShiftModifier)
    assert started == [] and box.toPlainText() == "Tabs or spaces?\n"
    await person.press("debate_topic", Qt.Key.Key_Return)
    assert started == ["Tabs or spaces?"]


async def test_the_first_keys_take_the_ticks_of_the_small_model_but_not_of_whom_the_user_chose(person):
    card_of(person, "cleo").tick.setChecked(True)
    await give_keys(person, "openai", "anthropic")
    chosen = {card.candidate.participant.id for card in cards(person) if card.chosen}
    assert chosen == {"openai", "anthropic", "cleo"}


@pytest.mark.slow
async def test_a_topic_that_is_too_long_is_refused_where_it_is_typed(person):
    setup = person.window.controller.panel.setup
    await person.write("debate_topic", "x" * 8_001)
    assert not setup.start.isEnabled()
    assert saying(setup, "8001") or saying(setup, "8,001")


@pytest.mark.slow
async def test_a_seat_without_a_key_shows_why_and_the_way_to_settings(person):
    await person.click("add_voice")
    await person.click("set_up_openai")
    await until(lambda: person.sees("settings_page"))
    page = person.find("settings_page").page("providers").page()
    assert page.provider_id == "openai"
    person.find("settings_close").click()
    await person.settle()


@pytest.mark.slow
async def test_rounds_from_one_to_ten(person):
    setup = person.window.controller.panel.setup
    setup.rounds.setValue(99)
    assert setup.setup().rounds == 10
    setup.rounds.setValue(-5)
    assert setup.setup().rounds == 1
    assert "1" in texts_in(setup, "value")


@pytest.mark.slow
async def test_roles_are_offered_in_role_assignment_only(person):
    setup = person.window.controller.panel.setup
    await person.write("debate_topic", "Tabs or spaces?")
    assert not person.sees("role_ada")
    await person.click("segment_roles")
    assert person.sees("role_ada")
    assert [one.role for one in setup.setup().participants] == ["for", "against"]
    await person.choose("role_ben", "Devil’s advocate")
    assert setup.setup().participants[1].role == "devils-advocate"
    await person.choose("role_ben", "Custom…")
    assert not setup.start.isEnabled()
    card = card_of(person, "ben")
    card.stops[-1].setText("A tired parser")
    assert setup.setup().participants[1].role == "A tired parser"
    assert setup.start.isEnabled()
    await person.click("segment_free")
    assert [one.role for one in setup.setup().participants] == ["", ""]


async def test_a_prompt_of_ones_own_needs_no_role(person):
    setup = person.window.controller.panel.setup
    await person.write("debate_topic", "Tabs or spaces?")
    await give_keys(person, "anthropic")
    await person.click("segment_roles")
    await person.choose("role_anthropic", "Custom…")
    assert "Give Claude a role." in texts_in(setup)
    card_of(person, "anthropic").set_system_prompt("You are Claude, and undecided.")
    assert setup.start.isEnabled()
    card_of(person, "anthropic").set_system_prompt("")
    assert not setup.start.isEnabled()


async def test_a_written_prompt_is_for_debates_like_the_one_that_began_with_it(person):
    setup = person.window.controller.panel.setup

    def prompts():
        return [seat.system_prompt for seat in setup.setup().participants]

    await person.write("debate_topic", "Tabs or spaces?")
    await give_keys(person, "anthropic", "openai")
    card = card_of(person, "anthropic")
    card.set_system_prompt("You are Claude, against GPT.")
    await person.click("segment_roles")
    assert "You are Claude, against GPT." in prompts(), "until a debate begins it is for each"
    setup.keep_prompts()
    assert "You are Claude, against GPT." in prompts()
    await person.click("segment_free")
    assert not any(prompts()) and not person.find("prompt_anthropic").isChecked()
    await person.click("segment_roles")
    assert "You are Claude, against GPT." in prompts() and person.find("prompt_anthropic").isChecked()
    card_of(person, "openai").leave_out()
    assert not any(prompts()), "against nobody"
    kept = card.draft
    assert (kept.system_prompt, kept.prompt_for[:6]) == ("You are Claude, against GPT.", "roles:")


async def test_a_local_server_that_does_not_run_is_not_offered(qapp, data_dir):
    # This computer may have one that runs at the usual place.
    with WireServer("ollama") as server:
        write_providers(data_dir, [server])
    async with at_window(data_dir) as person:
        person.window.controller.debates.show_setup()
        await until(lambda: not card_of(person, "ollama").tick.isEnabled())
        await person.click("add_voice")
        assert person.sees("set_up_ollama")


@pytest.mark.slow
async def test_the_generated_prompt_is_seen_and_replaced(person):
    setup = person.window.controller.panel.setup
    await person.write("debate_topic", "Tabs or spaces?")
    await give_keys(person, "anthropic")
    await person.settle()
    assert not person.sees("prompt_ada"), "the built-in model gets no system prompt"
    await person.click("prompt_anthropic")
    await until(lambda: person.sees("prompt_dialog"))
    generated = person.find("prompt_text", QPlainTextEdit).toPlainText()
    assert generated.strip()
    await person.write("prompt_text", "You are terse.")
    await person.click("prompt_save")
    await person.settle()
    assert setup.setup().participants[0].system_prompt == "You are terse."
    assert person.find("prompt_anthropic").isChecked()
    await person.click("prompt_anthropic")
    await until(lambda: person.sees("prompt_dialog"))
    await person.click("prompt_reset")
    await person.click("prompt_save")
    await person.settle()
    assert setup.setup().participants[0].system_prompt == ""


@pytest.mark.slow
async def test_the_same_model_sits_twice_under_another_name(person):
    setup = person.window.controller.panel.setup
    await person.write("debate_topic", "Tabs or spaces?")
    setup.seats.add_participant(card_of(person, "ada").candidate)
    setup.seats.add_participant(card_of(person, "ada").candidate)
    names = [one.name for one in setup.setup().participants]
    assert names == ["Ada", "Ben", "Ada 2", "Ada 3"]
    last = cards(person)[-1]
    inside(last, f"remove_{last.participant().id}").click()
    assert [one.name for one in setup.setup().participants] == names[:-1]
    person.window.controller.engine.debates.check(setup.setup())


async def test_who_can_sit_down_at_once_comes_first(person):
    ready = [card.candidate.status.ready for card in cards(person)]
    assert ready == sorted(ready, reverse=True)
    assert not ready[-1]


@pytest.mark.slow
async def test_colours_follow_the_order_of_who_takes_part(person):
    assert card_of(person, "ada")._avatar._index == 0
    assert not card_of(person, "cleo").isVisible()
    await person.click("remove_ada")
    assert card_of(person, "ben")._avatar._index == 0


@pytest.mark.slow
@pytest.mark.parametrize("count", [3, 5])
async def test_everything_is_in_sight_without_scrolling(person, count):
    setup = person.window.controller.panel.setup
    await give_keys(person, "openai", "anthropic", "gemini")
    for card in [one for one in cards(person) if one.candidate.status.ready and not one.chosen][: count - 3]:
        card.tick.click()
    await person.click("segment_roles")
    await person.settle(0.1)
    area = setup.findChild(ScrollingPage)
    assert len(setup.setup().participants) == count
    assert area.verticalScrollBar().maximum() == 0
    bottom = setup.conclusion.polls.mapTo(setup, setup.conclusion.polls.rect().bottomLeft()).y()
    assert bottom < setup.start.mapTo(setup, setup.start.rect().topLeft()).y()


@pytest.mark.slow
async def test_a_participant_can_be_renamed(person):
    card_of(person, "ada").stops[0].setText("지민")
    assert person.window.controller.panel.setup.setup().participants[0].name == "지민"


async def test_the_small_model_is_honest_about_itself_and_about_korean(person):
    setup = person.window.controller.panel.setup
    assert saying(setup, SMALL)
    assert not person.sees("warning_providers")
    await person.write("debate_topic", "원격 근무, 늘려야 할까?")
    assert person.sees("warning_providers")
    await person.click("warning_providers")
    await until(lambda: person.sees("connect_dialog"))
    person.find("connect_dialog").reject()
    await person.settle()
    for card in cards(person):
        card.tick.setChecked(False)
    assert not saying(setup, SMALL)
    assert not person.sees("warning_providers")


@pytest.mark.parametrize(("letter", "korean"), [("가", True), ("ㅋ", True), ("a", False), ("漢", False)])
def test_hangul(letter, korean):
    assert has_hangul(f"a{letter}1") is korean


@pytest.mark.slow
async def test_context_files_are_kept_and_counted(person, tmp_path, data_dir):
    setup = person.window.controller.panel.setup
    file = tmp_path / "notes.md"
    file.write_text("x" * 8_000, encoding="utf-8")
    setup.add_files([str(file)])
    assert setup.context.isChecked()
    assert "1 file · 2.0k tokens" in texts_in(setup)
    await until(lambda: (data_dir / "settings.json").exists())
    await until(lambda: not person.window.controller.tasks.running("save settings"))
    kept = json.loads((data_dir / "settings.json").read_text("utf-8"))
    assert kept["project_context"] == [str(file)]
    file.unlink()
    await person.write("debate_topic", "Tabs or spaces?")
    await person.click("debate_start")
    await until(lambda: saying(setup, "notes.md"), what="the file to be named")
    assert person.window.controller.engine.sessions() == []
    setup.files.findChild(IconButton).click()
    assert setup.files.paths == ()
    nothing = "No file is chosen, so nothing is included."
    setup.context.setChecked(True)
    assert nothing in texts_in(setup)
    setup.context.setChecked(False)
    assert nothing not in texts_in(setup)


@pytest.mark.slow
async def test_a_voice_and_a_context_file_that_were_removed_come_back_where_they_were(person, tmp_path):
    setup, desk = person.window.controller.panel.setup, person.window.controller
    ready = next(card.candidate for card in cards(person) if card.candidate.status.ready)
    for _voice in range(2):
        setup.seats.add_participant(ready)
    first, last = cards(person)[-2:]
    first.stops[0].setText("Cassandra")
    first.set_system_prompt("Warn them.")
    before = setup.draft
    inside(first, f"remove_{first.participant().id}").click()
    assert "Cassandra" not in [card.participant().name for card in cards(person)]
    await person.click("toast_action")
    back = cards(person)[-2]
    assert cards(person)[-1] is last
    assert (back.participant().name, back.participant().system_prompt) == ("Cassandra", "Warn them.")
    assert [replace(one, id="") for one in setup.draft.setup.seats] == [
        replace(one, id="") for one in before.setup.seats
    ]
    assert setup.seats.layout().indexOf(back) == cards(person).index(back)
    files = [str(tmp_path / name) for name in ("a.md", "b.md", "c.md")]
    setup.add_files(files)
    await until(lambda: desk.engine.settings().project_context == tuple(files))
    setup.files.findChildren(IconButton)[1].click()
    await until(lambda: desk.engine.settings().project_context == (files[0], files[2]))
    assert setup.files.paths == (files[0], files[2])
    desk.undo()
    await until(lambda: desk.engine.settings().project_context == tuple(files))
    assert setup.files.paths == tuple(files)
    await until(lambda: not desk.tasks.running("save settings"))


async def test_while_an_input_method_composes_enter_only_commits(qapp):
    box = TextBox()
    sent = []
    box.submitted.connect(lambda: sent.append(box.text()))
    box.show()
    QApplication.sendEvent(box, QInputMethodEvent("한", []))
    QTest.keyClick(box, Qt.Key.Key_Return)
    assert sent == []
    commit = QInputMethodEvent("", [])
    commit.setCommitString("한글")
    QApplication.sendEvent(box, commit)
    QTest.keyClick(box, Qt.Key.Key_Return, Qt.KeyboardModifier.ShiftModifier)
    assert sent == []
    assert box.toPlainText() == "한글\n"
    QTest.keyClick(box, Qt.Key.Key_Return)
    assert sent == ["한글"]
    box.deleteLater()
    QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)


@pytest.mark.slow
async def test_everything_a_person_acts_on_has_a_name_for_the_screen_reader(person):
    await person.click("segment_roles")
    for widget in person.window.findChildren(QWidget):
        acts = widget.focusPolicy() & Qt.FocusPolicy.TabFocus and widget.isVisible()
        if acts and not widget.objectName().startswith("qt_"):
            words = widget.accessibleName() or (widget.text() if hasattr(widget, "text") else "")
            assert words, f"{type(widget).__name__} {widget.objectName()} has no words"


@pytest.mark.slow
async def test_what_it_will_cost_is_estimated_before_start_and_follows_what_is_set_up(person, monkeypatch):
    setup, engine = person.window.controller.panel.setup, person.window.controller.engine
    asked: list[tuple[str, str]] = []
    looked_up: list[tuple[str, str]] = []

    async def price(provider: str, model: str) -> Price | None:
        asked.append((provider, model))
        known = {"openai": Price(read=0.000002, written=0.00001), "embedded": Price()}
        return known.get(provider)

    async def facts(provider: str, model: str) -> ModelFacts:
        looked_up.append((provider, model))
        return ModelFacts()

    give_prices(monkeypatch, engine, price)
    monkeypatch.setattr(models_of(engine), "facts", facts)
    await person.write("debate_topic", "Tabs or spaces?")
    await until(lambda: "About 6 turns · free on this computer" in texts_in(setup))
    await give_keys(person, "openai", "anthropic")
    assert saying(setup, " turns · ").startswith("6 turns · ")
    # Who votes is checked for the first time.
    await until(
        lambda: saying(setup, " turns · ").endswith(", not all prices known · first time: + 12 calls")
    )
    said = [one.text() for one in setup.findChildren(QLabel) if one.isVisible()]
    assert sum("prices known" in one for one in said) == 1
    card_of(person, "anthropic").tick.setChecked(False)
    for card in cards(person):
        if card.candidate.participant.provider == "openai":
            card.tick.setChecked(True)
    setup.seats.add_participant(card_of(person, "openai").candidate)
    await until(lambda: "$" in (said := saying(setup, " turns · ")) and "not all" not in said)
    before = saying(setup, " turns · ")
    setup.rounds.setValue(10)
    assert saying(setup, " turns · ") != before
    assert len(asked) == len(set(asked))
    [models] = [one.models for one in engine.providers() if one.config.id == "openai"]
    assert len(models) > 1
    # Those that do not take part can be chosen too.
    await until(lambda: {("openai", one) for one in models} <= set(looked_up))


async def test_a_debate_that_is_run_again_has_its_seed_and_another_topic_one_of_its_own(person):
    setup = person.window.controller.panel.setup
    draft = Draft(text="Tabs or spaces?", setup=SetupDraft(seed=7))
    setup.show_draft(draft)
    assert setup.setup().seed == 7
    assert setup.draft.setup is not None and setup.draft.setup.seed == 7
    setup.set_topic("Vim or Emacs?")
    assert setup.setup().seed is None


@pytest.mark.slow
async def test_a_participant_of_a_debate_that_is_run_again_has_its_effort_creativity_and_length(person):
    setup = person.window.controller.panel.setup
    first = next(card for card in cards(person) if card.candidate.status.ready).candidate.participant
    wish = {"effort": "high", "creativity": "precise", "length": "short"}
    seat = ParticipantDraft(
        id=first.id, provider=first.provider, model=first.model, name="Twin", chosen=True, added=True, **wish
    )
    setup.show_draft(Draft(text="Tabs or spaces?", setup=SetupDraft(seats=(seat,))))
    twin = next(card for card in cards(person) if card.participant().name == "Twin")
    setup.seats.refresh()
    shown = twin.participant()
    assert {"effort": shown.effort, "creativity": shown.creativity, "length": shown.length} == wish
    assert twin.draft is not None and twin.draft.effort == "high"


@pytest.mark.slow
async def test_a_document_counts_with_its_text_and_a_bad_one_is_named_at_once(person, tmp_path):
    good, bad = tmp_path / "plan.pdf", tmp_path / "locked.pdf"
    good.write_bytes(a_pdf(["x" * 80 + "\n" + "y" * 79] * 50))
    bad.write_bytes(a_locked_pdf())
    person.window.controller.debates.show_setup("Ban cars?")
    setup = person.window.controller.panel.setup
    setup.add_files([str(good)])
    await until(lambda: saying(setup, "2.0k"))
    setup.add_files([str(bad)])
    await until(lambda: person.sees("toast"))
    assert "locked.pdf" in person.find("toast").accessibleName()
    assert "2 files · 2.0k tokens" in texts_in(setup)


@pytest.mark.slow
async def test_the_pdf_files_of_a_debate_are_sent_as_they_look(qapp, data_dir, tmp_path, monkeypatch):
    path = tmp_path / "report.pdf"
    path.write_bytes(a_pdf([f"Sales rose by {page} percent" for page in range(30)]))
    sighted, blind = WireServer("anthropic", models=("claude-opus-4-5",)), WireServer("deepseek")
    with sighted, blind:
        for name, value in write_providers(data_dir, [sighted, blind]).items():
            monkeypatch.setenv(name, value)
        async with at_window(data_dir) as person:
            desk = person.window.controller
            desk.debates.show_setup()
            setup = desk.panel.setup
            setup.add_files([str(path)])
            await until(lambda: person.sees("context_look"))
            seats = {card.candidate.participant.provider: card for card in cards(person)}
            for card in cards(person):
                card.tick.setChecked(card is seats["deepseek"])
            assert not setup.files.look.isEnabled() and "None of these" in setup.files.look.toolTip()
            seats["anthropic"].tick.setChecked(True)
            await person.click("context_look")
            await until(lambda: person.sees("toast"))
            assert "1 file · 60.0k tokens" in texts_in(setup)
            assert "“report.pdf” as it looks takes about 60,000 tokens" in toast_text(person)
            setup.rounds.setValue(1)
            await person.write("debate_topic", "Do sales rise?")
            await person.click("debate_start")
            await until(lambda: sighted.requests and blind.requests, what="both to be asked")
            assert setup.draft.setup.looks
            (session,) = desk.engine.sessions()
            await until(lambda: desk.engine.live(session.id).session.status == "completed")
            setup.show_draft(Draft())
            assert not setup.files.look.isChecked()
            person.choose_from("decision_more", "Run again")
            await until(setup.files.look.isChecked)
    turn = next(one for one in sighted.requests if one.messages[0].images)
    assert turn.messages[0].images == ("application/pdf",)
    assert not any(one.messages[0].images for one in blind.requests)
    assert any("rose by 29" in one.messages[0].text for one in blind.requests)


def toast_text(person) -> str:
    return " ".join(label.text() for label in person.find("toast").findChildren(QLabel))


@pytest.mark.slow
async def test_options_are_checked_where_they_are_typed_and_kept_by_run_again(person, data_dir):
    setup, desk = person.window.controller.panel.setup, person.window.controller
    await person.write("debate_topic", "Which database should we use?")
    assert not person.sees("debate_options")
    await person.click("add_options")
    await person.write("debate_options", "PostgreSQL\n\n")
    assert not setup.start.isEnabled()
    assert "Options given: 1. Give 2 to 5 different ones." in texts_in(setup)
    await person.write("debate_options", "\n".join(f"Database {number}" for number in range(6)))
    assert not setup.start.isEnabled() and saying(setup, "Options given: 6.")
    await person.write("debate_options", "PostgreSQL\nSQLite\n")
    assert setup.start.isEnabled() and setup.setup().options == ("PostgreSQL", "SQLite")
    again = setup.draft
    setup.show_draft(Draft())
    assert setup.setup().options == ()
    setup.show_draft(again)
    assert setup.draft == again and setup.setup().options == ("PostgreSQL", "SQLite")
    await person.click("debate_start")
    view = desk.session_page
    await until(lambda: view.session is not None, 60.0, what="the debate")
    assert [one.text for one in view.session.debate.options] == ["PostgreSQL", "SQLite"]
    assert setup.options.toPlainText() == "", "the next question has options of its own"
    assert not person.sees("debate_options")
    await desk.engine.stop(view.session.id)
    await until(lambda: person.sees("decision_more"), 60.0, what="what can be done after it")
    person.choose_from("decision_more", "Run again")
    await until(lambda: person.sees("debate_options"))
    assert setup.setup().options == ("PostgreSQL", "SQLite")


@pytest.mark.slow
async def test_a_council_says_in_setup_how_it_ends_who_judges_and_who_helps(person):
    desk, setup = person.window.controller, person.window.controller.panel.setup
    await give_keys(person, "openai", "anthropic")
    desk.debates.show_new("Which database should we use?", council=True)
    await until(lambda: person.sees("setup_ends"))
    choice = person.find("setup_ends")
    assert [choice.itemText(row) for row in range(choice.count())] == [
        "Verdict", "Vote", "Merged answer", "No verdict",
    ]  # fmt: skip
    assert choice.currentText() == "Verdict" and not person.sees("debate_polls")
    judge, helper = setup.helpers(council=True)
    assert setup.helper.accessibleName() == f"Helper: {helper.partition('/')[2]}"
    assert judge.partition("/")[2] in setup.conclusion.judge.accessibleName()
    calls = saying(setup, "at most ")
    choice.setCurrentIndex(choice.findText("Merged answer"))
    choice.activated.emit(choice.currentIndex())
    assert desk.debates.council_ends == "merge" and saying(setup, "at most ") != calls
    assert not setup.conclusion.judge.isEnabled()
    # The one that was chosen is asked, and is in what is kept for the next time.
    model = setup.setup().participants[-1]
    setup.helper.chosen.emit(model.provider, model.model)
    chosen = f"{model.provider}/{model.model}"
    assert setup.helpers(council=True) == ("", chosen)
    assert setup.helper.accessibleName() == f"Helper: {model.model}"
    assert setup.draft.setup.helper == chosen and setup.setup().helper == chosen
    setup.helper.chosen.emit("", "")
    assert setup.setup().helper == "" and setup.helpers(council=True) == ("", helper)
