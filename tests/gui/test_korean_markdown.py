"""Emphasis and addresses before Korean particles, in the window and in exported pages."""

import re

import pyromark
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.core.texts import bare_links, parsed
from app.gui.markdown.blocks import BOLD, INLINE_CODE, ITALIC, STRUCK, StreamingBlocks, parse
from app.markdown_page import as_html
from tests.repeats import examples

MARKDOWN = pyromark.Markdown(options=pyromark.Options.ENABLE_TABLES | pyromark.Options.ENABLE_STRIKETHROUGH)


def styled(text: str) -> list[tuple[str, int]]:
    return [(span.text, span.style) for block in parse(text) for span in block.spans]


@pytest.mark.parametrize(
    ("text", "shown", "page"),
    [
        ("**생산성(효율)**은", [("생산성(효율)", BOLD), ("은", 0)], "<strong>생산성(효율)</strong>은"),
        ('**"집중"**이', [('"집중"', BOLD), ("이", 0)], "<strong>&quot;집중&quot;</strong>이"),
        ("**2.5%**를", [("2.5%", BOLD), ("를", 0)], "<strong>2.5%</strong>를"),
        ("**`코드`**를", [("코드", BOLD | INLINE_CODE), ("를", 0)], "<strong><code>코드</code></strong>를"),
        ("**[링크](https://a.example/b)**는", [("링크", BOLD), ("는", 0)], None),
        ("~~취소!~~는", [("취소!", STRUCK), ("는", 0)], "<s>취소!</s>는"),
        ("**강조**는", [("강조", BOLD), ("는", 0)], "<strong>강조</strong>는"),
        ("*(가)*와 **~~나!~~**는", [("(가)", ITALIC), ("와 ", 0), ("나!", BOLD | STRUCK), ("는", 0)], None),
        ("***가(나)***다", [("가(나)", BOLD | ITALIC), ("다", 0)], None),
        ("(**강조**)는", [("(", 0), ("강조", BOLD), (")는", 0)], "(<strong>강조</strong>)는"),
        ('"**강조**"는 **"둘"**이', [('"', 0), ("강조", BOLD), ('"는 ', 0), ('"둘"', BOLD), ("이", 0)], None),
        ("`**가(나)**은` 는", [("**가(나)**은", INLINE_CODE), (" 는", 0)], "<code>**가(나)**은</code> 는"),
        ("\\**가(나)\\**은", [("**가(나)**은", 0)], None),
    ],
)  # fmt: skip
def test_emphasis_ends_before_a_particle(text: str, shown: list[tuple[str, int]], page: str | None) -> None:
    assert styled(text) == shown
    if page is not None:
        assert as_html(text) == f"<p>{page}</p>"
    blocks = StreamingBlocks()
    for character in text:
        blocks.feed(character)
    blocks.finish()
    assert blocks.blocks == parse(text)


def test_emphasis_in_lists_tables_and_headings_ends_before_a_particle() -> None:
    table = parse('| **"가"**는 | b |\n|---|---|\n| ~~나!~~를 | 2 |')[0]
    assert [[cell[0].style for cell in row] for row in table.rows] == [[BOLD, 0], [STRUCK, 0]]
    assert styled("# **가(나)**은\n\n- **다(라)**는\n\n> **마!**를")[::2] == [
        ("가(나)", BOLD),
        ("다(라)", BOLD),
        ("마!", BOLD),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "**productivity(efficiency)**is",
        'a**"b"**c',
        "2 * 3 * 4, snake_case_name, 2**10",
        "~~no!~~way and **yes!** way",
        "**a** (*b*) [c](https://x.example/d_e) `**f(g)**h`",
        "**강조** 는 *기울임* 입니다. 2 * 3",
        "```\n**생산성(효율)**은\n```",
        "    **생산성(효율)**은",
        "[글](https://x.example/a)**나) \\*은",
        "⸙ **생산성(효율)**은",
    ],
)  # fmt: skip
def test_what_is_no_emphasis_before_a_particle_is_read_as_ever(text: str) -> None:
    assert list(parsed(text, MARKDOWN.events)) == list(MARKDOWN.events(text))


@settings(max_examples=examples(300), deadline=None)
@given(st.text('가은a*~`()[]"!.|<>\\\n -#:/', max_size=60))
def test_no_letter_is_lost_or_moved(text: str) -> None:
    def letters(events: object) -> str:
        return re.sub(r"[^가은a]", "", "".join(map(str, events)))  # type: ignore[call-overload]

    found = [event for event in parsed(text, MARKDOWN.events) if isinstance(event, dict)]
    plain = [event for event in MARKDOWN.events(text) if isinstance(event, dict)]
    values = [next(iter(event.values())) for event in found if next(iter(event)) in ("Text", "Code")]
    expected = [next(iter(event.values())) for event in plain if next(iter(event)) in ("Text", "Code")]
    if not any("Link" in str(event) or "Image" in str(event) for event in (*found, *plain)):
        assert letters(values) == letters(expected)
    assert "⸙" not in str(found)


@pytest.mark.parametrize(
    ("text", "link"),
    [
        ("https://example.com/docs에 있다", "https://example.com/docs"),
        ("https://example.com/원격근무를 보라", "https://example.com/원격근무"),
        ("https://example.com/a)라고 한다", "https://example.com/a"),
        ("https://example.com.은 주소다", "https://example.com"),
        ("https://example.com은 주소다", "https://example.com"),
        ("https://example.com/에서는", "https://example.com/"),
        ("(https://example.com/a)라고", "https://example.com/a"),
        ("https://example.com/원격근무에서", "https://example.com/원격근무"),
        ("https://example.com/a.html입니다.", "https://example.com/a.html"),
        ("https://ko.wikipedia.org/wiki/A_(B)는", "https://ko.wikipedia.org/wiki/A_(B)"),
        ("참고https://example.com/a?b=1&c=2와", "https://example.com/a?b=1&c=2"),
        ("“https://example.com/a”라는", "https://example.com/a"),
        ("https://example.com/마을", "https://example.com/마을"),
        ("https://example.com/놀이", "https://example.com/놀이"),
        ("https://example.com/글/2에서/x", "https://example.com/글/2에서/x"),
        ("https://한국.kr/a", ""),
        ("https://user@한국.kr", ""),
        # As ever.
        ("See https://x.example/?a=1&b=2.", "https://x.example/?a=1&b=2"),
        ("(see https://x.example/a_b), and", "https://x.example/a_b"),
        ("https://x.example/a/", "https://x.example/a/"),
        ("https://x.example/~me/#top!", "https://x.example/~me/#top"),
        ("https://user@x.example/a@b", "https://user@x.example/a@b"),
        ("https://xn--bj0bj06e.kr/a%EC%9D%80", "https://xn--bj0bj06e.kr/a%EC%9D%80"),
        ("https://bücher.example/ä", "https://bücher.example/ä"),
        ("https://", ""),
        ("nohttps://x.example", ""),
    ],
)  # fmt: skip
def test_a_bare_address_ends_before_the_sentence_goes_on(text: str, link: str) -> None:
    assert [text[start:end] for start, end in bare_links(text)] == ([link] if link else [])
    assert [span.link for block in parse(text) for span in block.spans if span.link] == (
        [link] if link else []
    )
    assert re.findall('href="([^"]*)"', as_html(text)) == ([link.replace("&", "&amp;")] if link else [])
    assert parse(text)[0].text == text
