"""*Done means…* and the card of the result, as a person has them: criteria, what shows them, and what can be done next."""

import pytest
from PySide6.QtWidgets import QPushButton

from app.core.criteria import Checker, Criterion, CriterionState, Doubt, Evidence
from app.core.session import Chat, ChatSession, Status
from app.gui.display.appearance import Language, Look
from app.gui.pages.chat.over_input import ResultCard
from app.gui.widgets.text import Paragraph
from app.storage.paths import resources_dir
from tests.app_driver import Person, at_window, until
from tests.chat_scenes import architect
from tests.stories.test_criteria import HALF, SEA, SKY, WHOLE, honest, is_check
from tests.wire import Answer
from tests.wire.fixtures import wire_home, wire_servers  # noqa: F401

WORDS = {
    "en": ("1/2", "1 of 2 met", "2 of 2 met", "same family", "Do the rest"),
    "ko": ("1/2", "1/2 충족", "2/2 충족", "같은 계열 모델", "나머지 진행"),
}


async def hand_over(person: Person, text: str) -> None:
    """Say what done means, and send a message."""
    await person.click("new_button")
    person.find("composer").setFocus()
    person.window.controller.chat_page.chat_composer.done_means.trigger()
    await until(lambda: person.sees("done_means_text"))
    await person.write("done_means_text", f"{SKY}\n\n  {SEA}\n")
    await person.click("done_means_save")
    await person.write("composer", text)
    await person.click("send_button")


@pytest.mark.slow
@pytest.mark.parametrize("language", ["en", "ko"])
async def test_what_is_unmet_can_be_done_or_accepted(qapp, data_dir, wire_home, wire_servers, language):  # noqa: F811
    server, works = wire_servers["openai"], [HALF + "\n\nA line." * 60]
    server.script(server.model, lambda request: honest(request) if is_check(request) else Answer(works[-1]))
    async with at_window(data_dir, language=language) as person:
        page, engine = person.window.controller.chat_page, person.window.controller.engine
        await engine.assistants.save(architect(model=server.model, tools=(), sub_agents=()))
        await hand_over(person, "Name the colours.")
        await until(lambda: page.session is not None and page.session.status == Status.PAUSED)
        await until(lambda: person.sees("result_card"))
        _, half, whole, family, rest = WORDS[language]
        card = page.result
        assert (card.state.text(), card.state.property("kind")) == (half, "warn")
        assert person.find("result_rest", QPushButton).text() == rest
        assert family in " ".join(one.text() for one in card.findChildren(type(card.state)))
        assert not person.sees("chat_resume"), "the card has the button"
        assert not any('"verdict"' in one for one in person.transcript("transcript"))
        [quote] = card.findChildren(QPushButton, "result_evidence")
        evidence = page.session.criteria[0].evidence
        page.go_to(f"{page.transcript.message_ids[0]}:0")
        assert page.transcript.place[0] != evidence.message_id
        quote.click()
        assert page.transcript.place[0] == evidence.message_id
        works.append(WHOLE)
        await person.click("result_rest")
        await until(lambda: page.session.status == Status.COMPLETED)
        await until(lambda: (card.state.text(), card.state.property("kind")) == (whole, "ok"))
        assert not person.sees("result_rest") and not person.sees("result_accept")
        await person.click("result_changes")
        assert person.window.focusWidget() is person.find("composer")
        exported = await engine.export(page.session_id, "md")
        first = exported.partition("\n## ")[2]
        assert first.startswith({"en": "Done means", "ko": "완료 기준"}[language])
        assert f"[x] {SEA}" in first[:400] and "the sea is green" in first[:400]


@pytest.mark.slow
async def test_what_is_accepted_is_never_green(qapp, data_dir, wire_home, wire_servers):  # noqa: F811
    server = wire_servers["openai"]
    server.script(server.model, lambda request: honest(request) if is_check(request) else Answer(HALF))
    async with at_window(data_dir) as person:
        page, engine = person.window.controller.chat_page, person.window.controller.engine
        await engine.assistants.save(architect(model=server.model, tools=(), sub_agents=()))
        await hand_over(person, "Name the colours.")
        await until(lambda: page.session is not None and page.session.status == Status.PAUSED)
        await person.click("result_accept")
        await until(lambda: page.session.status == Status.COMPLETED)
        assert page.result.state.property("kind") == "warn"
        assert [one.state for one in page.session.criteria] == ["met", "accepted"]
        assert page.chat_composer.done_means.text() == "Done means (2)…"


def a_session(*criteria: Criterion, status: str = Status.PAUSED) -> ChatSession:
    return ChatSession(id="s", title="T", status=status, chat=Chat(assistant_id="a"), criteria=criteria)


def test_hostile_texts_are_shown_as_they_are_and_fit(qapp) -> None:
    """No rich text, and nothing sticks out of a narrow card."""
    card = ResultCard(Language(resources_dir() / "i18n", "en"), Look(qapp, resources_dir(), "light"))
    long = "<b>bold</b> & " + "wort" * 100
    by = Checker(name="gpt-5", provider="openai", model="gpt-5", other_family=True)
    met = Criterion(
        text=long, state=CriterionState.MET, round=1, checked_by=by, evidence=Evidence(quote=long)
    )
    unknown = Criterion(text="b", state=CriterionState.UNKNOWN, round=1, doubt=Doubt.NOT_FOUND, says=long)
    card.resize(420, 300)
    card.show()
    card.show_result(a_session(met, unknown), "x" * 5_000, "$0.10 · 1:00")
    card.set_room(200)
    assert card.minimumSizeHint().width() <= 420
    assert long in [one.text() for one in card.findChildren(Paragraph)]
    assert card.isVisible() and card.accessibleName() == "Result, 1 of 2 met, $0.10 · 1:00"
    card.show_result(a_session(met, unknown, status=Status.RUNNING), "x", "")
    assert not card.isVisible()


def test_what_shows_a_criterion_is_asked_for_where_it_is(qapp) -> None:
    """A quotation from a file asks for the file, another for the message."""
    card = ResultCard(Language(resources_dir() / "i18n", "en"), Look(qapp, resources_dir(), "light"))
    found = [Evidence(quote="blue", file="sky & sea.md"), Evidence(quote="green", message_id="m")]
    met = [Criterion(text="c", state=CriterionState.MET, round=1, evidence=one) for one in found]
    asked: list[tuple[str, str]] = []
    card.file_wanted.connect(lambda path: asked.append(("file", path)))
    card.message_wanted.connect(lambda message_id: asked.append(("message", message_id)))
    card.show_result(a_session(*met), "x", "")
    quotes = card.findChildren(QPushButton, "result_evidence")
    assert quotes[0].text() == "“blue” (sky && sea.md)"
    for quote in quotes:
        quote.click()
    assert asked == [("file", "sky & sea.md"), ("message", "m")]


def test_each_criterion_stands_once_however_often_it_was_checked(qapp) -> None:
    card = ResultCard(Language(resources_dir() / "i18n", "en"), Look(qapp, resources_dir(), "light"))
    card.show()
    for state in (CriterionState.UNKNOWN, CriterionState.UNMET):
        card.show_result(a_session(Criterion(text="a", state=state, round=1, says=state)), "x", "")
        qapp.sendPostedEvents()
    shown = [one.text() for one in card.findChildren(Paragraph) if one.isVisibleTo(card)]
    assert shown == ["a", CriterionState.UNMET]
