"""*Done means…* and the card of the result, as a person has them: criteria, what shows them, and what can be done next."""

import json
import zipfile
from dataclasses import replace

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFileDialog, QPushButton, QWidget

from app.core.criteria import CRITERIA, Checker, Criterion, CriterionState, Doubt, Evidence, PlanItem
from app.core.message import Author, Message, MessageState, Role, Usage
from app.core.session import Chat, ChatSession, GroupSession, GroupState, Status
from app.core.session_files import FileVersion
from app.gui.display.appearance import Language, Look
from app.gui.display.descriptions import tone_of
from app.gui.pages.chat.over_input import CriteriaList, FilesList, Result, ResultCard, result_of
from app.gui.widgets.text import Paragraph
from app.storage.paths import resources_dir
from tests.app_driver import Person, at_window, until
from tests.chat_scenes import architect, call
from tests.group_scenes import crew, leads
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
        await until(lambda: person.window.top_bar.status.text() == "Not all met")
        await person.click("result_accept")
        await until(lambda: page.session.status == Status.COMPLETED)
        assert page.result.state.property("kind") == "warn"
        assert tone_of(page.session) == "warn"
        assert [one.state for one in page.session.criteria] == ["met", "accepted"]
        assert page.chat_composer.done_means.text() == "Done means (2)…"


def a_result(*criteria: Criterion, **fields: str) -> Result:
    return Result(criteria=criteria, **{"asked": "x", "spent": "", **fields})


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
    card.show_result(a_result(met, unknown, asked="x" * 5_000, spent="$0.10 · 1:00"))
    card.set_room(200)
    assert card.minimumSizeHint().width() <= 420
    assert long in [one.text() for one in card.findChildren(Paragraph)]
    assert card.isVisible() and card.accessibleName() == "Result, 1 of 2 met, $0.10 · 1:00"
    card.show_result(None)
    assert not card.isVisible()


def test_what_shows_a_criterion_is_asked_for_where_it_is(qapp) -> None:
    """A quotation from a file asks for the file, another for the message."""
    card = ResultCard(Language(resources_dir() / "i18n", "en"), Look(qapp, resources_dir(), "light"))
    found = [Evidence(quote="blue", file="sky & sea.md"), Evidence(quote="green", message_id="m")]
    met = [Criterion(text="c", state=CriterionState.MET, round=1, evidence=one) for one in found]
    asked: list[tuple[str, str]] = []
    card.criteria.file_wanted.connect(lambda path: asked.append(("file", path)))
    card.criteria.message_wanted.connect(lambda message_id: asked.append(("message", message_id)))
    card.show_result(a_result(*met))
    quotes = card.findChildren(QPushButton, "result_evidence")
    assert quotes[0].text() == "“blue” (sky && sea.md)"
    for quote in quotes:
        quote.click()
    assert asked == [("file", "sky & sea.md"), ("message", "m")]


def test_a_long_quotation_makes_no_list_wider_than_what_holds_it(qapp) -> None:
    means = CriteriaList(
        Language(resources_dir() / "i18n", "en"), Look(qapp, resources_dir(), "light"), wide=False
    )
    shown = Evidence(quote="wort " * 100, file="a.md")
    means.show_criteria([Criterion(text="a", state=CriterionState.MET, round=1, evidence=shown)])
    assert means.minimumSizeHint().width() < 200


def test_each_criterion_stands_once_however_often_it_was_checked(qapp) -> None:
    card = ResultCard(Language(resources_dir() / "i18n", "en"), Look(qapp, resources_dir(), "light"))
    card.show()
    for state in (CriterionState.UNKNOWN, CriterionState.UNMET):
        card.show_result(a_result(Criterion(text="a", state=state, round=1, says=state)))
        qapp.sendPostedEvents()
    shown = [one.text() for one in card.findChildren(Paragraph) if one.isVisibleTo(card)]
    assert shown == ["a", CriterionState.UNMET]


@pytest.mark.parametrize(
    ("language", "rest", "again"),
    [("en", "Do the rest · about $0.06", "Do the rest"), ("ko", "나머지 진행 · 약 $0.06", "나머지 진행")],
)
def test_the_rest_has_its_price_where_that_is_known(qapp, language: str, rest: str, again: str) -> None:
    card = ResultCard(Language(resources_dir() / "i18n", language), Look(qapp, resources_dir(), "light"))
    card.show()
    unmet = Criterion(text="a", state=CriterionState.UNMET, round=3)
    for price, text in (("$0.06", rest), ("", again)):
        card.show_result(a_result(unmet, price=price))
        assert card.rest.text() == text and card.rest.isVisible() and card.accept.isVisible()
        assert not card.check.isVisible() and not card.means.isVisible()


@pytest.mark.parametrize(
    ("language", "unchecked", "left"),
    [("en", "Not checked", "1 to-do open"), ("ko", "확인 안 됨", "할 일 1개 남음")],
)
def test_work_that_nobody_checked_and_open_to_dos_are_never_green(
    qapp, language: str, unchecked: str, left: str
) -> None:
    card = ResultCard(Language(resources_dir() / "i18n", language), Look(qapp, resources_dir(), "light"))
    card.show()
    card.show_result(a_result())
    assert (card.state.text(), card.state.property("kind")) == (unchecked, "hint")
    assert not card.still_open.isVisible() and not card.rest.isVisible()
    open_one = (PlanItem(text="<b>Draw</b> it"),)
    card.show_result(replace(a_result(), left=open_one))
    assert (card.state.text(), card.state.property("kind")) == (f"{unchecked} · {left}", "warn")
    assert card.still_open.isVisible() and card.still_open.text() == f"{left}: <b>Draw</b> it"
    assert card.rest.isVisible() and not card.accept.isVisible()
    met = Criterion(text="c", state=CriterionState.MET, round=1)
    card.show_result(replace(a_result(met), left=open_one))
    assert card.state.property("kind") == "warn" and left in card.accessibleName()
    card.show_result(a_result(met))
    assert card.state.property("kind") == "ok"


@pytest.mark.qt_log_ignore("This plugin does not support", extend=True)
def test_a_card_folds_to_its_headline_and_comes_so_where_there_is_little_room(qapp) -> None:
    card = ResultCard(Language(resources_dir() / "i18n", "en"), Look(qapp, resources_dir(), "light"))
    card.resize(840, 300)
    card.show()
    card.files.show_files((MADE,))
    # A page of a window of 900 × 600, and one of 1440 × 900.
    for height, folded in (124, True), (289, False):
        card.set_room(height)
        card.show_result(None)
        assert card.files.isVisible() and not card.state.isVisible(), "files alone are never folded"
        card.show_result(a_result(Criterion(text="a", state=CriterionState.UNMET, round=3)), opens=True)
        assert (card.state.isVisible(), card.rest.isVisible()) == (True, not folded)
        assert (card.files.current_id() == "") == folded, "a file would stand in place of the transcript"
        qapp.sendPostedEvents()
        assert (card.sizeHint().height() < 60) == folded
    card.fold.click()
    assert not card.rest.isVisible() and card.state.text() == "0 of 1 met"
    card.fold.click()
    assert card.rest.isVisible() and card.files.isVisible()


USER, MEMBER, LEAD, CHECKS = (
    Author(id="user", name="User", kind="user"),
    Author(id="jun", name="Jun"),
    Author(id="lead", name="Lead", kind="orchestrator"),
    Author(id=CRITERIA, name="Moot", kind="orchestrator"),
)


FAILED = "failed"


class Past:
    """A session that is open, with these messages."""

    def __init__(self, session: ChatSession, *said: tuple[Author, str, float | None]) -> None:
        self.session, self.messages = session, []
        for number, (author, text, cost) in enumerate(said):
            role = Role.ASSISTANT if author in (LEAD, MEMBER) else Role.USER
            usage = None if role == Role.USER else Usage(input_tokens=1, output_tokens=1, cost_usd=cost)
            at = f"2026-11-30T08:{number:02}:00+00:00"
            state = MessageState.FAILED if text == FAILED else MessageState.DONE
            turn = f"t{number}"
            self.messages.append(
                Message(
                    id=f"m{number}",
                    turn_id=turn,
                    follows=f"t{number - 1}",
                    role=role,
                    author=author,
                    content=text,
                    usage=usage,
                    created_at=at,
                    state=state,
                )
            )


ALONE = ((USER, "Ship it.", None), (LEAD, "Done.", 0.25))
TOGETHER = (*ALONE, (LEAD, "I did my part.", 0.5))
TOLD = (ALONE[0], (MEMBER, "I look.", 0.25), (USER, "Also this.", None), (LEAD, "Done.", 0.5))
GROUP = GroupState(id="crew", name="Crew", members=())
CHAT = {"id": "s", "title": "T", "chat": Chat(assistant_id="a"), "status": Status.IDLE}
MADE = FileVersion(
    path="a.md", version=1, bytes=1, sha256="", author="", created_at="2026-11-30T08:00:30+00:00"
)
EARLIER = replace(MADE, created_at="2026-11-30T07:00:00+00:00")


@pytest.mark.parametrize(
    ("session", "said", "files", "spent"),
    [
        (ChatSession(**CHAT), ALONE, (), None),
        (ChatSession(**CHAT), ALONE, (EARLIER,), None),
        (ChatSession(**CHAT), ALONE, (MADE,), "$0.25 · 1:00"),
        (ChatSession(**{**CHAT, "status": Status.RUNNING}), ALONE, (MADE,), None),
        (ChatSession(**{**CHAT, "status": Status.STOPPED}), ALONE, (MADE,), None),
        (ChatSession(**CHAT, criteria=(Criterion(text="c"),)), ALONE, (), "$0.25 · 1:00"),
        (GroupSession(**CHAT, group=GROUP), ALONE, (), None),
        (GroupSession(**CHAT, group=GROUP), ALONE[:1], (), None),
        (ChatSession(**CHAT, criteria=(Criterion(text="c"),)), (*ALONE[:1], (LEAD, FAILED, 0.0)), (), None),
        (GroupSession(**CHAT, group=GROUP), TOGETHER, (), "$0.75 · 2:00"),
        (GroupSession(**CHAT, group=GROUP), (*TOGETHER, *ALONE), (), None),
        (GroupSession(**CHAT, group=GROUP), TOLD, (), "$0.75 · 3:00"),
        (GroupSession(**CHAT, group=GROUP), (*ALONE, *TOLD), (), "$0.75 · 3:00"),
    ],
)
def test_a_card_is_for_work_and_not_for_a_question(session, said, files, spent) -> None:
    words = Language(resources_dir() / "i18n", "en")
    result = result_of(Past(session, *said), files, words)
    assert (result and result.spent) == spent
    assert result is None or (result.asked, result.price) == ("Ship it.", spent.partition(" ")[0])


def test_files_that_look_alike_are_told_apart(qapp) -> None:
    """The card of another session is made anew, whose files have the same names and sizes."""
    files = FilesList(Language(resources_dir() / "i18n", "en"), Look(qapp, resources_dir(), "light"))
    # With a parent it is no window of its own.
    parent, changes = QWidget(), list[bool]()
    files.setParent(parent)
    files.changed.connect(lambda: changes.append(True))
    for shown, count in (((MADE,), 1), ((MADE,), 1), ((EARLIER,), 2), ((), 3)):
        files.show_files(shown)
        assert len(changes) == count


def test_the_rest_costs_about_what_the_last_round_did() -> None:
    words = Language(resources_dir() / "i18n", "en")
    unmet = ChatSession(**{**CHAT, "status": Status.PAUSED}, criteria=(Criterion(text="c", round=3),))
    said = (*ALONE, (CHECKS, "Not met.", None), (LEAD, "Again.", 0.06))
    result = result_of(Past(unmet, *said), (), words)
    assert (result.spent, result.price) == ("$0.31 · 3:00", "$0.06")
    unknown = result_of(Past(unmet, *said, (LEAD, "More.", None)), (), words)
    assert unknown.price == ""


@pytest.mark.slow
@pytest.mark.parametrize("language", ["en", "ko"])
async def test_a_group_ends_with_a_card_on_which_one_says_what_done_means(
    qapp,
    data_dir,
    wire_home,  # noqa: F811
    wire_servers,  # noqa: F811
    language,
):
    server, handed = wire_servers["openai"], []

    def reply(request):
        if is_check(request):
            return honest(request)
        if '"criteria"' in request.messages[-1].text:
            return Answer(json.dumps({"criteria": [SKY, SEA]}))
        if leads(request) and not handed:
            handed.append(request)
            return Answer(calls=(call("switchAssistant", assistant="Architect", instruction="Look."),))
        return (
            Answer(calls=(call("reportResult", result_in_detail=WHOLE),))
            if leads(request)
            else Answer("I did.")
        )

    server.script(server.model, reply)
    async with at_window(data_dir, language=language) as person:
        page, engine = person.window.controller.chat_page, person.window.controller.engine
        await engine.assistants.save(architect(model=server.model, tools=(), sub_agents=()))
        await engine.groups.save(crew(server.model, members=("architect",)))
        person.window.controller.show_session(await engine.groups.start("crew", "Name the colours."))
        await until(lambda: person.sees("result_card"), 60)
        assert not person.sees("result_rest") and not person.sees("result_accept")
        await person.click("result_means")
        await until(lambda: person.sees("done_means_propose"))
        calls = len(server.requests)
        await person.click("done_means_propose")
        box = person.find("done_means_text")
        await until(lambda: box.toPlainText() == f"{SKY}\n{SEA}", what="what the model proposes")
        assert len(server.requests) == calls + 1 and page.session.criteria == ()
        await person.write("done_means_text", SKY)
        await person.click("done_means_save")
        await until(lambda: person.sees("result_check"))
        assert page.result.state.text() == {"en": "0 of 1 met", "ko": "0/1 충족"}[language]
        await person.click("result_check")
        await until(lambda: page.session.status == Status.COMPLETED)
        await until(lambda: page.result.state.property("kind") == "ok")
        assert len(server.requests) == calls + 2, "nothing is done anew"


REPORT = "# Why guests leave\n\n| Step | Leave |\n| --- | --- |\n| Pay | 41% |\n"


@pytest.mark.timeout(150)
@pytest.mark.parametrize("language", ["en", "ko"])
async def test_the_files_of_a_group_stand_in_the_card_and_are_shown_there(
    qapp,
    data_dir,
    tmp_path,
    wire_home,  # noqa: F811
    wire_servers,  # noqa: F811
    language,
):
    server = wire_servers["openai"]
    written = (
        call("write_file", path="brief.md", content=REPORT),
        call("write_file", path="funnel.csv", content="a,b\n1,2\n"),
        call("write_file", path="brief.md", content=f"{REPORT}\nNew."),
    )
    answers = [
        Answer(calls=written[:2]),
        Answer(calls=written[2:]),
        Answer(calls=(call("switchAssistant", assistant="Architect", instruction="Look."),)),
        Answer("I looked."),
        Answer(calls=(call("reportResult", result_in_detail="It is written."),)),
    ]
    server.script(server.model, lambda _: answers.pop(0) if answers else Answer("Again."))
    async with at_window(data_dir, language=language, size=(1440, 900)) as person:
        page, engine = person.window.controller.chat_page, person.window.controller.engine
        await engine.assistants.save(architect(model=server.model, tools=(), sub_agents=()))
        await engine.groups.save(crew(server.model, members=("architect",)))
        person.window.controller.show_session(await engine.groups.start("crew", "Why do guests leave?"))
        await until(lambda: person.sees("result_card") and person.sees("file_view"), 60)
        # The first file is shown in place of the transcript, as it is now.
        card, files = page.result, page.files
        assert card.isAncestorOf(person.find("file_view")) and not person.sees("transcript")
        assert files.ids() == ("brief.md", "funnel.csv") and files.current_id() == "brief.md"
        [shown] = person.transcript("file_view")
        assert "Why guests leave" in shown and "New." in shown
        assert not person.sees("file_close") and not person.sees("file_save")
        assert person.find("result_save").property("kind") == "primary"
        boxes = [files.visualItemRect(files.item(row)) for row in range(2)]
        assert boxes[0].top() == boxes[1].top() and boxes[0].right() < boxes[1].left(), "side by side"
        assert files.item(0).said.startswith("brief.md, ") and "Architect" not in files.item(0).said
        await person.choose("file_versions", page._language("files.version", version=1))
        await until(lambda: "New." not in person.transcript("file_view")[0], what="the older version")
        person.click_row("files_list", 1)
        await until(lambda: "41%" not in person.transcript("file_view")[0], what="the other file")
        # Keys that the file does not take are the page's.
        await person.press("file_versions", Qt.Key.Key_Escape)
        assert person.sees("transcript") and not person.sees("file_view") and card.preview is None
        person.click_row("files_list", 0)
        await until(lambda: person.sees("file_view"), what="the file again")
        # How it was done is the conversation.
        await person.click("result_way")
        assert person.sees("transcript") and not person.sees("file_view") and files.current_id() == ""
        assert not person.sees("result_way")
        person.click_row("files_list", 0)
        await until(lambda: person.sees("file_view") and not person.sees("transcript"), what="the file again")
        await person.press("composer", Qt.Key.Key_Escape)
        assert person.sees("transcript") and not person.sees("file_view")
        person.click_row("files_list", 0)
        await until(lambda: person.sees("file_view"), what="the file again")
        await person.press("files_list", Qt.Key.Key_Return)
        await until(lambda: person.sees("file_close"), what="the window of the file")
        await person.click("file_close")
        await person.click("result_save")
        await until(lambda: person.window.findChildren(QFileDialog), what="where to")
        person.choose_file(tmp_path / "all.zip")
        await until((tmp_path / "all.zip").exists, what="the files")
        with zipfile.ZipFile(tmp_path / "all.zip") as packed:
            assert {"files/brief.md", "files/funnel.csv"} < {*packed.namelist()}
        # What runs is seen again.
        person.click_row("files_list", 1)
        await until(lambda: person.sees("file_view"), what="the file again")
        await person.write("composer", "Again.")
        await person.click("send_button")
        await until(lambda: person.sees("transcript") and not person.sees("file_view"), what="the work")


async def test_a_file_that_is_changed_or_gone_is_not_shown_as_it_was(qapp, data_dir, wire_home, wire_servers):  # noqa: F811
    server = wire_servers["openai"]
    answers = [Answer(calls=(call("write_file", path=path, content=path),)) for path in ("a.txt", "b.txt")]
    server.script(server.model, lambda _: answers.pop(0) if answers else Answer("Written."))
    async with at_window(data_dir) as person:
        page, engine = person.window.controller.chat_page, person.window.controller.engine
        await engine.assistants.save(architect(model=server.model, tools=("files",), sub_agents=()))
        chat = await engine.chats.start("architect", "Write.")
        person.window.controller.show_session(chat)
        await until(lambda: person.sees("result_card") and page.files.count() == 2)
        assert person.sees("transcript"), "a chat stays what it is"
        page.files.setCurrentRow(0)
        await until(lambda: person.sees("file_text"), what="the file")
        box = person.find("file_text")
        assert box.toPlainText() == "a.txt"
        await engine.session_files.write(chat, "a.txt", lambda *_: b"new")
        await until(lambda: person.sees("file_text") and person.find("file_text").toPlainText() == "new")
        await engine.session_files.delete(chat, "a.txt")
        person.window.controller.files.refresh()
        await until(lambda: person.sees("transcript") and not person.sees("file_text"), what="no file")
        # Nor is it in another session, or after a message is looked for.
        page.files.setCurrentRow(0)
        await until(lambda: person.sees("file_text"), what="the file")
        page.open_find()
        assert person.sees("transcript") and not person.sees("file_text")
        page.files.setCurrentRow(0)
        person.window.controller.show_new()
        await until(lambda: not person.sees("result_card"))
        assert not person.sees("file_text")


async def test_what_is_proposed_is_kept_by_save_alone(qapp, data_dir, wire_home, wire_servers):  # noqa: F811
    server, says = wire_servers["openai"], ["no JSON"]
    server.script(server.model, lambda _: Answer(says[-1]))
    async with at_window(data_dir) as person:
        controller = person.window.controller
        await controller.engine.assistants.save(architect(model=server.model, tools=(), sub_agents=()))
        await person.click("new_button")
        action = controller.chat_page.chat_composer.done_means
        action.trigger()
        await until(lambda: person.sees("done_means_propose"))
        assert not person.find("done_means_propose").isEnabled(), "there is no task yet"
        await person.click("done_means_cancel")
        await person.write("composer", "Name the colours.")
        action.trigger()
        await until(lambda: person.sees("done_means_propose"))
        await person.write("done_means_text", SKY)
        await person.click("done_means_propose")
        await until(lambda: person.sees("toast"), what="that nothing could be read")
        assert person.find("done_means_text").toPlainText() == SKY
        says.append(json.dumps({"criteria": [SKY, SEA]}))
        await person.click("done_means_propose")
        await until(lambda: person.find("done_means_text").toPlainText() == f"{SKY}\n{SEA}")
        await person.click("done_means_cancel")
        assert controller.chats.new_means == () and action.text() == "Done means…"
        action.trigger()
        await until(lambda: person.sees("done_means_text"))
        await person.write("done_means_text", SKY)
        await person.press("done_means_text", Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
        await until(lambda: controller.chats.new_means == (SKY,), what="Ctrl+Enter to save")


@pytest.mark.slow
async def test_open_to_dos_are_done_from_the_card(qapp, data_dir, wire_home, wire_servers):  # noqa: F811
    server, said = wire_servers["openai"], []

    def reply(request):
        said.append(request.messages[-1].text)
        if not leads(request):
            return Answer("I looked.")
        if len(said) == 1:
            hand = call("switchAssistant", assistant="Architect", instruction="Look.")
            return Answer(calls=(call("setPlan", items=["Look", "Draw"]), hand))
        done = [call("checkDone", index=0)] if len(said) == 3 else [call("checkDone", index=1)]
        return Answer(calls=(*done, call("reportResult", result_in_detail="Done.")))

    server.script(server.model, reply)
    async with at_window(data_dir) as person:
        page, engine = person.window.controller.chat_page, person.window.controller.engine
        await engine.assistants.save(architect(model=server.model, tools=(), sub_agents=()))
        await engine.groups.save(crew(server.model, members=("architect",)))
        person.window.controller.show_session(await engine.groups.start("crew", "Ship it."))
        await until(lambda: person.sees("result_card"), 60)
        assert page.result.state.text() == "Not checked · 1 to-do open"
        assert page.result.still_open.text() == "1 to-do open: Draw"
        assert [item.by for item in page.session.plan.items] == ["Architect", ""]
        await person.click("result_rest")
        await until(lambda: page.session.status == Status.IDLE and not page.session.plan.open, 60)
        assert any("Do what is still open in the plan." in text for text in said[3:])
        # The orchestrator did that by itself, which is no result of a group.
        await until(lambda: not person.sees("result_card"))


@pytest.mark.qt_log_ignore("This plugin does not support", extend=True)
def test_tabs_are_as_wide_as_their_texts(qapp) -> None:
    words = Language(resources_dir() / "i18n", "en")
    files = FilesList(words, Look(qapp, resources_dir(), "light"), tabs=True)
    names = ("a.md", "sources.md", "funnel.csv", "a name that is longer than any tab is wide.md")
    files.resize(2_000, files.height())
    files.show_files([replace(MADE, path=name) for name in names])
    qapp.sendPostedEvents()
    boxes = [files.visualItemRect(files.item(row)) for row in range(4)]
    assert boxes[0].width() < boxes[1].width() < boxes[3].width() == 220, "a long name is shortened"
    for spare, lines in ((8, 1), (-8, 2)):
        files.resize(boxes[3].right() + 1 + spare + files.width() - files.viewport().width(), files.height())
        qapp.sendPostedEvents()
        tops = {files.visualItemRect(files.item(row)).top() for row in range(4)}
        assert len(tops) == lines and files.height() == lines * boxes[0].height()
    assert files.item(0).note.startswith("v1 · ") and "version 1" in files.item(0).said
    files.show_files(())
    assert not files.isVisible()
    files.deleteLater()


@pytest.mark.parametrize("size", [(900, 600), (1440, 900)])
async def test_the_transcript_keeps_its_share_beside_the_card(
    qapp,
    data_dir,
    wire_home,  # noqa: F811
    wire_servers,  # noqa: F811
    size,
):
    server = wire_servers["openai"]
    answers = [Answer(calls=(call("write_file", path="brief.md", content=REPORT),))]
    server.script(server.model, lambda _: answers.pop() if answers else Answer("Done. " * 200))
    async with at_window(data_dir, size=size) as person:
        page, engine = person.window.controller.chat_page, person.window.controller.engine
        await engine.assistants.save(architect(model=server.model, tools=(), sub_agents=()))
        await engine.groups.save(crew(server.model, members=("architect",)))
        chat = await engine.groups.start("crew", "Ship it.")
        await engine.wait(chat)
        person.window.controller.show_session(chat)
        await until(lambda: page.files.ids() == ("brief.md",))
        if size == (1440, 900):
            await until(lambda: person.sees("file_view"), what="the file, for which there is room")
            await person.click("result_way")
        card = page.result
        unmet = [Criterion(text=f"c{number}", state=CriterionState.UNMET, round=3) for number in range(20)]
        card.show_result(a_result(*unmet))
        if card.fold.isChecked():
            await person.click("result_fold")
        await person.settle(0.2)
        assert page.transcript.height() >= 0.44 * page.height()
        assert card.rest.isVisible() and card.rest.visibleRegion().boundingRect() == card.rest.rect()
        assert page.files.visibleRegion().boundingRect().height() >= 28, "the files are in sight"
        place = card._area.verticalScrollBar()
        assert place.maximum() > 300, "what does not fit scrolls"
        # A longer message takes its room from the card, not from the transcript.
        await person.write("composer", "One\nTwo\nThree\nFour")
        await person.settle(0.2)
        assert page.transcript.height() >= 0.44 * page.height() or card._area.height() == 30


async def test_open_to_dos_are_no_toast_where_the_card_names_them(qapp, data_dir, wire_home, wire_servers):  # noqa: F811
    server = wire_servers["openai"]

    def reply(request):
        if not leads(request):
            return Answer("I looked.")
        if "I looked." in "".join(one.text for one in request.messages):
            return Answer(calls=(call("reportResult", result_in_detail="Done."),))
        hand = call("switchAssistant", assistant="Architect", instruction="Look.")
        return Answer(calls=(call("setPlan", items=["Look", "Draw"]), hand))

    server.script(server.model, reply)
    async with at_window(data_dir) as person:
        page, engine = person.window.controller.chat_page, person.window.controller.engine
        await engine.assistants.save(architect(model=server.model, tools=(), sub_agents=()))
        await engine.groups.save(crew(server.model, members=("architect",)))
        person.window.controller.show_session(await engine.groups.start("crew", "Ship it."))
        await until(lambda: person.sees("result_card") and page.session.status == Status.IDLE, 60)
        await person.settle(0.2)
        assert page.result.still_open.text() == "2 to-dos open: Look · Draw"
        assert not person.sees("toast")
        await engine.wait(await engine.groups.start("crew", "Ship it too."))
        await until(lambda: person.sees("toast"), what="what another session left open")
