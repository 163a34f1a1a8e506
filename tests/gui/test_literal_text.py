"""What a person writes stands letter by letter: in the window, as it is found and copied, and in exports."""

import re
from html import unescape

from hypothesis import example, given, settings
from hypothesis import strategies as st

from app.core.message import Author, Message, Role
from app.core.texts import ON_LINES
from app.engine.export.formats import literal_markdown, message_as_markdown
from app.gui.markdown.blocks import CHARACTERS, literal_blocks, parse
from app.gui.transcript.selection import TextPlace
from app.gui.transcript.transcript_view import TranscriptView
from app.markdown_page import as_html
from tests.gui.test_transcript_view import SESSION, said
from tests.repeats import examples

TYPED = (
    "# no heading\nfirst\nsecond *2 * 3* C:\\new\n\n    def f(x):\n        return x_y_z ** 2\n\n\n"
    "- a\n1. b\n> c\n| d | e |\n```\n&amp; <b> ~~no~~ `x` [t](https://x.example/a_b?c=1&d=2) $1\n---"
)
ME = Author(id="user", name="User", kind="user")


def of_user(text: str) -> Message:
    return Message(id="m0", turn_id="t0", role=Role.USER, author=ME, content=text, round=1)


def test_a_users_message_stands_as_it_was_typed(view: TranscriptView) -> None:
    view.feed.show_session(SESSION, [of_user(TYPED)])
    row = view.canvas.row(0)
    assert row.text.plain_text == TYPED
    assert "\n".join(piece.document.toPlainText() for piece in row.text.segments if piece.document) == TYPED
    assert [(TYPED[at : at + len(span.text)], span.link) for at, span in row.text.links] == [
        ("https://x.example/a_b?c=1&d=2",) * 2
    ]
    lines = [row.position_rect(TYPED.index(word)) for word in ("first", "second", "def f", "return", "- a")]
    assert len({line.top() for line in lines}) == len(lines)
    assert lines[0].left() == lines[1].left() < lines[2].left() < lines[3].left()


def test_a_tab_is_as_wide_as_four_blanks(view: TranscriptView) -> None:
    view.feed.show_session(SESSION, [of_user("\ta\n    b")])
    row = view.canvas.row(0)
    assert abs(row.position_rect(1).left() - row.position_rect(7).left()) <= 1


def test_it_is_found_and_copied_as_it_was_typed(view: TranscriptView) -> None:
    view.feed.show_session(SESSION, [of_user(TYPED)])
    view.search.finder.search("x_y_z ** 2")
    while view.search.finder.advance(1.0):
        pass
    (hit,) = view.search.finder.in_row("m0")
    assert TYPED[hit.start : hit.end] == "x_y_z ** 2"
    start, end = TYPED.index("first"), TYPED.index("<b>")
    view.selection.start(TextPlace("m0", start))
    view.selection.extend(TextPlace("m0", end))
    assert view.selected_text() == view.selected_text(markdown=False) == TYPED[start:end]
    view.select_all()
    assert view.selected_text() == view.selected_text(markdown=False) == TYPED


def test_a_long_text_is_several_pieces_without_a_gap(view: TranscriptView) -> None:
    text = "\n".join(f"line {number} " + "word " * 8 for number in range(400))
    assert "\n".join(block.text for block in literal_blocks(text)) == text
    assert all(len(block.text) <= CHARACTERS + 60 for block in literal_blocks(text))
    view.feed.show_session(SESSION, [of_user(text)])
    row = view.canvas.row(0)
    tops = [row.position_rect(match.start()).top() for match in re.finditer("^line", text, re.MULTILINE)]
    assert {after - before for before, after in zip(tops, tops[1:], strict=False)} == {tops[1] - tops[0]}


def test_what_an_assistant_writes_is_still_markdown(view: TranscriptView) -> None:
    view.feed.show_session(SESSION, [said(0, "# A *b*")])
    assert view.canvas.row(0).text.plain_text == "A b"


def read(page: str) -> str:
    """Return what a browser shows of a page."""
    lines = re.sub(r"</p><p>", "\n\n", page).replace("<br>", "\n")
    return unescape(re.sub(r"<[^>]*>", "", lines)).replace("\xa0", " ")


def test_exports_show_it_as_it_was_typed() -> None:
    markdown = literal_markdown(TYPED)
    # Of two empty lines the second one is a paragraph of its own.
    shown = TYPED.replace("\n\n\n", "\n\n \n\n")
    assert read(as_html(markdown)) == shown
    window = "\n\n".join(block.text for block in parse(markdown))
    assert window.replace("\xa0", " ") == shown
    assert {block.kind for block in parse(markdown)} == {"paragraph"}
    assert 'href="https://x.example/a_b?c=1&amp;d=2"' in as_html(markdown)


def test_what_an_assistant_wrote_is_exported_as_markdown() -> None:
    assert message_as_markdown(said(0, "# A *b*")) == "# A *b*"
    assert message_as_markdown(of_user("# A *b*")) == "\\# A \\*b\\*"


@settings(max_examples=examples(300), deadline=None)
@given(st.text("ab1 \n#*_`~[]()<>|\\&;-+=.!:$가😀\t", max_size=60))
@example("1$$1$$")
@example("a\n$$1\n2$$\nb $$a$$ c")
def test_no_character_is_taken_for_a_mark(text: str) -> None:
    def squeezed(shown: str) -> str:
        # A formula between $$ is on a line of its own in the window, and on one line in both.
        one_line = re.sub(
            r"\s*\$\$\s*", "$$", ON_LINES.sub(lambda formula: " ".join(formula[0].split()), shown)
        )
        return "\n".join(" ".join(line.split()) for line in one_line.split("\n") if line.strip())

    for shown in (
        "\n".join(block.text for block in parse(literal_markdown(text))),
        read(as_html(literal_markdown(text))),
    ):
        assert squeezed(shown.replace("\xa0", " ")) == squeezed(text)
    assert "\n".join(block.text for block in literal_blocks(text)) == text.strip("\n")


def test_formulas_a_person_wrote_are_drawn_in_exports_and_cannot_be_anything_else() -> None:
    markdown = literal_markdown("a *b* $$x_1^2$$ $y$\n$$\n\\frac{a}{b}\n- c\n$$\nend")
    assert markdown == "a \\*b\\* $$x_1^2$$ \\$y\\$\n\n$$ \\frac{a}{b} - c $$\n\nend"
    assert as_html(markdown).count("<svg") == 2
    for harm in ("$$\n```\n$$", "$$<script>$$", "$$[a](https://x.example)$$", "$$\n~~~\n$$", "$$`$$ x"):
        assert read(as_html(literal_markdown(harm))) == harm
        assert "<svg" not in as_html(literal_markdown(harm))
