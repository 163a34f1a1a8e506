"""Streamed Markdown ends as a whole parse would have it, whatever the pieces were."""

import itertools
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.gui.markdown.blocks import CODE, CODE_CHUNK, TABLE, StreamingBlocks, half_done, parse
from tests.repeats import examples

PIECES = (
    "# Title\n\n",
    "para *one* **two** `x`\nnext line\n\n",
    "- a\n- b\n  - c\n\n  more\n- d\n",
    "1. x\n1. y\n1. z\n1. w\n",
    "7) a\n8) b\n9) c\n",
    "```python\ndef f():\n    return 1\n\n\nx\n```\n",
    "```\nopen\n",
    "| a | b |\n|---|--:|\n| 1 | 2 |\n| 3 | 4<br>5 |\n| 6 | `7` |\n\n",
    "> quote\n> - in\n\n",
    "> \n\n> ",
    "<div>\nraw\n\n</div>\n",
    "    indented\n    code\n\n",
    "text\r\nwith\r\n\r\nreturns\r",
    "---\n",
    "[x](http://a.b/c) ![i](u) https://d.e/f.\n",
    "제목입니다 😀\n\n",
    "setext\n===\n\n",
    "\n",
    " - loose\n\n - items\n\n - more\n\n",
)
documents = st.lists(st.sampled_from(PIECES), max_size=14).map("".join)
noise = st.text(alphabet="ab *_`|-#>\n1.[]()~<\\:!\r", max_size=120)


def stream(text: str, cuts: list[int]) -> StreamingBlocks:
    """Feed a text cut at places."""
    blocks = StreamingBlocks()
    edges = [0, *sorted(cut % (len(text) + 1) for cut in cuts), len(text)]
    for begin, end in itertools.pairwise(edges):
        blocks.feed(text[begin:end])
    return blocks


@settings(max_examples=examples(200), deadline=None)
@given(st.one_of(documents, noise), st.lists(st.integers(0, 10_000), max_size=30))
def test_a_streamed_text_equals_one_parse(text: str, cuts: list[int]) -> None:
    blocks = stream(text, cuts)
    blocks.finish()
    assert blocks.blocks == parse(text)


@settings(max_examples=examples(60), deadline=None)
@given(documents)
def test_every_prefix_fed_by_characters_equals_one_parse(text: str) -> None:
    text = text[:160]
    blocks = StreamingBlocks()
    for end, character in enumerate(text, 1):
        blocks.feed(character)
        if not set(text[:end].rpartition("\n\n")[2]) & set("*`|[\r"):
            expected = parse(text[:end])
            assert [block.text for block in blocks.blocks] == [block.text for block in expected]


@pytest.mark.parametrize(
    "text",
    [
        "".join(f"- item {number} with *some* words\n" for number in range(300)),
        "".join(f"{number}. item\n" for number in range(5, 300)),
        "1. x\n" * 300,
        "| a | b |\n|---|---|\n" + "| 1 | 2 |\n" * 300,
        "| a | b |\n|---|---|\n" + "| 1 | 2 |\n" * 700 + "\nafter\n",
        "```py\n" + "x = 1\n\n" * 400 + "```\nafter\n",
        "```py\n" + "x = 1\n" * 400,
        "word " * 10 + "\n\n" + "paragraph *x*\n\n" * 200,
    ],
)
def test_before_the_finish_a_growing_block_already_stands_as_in_one_parse(text: str) -> None:
    blocks = StreamingBlocks()
    for start in range(0, len(text), 37):
        blocks.feed(text[start : start + 37])
    assert blocks.blocks == parse(text)
    assert blocks.finish() == len(blocks.blocks)


@pytest.mark.parametrize(
    ("head", "line"),
    [("```\n", "some code here\n"), ("", "- an item here\n"), ("", "a paragraph\n\n")],
)
def test_a_piece_costs_as_much_late_as_early(head: str, line: str) -> None:
    """The text that is parsed again does not grow with the message."""
    blocks = StreamingBlocks()
    blocks.feed(head)
    longest = 0
    for _ in range(3 * CODE_CHUNK):
        blocks.feed(line)
        longest = max(longest, len(blocks._tail))
    for _ in range(20 * CODE_CHUNK):
        blocks.feed(line)
    assert len(blocks._tail) <= longest


def test_half_done_emphasis_and_code_do_not_show_their_marks() -> None:
    assert parse(half_done("some **bold te"))[0].text == "some bold te"
    assert parse(half_done("some **"))[0].text == "some"
    assert parse(half_done("call `f(x"))[0].text == "call f(x"
    assert parse(half_done("see [the paper](https://exa"))[0].text == "see the paper"
    assert parse(half_done("| a | b |\n|--"))[0].kind == TABLE
    assert parse(half_done("```\na ** b"))[0].kind == CODE


def test_a_link_defined_at_the_end_is_found_by_the_finish() -> None:
    text = "see [it]\n\none\n\ntwo\n\nthree\n\n[it]: https://example.com\n"
    blocks = stream(text, list(range(0, len(text), 5)))
    assert blocks.finish() == 0
    assert blocks.blocks[0].spans[1].link == "https://example.com"


def test_streaming_is_linear() -> None:
    """Ten times the text costs about ten times the work; printed, and held only far off."""

    def cost(count: int) -> float:
        blocks = StreamingBlocks()
        began = time.thread_time()
        for _ in range(count):
            blocks.feed("- item *one*\n")
        return time.thread_time() - began

    small, large = cost(200), cost(2_000)
    print(f"ratio {large / small:.1f}")
    assert large < 60 * small
