"""Colours of code: what is found in each family of languages, and at what cost."""

import time

import pytest

from app.gui.markdown.blocks import CODE, parse
from app.gui.markdown.document import COMMENT, KEYWORD, MARK, NAME, NUMBER, STRING, lex


def found(language: str, code: str) -> list[tuple[str, str]]:
    """Return the coloured words and their kinds."""
    return [(code[start : start + length], kind) for start, length, kind in lex(language, code)]


def test_each_family_has_its_comments_strings_and_words() -> None:
    assert found("python", '@wrap\ndef step(x):  # why\n    return \'it\\\'s\' + """a\nb""" + 1.5e3') == [
        ("@wrap", MARK),
        ("def", KEYWORD),
        ("step", NAME),
        ("# why", COMMENT),
        ("return", KEYWORD),
        ("'it\\'s'", STRING),
        ('"""a\nb"""', STRING),
        ("1.5e3", NUMBER),
    ]
    assert found("js", "const a = `x\ny`; /* more\nlines */ f(0xff)") == [
        ("const", KEYWORD),
        ("`x\ny`", STRING),
        ("/* more\nlines */", COMMENT),
        ("f", NAME),
        ("0xff", NUMBER),
    ]
    assert found("SQL", "SELECT 1 -- one") == [("SELECT", KEYWORD), ("1", NUMBER), ("-- one", COMMENT)]
    assert found("html", '<p class="a"><!-- b --></p>') == [
        ("<p", MARK),
        ('"a"', STRING),
        (">", MARK),
        ("<!-- b -->", COMMENT),
        ("</p", MARK),
        (">", MARK),
    ]


def test_what_nobody_knows_stays_plain() -> None:
    assert found("nosuch", "def x") == found("", "def x") == []
    assert found("python", "x" * 20_001) == []
    # Diagrams are their source, as code.
    [diagram] = parse("```mermaid\ngraph TD\n A-->B\n```")
    assert (diagram.kind, diagram.language, diagram.spans[0].text) == (CODE, "mermaid", "graph TD\n A-->B")


@pytest.mark.parametrize("evil", ['"', "'", '"""', "\\", "/*", "<!--", "1_", "@", " ", "1e", "'\\", "\n "])
@pytest.mark.parametrize("language", ["python", "js", "sql", "html"])
def test_hostile_code_costs_no_more_than_its_length(language: str, evil: str) -> None:
    def cost(length: int) -> float:
        code = (evil * length)[:length]
        began = time.process_time()
        lex(language, code)
        return time.process_time() - began

    # The least of several: another's work, or the collector's, may fall into one. The square would be 16 times.
    assert min(cost(20_000) for _ in range(5)) < 0.01 + 9 * min(cost(5_000) for _ in range(5))
