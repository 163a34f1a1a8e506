"""Markdown in exported pages: what models write is shown as it is meant, and nothing of it can do anything."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from app.markdown_page import as_html, tamed
from tests.repeats import examples

TAGS = re.compile(r"</?(\w+)(?: [^<>]*)?>")


@pytest.mark.parametrize(
    ("text", "page"),
    [
        ("One\ntwo\n\nthree", "<p>One<br>two</p><p>three</p>"),
        ("# Top\ntext", "<h3>Top</h3><p>text</p>"),
        ("A **bold** *word*, `co*d*e` and ~~not~~", "<p>A <strong>bold</strong> <em>word</em>, <code>co*d*e</code> and <s>not</s></p>"),
        ("2 * 3 * 4, snake_case_name, \\*so\\*", "<p>2 * 3 * 4, snake_case_name, *so*</p>"),
        ("**`a`** and **[b](https://x.example/a_b_c)**", '<p><strong><code>a</code></strong> and <strong><a href="https://x.example/a_b_c"><bdi>b</bdi></a> (x.example)</strong></p>'),
        ("See https://x.example/?a=1&b=2.", '<p>See <a href="https://x.example/?a=1&amp;b=2">https://x.example/?a=1&amp;b=2</a>.</p>'),
        ("- a\n  - b\n- c", "<ul><li>a<ul><li>b</li></ul></li><li>c</li></ul>"),
        ("3. a\n\n4. b\n   more", '<ol start="3"><li><p>a</p></li><li><p>b<br>more</p></li></ol>'),
        ("- [x] done\n- [ ] open", "<ul><li>☑ done</li><li>☐ open</li></ul>"),
        ("> a\n> > b", "<blockquote><p>a</p><blockquote><p>b</p></blockquote></blockquote>"),
        ("```py\nif a < b:\n  *x*\n```\nend", '<pre class="code">if a &lt; b:\n  *x*\n</pre><p>end</p>'),
        ("  ~~~\n  open", '<pre class="code">open</pre>'),
        ("| a | b |\n|---|:-:|\n| 1 | **2** |", '<table><tr><th>a</th><th style="text-align:center">b</th></tr><tr><td>1</td><td style="text-align:center"><strong>2</strong></td></tr></table>'),
        ("| 항목 | 금액 |\n|:--|--:|\n| 차 | 3원 |", '<table><tr><th>항목</th><th style="text-align:right">금액</th></tr><tr><td>차</td><td style="text-align:right">3원</td></tr></table>'),
        ("a | b\nno table", "<p>a | b<br>no table</p>"),
        ("a\n\n---\nb", "<p>a</p><hr><p>b</p>"),
        ("안녕 **세계**", "<p>안녕 <strong>세계</strong></p>"),
        ("![a picture](https://x.example/p.png)", '<p><a href="https://x.example/p.png"><bdi>a picture</bdi></a> (x.example)</p>'),
    ],
)  # fmt: skip
def test_what_is_written_is_shown_as_it_is_meant(text: str, page: str) -> None:
    assert as_html(text) == page


def test_formulas_are_pictures_with_their_source_as_text() -> None:
    page = as_html("값은 $x<y$이고\n\n$$\\frac{\\text{가}}{b}$$")
    inline, alone = re.findall(r"<svg .*?</svg>", page)
    assert "<title>$x&lt;y$</title>" in inline and "vertical-align" in inline
    assert "<title>$$\\frac{\\text{가}}{b}$$</title>" in alone and "display:block" in alone
    assert page.startswith("<p>값은 <svg ") and "</svg>이고</p>" in page
    # What cannot be drawn is its source; prices and code are no formulas.
    assert (
        as_html("$\\def\\a{b}$ $5 and $6 `$x$`")
        == "<p><code>$\\def\\a{b}$</code> $5 and $6 <code>$x$</code></p>"
    )


@pytest.mark.threat("T8")
def test_where_a_link_leads_is_read_beside_it() -> None:
    page = as_html("[https://bank.example](https://bank.example@evil.example/x)")
    assert page.endswith("<bdi>https://bank.example</bdi></a> (evil.example)</p>")


@pytest.mark.threat("T9")
@pytest.mark.parametrize(
    "text",
    [
        "<script>alert(1)</script> <img src=x onerror=alert(1)>",
        "[a](javascript:alert(1)) [b](data:text/html,x) [c](file:///etc/passwd)",
        '[a](https://x.example/"onclick="alert(1)) https://x.example/"><script>',
        "`<b>` **<i>** | <u> |\n|---|---|\n| <s> | </table> |",
        '```"><script>\n</pre><script>\n```',
        "[\u202e<b>](https://x.example/<b>) \\<b\\>",
        "- <li onclick=x>\n> <b>\n# <h1>",
    ],
)
def test_nothing_in_it_becomes_a_part_of_the_page(text: str) -> None:
    page = as_html(text)
    ours = {
        "p",
        "a",
        "bdi",
        "strong",
        "em",
        "code",
        "pre",
        "ul",
        "li",
        "blockquote",
        "h3",
        "table",
        "tr",
        "th",
        "td",
    }
    assert set(TAGS.findall(page)) <= ours
    assert all(match[0].startswith('<a href="https://') for match in re.finditer(r"<a[^>]*>", page))
    assert not re.search(r"<[^<>]*\son\w+\s*=", page)


@pytest.mark.threat("T10")
@pytest.mark.timeout(60)
@pytest.mark.parametrize(
    "piece",
    ["**a ", "`", "[a](", "> ", "- a\n  ", "|", "| a |\n|---|\n", "_a ", "https://", "```\n", "\\", "*"],
)
def test_work_grows_with_the_length_alone(piece: str) -> None:
    # Were it to grow with the square of it, this would not end in time.
    size = 400_000
    page = as_html(piece * (size // len(piece)))
    assert page.startswith("<") and page.endswith(">")


READERS = (MarkdownIt("commonmark"), MarkdownIt("commonmark").enable(["table", "strikethrough"]))
LOADS = {"image", "html_inline", "html_block"}


def parts_of(text: str) -> list[set[tuple[str, str]]]:
    """Return what each of two readers of Markdown finds in a text: the types of its parts, and the contents of code."""
    found = []
    for reader in READERS:
        tokens = [each for token in reader.parse(text) for each in (token, *(token.children or ()))]
        found.append({(one.type, one.content if "code" in one.type else "") for one in tokens})
    return found


@pytest.mark.threat("T10")
@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("See ![a chart](https://x.example/c.png) there.", "See [a chart](https://x.example/c.png) there."),
        ("[![CI](https://x.example/b.svg)](https://x.example)", "[[CI](https://x.example/b.svg)](https://x.example)"),
        ("![a][b]\n\n[b]: https://x.example", "[a][b]\n\n[b]: https://x.example"),
        # Another message may say what it means.
        ("Wow![1] $n![k]$ !![a](b) \\![c](d) \\\\![e](f)", "Wow! [1] $n! [k]$ !! [a](b) \\! [c](d) \\\\[e](f)"),
        ('<img src="https://x.example"> 1 < 2, a<b, <https://x.example>', '\\<img src="https://x.example"> 1 < 2, a<b, <https://x.example>'),
        ("<div>\n![a](b)\n</div>\n\nText", "\\<div>\n[a](b)\n\\</div>\n\nText"),
        ("한국어 **굵게**![그림](u)<br>끝", "한국어 **굵게**[그림](u)\\<br>끝"),
        ("| a | b |\n|---|---|\n| `x | ![p](q)` |", "| a | b |\n|---|---|\n| `x | [p](q)` |"),
        ("$<b>x</b>$ <!-- no --> <?php ?>", "$\\<b>x\\</b>$ \\<!-- no --> \\<?php ?>"),
    ],
)  # fmt: skip
def test_pictures_become_links_and_html_text(text: str, plain: str) -> None:
    assert tamed(text) == plain
    assert not any({part for part, _ in found} & LOADS for found in parts_of(plain))
    assert tamed(plain) == plain


@pytest.mark.parametrize(
    "text",
    [
        "```html\n<img src=x> ![a](b)\n```\n\n~~~\n![a](b)\n~~~",
        "1. a\n\n   ```\n   ![a](b)\n   ```\n\n> ```\n> <b>\n> ```",
        "Like `![a](b)` and ``<b> ` ``:\n\n    <div>\n    ![a](b)\n\ndone",
        "a < b, *c* [d](e) \\<f> &lt;g> $x<y$",
    ],
)
def test_code_and_harmless_text_stay_as_they_are(text: str) -> None:
    assert tamed(text) == text


PIECES = (
    *("![a](b)", "![a][r]", "[r]: u", "!", "[", "]", "(b)", "<b>", "<div>", "</div>", "<!--", "-->", "<img src=x", ">"),
    *("`", "``", "```\n", "~~~\n", "$", "$$", "\\", "|", "\n", "\n\n", "    ", "> ", "- ", "1. ", "a", " ", "<?", "<script>"),
)  # fmt: skip


@pytest.mark.threat("T10")
@settings(max_examples=examples(1_500), deadline=None)
@given(st.lists(st.sampled_from(PIECES), max_size=24).map("".join))
def test_nothing_is_loaded_whatever_a_model_wrote(text: str) -> None:
    for found in parts_of(tamed(text)):
        assert not {part for part, _ in found} & LOADS


@pytest.mark.threat("T10")
@pytest.mark.timeout(60)
@pytest.mark.parametrize("piece", ["![a](b)", "![", "!", "<b>", "<", "`<b>", "<div>\n\n", "<!--", "\\!["])
def test_making_it_harmless_grows_with_the_length_alone(piece: str) -> None:
    assert len(tamed(piece * (400_000 // len(piece)))) >= 100_000
