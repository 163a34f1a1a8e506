"""Resources and prompts of a server, through the tool host."""

import sys
from pathlib import Path

import pytest

from app.core.message import Attachment
from app.core.servers import McpServer
from app.core.tool import ToolError
from tests.tools.serving import SERVERS, bench, proper

ENTRY = McpServer(name="library", command=sys.executable, args=(str(SERVERS / "library.py"),))


async def test_resources_are_listed_and_read_and_prompts_filled_in(data_dir: Path) -> None:
    async with bench(data_dir) as one:
        await one.connect(ENTRY, proper())
        assert [one.status(name).has_resources for name in ("library", "proper")] == [True, True]
        library = one.servers
        listed = await library.resources("library")
        assert [(each.uri, each.name) for each in listed] == [
            ("notes://today", "Today"), ("notes://broken", "Broken"), ("notes://hidden", "Hid⟨U+2060⟩den"),
            ("notes://{month}/{day}", "A day")
        ]  # fmt: skip
        note = Attachment(name="today", media_type="text/markdown", text="# Today\n\nIt rained.")
        assert await library.read_resource("library", "notes://today") == (note,)
        [day] = await library.read_resource("library", "notes://may/4")
        assert day.text == "Notes of may 4"
        with pytest.raises(ToolError, match="library"):
            await library.read_resource("library", "notes://broken")
        review, plain, _ = one.status("library").prompts
        assert (review.name, review.variables) == ("Review code · library", ("code", "style"))
        assert await library.prompt(plain, {}) == ("Say it plainly.", ())
        text, _ = await library.prompt(review, {"code": "x = 1"})
        assert text == "Review this: x = 1\n\nGladly."


@pytest.mark.threat("T12")
async def test_nothing_of_a_prompt_or_a_resource_is_invisible_or_out_of_sight(data_dir: Path) -> None:
    async with bench(data_dir) as one:
        await one.connect(ENTRY)
        library = one.servers
        *_, hidden = one.status("library").prompts
        assert hidden.name == "Hidden⟨U+200B⟩ words · library"
        assert await library.prompt(hidden, {}) == ("Say\n ⟨U+200B⟩\n\n\n⟨U+202E⟩hello", ())
        [note] = await library.read_resource("library", "notes://hidden")
        assert note.text == "Note\n\t\n\t\n\t⟨U+200B⟩end"
        [listed] = [each for each in await library.resources("library") if each.uri == "notes://hidden"]
        assert listed.description == "Line line"
