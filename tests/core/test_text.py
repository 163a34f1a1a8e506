"""What comes from outside is cleaned, in nested values too."""

import pytest

from app.core.text import clean_text, clean_values


@pytest.mark.corpus(23, 24)
def test_lone_surrogates_and_nuls_go() -> None:
    assert clean_text("a\ud83d\0b 가 👩") == "a\ufffd\ufffdb 가 👩"


def test_values_are_cleaned_however_deep() -> None:
    value = {"a\0": ["\ud83d", {"b": ("x\0", 1, None, True, 2.5)}]}
    assert clean_values(value) == {"a\ufffd": ["\ufffd", {"b": ["x\ufffd", 1, None, True, 2.5]}]}
