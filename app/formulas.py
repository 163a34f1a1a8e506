"""Draws formulas as SVG and says them in words, with the library mathra; without it, no formula is drawn.

The only module that knows the library. What it draws is trusted only as far as it consists of the shapes that
formulas are made of.
"""

import re
from dataclasses import dataclass
from functools import cache, lru_cache
from types import ModuleType
from typing import Any

MAX_CHARACTERS = 4_000
MAX_SHAPES = 2_000
MAX_EM = 400
INK = "currentColor"
"""Stands for the colour of the text around a formula."""

_UNITS = 1_000
_MACRO = re.compile(r"\\(?:[egx]?def|let|(?:re)?newcommand|providecommand|newenvironment)\b")
_VIEW_BOX = re.compile(r'viewBox="0 (-?[\d.]+) ([\d.]+) ([\d.]+)"')
_MISSING = re.compile(r"\(U\+([0-9A-F]+)\): drew a box")
_USE = re.compile(r'<use href="#[\w-]*?(g\d+)"((?: [\w-]+="[^"]*")*)/>')
_PLACE = re.compile(r'x="(\S+)" y="(\S+)"|transform="translate\((\S+) (\S+)\) scale\((\S+?)\)"')
_FILL = re.compile(r' fill="[^"]*"')
_HARMLESS = re.compile(
    r"(?:</?(?:defs|g|path|use|rect|line|circle|ellipse|polygon|polyline)"
    r"(?: (?:(?:id|d|[xyr]|[xy][12]|[cr][xy]|width|height|points|fill|opacity|fill-(?:rule|opacity)"
    r'|stroke(?:-(?:width|linecap|linejoin|dasharray|opacity))?)="[\w .,#%+-]*+"'
    r'|transform="[\w .,()+-]*+"|href="#[\w-]*+"))*+ ?/?>)*+'
)
"""Shapes alone: nothing that runs, is loaded or is text."""


@dataclass(frozen=True, slots=True)
class Formula:
    """A drawn formula: shapes of SVG in the colour INK, and its size in em."""

    shapes: str
    width: float
    ascent: float
    descent: float

    @property
    def svg(self) -> str:
        """The formula as an SVG picture without a size."""
        top, height = -self.ascent * _UNITS, (self.ascent + self.descent) * _UNITS
        box = f"0 {top:.1f} {self.width * _UNITS:.1f} {height:.1f}"
        return f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{box}">{self.shapes}</svg>'


@lru_cache(maxsize=2_048)
def draw(tex: str, *, display: bool) -> Formula | None:
    """Return a formula as a picture; None if it cannot be drawn or would take too long."""
    if not tex or len(tex) > MAX_CHARACTERS or _MACRO.search(tex):
        return None
    svg = _drawn(tex, display)
    box = _VIEW_BOX.search(svg)
    if box is None or svg.count("<use ") > MAX_SHAPES:
        return None
    top, width, height = (float(number) / _UNITS for number in box.groups())
    if not (0 < width < MAX_EM and 0 < height < MAX_EM):
        return None
    # What is drawn, without the words and the source that come with it.
    shapes = svg[svg.index("</style>") + len("</style>") : svg.rindex("<text ")]
    if not _HARMLESS.fullmatch(shapes):
        return None
    if "drew a box" in svg:
        missing = {chr(int(number, 16)) for number in _MISSING.findall(svg)}
        shapes = _with_letters(shapes, _letters(tex, missing, shapes, display))
    return Formula(shapes, width, -top, height + top)


@lru_cache(maxsize=512)
def speech(tex: str, language: str) -> str:
    """Return a formula as a screen reader says it; its source if it cannot be drawn."""
    if draw(tex, display=True) is None:
        return tex
    return str(_asked("render", tex, locale=language).get("speech") or tex)


@cache
def _library() -> ModuleType | None:
    """Return the library; None where there is none for the system."""
    try:
        import mathra
    except ImportError:
        return None
    return mathra  # type: ignore[no-any-return, unused-ignore]


def _drawn(tex: str, display: bool) -> str:
    """Return what the library draws, nothing if it refuses."""
    return str(_asked("tex_to_svg", tex, display=display) or "")


def _asked(function: str, tex: str, **options: Any) -> Any:
    """Return what a function of the library says about a formula, nothing if it refuses."""
    library = _library()
    try:
        return getattr(library, function)(tex, **options) if library else {}
    except ValueError:  # Nested too deeply, or text that is no Unicode.
        return {}
    except BaseException as error:
        if type(error).__name__ == "PanicException":  # A fault of the library; Rust has no Exception.
            return {}
        raise


# Letters the font of formulas lacks, Korean ones above all, are boxes, and are set in the font of the text.


@cache
def _box_glyph() -> str:
    """Return the name of the box that is drawn for a letter the font lacks."""
    found = _USE.search(_drawn(r"\text{가}", display=True))
    return found[1] if found else ""


def _boxes(shapes: str) -> list[bool]:
    """Return for each glyph whether it is a box."""
    return [glyph == _box_glyph() for glyph, _ in _USE.findall(shapes)]


def _letters(tex: str, missing: set[str], shapes: str, display: bool) -> list[str]:
    """Return the letters of the boxes in the order in which they are drawn, which is not that of the source.

    The number of each letter in the source is found bit by bit: the letters whose numbers have it become
    digits.
    """
    letters = [letter for letter in tex if letter in missing]
    places = [index for index, box in enumerate(_boxes(shapes)) if box]
    numbers = [0] * len(places)
    for bit in range((len(letters) - 1).bit_length()):
        count = iter(range(len(letters)))
        changed = "".join(
            ("1" if next(count) >> bit & 1 else letter) if letter in missing else letter for letter in tex
        )
        boxes = _boxes(_drawn(changed, display))
        for index, place in enumerate(places):
            if place < len(boxes) and not boxes[place]:
                numbers[index] |= 1 << bit
    return [letters[number] if number < len(letters) else "" for number in numbers]


def _with_letters(shapes: str, letters: list[str]) -> str:
    left = iter(letters)

    def letter(match: re.Match[str]) -> str:
        place = _PLACE.search(match[2])
        if match[1] != _box_glyph() or place is None or not (shown := next(left, "")):
            return match[0]
        x, y, size = place[1] or place[3], place[2] or place[4], place[5] or "1"
        fill = _FILL.search(match[2])
        return (
            f'<g transform="translate({x} {y}) scale({size},-{size})"><text x="466" text-anchor="middle" '
            f'font-family="Pretendard" font-size="980"{fill[0] if fill else ""}>&#{ord(shown)};</text></g>'
        )

    return _USE.sub(letter, shapes)
