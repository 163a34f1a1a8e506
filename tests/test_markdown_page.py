"""Markdown in exported pages: what models write is shown as it is meant, and nothing of it can do anything."""

import re

import pytest

from app.markdown_page import as_html

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
