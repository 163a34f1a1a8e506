"""Which view shows what: the place read comes back after a run, and a turn that began before a view is seen in it."""

import pytest

from app.core.council import Participant
from app.core.events import MessageFinished, SessionStarted, TurnStarted
from app.core.message import Author, Message
from app.core.session import Chat, ChatSession, Debate, DebateSession
from app.gui.window_frame import MOST_KEPT, WindowState
from app.storage.paths import DataPaths
from app.storage.sessions import JsonLogStore
from tests.app_driver import Person, at_window, until

SEATS = tuple(
    Participant(id=name.lower(), name=name, provider="embedded", model="smollm2-135m")
    for name in ("Ada", "Ben")
)


async def keep_debate(data_dir, count: int) -> str:
    """Write a debate of many messages as an earlier run left it; return its id."""
    paths = DataPaths(data_dir)
    store = JsonLogStore(paths)
    await store.open()
    session_id = "01hzzzzzzzzzzzzzzzzzzzzzzz"
    session = DebateSession(
        id=session_id,
        title="Tabs?",
        status="paused",
        debate=Debate(topic="Tabs?", participants=SEATS, rounds=9),
    )
    store.append((SessionStarted(session_id=session_id, session=session),))
    for number in range(count):
        seat = SEATS[number % 2]
        said = Message(
            id=f"m{number}",
            turn_id=f"t{number}",
            role="assistant",
            author=Author(id=seat.id, name=seat.name, kind="participant"),
            content=f"Statement {number}. " + "And so on. " * (number % 30),
            round=number // 2 + 1,
        )
        store.append((MessageFinished(session_id=session_id, message=said),))
    await store.flush(session_id)
    await store.close()
    return session_id


async def shown(person: Person, session_id: str) -> object:
    view = person.window.controller.session_page
    await until(lambda: view.session_id == session_id and len(view.transcript.message_ids) == 150)
    return view


@pytest.mark.slow
@pytest.mark.parametrize("place", [("m20", 5), ("m120", 0)])
async def test_the_place_that_was_read_comes_back(qapp, data_dir, place):
    session_id = await keep_debate(data_dir, 150)
    async with at_window(data_dir) as person:
        person.window.controller.show_session(session_id)
        view = await shown(person, session_id)
        assert view.transcript.following
        assert view.transcript.go_to(*place)
        assert view.transcript.place == place
    async with at_window(data_dir) as person:
        view = await shown(person, session_id)
        await until(lambda: view.transcript.place == place, what="the place of the last run")
        assert not view.transcript.following
        view.transcript.jump_to_latest()
    async with at_window(data_dir) as person:
        view = await shown(person, session_id)
        await person.settle(0.1)
        assert view.transcript.following


def test_only_the_newest_places_are_kept(tmp_path):
    state = WindowState(tmp_path)
    for number in range(MOST_KEPT + 5):
        state.keep_place(f"{number:03}", f"m{number}:7")
    assert state.place("004") == ""
    assert state.place("005") == "m5:7"
    state.keep_place("005", "")
    state.save()
    assert WindowState(tmp_path).place("005") == ""
    assert WindowState(tmp_path).place(f"{MOST_KEPT + 4:03}") == f"m{MOST_KEPT + 4}:7"


@pytest.mark.slow
async def test_a_turn_that_began_before_the_view_was_there_is_seen(qapp, data_dir):
    session_id = await keep_debate(data_dir, 150)
    async with at_window(data_dir) as person:
        desk = person.window.controller
        author = Author(id="ada", name="Ada", kind="participant")
        desk.engine.bus.publish(TurnStarted(session_id=session_id, turn_id="t", author=author, round=9))
        desk.show_session(session_id)
        view = await shown(person, session_id)
        await until(lambda: view.transcript.typing.active)
        assert view.transcript.typing.waiting_text() == "starting the model…"


async def keep_chat(data_dir, count: int, head: str) -> str:
    """Write a chat whose last answer has two versions, as an earlier run left it; return its id."""
    store = JsonLogStore(DataPaths(data_dir))
    await store.open()
    session_id = "01hzzzzzzzzzzzzzzzzzzzzzzy"
    chat = Chat(assistant_id="assistant", assistant_name="Assistant", head=head)
    session = ChatSession(id=session_id, title="Tabs?", chat=chat)
    store.append((SessionStarted(session_id=session_id, session=session),))
    numbers = [(number, number - 1) for number in range(count)]
    for number, before in (*numbers, (count, count - 2)):
        mine = number < count and number % 2 == 0
        said = Message(
            id=f"m{number}",
            turn_id=f"t{number}",
            role="user" if mine else "assistant",
            author=Author(id="user", name="User", kind="user") if mine else Author(id="a", name="Assistant"),
            content=f"Statement {number}.",
            follows=f"t{before}" if before >= 0 else "",
        )
        store.append((MessageFinished(session_id=session_id, message=said),))
    await store.flush(session_id)
    await store.close()
    return session_id


@pytest.mark.parametrize(("head", "gone"), [("t150", "m149"), ("t149", "m150")])
async def test_a_long_chat_shows_the_chosen_version_only(qapp, data_dir, head, gone):
    session_id = await keep_chat(data_dir, 150, head)
    async with at_window(data_dir) as person:
        person.window.controller.show_session(session_id)
        page = person.window.controller.chat_page
        await until(lambda: len(page.transcript.message_ids) == 150)
        assert gone not in page.transcript.message_ids
        assert page.transcript.message_ids[0] == "m0"
        assert page.transcript.following
        assert page.stands_at(head)
        page.transcript.go_to("m20", 5)
        person.window.controller.show_new()
        person.window.controller.show_session(session_id)
        await until(lambda: page.session_id == session_id)
        assert page.transcript.place == ("m20", 5)
