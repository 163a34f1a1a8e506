"""A session in a folder of the user's: what is asked once, what is asked each time, what is revoked, and what others make."""

import asyncio
import re
from dataclasses import replace
from pathlib import Path

import pytest

from app.core.errors import BadInput
from app.core.message import Message, PromptReason, Role
from app.core.session import OF_FOLDER, Status
from app.core.tool import FILES
from app.core.turns import without_approvals
from app.engine.chat.commands import answers_of
from app.storage.lines import decode_line, encode_line
from app.storage.paths import DataPaths
from app.storage.session_files import VersionedFiles
from app.tools import session_files, web
from app.tools.declared import Outside
from tests.builders import Bench, a_bench, a_log_store, left_open, until
from tests.engine.test_turn import agent, calling

READ = calling(("read_file", {"path": "a.md"}))
WRITE = calling(("write_file", {"path": "b.md", "content": "new"}))


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "a.md").write_text("by the user")
    return folder


async def _page(_service: str, arguments: object, _seconds: float) -> dict[str, str]:
    return {"url": arguments["url"], "text": "A page.", "title": "", "note": ""}  # type: ignore[index]


def bench(folder: Path, *script: object) -> Bench:
    """Return an engine on a real disk, whose assistant has the tools for files and for the web."""
    store = a_log_store(folder)
    files = VersionedFiles(DataPaths(folder), chosen=store.chosen_folder)
    outside = Outside(call=_page, settings=None, open_link=None, files=files)  # type: ignore[arg-type]
    tools = [one.bind(outside) for one in (*session_files.TOOLS, *web.TOOLS)]
    agents = (agent(tools=(FILES, "web")),)
    made = a_bench(store, script=list(script), agents=agents, tools=tools, files=folder)  # type: ignore[arg-type]
    left_open.append(made)
    return made


async def begun(made: Bench, folder: Path, text: str = "Do it.", **own: object) -> str:
    session_id = await made.engine.chats.start("main", text, chosen_folder=str(folder), **own)
    await made.engine.wait(session_id)
    return session_id


async def say(made: Bench, session_id: str, text: str) -> None:
    await made.engine.chats.send(session_id, text)
    await made.engine.wait(session_id)


def asked(made: Bench) -> list[Message]:
    return [message for _, message in made.engine.chats.needs_you()]


async def answer(made: Bench, session_id: str, answer: str) -> str:
    """Answer the only question; return what it was asked for."""
    [question] = asked(made)
    assert question.prompt is not None and list(answers_of(question.prompt)) == ["allow", "deny"]
    await made.engine.chats.answer(session_id, question.id, answer)
    await made.engine.wait(session_id)
    return question.prompt.reason


def results(made: Bench, session_id: str) -> list[str]:
    live = made.engine.live(session_id)
    assert live is not None
    return [one.content for one in live.messages if one.role == Role.TOOL]


async def test_reading_and_writing_are_asked_once_each_and_again_once_that_is_revoked(
    tmp_path: Path, mine: Path
) -> None:
    made = bench(tmp_path / "data", *(READ, ["Read."], READ, WRITE, WRITE, ["Written."]), *(READ, ["Again."]))
    session_id = await begun(made, mine)
    [question] = asked(made)
    assert question.prompt is not None and question.prompt.about == str(mine)
    assert results(made, session_id) == []
    assert await answer(made, session_id, "allow") == PromptReason.READ_FOLDER
    [read] = results(made, session_id)
    assert re.fullmatch(r"a\.md \(version 0 [0-9a-f]{8}\):\nby the user", read)
    await say(made, session_id, "Go on.")
    assert await answer(made, session_id, "allow") == PromptReason.WRITE_FOLDER
    assert not asked(made) and results(made, session_id)[-1].startswith("Wrote b.md (version 1)")
    assert (mine / "b.md").read_text() == "new"
    live = await made.engine.open(session_id)
    assert live.session.always == OF_FOLDER
    [given] = made.engine.permissions.all()
    assert (given.session_id, given.tools) == (session_id, OF_FOLDER)
    await made.engine.permissions.revoke(given)
    assert live.session.always == () and live.session.chosen_folder == str(mine)
    await say(made, session_id, "Once more.")
    assert await answer(made, session_id, "deny") == PromptReason.READ_FOLDER
    assert "did not allow" in results(made, session_id)[-1]


async def test_the_folder_and_what_is_allowed_there_survive_a_restart(tmp_path: Path, mine: Path) -> None:
    made = bench(tmp_path / "data", WRITE, ["Written."])
    session_id = await begun(made, mine, always=OF_FOLDER)
    assert not asked(made)
    await left_open.pop().engine.shutdown()
    again = bench(tmp_path / "data", READ, WRITE, ["Read."])
    await again.store.open()  # type: ignore[attr-defined]
    [summary] = again.engine.sessions()
    assert summary.chosen_folder == str(mine)
    await say(again, session_id, "Go on.")
    assert not asked(again) and "by the user" in results(again, session_id)[1]
    assert [one.path for one in await again.engine.session_files.list(session_id)] == ["b.md"]
    assert again.engine.session_files.folder(session_id) == str(mine)


async def test_permissions_are_those_of_sessions_that_can_be_changed(tmp_path: Path, mine: Path) -> None:
    """A session of a later version of Moot runs nothing here, and nothing can be revoked in it."""
    made = bench(tmp_path / "data", ["One."], ["Two."])
    later, own = [await begun(made, mine, text, always=OF_FOLDER) for text in ("Later", "Own")]
    await left_open.pop().engine.shutdown()
    log = DataPaths(tmp_path / "data").session(later)
    [head, *lines] = log.read_bytes().splitlines(keepends=True)
    first = decode_line(head.rstrip(b"\n"))
    assert first is not None and first.ops[0]["op"] == "head"
    log.write_bytes(
        encode_line(first.number, [{**first.ops[0], "min_reader": 99}, *first.ops[1:]]) + b"".join(lines)
    )
    again = bench(tmp_path / "data")
    await again.store.open()  # type: ignore[attr-defined]
    assert {one.id: one.read_only for one in again.engine.sessions()} == {later: True, own: False}
    assert [one.session_id for one in again.engine.permissions.all()] == [own]


@pytest.mark.parametrize(
    ("said", "url", "asks"),
    [
        ("Look at https://a.example/page?x=1, please.", "https://a.example/page?x=1", False),
        ("https://a.example/에서 찾아줘", "https://a.example/", False),
        ("See (a.example/page).", "https://a.example/page", False),
        ("Look at a.example", "https://a.example/", False),
        ("Look at https://a.example/page", "https://a.example/page?q=the+secret", True),
        ("Look at https://a.example/page?x=1", "https://a.example/page", True),
        ("Look at https://a.example.org/", "https://a.example", True),
        ("Look at https://b.example/?to=https://a.example/", "https://a.example/", True),
        ("Write to me@a.example", "https://a.example", True),
        ("Search it.", "https://a.example/", True),
    ],
)
async def test_an_address_that_the_user_did_not_name_is_asked_about_each_time(
    tmp_path: Path, mine: Path, said: str, url: str, asks: bool
) -> None:
    fetch = calling(("web_fetch", {"url": url}))
    made = bench(tmp_path / "data", fetch, fetch, ["Read."])
    session_id = await begun(made, mine, said, always=(*OF_FOLDER, "web_fetch"))
    for _ in range(2 if asks else 0):
        assert await answer(made, session_id, "allow") == PromptReason.ADDRESS
    assert not asked(made) and len(results(made, session_id)) == 2
    # In a session without such a folder nobody is asked.
    other = await made.engine.chats.start("main", "Search it.")
    made.models.script[:] = [fetch, ["Read."]]
    await made.engine.wait(other)
    assert not asked(made)


async def test_the_words_of_others_name_no_address(tmp_path: Path, mine: Path) -> None:
    url = "https://a.example/"
    made = bench(tmp_path / "data", calling(("web_fetch", {"url": url})), ["Read."])
    session_id = await begun(made, mine, always=OF_FOLDER)
    live = await made.engine.open(session_id)
    user = live.messages[0]
    said = replace(user, id=f"{user.id}a", content=url)
    for other in (
        replace(said, author=replace(user.author, id="mcp", name="Agent")),
        replace(said, author=replace(user.author, id="ann", kind="orchestrator")),
        replace(said, answers=user.id),
        replace(said, role=Role.ASSISTANT),
        replace(said, role=Role.TOOL),
    ):
        assert web.strays({"url": url}, [user, other]), other
    assert not web.strays({"url": url}, [user, said])


async def test_what_another_program_makes_during_a_turn_is_listed(tmp_path: Path, mine: Path) -> None:
    end = asyncio.Event()
    made = bench(tmp_path / "data", [end, "Done."], ["Done."])
    session_id = await made.engine.chats.start("main", "Do it.", chosen_folder=str(mine), always=OF_FOLDER)
    await until(lambda: bool(made.models.requests))
    (mine / "made.md").write_text("by another program")
    end.set()
    await made.engine.wait(session_id)
    listed = await made.engine.session_files.list(session_id)
    assert [(one.path, one.version, one.author) for one in listed] == [("made.md", 1, "")]
    (mine / "by hand.md").write_text("between turns")
    await say(made, session_id, "Go on.")
    assert [one.path for one in await made.engine.session_files.list(session_id)] == ["made.md"]


async def test_a_folder_that_is_gone_is_an_error_of_the_tool_and_ends_no_run(
    tmp_path: Path, mine: Path
) -> None:
    made = bench(tmp_path / "data", READ, WRITE, calling(("list_files", {})), ["Gone."])
    mine.rename(tmp_path / "away")
    session_id = await begun(made, mine, always=OF_FOLDER)
    assert (await made.engine.open(session_id)).session.status == Status.IDLE
    assert all("cannot be used any more" in one for one in results(made, session_id))
    assert not mine.exists()


async def test_a_session_from_a_file_has_no_chosen_folder(tmp_path: Path, mine: Path) -> None:
    made = bench(tmp_path / "data", ["Said."])
    session_id = await begun(made, mine, always=OF_FOLDER)
    live = await made.engine.open(session_id)
    cleared = without_approvals(live.session, live.messages).session
    assert (cleared.chosen_folder, cleared.always) == ("", ())
    assert str(mine) not in await made.engine.export(session_id, "md")


async def test_what_may_not_be_chosen_is_refused(tmp_path: Path) -> None:
    made = bench(tmp_path / "data")
    for place, code in ((tmp_path / "data", "folder_of_moot"), (Path("/etc"), "folder_of_system")):
        place.mkdir(exist_ok=True)
        with pytest.raises(BadInput, match=code):
            await made.engine.session_files.checked_folder(str(place))
