"""The pages of texts: none is lost where a text without pages is divided, and the beginning is short."""

from hypothesis import given
from hypothesis import strategies as st

from app.core.files import LONG_TEXT, NEW_PAGE, first_pages, pages_of


@given(st.lists(st.sampled_from(["word ", "a line\n", "가나다 ", "x" * 2_000, "\n"]), max_size=60))
def test_a_text_without_pages_is_divided_without_loss(parts):
    text = "".join(parts)
    pages = pages_of(text)
    assert "".join(pages) == text
    assert all(0 < len(page) <= 3_000 for page in pages)


@given(st.lists(st.text(st.characters(exclude_characters=NEW_PAGE), max_size=50), min_size=1, max_size=20))
def test_a_text_with_pages_keeps_them(pages):
    assert pages_of(NEW_PAGE.join(["x", *pages])) == ["x", *pages]


def test_the_beginning_of_a_long_text_is_short_and_never_nothing():
    for text in ("x" * LONG_TEXT * 2, NEW_PAGE.join(["y" * 40_000] * 3), NEW_PAGE.join(["z" * 900] * 90)):
        assert 0 < sum(map(len, first_pages(text)[0])) <= 8_000
