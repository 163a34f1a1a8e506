"""Every colour of a text on every ground it really stands on, counted as WCAG 2 counts contrast.

The grounds are those of the style sheet, whose rules are read, and of the painters, which are named here.
"""

import re
from pathlib import Path

import pytest

from app.gui.display.theme import DARK, LIGHT, Tokens

SHEET = (Path(__file__).parents[2] / "resources" / "app.qss").read_text("utf-8")
READ, SEEN = 4.5, 3.0
GROUNDS = ("bg", "side", "surface", "hover")
# What is written without a ground of its own: rows, cards and panels, plain and under the mouse.
WRITTEN = [
    *[(text, ground) for text in ("text", "text_2", "accent", "error") for ground in GROUNDS],
    *[(text, "accent_bg") for text in ("text", "text_2", "accent")],
    *[("warn", ground) for ground in GROUNDS],
    *[("ok", ground) for ground in ("bg", "surface")],
    *[(tone, f"{tone}_bg") for tone in ("accent", "ok", "warn", "error")],
    # Chips that say what does not work keep the colour of the text on the tinted ground.
    *[("text", f"{tone}_bg") for tone in ("ok", "warn", "error")],
    ("on_accent", "accent"),
    ("on_user", "user"),
    ("bg", "text"),
]
# Parts of controls, marks and the ring of the focus: what has no words beside it.
MARKS = [
    *[("edge", ground) for ground in ("bg", "side", "surface")],
    *[("accent", ground) for ground in (*GROUNDS, "accent_bg")],
    *[("text_2", ground) for ground in GROUNDS],
    ("text_3", "text"),
    ("ok", "surface"),
]
# Words that only help: they need not be read.
HINTS = [("text_3", ground) for ground in GROUNDS]


def luminance(name: str) -> float:
    parts = [int(name[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def rules() -> list[tuple[str, dict[str, str]]]:
    """Return each selector of the sheet with its properties."""
    plain = re.sub(r"/\*.*?\*/", "", SHEET, flags=re.DOTALL)
    found = []
    for selectors, body in re.findall(r"([^{}]+)\{([^{}]*)\}", plain):
        pairs = [line.partition(":") for line in body.split(";") if ":" in line]
        properties = {name.strip(): value.strip() for name, _, value in pairs}
        found += [(selector.strip(), properties) for selector in selectors.split(",")]
    return found


def token(value: str) -> str:
    found = re.search(r"@([a-z0-9_]+)", value)
    return found[1] if found else ""


def written_by_the_sheet() -> set[tuple[str, str, str]]:
    """Return (colour, ground, selector) where the sheet knows both; a state takes what its widget has."""
    found = set()
    known: dict[str, dict[str, str]] = {}
    for selector, properties in rules():
        base = re.sub(r"(?<!:):[a-z].*$", "", selector)
        merged = {**known.get(re.sub(r"\[.*$", "", base), {}), **known.get(base, {}), **properties}
        if base == selector:
            known[selector] = merged
        colour, ground = token(merged.get("color", "")), token(merged.get("background", ""))
        if colour and ground and ":disabled" not in selector:
            found.add((colour, ground, selector))
    return found


@pytest.fixture(params=[LIGHT, DARK], ids=["light", "dark"])
def tokens(request: pytest.FixtureRequest) -> Tokens:
    return request.param


def faint(tokens: Tokens, pairs: list[tuple[str, str]], least: float) -> list[tuple[str, str, float]]:
    values = [(one, other, contrast(getattr(tokens, one), getattr(tokens, other))) for one, other in pairs]
    return [(one, other, round(value, 2)) for one, other, value in values if value < least]


def test_the_count_is_that_of_the_standard() -> None:
    assert contrast("#000000", "#FFFFFF") == pytest.approx(21)
    assert contrast("#777777", "#FFFFFF") == pytest.approx(4.48, abs=0.01)


def test_what_must_be_read_can_be_read(tokens: Tokens) -> None:
    assert faint(tokens, WRITTEN, READ) == []


def test_parts_of_controls_can_be_seen(tokens: Tokens) -> None:
    assert faint(tokens, MARKS, SEEN) == []


def test_hints_can_be_seen(tokens: Tokens) -> None:
    assert faint(tokens, HINTS, SEEN) == []


def test_every_pair_of_the_style_sheet_can_be_read(tokens: Tokens) -> None:
    pairs = written_by_the_sheet()
    assert len(pairs) > 30
    least = {one: SEEN if one == "text_3" else READ for one, _, _ in pairs}
    found = [
        (selector, colour, ground)
        for colour, ground, selector in pairs
        if contrast(getattr(tokens, colour), getattr(tokens, ground)) < least[colour]
    ]
    assert found == []


def test_every_field_has_an_edge_that_can_be_seen() -> None:
    wanted = {"QLineEdit", "QPlainTextEdit", "QComboBox", "QSpinBox", "QDoubleSpinBox"}
    wanted.add('QFrame[kind="composer"]')
    edges = {
        selector: token(properties["border"]) for selector, properties in rules() if "border" in properties
    }
    assert {edges[selector] for selector in wanted} == {"edge"}
    for selector in wanted - {'QFrame[kind="composer"]'}:
        assert edges.get(f"{selector}:focus", edges.get(f'{selector}[ring="true"]')) == "accent"
    assert edges['QFrame[kind="composer"][focused="true"]'] == "accent"


def test_each_of_many_speakers_can_be_read(tokens: Tokens) -> None:
    for place in range(40):
        colour, ground = tokens.speaker(place)
        assert contrast(colour, ground) >= READ, (place, colour, ground)
        for other in (tokens.bg, tokens.surface):
            # The line beside a message; of the first ones also words, in code.
            assert contrast(colour, other) >= (READ if place < 4 else SEEN), (place, colour, other)


def test_chosen_text_can_be_read(tokens: Tokens) -> None:
    chosen = tokens.line_strong if tokens.dark else tokens.accent_bg
    for text in (tokens.text, tokens.text_2, tokens.accent, *[colour for colour, _ in tokens.speakers]):
        assert contrast(text, chosen) >= (READ if text == tokens.text else SEEN), text
