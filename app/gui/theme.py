"""The tokens of the look: colours of the light and the dark theme, sizes and speakers' colours."""

from dataclasses import dataclass
from typing import cast

from PySide6.QtGui import QColor, QGuiApplication


@dataclass(frozen=True, slots=True)
class Tokens:
    """The colours of one theme, as `#RRGGBB`; speakers are (colour, background) in set-up order."""

    dark: bool
    bg: str
    side: str
    surface: str
    line: str
    line_strong: str
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
        """Return a speaker's colour and background; past the given ones the hue is turned."""
        turns, position = divmod(index, len(self.speakers))
        colour, background = self.speakers[position]
        if not turns:
            return colour, background
        return _turned(colour, turns * 37), _turned(background, turns * 37)


def _turned(name: str, degrees: int) -> str:
    colour = QColor(name)
    hue, saturation, lightness, alpha = cast("tuple[int, int, int, int]", colour.getHsl())
    return QColor.fromHsl((hue + degrees) % 360, saturation, lightness, alpha).name()


LIGHT = Tokens(
    dark=False,
    bg="#FBFBFA",
    side="#F3F2EF",
    surface="#FFFFFF",
    line="#E4E2DC",
    line_strong="#D3D0C8",
    text="#1F1E1B",
    text_2="#66635B",
    text_3="#8C887E",
    accent="#3B5BDB",
    accent_bg="#E8EDFC",
    on_accent="#FFFFFF",
    hover="#ECEAE5",
    # A shade darker than the card's: the card asks for WCAG AA on the tinted grounds as well.
    ok="#267D38",
    ok_bg="#E6F4E9",
    warn="#AC5800",
    warn_bg="#FFF1DF",
    error="#C92A2A",
    error_bg="#FDECEC",
    user="#3F3E39",
    on_user="#FFFFFF",
    speakers=(
        ("#0E8A6D", "#E1F3EE"),
        ("#BF5B35", "#FAEAE3"),
        ("#2F6FDB", "#E4EDFB"),
        ("#7A4FC4", "#EFE8FA"),
    ),
)

DARK = Tokens(
    dark=True,
    bg="#191918",
    side="#131312",
    surface="#222220",
    line="#32312E",
    line_strong="#474540",
    text="#EDECE8",
    text_2="#A8A49A",
    text_3="#7E7A71",
    accent="#8DA5FF",
    accent_bg="#252B45",
    on_accent="#131312",
    hover="#2A2926",
    ok="#69C97E",
    ok_bg="#1D3222",
    warn="#F0AC5A",
    warn_bg="#3A2B16",
    error="#FF8A8A",
    error_bg="#3E1F1F",
    user="#CFCBC0",
    on_user="#191918",
    speakers=(
        ("#4CC5A4", "#17332B"),
        ("#E89A78", "#3B251B"),
        ("#7FAEFF", "#1B2A45"),
        ("#B795F2", "#2D2342"),
    ),
)


def tokens_of(theme: str) -> Tokens:
    """Return the tokens of `light`, `dark`, or what the system prefers now."""
    if theme in ("light", "dark"):
        return DARK if theme == "dark" else LIGHT
    # Imported late: the names of `Qt` cost 30 ms, which the first paint need not wait for.
    from PySide6.QtCore import Qt

    return DARK if QGuiApplication.styleHints().colorScheme() == Qt.ColorScheme.Dark else LIGHT


def outline_tokens(theme: str) -> Tokens:
    """Return the same as `tokens_of`, guessed from the palette where asking would take long."""
    if theme in ("light", "dark"):
        return tokens_of(theme)
    return DARK if QGuiApplication.palette().window().color().lightness() < 128 else LIGHT
