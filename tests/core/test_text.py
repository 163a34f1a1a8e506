"""What comes from outside is cleaned, in nested values too."""

import pytest

from app.core.texts import clean_text, clean_values, exact, trimmed, visible, with_lower_headings


@pytest.mark.corpus(23, 24)
def test_lone_surrogates_and_nuls_go() -> None:
    assert clean_text("a\ud83d\0b 가 👩") == "a\ufffd\ufffdb 가 👩"


@pytest.mark.parametrize(
    ("typed", "kept"),
    [
        ("    a\n\tb \n\n", "    a\n\tb"),
        ("\n \t\n  a\n\n b", "  a\n\n b"),
        (" \n\t \n", ""),
        (" ", ""),
        ("", ""),
    ],
)
def test_a_first_line_keeps_its_indentation(typed: str, kept: str) -> None:
    assert trimmed(typed) == kept


def test_values_are_cleaned_however_deep() -> None:
    value = {"a\0": ["\ud83d", {"b": ("x\0", 1, None, True, 2.5)}]}
    assert clean_values(value) == {"a\ufffd": ["\ufffd", {"b": ["x\ufffd", 1, None, True, 2.5]}]}


UNSEEN = [
    *(chr(code) for code in range(0x20) if code not in (0x09, 0x0A)),
    *map(chr, range(0x7F, 0xA0)),
    *"\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b\u180e\u180f\u200b\u200c\u200d\u200e\u200f\u2028\u2029",
    *"\u202a\u202b\u202c\u202d\u202e\u2060\u2061\u2064\u2065\u2066\u2067\u2068\u2069\u206a\u206f\u2800\u3164",
    *"\ufe00\ufe0e\ufe0f\ufeff\uffa0\ufff0\ufff9\U0001d159\U0001d173\U000e0001\U000e0041\U000e007f\U000e0100\U000e01ef",
    *"\ue000\U000f0000\ufdd0\uffff\ud800",
]


@pytest.mark.threat("T14")
@pytest.mark.parametrize("sign", UNSEEN, ids=lambda sign: f"U+{ord(sign):04X}")
def test_what_nobody_sees_is_shown_as_its_code(sign: str) -> None:
    for show in (visible, exact):
        assert show(f"a{sign}b{sign}") == f"a⟨U+{ord(sign):04X}⟩b⟨U+{ord(sign):04X}⟩"


@pytest.mark.parametrize(
    "text",
    [
        "plain\n\ttext",
        "한국어 ᄒ\u1161ᆫ",
        "10\u202f000 \u3000",
        "👨\u200d👩\u200d👧 ⚠\ufe0f 1\ufe0f\u20e3 👩🏽\u200d💻",
        "می\u200cخواهم",
        "\U0001fae8",
    ],
)
def test_what_is_seen_stays(text: str) -> None:
    assert visible(text) == text


@pytest.mark.threat("T14")
@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("⚠\ufe0f\ufe0f", "⚠\ufe0f⟨U+FE0F⟩"),
        ("👨\u200d\u200d👩", "👨⟨U+200D⟩⟨U+200D⟩👩"),
        ("👨\u200dx", "👨⟨U+200D⟩x"),
        ("a\r\nb\rc", "a\nb⟨U+000D⟩c"),
    ],
)
def test_joiners_hide_nothing(text: str, shown: str) -> None:
    assert visible(text) == shown


@pytest.mark.threat("T14")
def test_to_the_letter_blanks_and_line_ends_are_codes_too() -> None:
    assert exact("a\tb\nc\u00a0d\u3000e f⚠\ufe0f") == "a⟨U+0009⟩b⟨U+000A⟩c⟨U+00A0⟩d⟨U+3000⟩e f⚠⟨U+FE0F⟩"
    assert exact("a\nb\r\nc", "\n") == "a\nb\nc"


@pytest.mark.parametrize(
    ("text", "lower"),
    [
        ("# a\n###### b", "### a\n###### b"),
        ("a\nb\n===\nc\n---\n", "### a b\n#### c\n"),
        ("- a\n---\nb", "- a\n---\nb"),
        ("1. ## a\n   b", "1. #### a\n   b"),
        ("```\n# a\n```\nb\n---", "```\n# a\n```\n#### b\n"),
        ("#tag \\# a\n\n    # code", "#tag \\# a\n\n    # code"),
        ("a | b\n--- | ---\n1 | 2", "a | b\n--- | ---\n1 | 2"),
        ("", ""),
    ],
)
def test_headings_are_lowered_and_nothing_else(text: str, lower: str) -> None:
    assert with_lower_headings(text) == lower
