"""How an assistant is to answer: its creativity as a temperature, its length in words, and the options of small models."""

from collections.abc import Mapping

from app.core.definitions import Creativity

_TEMPERATURES: Mapping[str, float] = {
    Creativity.PRECISE: 0.2,
    Creativity.BALANCED: 0.7,
    Creativity.CREATIVE: 1.0,
}

SMALL_MODEL_OPTIONS: Mapping[str, object] = {
    "top_k": 40,
    "min_p": 0.05,
    "repeat_penalty": 1.15,
    "repeat_last_n": 256,
}


def temperature_of(creativity: str) -> float | None:
    """Return the temperature for a creativity, None where it is left to the model."""
    return _TEMPERATURES.get(creativity)


def length_words(length: str, words: Mapping[str, str]) -> list[str]:
    """Return the sentence that asks for answers of a length, none where it is left to the model."""
    wish = words.get(f"length.{length}", "")
    return [wish] if wish else []
