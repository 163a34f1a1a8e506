"""Memory in the window: proposed in a chat, changed and kept, told in the next one, deleted and brought back."""

from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from PySide6.QtCore import Qt

from app.core.memory import REMEMBER, Note, Origin
from app.core.session import Folder
from app.gui.widgets.choices import Segmented
from app.gui.widgets.item_list import ItemList
from app.gui.widgets.memory import MemorySection
from tests import app_driver
from tests.app_driver import Person, at_window
from tests.stories.group_crew import call, write_assistant
from tests.wire import Answer, WireServer
from tests.wire.fixtures import wire_home, wire_servers

__all__ = ["wire_home", "wire_servers"]

until = partial(app_driver.until, seconds=60.0)
DOGS = "Mina has two dogs."


async def _proposed(person: Person, wire: WireServer, *texts: str) -> None:
    """Have an assistant propose to remember texts in a chat."""
    calls = tuple(call(REMEMBER, text=text, **{"for": "me"}) for text in texts)
    wire.script("openai-wire", [Answer(calls=calls), "Noted."])
    person.window.controller.show_new("ann")
    await person.write("composer", "I have two dogs.")
    await person.press("composer", Qt.Key.Key_Return)
    page = person.window.controller.chat_page
    await until(lambda: page.session and page.session.status == "idle", what="the answer")
    await until(lambda: person.sees("chat_memory_card"), what="the card")


def _notes(person: Person) -> list[str]:
    notes = person.find("memory_notes", ItemList)
    return [notes.item(row).said for row in range(notes.count())]


@pytest.mark.parametrize(
    ("language", "question", "read", "told"),
    [
        ("en", "Remember this?", "", "tokens"),
        # The model is one of a service, so it is not told what is for models of this computer alone.
        ("ko", "기억할까요?", "이 컴퓨터 모델만", "토큰"),
    ],
)
@pytest.mark.timeout(200)
async def test_what_is_proposed_is_kept_as_changed_and_told_in_the_next_chat(
    qapp: object,
    wire_home: dict[str, WireServer],
    data_dir: Path,
    language: str,
    question: str,
    read: str,
    told: str,
) -> None:
    write_assistant(data_dir, "ann", provider="openai", tools=[REMEMBER])
    server = wire_home["openai"]
    async with at_window(data_dir, language=language) as person:
        await _proposed(person, server, DOGS)
        desk = person.window.controller
        card = person.find("chat_memory_card")
        assert card.accessibleName().startswith(f"{question} {DOGS}")
        # It is no question that waits for the user.
        assert list(desk.engine.chats.needs_you()) == [] and desk.chat_page.session.status == "idle"
        desk.assistants.show_page("ann")
        await until(lambda: person.sees("memory_section") and person.sees("memory_card"), what="the page")
        await person.click("memory_edit")
        await person.write("memory_text", "Mina has two old dogs.")
        readers = person.find("memory_card").findChild(Segmented)
        assert readers.value() == "any"
        readers.set_value("near" if read else "any")
        await person.click("memory_keep")
        await until(lambda: not person.sees("memory_card"), what="the answer")
        [note] = desk.engine.memory.all()
        assert (note.text, note.agent, note.local) == ("Mina has two old dogs.", "ann", bool(read))
        await until(lambda: len(_notes(person)) == 1, what="the note")
        assert "Mina has two old dogs." in _notes(person)[0] and _notes(person)[0].endswith(read)
        gauge = person.find("memory_told").text()
        assert told in gauge and gauge.startswith("0 /") is bool(read)
        desk.show_new("ann")
        await person.settle()
        server.script("openai-wire", ["Hello."])
        await person.write("composer", "Hello")
        await person.press("composer", Qt.Key.Key_Return)
        await until(lambda: desk.chat_page.session and desk.chat_page.session.status == "idle")
        assert ("two old dogs" in server.requests[-1].system) is not bool(read)
        # The session before has its card no longer.
        assert not person.sees("chat_memory_card")

        desk.assistants.show_page("ann")
        notes = person.find("memory_notes", ItemList)
        await until(lambda: person.sees("memory_notes"))
        notes.setCurrentRow(0)
        await person.press("memory_notes", Qt.Key.Key_Delete)
        await until(lambda: desk.engine.memory.all() == (), what="the deletion")
        await until(lambda: person.sees("toast_action"))
        await person.click("toast_action")
        await until(lambda: [each.text for each in desk.engine.memory.all()] == ["Mina has two old dogs."])


@pytest.mark.parametrize(
    ("language", "proposed", "kept", "refused"),
    [
        (
            "en",
            "Proposed to remember “Mina has two dogs.”",
            "Remembered: Mina has two old dogs.",
            "Not remembered: Another.",
        ),
        (
            "ko",
            "‘Mina has two dogs.’ 기억 제안",
            "기억에 저장: Mina has two old dogs.",
            "기억하지 않음: Another.",
        ),
    ],
)
@pytest.mark.timeout(200)
async def test_what_was_decided_stands_in_the_chat(
    qapp: object,
    wire_home: dict[str, WireServer],
    data_dir: Path,
    language: str,
    proposed: str,
    kept: str,
    refused: str,
) -> None:
    write_assistant(data_dir, "ann", provider="openai", tools=[REMEMBER])
    async with at_window(data_dir, language=language) as person:
        await _proposed(person, wire_home["openai"], DOGS, "Another.")

        def stands(text: str) -> bool:
            return any(text in row for row in person.transcript("transcript"))

        await until(lambda: stands(proposed), what="the proposal")
        assert not stands(kept) and not stands(refused)
        await person.click("chat_memory_edit")
        await person.write("chat_memory_text", "Mina has two old dogs.")
        await person.click("chat_memory_keep")
        await until(lambda: stands(kept), what="what is kept")
        assert not stands(proposed) and not stands(refused)
        await until(lambda: "Another." in person.find("chat_memory_card").accessibleName(), what="the next")
        await person.click("chat_memory_refuse")
        await until(lambda: stands(refused), what="what is not kept")
        assert [note.text for note in person.window.controller.engine.memory.all()] == [
            "Mina has two old dogs."
        ]


@pytest.mark.timeout(200)
async def test_a_card_is_there_after_a_restart_and_can_be_refused(
    qapp: object, wire_home: dict[str, WireServer], data_dir: Path
) -> None:
    write_assistant(data_dir, "ann", provider="openai", tools=[REMEMBER])
    async with at_window(data_dir) as person:
        await _proposed(person, wire_home["openai"], DOGS, "Another.", "A third.")
        # In a chat the cards come after one another.
        assert person.find("chat_memory_more").text() == "2 more"
    async with at_window(data_dir) as person:
        desk = person.window.controller
        desk.assistants.show_page("ann")
        cards = person.find("memory_section", MemorySection).cards.cards
        await until(lambda: len(cards) == 3, what="the cards")
        next(iter(cards.values())).no.click()
        await until(lambda: len(cards) == 2, what="two cards")
        assert desk.engine.memory.all() == ()


@pytest.mark.timeout(200)
async def test_a_note_is_typed_and_edited_on_the_page_and_left_out_of_a_session(
    qapp: object, wire_home: dict[str, WireServer], data_dir: Path
) -> None:
    write_assistant(data_dir, "ann", provider="openai", tools=[REMEMBER])
    server = wire_home["openai"]
    async with at_window(data_dir) as person:
        desk = person.window.controller
        desk.assistants.show_page("ann")
        await until(lambda: person.sees("memory_box"))
        await person.write("memory_box", DOGS)
        await person.click("memory_add")
        await until(lambda: _notes(person) == [f"{DOGS}, Typed · now"], what="the note")
        person.find("memory_notes", ItemList).setCurrentRow(0)
        await person.press("memory_notes", Qt.Key.Key_E)
        await person.write("memory_box", "Mina has three dogs.")
        await person.click("memory_add")
        await until(lambda: [each.text for each in desk.engine.memory.all()] == ["Mina has three dogs."])
        # What is typed next is a note of its own.
        await person.write("memory_box", "Mina likes tea.")
        await person.click("memory_add")
        texts = ["Mina likes tea.", "Mina has three dogs."]
        await until(lambda: [each.text for each in desk.engine.memory.all()] == texts)

        desk.show_new("ann")
        server.script("openai-wire", ["One.", "Two."])
        for text in ("First", "Second"):
            await person.write("composer", text)
            await person.press("composer", Qt.Key.Key_Return)
            sent = partial(lambda text: any(text in str(each.messages) for each in server.requests), text)
            await until(lambda sent=sent: sent() and desk.chat_page.session.status == "idle")
            assert ("three dogs" in server.requests[-1].system) is (text == "First")
            switch = desk.chat_page.chat_composer.remembers
            assert switch.isVisible() and switch.isChecked() is (text == "First")
            if text == "First":
                switch.trigger()
                await until(lambda: desk.chat_page.session.chat.forgetful)


@pytest.mark.timeout(200)
@pytest.mark.parametrize("language", ["en", "ko"])
async def test_all_notes_are_listed_edited_and_deleted_in_one_place(
    qapp: object, wire_home: dict[str, WireServer], data_dir: Path, language: str
) -> None:
    write_assistant(data_dir, "ann", provider="openai", tools=[REMEMBER])
    async with at_window(data_dir, language=language) as person:
        desk, words = person.window.controller, person.window.language
        engine = desk.engine
        folder = await engine.folders.save(Folder(id="", name="House"))
        for note in (
            Note(id="", text=DOGS, agent="ann"),
            Note(id="", text="Breakfast is at 8.", folder=folder.id, local=True),
            Note(id="", text="Left over.", agent="gone", origin=Origin.FILE, source="old.md"),
        ):
            await engine.memory.add(note)
        desk.assistants.show_page("ann")
        await until(lambda: person.sees("memory_all"))
        await person.click("memory_all")
        notes = person.find("all_memory_notes", ItemList)
        await until(lambda: notes.count() == 3, what="the notes")
        assert person.find("session_title").text() == words("memory.title")
        deleted, near = words("memory.of_deleted"), words("memory.readers.local")
        said = [notes.item(row).said for row in range(3)]
        assert f"{deleted} · " in said[0] and "old.md" in said[0]
        assert "House · " in said[1] and said[1].endswith(near) and said[2].startswith(f"{DOGS}, Ann · ")
        # A new note needs somebody who remembers it.
        assert not person.sees("all_memory_box") and not person.sees("all_memory_gauge")
        notes.setCurrentRow(1)
        await person.press("all_memory_notes", Qt.Key.Key_F2)
        assert person.sees("all_memory_box")
        await person.write("all_memory_box", "Breakfast is at 9.")
        await person.click("all_memory_add")
        await until(lambda: "Breakfast is at 9." in notes.item(1).said)
        assert not person.sees("all_memory_box")
        [note] = engine.memory.of(folder=folder.id)
        assert (note.text, note.local) == ("Breakfast is at 9.", True)
        await engine.folders.save(replace(folder, name="Inn"))
        await until(lambda: "Inn · " in notes.item(1).said)
        notes.setCurrentRow(0)
        await person.press("all_memory_notes", Qt.Key.Key_Delete)
        await until(lambda: notes.count() == 2, what="the deletion")
        await until(lambda: person.sees("toast_action"))
        await person.click("toast_action")
        await until(lambda: notes.count() == 3, what="the note")
