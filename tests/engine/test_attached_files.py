"""How much of an attached file a model is sent: a quarter of its window, and a fixed length where that is unknown."""

from dataclasses import replace
from pathlib import Path

import pytest

from app.core.files import LONG_TEXT, NEW_PAGE, PDF
from app.core.message import Attachment, Author, Message, Role
from app.core.provider import ModelFacts, Price
from app.core.texts import Texts
from app.engine.history import is_long, look_cost, look_words, user_content
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


def test_a_pdf_as_it_looks_that_takes_over_a_quarter_of_the_window_is_warned_of_with_its_price():
    three = Attachment(name="a.pdf", media_type=PDF, data="JVBE", text=NEW_PAGE.join("abc"))
    seen = Attachment(name="a.pdf", media_type=PDF, pages=("x",) * 3, text="a")
    prices = Price(read=2e-6, written=1e-5)

    def facts(provider: str, name: str) -> ModelFacts:
        return ModelFacts(window=1, prices=prices if name == "m" else None)

    native = replace(model(20_000), pdf=True)
    cost = look_cost(three, [native, model(100_000)], facts)
    assert cost is not None and (cost.tokens, cost.percent, cost.usd) == (6_000, 30, pytest.approx(0.012))
    assert look_cost(three, [replace(native, window=24_000)], facts) is None
    assert look_cost(three, [model(4_000), native], facts) == cost, "the smallest reads the text"
    assert look_cost(seen, [replace(model(10_000, "free"), images=True)], facts) == (3_000, 30, None)
    assert look_cost(three, [replace(native, window=0)], facts) is None, "nothing is known"
    texts = Texts.load(Path(__file__).parents[2] / "resources" / "i18n", "en")
    assert look_words(cost, "a.pdf", texts) == (
        "“a.pdf” as it looks takes about 6,000 tokens with each message, 30% of the model’s context window. "
        "Uncached, that is ≈ $0.01."
    )
