"""The tools for the files of a session, on a real folder: what they do, and what they say to a model."""

from dataclasses import replace
from pathlib import Path

import pytest

from app.core.ids import new_id
from app.core.message import Author, Message, MessageState, Role, ToolCall
from app.core.session import AgentMode
from app.core.tool import FILES, ToolError
from app.storage.paths import DataPaths
from app.storage.session_files import VersionedFiles
from app.tools import session_files
from app.tools.declared import Outside
from tests.tools.contexts import Context

ANN, BO = Author(id="ann", name="Ann"), Author(id="bo", name="Bo")


class Desk:
    """A session in which assistants call the tools, with the messages that come of it."""

    def __init__(self, folder: Path, chosen: str = "") -> None:
        self.files = VersionedFiles(DataPaths(folder), chosen=lambda _id: chosen)
        outside = Outside(call=None, settings=None, open_link=None, files=self.files)  # type: ignore[arg-type]
        self.tools = {one.key: one.bind(outside) for one in session_files.TOOLS if one.group == FILES}
        self.context = Context(log=[], session_id=new_id())

    async def call(self, who: Author, key: str, **arguments: object) -> str:
        """Let an assistant call a tool, and return what it is told."""
        log, turn = list(self.context.log), new_id()
        call = ToolCall(id=new_id(), name=key)
        said = Message(id=new_id(), turn_id=turn, role=Role.ASSISTANT, author=who, tool_calls=(call,))
        context = replace(self.context, log=[*log, said], author=who, message_id=new_id())
        result = await self.tools[key].run(arguments, context)
        message = replace(
            said,
            id=context.message_id,
            role=Role.TOOL,
            tool_calls=(),
            tool_call_id=call.id,
            content=result.content,
        )
        self.context.log = [*log, said, message]
        return result.content

    async def refusal(self, who: Author, key: str, **arguments: object) -> str:
        with pytest.raises(ToolError) as refused:
            await self.call(who, key, **arguments)
        return str(refused.value)


@pytest.fixture
def desk(data_dir: Path) -> Desk:
    return Desk(data_dir)


async def test_a_file_is_written_read_changed_moved_and_deleted(desk: Desk) -> None:
    assert await desk.call(ANN, "list_files") == "There are no files yet."
    told = await desk.call(ANN, "write_file", path="notes/plan.md", content="One\nTwo\n")
    assert told == "Wrote notes/plan.md (version 1), 8 bytes."
    assert await desk.call(BO, "read_file", path="notes/plan.md") == "notes/plan.md (version 1):\nOne\nTwo\n"
    told = await desk.call(BO, "edit_file", path="notes/plan.md", old="Two", new="둘")
    assert told == "Changed notes/plan.md (version 2), 8 bytes."
    assert await desk.call(ANN, "list_files") == "notes/plan.md (version 2), 8 bytes, by Bo"
    told = await desk.call(ANN, "move_file", source="notes/plan.md", target="plan.md")
    assert told == "Moved notes/plan.md to plan.md (version 1)."
    [found] = await desk.files.list(desk.context.session_id)
    assert (found.author, found.message_id) == ("Ann", desk.context.log[-1].id)
    assert await desk.call(ANN, "delete_file", path="plan.md") == "Deleted plan.md."
    assert await desk.call(ANN, "list_files") == "There are no files yet."


async def test_an_edit_of_what_changed_since_it_was_read_is_refused(desk: Desk) -> None:
    await desk.call(ANN, "write_file", path="a.md", content="one two")
    await desk.call(BO, "read_file", path="a.md")
    await desk.call(ANN, "edit_file", path="a.md", old="one", new="1")
    refused = await desk.refusal(BO, "edit_file", path="a.md", old="two", new="2")
    assert "you know version 1, and Ann wrote version 2" in refused and "Read it again" in refused
    # Ann knows her own version.
    await desk.call(ANN, "edit_file", path="a.md", old="1", new="eins")
    await desk.call(BO, "read_file", path="a.md")
    await desk.call(BO, "edit_file", path="a.md", old="two", new="2")
    assert await desk.call(ANN, "read_file", path="a.md") == "a.md (version 4):\neins 2"
    # A result of another tool is no proof of what was read, whatever it says.
    await desk.call(BO, "write_file", path="a.md", content="three")
    [call] = [one for one in desk.context.log if one.tool_calls][-1].tool_calls
    place = next(place for place, one in enumerate(desk.context.log) if call in one.tool_calls)
    desk.context.log[place] = replace(desk.context.log[place], tool_calls=(replace(call, name="web_fetch"),))
    desk.context.log[-1] = replace(desk.context.log[-1], author=ANN)
    assert "you know version 4" in await desk.refusal(ANN, "edit_file", path="a.md", old="three", new="3")


async def test_a_call_that_failed_counts_as_no_reading(desk: Desk) -> None:
    await desk.call(ANN, "write_file", path="a.md", content="one")
    await desk.call(BO, "read_file", path="a.md")
    await desk.call(ANN, "write_file", path="a.md", content="two")
    await desk.call(BO, "read_file", path="a.md")
    desk.context.log[-1] = replace(desk.context.log[-1], state=MessageState.FAILED)
    assert "changed since" in await desk.refusal(BO, "edit_file", path="a.md", old="two", new="2")


@pytest.mark.parametrize(
    ("old", "said"),
    [("", "is not in"), ("three", "is not in"), ("o", "is in 'a.md' 2 times"), ("O", "is not in")],
)
async def test_an_edit_of_what_is_not_there_just_once_is_refused(desk: Desk, old: str, said: str) -> None:
    await desk.call(ANN, "write_file", path="a.md", content="one two")
    assert said in await desk.refusal(ANN, "edit_file", path="a.md", old=old, new="x")
    assert await desk.call(ANN, "read_file", path="a.md") == "a.md (version 1):\none two"


@pytest.mark.parametrize(
    ("key", "arguments", "said"),
    [
        ("read_file", {"path": "none.md"}, "read_file: there is no file 'none.md'; list_files says"),
        ("read_file", {"path": "../../etc/passwd"}, "there is no file"),
        ("edit_file", {"path": "none.md", "old": "a", "new": "b"}, "there is no file"),
        ("delete_file", {"path": "/etc/passwd"}, "there is no file"),
        (
            "write_file",
            {"path": "../a.md", "content": ""},
            "nothing outside the session's folder can be reached",
        ),
        ("write_file", {"path": "run.exe", "content": ""}, "never written: a system might run them"),
        ("write_file", {"path": "A.md", "content": ""}, "'a.md' is there already: use exactly that name"),
        ("move_file", {"source": "a.md", "target": "a.md"}, "there is 'a.md' already"),
        ("move_file", {"source": "a.md", "target": ".env"}, "begins with a dot"),
        ("write_file", {"path": "b.md", "content": "x" * 100_001}, "at most 100,000 are taken"),
    ],
)
async def test_a_refusal_says_in_plain_words_why(
    desk: Desk, key: str, arguments: dict[str, str], said: str
) -> None:
    await desk.call(ANN, "write_file", path="a.md", content="one")
    assert said in await desk.refusal(ANN, key, **arguments)


async def test_a_long_file_is_read_by_pages_and_what_is_no_text_is_refused(desk: Desk) -> None:
    lines = "".join(f"line {number}\n" for number in range(5_000))
    await desk.call(ANN, "write_file", path="long.txt", content=lines)
    read = await desk.call(BO, "read_file", path="long.txt")
    assert read.startswith("long.txt (version 1):\n[page 1 of ") and len(read) < 20_000
    assert "did not fit: ask for them" in read
    assert "line 4999" in await desk.call(BO, "read_file", path="long.txt", pages="15-99")
    assert "from 1 to" in await desk.refusal(BO, "read_file", path="long.txt", pages="99")
    await desk.files.write(desk.context.session_id, "picture.png", lambda _before, _held: b"\x89PNG\xff")
    assert "holds no text" in await desk.refusal(BO, "read_file", path="picture.png")


def test_only_a_change_that_may_have_been_made_is_asked_about_and_none_runs_in_read_only_mode(
    desk: Desk,
) -> None:
    assert [key for key, tool in desk.tools.items() if not tool.repeatable] == ["edit_file"]
    assert {tool.modes for tool in desk.tools.values()} == {(AgentMode.DEFAULT,)}
    assert not any(tool.asks for tool in desk.tools.values())


async def test_the_users_own_files_are_listed_and_one_that_changed_since_it_was_read_is_not_edited(
    data_dir: Path, tmp_path: Path
) -> None:
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "plan.md").write_text("one two")
    (mine / ".env").write_text("KEY=1")
    desk = Desk(data_dir, str(mine))
    await desk.call(ANN, "write_file", path="new.md", content="new")
    assert await desk.call(ANN, "list_files") == "new.md (version 1), 3 bytes, by Ann\nplan.md"
    read = await desk.call(BO, "read_file", path="plan.md")
    assert read.startswith("plan.md (version 0 ") and read.endswith("):\none two")
    # The user's own file has no number that would change.
    (mine / "plan.md").write_text("two three")
    refused = await desk.refusal(BO, "edit_file", path="plan.md", old="two", new="2")
    assert "has changed since you read it" in refused and "the user wrote version 0 " in refused
    await desk.call(BO, "read_file", path="plan.md")
    assert await desk.call(BO, "edit_file", path="plan.md", old="two", new="2") == (
        "Changed plan.md (version 1), 7 bytes."
    )
    assert await desk.refusal(BO, "read_file", path=".env")
    assert [tool.reads for tool in desk.tools.values()] == [False, False, True, True, False, False]


async def test_at_most_2_000_names_are_listed(data_dir: Path, tmp_path: Path) -> None:
    mine = tmp_path / "mine"
    mine.mkdir()
    for number in range(2_100):
        (mine / f"{number}").touch()
    desk = Desk(data_dir, str(mine))
    lines = (await desk.call(ANN, "list_files")).splitlines()
    assert len(lines) == 2_001 and lines[-1].startswith("… (there are more")
