"""The design tokens: colours of the light, dark and high-contrast themes, and of speakers."""

from dataclasses import dataclass, replace
from functools import cache
from typing import cast

from PySide6.QtGui import QColor, QGuiApplication

READABLE = 4.5
"""The least contrast of text that must be read."""


@dataclass(frozen=True, slots=True)
class Tokens:
    """The colours of a theme as `#RRGGBB`; `speakers` are pairs of colour and background.

    `line` and `line_strong` separate areas; `edge` surrounds what can be typed in or ticked.
    """

    dark: bool
    bg: str
    side: str
    surface: str
    line: str
    line_strong: str
    edge: str
    text: str
    text_2: str
    text_3: str
    accent: str
    accent_bg: str
    on_accent: str
    hover: str
    ok: str
    ok_bg: str
    warn: str
    warn_bg: str
    error: str
    error_bg: str
    user: str
    on_user: str
    speakers: tuple[tuple[str, str], ...]

    def speaker(self, index: int) -> tuple[str, str]:
        """Return a speaker's colour and background; beyond those of the theme the hue is rotated."""
        turns, position = divmod(index, len(self.speakers))
        colour, background = self.speakers[position]
        if not turns:
            return colour, background
        return _turned_on(_turned(background, turns * 37), colour, turns * 37)


def contrast(one: str, other: str) -> float:
    """Return the contrast of two colours by WCAG 2, 1 to 21."""
    light, dark = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def _luminance(name: str) -> float:
    parts = (int(name[place : place + 2], 16) / 255 for place in (1, 3, 5))
    red, green, blue = (raw / 12.92 if raw <= 0.03928 else ((raw + 0.055) / 1.055) ** 2.4 for raw in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _turned(name: str, degrees: int, lighter: int = 0) -> str:
    colour = QColor(name)
    hue, saturation, lightness, alpha = cast("tuple[int, int, int, int]", colour.getHsl())
    return QColor.fromHsl((hue + degrees) % 360, saturation, lightness + lighter, alpha).name()


@cache
def _turned_on(background: str, colour: str, degrees: int) -> tuple[str, str]:
    """Return a rotated colour, made lighter or darker until it is readable on its background."""
    step = 2 if _luminance(background) < 0.2 else -2
    lighter = 0
    while contrast(turned := _turned(colour, degrees, lighter), background) < READABLE:
        lighter += step
    return turned, background


# Each colour in the light theme and in the dark one.
_COLOURS = {
    "bg": ("#FBFBFA", "#191918"),
    "side": ("#F3F2EF", "#131312"),
    "surface": ("#FFFFFF", "#222220"),
    "line": ("#E4E2DC", "#32312E"),
    "line_strong": ("#D3D0C8", "#474540"),
    # Inputs are recognised by their edge alone: 3:1 on every background, as WCAG demands.
    "edge": ("#8E8A81", "#716E67"),
    "text": ("#1F1E1B", "#EDECE8"),
    "text_2": ("#66635B", "#A8A49A"),
    "text_3": ("#8A867C", "#7E7A71"),
    "accent": ("#3B5BDB", "#8DA5FF"),
    "accent_bg": ("#E8EDFC", "#252B45"),
    "on_accent": ("#FFFFFF", "#131312"),
    "hover": ("#ECEAE5", "#2A2926"),
    # Tones and speakers are darker than in the design, for WCAG AA on tinted backgrounds.
    "ok": ("#267D38", "#69C97E"),
    "ok_bg": ("#E6F4E9", "#1D3222"),
    "warn": ("#A65300", "#F0AC5A"),
    "warn_bg": ("#FFF1DF", "#3A2B16"),
    "error": ("#C92A2A", "#FF8A8A"),
    "error_bg": ("#FDECEC", "#3E1F1F"),
    "user": ("#3F3E39", "#CFCBC0"),
    "on_user": ("#FFFFFF", "#191918"),
}


# The colour and the background of each speaker.
_ON_LIGHT = (("#0C7A60", "#E1F3EE"), ("#AB5030", "#FAEAE3"), ("#2466D1", "#E4EDFB"), ("#7A4FC4", "#EFE8FA"))
_ON_DARK = (("#4CC5A4", "#17332B"), ("#E89A78", "#3B251B"), ("#7FAEFF", "#1B2A45"), ("#B795F2", "#2D2342"))
LIGHT = Tokens(dark=False, speakers=_ON_LIGHT, **{name: light for name, (light, _) in _COLOURS.items()})
DARK = Tokens(dark=True, speakers=_ON_DARK, **{name: dark for name, (_, dark) in _COLOURS.items()})


@cache
def high_contrast(tokens: Tokens) -> Tokens:
    """Return a theme with black or white text, and edges that contrast with every background."""
    strongest = "#FFFFFF" if tokens.dark else "#000000"
    line, grey = tokens.edge, tokens.text_2
    return replace(
        tokens, line=line, line_strong=grey, edge=strongest, text=strongest, text_2=strongest, text_3=grey
    )


def tokens_of(theme: str, *, dark: bool | None = None) -> Tokens:
    """Return the tokens of `light` or `dark`, or what the system prefers.

    `dark` is the preference that the desktop's portal reports; without one, Qt is asked.
    """
    if theme in ("light", "dark"):
        return DARK if theme == "dark" else LIGHT
    if dark is None:
        # Imported late: importing `Qt` takes 30 ms, which the first paint need not wait for.
        from PySide6.QtCore import Qt

        dark = QGuiApplication.styleHints().colorScheme() == Qt.ColorScheme.Dark
    return DARK if dark else LIGHT


def outline_tokens(theme: str) -> Tokens:
    """Return the same as `tokens_of`, but guess from the palette, which is faster than asking the system."""
    if theme in ("light", "dark"):
        return tokens_of(theme)
    return DARK if QGuiApplication.palette().window().color().lightness() < 128 else LIGHT
