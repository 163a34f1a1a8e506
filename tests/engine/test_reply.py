"""Cleaning replies: own labels, words of others, thinking, in any cut of the stream."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.core.council import Participant
from app.engine.turns.reply import ReplyCleaner, is_pass, whole_sentences
from tests.repeats import examples

PEOPLE = (
    Participant(id="a", name="GPT-4o", provider="x", model="gpt-4o"),
    Participant(id="b", name="클로드", provider="y", model="claude-opus-4-5"),
    Participant(id="c", name="Red Team", provider="z", model="m"),
)

CASES = [
    ("A plain answer.", "A plain answer.", False),
    ("[GPT-4o]: Mine.", "Mine.", False),
    ("GPT-4o: Mine.", "Mine.", False),
    ("**GPT-4o:** Mine.", "Mine.", False),
    ("[GPT-4o]: [gpt-4o]： Mine.", "Mine.", False),
    ("\n\n  (GPT-4o): Mine.", "Mine.", False),
    ("Mine.\n[클로드]: 저는 반대합니다.", "Mine.\n", True),
    ("Mine.\n클로드： 저는 반대합니다.", "Mine.\n", True),
    ("Mine.\n**Red Team**: no.", "Mine.\n", True),
    ("Mine.\nUser: and now?", "Mine.\n", True),
    ("Mine.\n[사용자]: 그래서요?", "Mine.\n", True),
    ("[클로드]: 저는 반대합니다.", "", True),
    ("클로드: you are wrong about that.", "클로드: you are wrong about that.", False),
    ("Mine.\n클로드는 반대합니다.", "Mine.\n클로드는 반대합니다.", False),
    ("Mine.\nRed Teams: many.", "Mine.\nRed Teams: many.", False),
    ("[1] Smith [2]: see [3]: both.", "[1] Smith [2]: see [3]: both.", False),
    ("Note: this.", "Note: this.", False),
    ("Look:\n```\nUser: typed\n```\nSo.", "Look:\n```\nUser: typed\n```\nSo.", False),
    ("Look:\n\n```\nUser: typed\n```\nSo.", "Look:\n\n```\nUser: typed\n```\nSo.", False),
    ("<think>secret\nUser: x</think>\nMine.", "Mine.", False),
    ("<thinking>s</thinking>[GPT-4o]: Mine.", "Mine.", False),
    ("<think>a</think>\n<think>b</think>\nMine.", "Mine.", False),
    ("One <think>hm</think>two.", "One <think>hm</think>two.", False),
    ("Mine.\n<think>hm</think>\n\nAnd more.", "Mine.\n<think>hm</think>\n\nAnd more.", False),
    ("Mine.\n<think>hm</think>\n[클로드]: no.", "Mine.\n<think>hm</think>\n", True),
    ("a < b and <b>bold</b>", "a < b and <b>bold</b>", False),
    ("Never closed: <think>and so on", "Never closed: <think>and so on", False),
    ("", "", False),
    ("[GPT-4o]:", "", False),
    ("- GPT-4o is a name here", "- GPT-4o is a name here", False),
    ("> quoted\nMine.", "> quoted\nMine.", False),
    ("    indented code", "indented code", False),
    ("Mine.\n    indented stays", "Mine.\n    indented stays", False),
]


def clean(pieces: list[str]) -> tuple[str, bool]:
    cleaner = ReplyCleaner.for_speaker(PEOPLE[0], PEOPLE)
    shown, _ = collected(cleaner, pieces)
    return shown, cleaner.cut


def collected(cleaner: ReplyCleaner, pieces: list[str]) -> tuple[str, str]:
    """Return the text and the thinking that a listener has at the end."""
    text = thinking = ""
    for piece in (*pieces, None):
        more, thought = cleaner.finish() if piece is None else cleaner.feed(piece)
        if cleaner.taken_back:
            text, thinking = "", thinking + text
        text, thinking = text + more, thinking + thought
    return text, thinking


@pytest.mark.parametrize(("reply", "text", "cut"), CASES)
def test_a_reply_is_cleaned_whole_and_letter_by_letter(reply: str, text: str, cut: bool) -> None:
    assert clean([reply]) == (text, cut)
    assert clean(list(reply)) == (text, cut)


WORDS = st.sampled_from(
    ["[GPT-4o]: ", "GPT-4o", "클로드: ", "[클로드]: ", "\n", " ", "word ", "<think>", "</think>", "<", "```\n", "[", "User: ",
     "Red ", "Team", ":", "：", "**", "[PASS]", "\r\n", "\u2028", "é"]
)  # fmt: skip


@settings(max_examples=examples(400), deadline=None)
@given(st.lists(WORDS, max_size=20), st.data())
def test_where_the_stream_is_cut_changes_nothing(words: list[str], data: st.DataObject) -> None:
    reply = "".join(words)
    pieces, rest = [], reply
    while rest:
        size = data.draw(st.integers(1, len(rest)))
        pieces.append(rest[:size])
        rest = rest[size:]
    assert clean(pieces) == clean([reply])


@pytest.mark.parametrize(
    ("reply", "shown"),
    [
        ("A plain", "A plain"),
        ("Grand", "Grand"),
        ("G", ""),
        ("[GPT-4", ""),
        ("[Great", "[Great"),
        ("<thi", ""),
    ],
)
def test_only_what_may_become_a_label_is_held_back(reply: str, shown: str) -> None:
    assert ReplyCleaner.for_speaker(PEOPLE[0], PEOPLE).feed(reply)[0] == shown


CODE = "Look:\n\n```\n<think>\nx\n</think>\n```\n"


@pytest.mark.parametrize(
    ("reply", "text", "thinking"),
    [
        ("<think>why not</think>Yes.", "Yes.", "why not"),
        ("<THOUGHT>\nwhy\n</THOUGHT>\nYes.", "Yes.", "\nwhy\n"),
        ("[THINK]why[/THINK]Yes.", "Yes.", "why"),
        ("◁think▷why◁/think▷Yes.", "Yes.", "why"),
        ("<seed:think>why</seed:think>Yes.", "Yes.", "why"),
        ("<|START_THINKING|>why<|END_THINKING|><|START_RESPONSE|>Yes.", "Yes.", "why"),
        (
            "<|channel|>analysis<|message|>why<|end|><|start|>assistant<|channel|>final<|message|>Yes.",
            "Yes.",
            "why",
        ),
        # Only the closing tag comes where the template has the opening one.
        ("So, why not.\n</think>\n\nYes.", "Yes.", "So, why not.\n"),
        ("So, why not.</think>Yes.", "Yes.", "So, why not."),
        ("So, why not.\n◁/think▷Yes.", "Yes.", "So, why not.\n"),
        ("</think>\n\nYes.", "Yes.", ""),
        ("I call it.\n</think>", "", "I call it.\n"),
        (
            "They ask about `</think>`.\n</think>\nIt ends a thought.",
            "It ends a thought.",
            "They ask about `</think>`.\n",
        ),
        # An answer about tags.
        ("First `<think>`, then `</think>`.\n", "First `<think>`, then `</think>`.\n", ""),
        (
            "The tag </think> ends it, as does </thought>.",
            "The tag </think> ends it, as does </thought>.",
            "",
        ),
        ("Write <think>x</think>\nand go on.", "Write <think>x</think>\nand go on.", ""),
        ("<think>a</think>It ends with\n</think>\n", "It ends with\n</think>\n", "a"),
        (CODE, CODE, ""),
        ("<th\u0131nk>x", "<th\u0131nk>x", ""),
    ],
)
def test_thinking_begins_an_answer_and_elsewhere_tags_are_text(reply: str, text: str, thinking: str) -> None:
    for pieces in ([reply], list(reply)):
        cleaner = ReplyCleaner.for_name("GPT-4o")
        assert collected(cleaner, pieces) == (text, thinking)
    assert ReplyCleaner.cleaned("GPT-4o", reply) == text.strip()


def test_a_closing_tag_is_text_where_thinking_came_beside_the_answer() -> None:
    cleaner = ReplyCleaner.for_name("GPT-4o")
    cleaner.settled = True
    assert collected(cleaner, ["It ends with\n</think>\n"]) == ("It ends with\n</think>\n", "")


def test_a_long_reply_costs_no_more_than_its_length() -> None:
    cleaner = ReplyCleaner.for_speaker(PEOPLE[0], PEOPLE)
    shown = sum(len(cleaner.feed("word ")[0]) for _ in range(20_000))
    assert shown + len(cleaner.finish()[0]) == 100_000


@pytest.mark.parametrize(
    ("text", "expected"),
    [("[PASS]", True), (" [pass]. ", True), ("PASS", False), ("[PASS] but", False), ("", False)],
)
def test_passing(text: str, expected: bool) -> None:
    assert is_pass(text) is expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("One. Two. Thr", "One. Two."),
        ("None at all", "None at all"),
        ("It is 3.5 per cent", "It is 3.5 per cent"),
        ('He said "no." And th', 'He said "no."'),
    ],
)
def test_whole_sentences(text: str, expected: str) -> None:
    assert whole_sentences(text) == expected
