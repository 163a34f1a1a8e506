"""English texts use one term for each thing and no home-made words."""

import re

import pytest

from tests.core.people_read import files_in, texts_in

TEXTS, FILES = texts_in("en"), files_in("en")

# What is not written, and what is written instead.
EVERYWHERE = [
    (r"\bvoices?\b|\bseats?\b", "participant"),
    (r"\bbins?\b", "trash"),
    ("for good", "permanently"),
    (r"\banew\b", "again"),
    (r"\bwhom\b", "who"),
    ("given along", "attached"),
    ("for ever", "in a circle"),
    (r"what is to be|are to be", "what needs doing"),
]
IN_THE_WINDOW = [
    (r"\b[Gg]o(es)? on\b", "resume, continue"),
    (r"\b[Pp]ut(s)? back\b|\b[Bb]r(ing|ought) (in|back)\b", "restore, import"),
    (r"\b[Tt]ake(n)? out\b|\b[Ss]tr(ike|uck)\b", "remove"),
    (r"\bswitched o(n|ff)\b", "enabled, disabled"),
    (r"\bheld back\b", "on hold"),
    (r"\bpictures?\b", "image"),
    (r"\bfaults?\b", "problem, error"),
    (r"\brights\b", "permissions"),
    (r"\bWaits\b", "Waiting"),
    (r"^There is none|^It needs|^It is paused", "a subject that says what is meant"),
]


@pytest.mark.parametrize(("pattern", "better"), EVERYWHERE + IN_THE_WINDOW)
def test_the_window_and_the_terminal_say_it_the_same_way(pattern: str, better: str) -> None:
    assert not {key: text for key, text in TEXTS.items() if re.search(pattern, text)}, f"better: {better}"


@pytest.mark.parametrize(("pattern", "better"), EVERYWHERE)
def test_prompts_and_definitions_say_it_the_same_way(pattern: str, better: str) -> None:
    assert not [name for name, text in FILES.items() if re.search(pattern, text)], f"better: {better}"
