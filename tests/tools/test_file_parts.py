"""The tool for pages of a file: it names what there is, and never returns more than a request can hold."""

import pytest

from app.core.files import NEW_PAGE
from app.core.message import Attachment, Author, Message
from app.core.tool import ToolError
from app.tools.session_files import MOST_CHARACTERS, read_file_part
from tests.tools.contexts import Context

PAGES = NEW_PAGE.join(f"sheet {number}" for number in range(1, 10))


def context(**files: str) -> Context:
    attached = tuple(Attachment(name=name.replace("_", " "), text=text) for name, text in files.items())
    user = Author(id="user", name="", kind="user")
    return Context(log=[Message(id="m", turn_id="t", role="user", author=user, attachments=attached)])


async def test_pages_are_read_by_their_numbers():
    log = context(the_report=PAGES)
    for pages in ("3", " 3 - 3 ", "3–3"):
        assert (await read_file_part(log, "the  report", pages)).content == "[page 3 of 9]\nsheet 3"
    assert (await read_file_part(log, "the report", "8-40")).content.endswith("[page 9 of 9]\nsheet 9")


@pytest.mark.parametrize("pages", ["0", "10", "5-4", "", "two", "1,2", "9" * 30])
async def test_other_numbers_are_refused_with_the_right_ones(pages):
    with pytest.raises(ToolError, match="from 1 to 9"):
        await read_file_part(context(the_report=PAGES), "the report", pages)


async def test_an_unknown_name_is_refused_with_the_known_ones():
    with pytest.raises(ToolError, match="Files: a, the report"):
        await read_file_part(context(the_report=PAGES, a="x"), "other", "1")


async def test_a_result_is_never_too_long():
    text = NEW_PAGE.join(["x" * 7_000] * 6 + ["y" * 50_000])
    result = (await read_file_part(context(a=text), "a", "1-7")).content
    assert "[Pages 3 to 7 did not fit" in result and len(result) < MOST_CHARACTERS + 200
    assert len((await read_file_part(context(a=text), "a", "7")).content) < MOST_CHARACTERS + 200
