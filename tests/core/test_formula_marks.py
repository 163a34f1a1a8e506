r"""What is a formula in Markdown: `$…$`, `$$…$$`, `\(…\)` and `\[…\]`, but no prices, variables or code."""

import sys

import pyromark
import pytest

from app.core.texts import is_display, open_as_text, tex_of, with_dollars
from app.gui.markdown.blocks import BOLD, CODE, FORMULA, INLINE_CODE, PLAIN, parse


def formulas(text: str) -> list[str]:
    """Return the sources of the formulas in a text."""
    return [
        span.text
        for block in parse(text)
        for cell in [cell for row in block.rows for cell in row] or [block.spans]
        for span in cell
        if span.style & FORMULA
    ]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("a $x_1$ b", ["$x_1$"]),
        ("a \\(x\\) and \\( y_i \\), 값은 $z$입니다", ["\\(x\\)", "\\( y_i \\)", "$z$"]),
        ("so\n\\[\na\n- b\n= c\n\\]\nand", ["\\[\na\n- b\n= c\n\\]"]),
        ("$$\na &= b \\\\[2pt]\n+ c\n$$", ["$$\na &= b \\\\[2pt]\n+ c\n$$"]),
        ("> 말\n> $$\n> x\n> $$", ["$$\nx\n$$"]),
        ("- one $a$\n- two:\n  $$b$$\n  more", ["$a$", "$$b$$"]),
        ("| a | b |\n|---|---|\n| $x$ | \\(y\\) |", ["$x$", "\\(y\\)"]),
        ("# On $x$ and **$y$**", ["$x$", "$y$"]),
        ("$a$$b$", ["$a$", "$b$"]),
        ("$2 \\times 3$ and $2x$ and $5$x", ["$2 \\times 3$", "$2x$"]),
        ("$5 and $6, US$5, 5$ to 6$, $20 vs 30$, $HOME/$USER", []),
        ("the answer is $2$", ["$2$"]),
        ("$5 and $6 `$x$` **$20**", []),
        ("가격은 $5이고 $6입니다", []),
        ("`$x$` and `\\(x\\)` and\n\n```\n\\[x\\]\n$$y$$\n```\n\n    \\(z\\)", []),
        ("- use \\[ to open\n- use \\] to close", []),
        ("\\\\(x\\\\) \\\\[2pt] $$ a\n\nb $$ \\[ a\n\nb \\]", []),
    ],
)
def test_formulas_are_told_from_prices_variables_and_code(text: str, found: list[str]) -> None:
    assert formulas(text) == found


def test_a_formula_on_a_line_of_its_own_is_a_block() -> None:
    assert [block.text for block in parse("so $$x$$ and **b** \\[y\\]")] == [
        "so",
        "$$x$$",
        "and b",
        "\\[y\\]",
    ]
    assert [(block.marker, block.indent) for block in parse("1. $$x$$ so\n2. so $$y$$")] == [
        ("1.", 1),
        ("", 1),
        ("2.", 1),
        ("", 1),
    ]


@pytest.mark.parametrize("text", ["가 \\(나\\) \\[\n다\n\\] `\\(` $$a\nb$$ \\(열", "> \\[\n> 가\n> \\]"])
def test_the_text_for_the_parser_has_its_places_where_they_were(text: str) -> None:
    parser = pyromark.Markdown(options=pyromark.Options.ENABLE_MATH).events_with_range
    changed = with_dollars(text, parser)
    assert changed != text and len(changed.encode()) == len(text.encode())


@pytest.mark.parametrize("source", ["$x$", "$$x$$", "\\(x\\)", "\\[x\\]", "$$ \n x \n $$"])
def test_a_source_is_a_formula_with_its_marks(source: str) -> None:
    assert tex_of(source) == "x"
    assert is_display(source) == source.startswith(("$$", "\\["))


@pytest.mark.parametrize(
    "text",
    [
        "so $$a_1*b*c_2",
        "so\n\\[\na_1\n- *b*\n= c",
        "\\(a_1 + *b",
        "`$$` and $$\\frac{a}{b}",
        "$$a$$\nand $$b_1 _c_ \\\\",
    ],
)
def test_a_formula_that_is_not_closed_is_its_source(text: str) -> None:
    shown = "\n".join(block.text for block in parse(open_as_text(text)))
    assert shown == text.replace("`", "")


@pytest.mark.parametrize("text", ["$$a$$", "\\(a\\) and \\[b\\]", "`$$ \\[`", "a \\\\[2pt] b", "plain"])
def test_what_is_closed_stays_as_it_is(text: str) -> None:
    assert open_as_text(text) == text


def test_dollars_that_are_no_formula_leave_the_rest_as_it_is() -> None:
    (block,) = parse("$5 and $6 `$x$`, US$a **b** $c")
    assert [(span.text, span.style) for span in block.spans] == [
        ("$5 and $6 ", PLAIN),
        ("$x$", INLINE_CODE),
        (", US$a ", PLAIN),
        ("b", BOLD),
        (" $c", PLAIN),
    ]


def calls_of(text: str) -> int:
    """Return how many functions are called while a text is parsed, those of libraries included."""
    calls = 0

    def count(_frame: object, event: str, _argument: object) -> None:
        nonlocal calls
        calls += event in {"call", "c_call"}

    sys.setprofile(count)
    try:
        parse(text)
    finally:
        sys.setprofile(None)
    return calls


@pytest.mark.parametrize("piece", ["\\(", "\\[", "$$", "`a` \\(x\\) ", "$a $", "x$a$b ", "$$\n", "\\(\n\n"])
def test_the_work_for_a_long_text_of_marks_grows_with_its_length(piece: str) -> None:
    assert calls_of(piece * 4_000) < 12 * calls_of(piece * 500) + 1_000


def test_code_with_dollars_stays_code() -> None:
    (block,) = parse("```sh\necho $$ $HOME $$\n```")
    assert (block.kind, block.text) == (CODE, "echo $$ $HOME $$")
