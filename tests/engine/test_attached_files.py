"""How much of an attached file a model is sent: a quarter of its window, and a fixed length where that is unknown."""

import pytest

from app.core.files import LONG_TEXT
from app.core.message import Attachment, Author, Message, Role
from app.engine.chat.attached_files import is_long, user_content
from app.engine.library.agents import AgentModel

WORDS = {"attachment": "[file: {name}]", "page": "[page {page}]", "file_long": "[{shown} of {pages}: {tool}]"}


def model(window: int, name: str = "m") -> AgentModel:
    return AgentModel(provider="p", model=name, row=None, window=window)


@pytest.mark.parametrize(
    ("text", "window", "long"),
    [
        ("a" * LONG_TEXT, 0, False),
        ("a" * (LONG_TEXT + 1), 0, True),
        # 27,000 tokens: a quarter of 108,000.
        ("a" * 100_000, 110_000, False),
        ("a" * 100_000, 100_000, True),
        # A fixed number of characters would be too many of these for a small window.
        ("가" * 9_000, 32_000, True),
        ("가" * 7_000, 32_000, False),
    ],
)
def test_a_file_may_take_a_quarter_of_the_window(text, window, long):
    assert is_long(text, model(window)) is long
    said = Message(
        id="1",
        turn_id="1",
        role=Role.USER,
        author=Author(id="user", name=""),
        content="Sum it up",
        attachments=(Attachment(name="book.txt", text=text),),
    )
    sent = user_content(said, WORDS, model(window), partly=True)
    assert (text in sent) is not long and ("read_file_part" in sent) is long
    assert text in user_content(said, WORDS, model(window), partly=False)


def test_the_same_text_is_longer_for_a_tokenizer_that_makes_more_of_it():
    korean = "가" * 7_000
    assert is_long(korean, model(32_000, "claude-opus-4-7")) and not is_long(korean, model(32_000, "gpt-5.2"))
