"""Texts: the catalogue of everything users read, one JSON file for each language; and cleaning of texts.

Texts from outside are cleaned before they are stored, and before a user decides on them. Also finding by what
is typed, Korean too (spaces are ignored, initial consonants and half-typed syllables match), and sorting.

Also what Markdown's parser does not know: bare addresses, emphasis before Korean particles, and formulas. For
the last two it is given another text, of which each part takes as many bytes of UTF-8 as what it stands for.
"""

import functools
import json
import locale
import os
import re
import sys
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

_EMPTY_LINES = 2
_EMPTY_LINES_BEFORE = re.compile(r"\A(?:[^\S\n]*\n)+")
_UNSTORABLE = re.compile("[\0\ud800-\udfff]")


def clean_text(text: str) -> str:
    """Replace lone surrogates (no encoding can store them) and NULs by U+FFFD."""
    return text if text.isascii() and "\0" not in text else _UNSTORABLE.sub("\ufffd", text)


def trimmed(text: str) -> str:
    """Return a text without the empty lines before it and the blanks after it; its first line stays
    indented.
    """
    return _EMPTY_LINES_BEFORE.sub("", text).rstrip()


def clean_values(value: object, clean: Callable[[str], str] = clean_text) -> object:
    """Return a JSON value with every text in it cleaned, the names of its fields too."""
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, Mapping):
        return {clean(str(name)): clean_values(inner, clean) for name, inner in value.items()}
    return [clean_values(each, clean) for each in value] if isinstance(value, list | tuple) else value


def clock_text(seconds: int) -> str:
    """Return a duration as minutes and seconds: `2:05`."""
    return f"{seconds // 60}:{seconds % 60:02}"


def unmarked(text: str) -> str:
    """Return a text for a button or menu with & escaped, which would mark a shortcut."""
    return text.replace("&", "&&")


def visible(text: str, keep: str = "\n\t", *, joiners: bool = True) -> str:
    """Return a text with every character that is drawn as nothing, or moves what is drawn, as its code.

    For all that a user decides on. Line breaks and tabs stay, and so do `joiners` where they are needed: in
    an emoji that is put together of several, and between Arabic or Indic letters.
    """
    if text.isascii() and text.isprintable():
        return text
    if "\r" in text and "\n" in keep:
        text = text.replace("\r\n", "\n")
    signs = _signs(keep)
    if not joiners:
        return text.translate(signs)
    pieces = _JOINERS.split(text)
    return "".join(piece if place % 2 else piece.translate(signs) for place, piece in enumerate(pieces))


def readable(text: str) -> str:
    """Return a text of a server as `visible` does, without the third and further of empty lines in a row."""
    lines, empty = [], 0
    for line in visible(text).split("\n"):
        empty = 0 if line.strip() else empty + 1
        if empty <= _EMPTY_LINES:
            lines.append(line)
    return "\n".join(lines)


def exact(text: str, keep: str = "") -> str:
    """Return a text for the letter, as in a command line or a name: blanks other than " " are codes too."""
    shown = visible(text, keep, joiners=False)
    blanks = {ord(item) for item in set(shown) - {" "} if unicodedata.category(item) == "Zs"}
    return shown.translate({blank: _code(blank) for blank in blanks})


def without_steering(text: str) -> str:
    """Return a text with the codes of the characters that steer a terminal or turn the writing round.

    For what is only read, a piece at a time: what joins letters and emoji stays, though a piece may end
    there.
    """
    if text.isascii() and text.isprintable():
        return text
    return _STEERING.sub(lambda match: _code(ord(match[0])), text.replace("\r\n", "\n"))


_STEERING = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)

# Unicode categories that are invisible, or change where other text is drawn.
_HIDDEN = frozenset(("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"))

# Invisible characters of other categories: fillers, joiners, variation selectors.
_BLANKS = {0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x2800, 0x3164, 0xFFA0, 0x16FE4, 0x1D159}.union(
    range(0x180B, 0x1810), range(0xFE00, 0xFE10), range(0xE0100, 0xE01F0)
)

# Ranges of new Unicode symbols: they are visible even where this Python does not know them yet.
_NEW_EMOJI = range(0x1F000, 0x1FB00)

_SYMBOL = (
    "[\u00a9\u00ae\u203c\u2049\u2122\u2139\u2190-\u27bf\u2934\u2935\u2b00-\u2bff\u3030\u303d\u3297\u3299"
    "\U0001f000-\U0001faff]"
)
_LETTER = "[\u0600-\u0dff]"
_JOINERS = re.compile(
    f"((?<={_SYMBOL})\ufe0f(?:\u200d(?={_SYMBOL}))?|(?<={_SYMBOL})\u200d(?={_SYMBOL})"
    f"|(?<=[0-9#*])\ufe0f(?=\u20e3)|(?<={_LETTER})[\u200c\u200d](?={_LETTER}))"
)


# What `visible` puts in place of a character.
MARK = re.compile("⟨U\\+[0-9A-F]+⟩")


class _Signs(dict[int, str]):
    """Maps each character to what is shown for it, computed on first use: texts may be megabytes long."""

    def __init__(self, keep: str) -> None:
        super().__init__({ord(item): item for item in keep})

    def __missing__(self, code: int) -> str:
        hidden = code in _BLANKS or (unicodedata.category(chr(code)) in _HIDDEN and code not in _NEW_EMOJI)
        self[code] = _code(code) if hidden else chr(code)
        return self[code]


@functools.cache
def _signs(keep: str) -> _Signs:
    return _Signs(keep)


def _code(code: int) -> str:
    return f"⟨U+{code:04X}⟩"


def fenced(text: str, language: str = "") -> str:
    """Return a text as a block of code, whatever backticks it holds."""
    fence = "`" * max(3, *(len(run) + 1 for run in re.findall("`{3,}", text)), 0)
    return f"{fence}{language if language.isalnum() else ''}\n{text.rstrip()}\n{fence}"


def closed(text: str) -> str:
    """Return Markdown with its open code fence closed, so that nothing after it becomes code."""
    *_, (_line, fence) = ("", ""), *_with_fences(text)
    return f"{text.rstrip()}\n{fence}" if fence else text


def _with_fences(text: str) -> Iterator[tuple[str, str]]:
    """Yield the lines of Markdown, each with the code fence that is open behind it."""
    fence = ""
    for line in text.splitlines(keepends=True):
        mark = line.strip()
        run = mark[: len(mark) - len(mark.lstrip(mark[:1]))] if mark[:1] in ("`", "~") else ""
        if not fence and len(run) >= 3 and not (run[0] == "`" and "`" in mark[len(run) :]):
            fence = run
        elif fence and mark == run and run[:1] == fence[0] and len(run) >= len(fence):
            fence = ""
        yield line, fence


_HEADING = re.compile(r"^(?: {0,3}(?:[-+*]|\d{1,9}[.)]) +)* {0,3}(#{1,6})(?=\s|$)")
_UNDERLINE = re.compile(r" {0,3}(=+|-+)\s*")
# What ends a paragraph: a heading, a quotation, a table, a list, a rule.
_NO_PARAGRAPH = re.compile(
    r" {0,3}(?:#{1,6}(?:\s|$)|[>|]|[-+*](?:\s|$)|\d+[.)]\s|([-*_])(?:[ \t]*\1){2,}\s*$)"
)


def with_lower_headings(text: str) -> str:
    """Return Markdown with its headings two levels lower, below those of the document that it is put into."""
    lines: list[str] = []
    # Where the paragraph begins that a line of = or - would make a heading, None where there is none.
    begun: int | None = None
    before, may_begin = "", True
    for line, fence in _with_fences(text):
        underline = None if begun is None or fence or before else _UNDERLINE.fullmatch(line)
        if underline is not None:
            words = " ".join(part.strip() for part in lines[begun:])
            lines[begun:] = [f"{'###' if underline[1][0] == '=' else '####'} {words}\n"]
        elif fence or before:
            lines.append(line)
        else:
            other = _NO_PARAGRAPH.match(line)
            if may_begin and not other and not line[0].isspace():
                begun = len(lines)
            elif other or not line.strip():
                begun = None
            lines.append(_HEADING.sub(lambda found: found[0] + "#" * min(2, 6 - len(found[1])), line))
            may_begin = not line.strip() or bool(_HEADING.match(line) or (other and other[1]))
        if underline is not None or fence or before:
            begun, may_begin = None, not fence
        before = fence
    return "".join(lines)


def escape_markdown(text: str) -> str:
    """Return a text that Markdown shows as it is, on one line."""
    line = " ".join(text.split())
    return "".join(f"\\{character}" if character in "\\`*_[<>#|" else character for character in line)


# A new language needs its name here, its texts in resources/i18n, a folder each in resources/agents, groups,
# guide, prompts, saved_prompts, skills and workflows, the words in tools/prompt_user, and its name in the
# packages (packaging/moot.spec, linux and windows); `language_of` must tell it from the others. Tests find
# what is missing in resources. What people and models write is read word by word in engine/workflow/run,
# engine/names, engine/debate/modes, engine/council/replies, engine/chat/titles, core/definitions (other names
# of roles), core/message and cli/commands/chats; `has_hangul` decides where the window warns that a model
# knows only English. A language with a script of its own also concerns engine/workflow/commands (`_holds`),
# `name_order`, engine/council/record, engine/council/families, engine/history, the marks below, files/reader
# (old encodings) and the fonts in gui/display/appearance.


def amount_text(usd: float) -> str:
    """Return dollars as digits: `1.25`, `0.0040`; a cost above 0 never reads as 0."""
    return f"{usd:.2f}" if usd >= 0.01 or not usd else f"{max(usd, 0.0001):.4f}"


_UNITS = ("B", "kB", "MB", "GB")


def size_text(words: Callable[..., str], count: int) -> str:
    """Return a number of bytes in a language: `950 B`, `12 kB`, `3.4 MB`."""
    size = float(count)
    unit = 0
    while size >= 999.5 and unit < len(_UNITS) - 1:
        size /= 1_000
        unit += 1
    amount = f"{size:.1f}" if unit and size < 9.95 else f"{size:.0f}"
    return words("size", amount=amount, unit=_UNITS[unit])


LANGUAGES: tuple[str, ...] = ("en", "ko")

# How well-known names in Latin letters are read in Korean, in small letters; the first reading decides the
# particle.
KOREAN_READINGS: dict[str, tuple[str, ...]] = {
    "ada": ("에이다",), "anthropic": ("앤트로픽",), "ben": ("벤",), "claude": ("클로드",),
    "cleo": ("클레오",), "deepseek": ("딥시크",), "gemini": ("제미나이", "제미니"),
    "gpt": ("지피티", "챗지피티", "ChatGPT"), "grok": ("그록",), "llama": ("라마",),
    "mistral": ("미스트랄",), "ollama": ("올라마",), "openai": ("오픈에이아이",),
    "openrouter": ("오픈라우터",), "qwen": ("큐웬",),
}  # fmt: skip

# A Korean particle in both its forms, behind a blank: `‘{name}’을(를)`.
_PARTICLE = re.compile(
    r"(?P<before>\{(?P<blank>\w+)\}[’”'\")]*)"
    r"(?P<both>은\(는\)|이\(가\)|을\(를\)|과\(와\)|이에요\(예요\)|\(으\)로|\(이\)라)"
)
_ORDINAL = re.compile(r"\{(\w+)\}번째")
_ORDINALS = ("첫", "두", "세", "네", "다섯", "여섯", "일곱", "여덟", "아홉", "열")
# What a particle looks through: its form depends on the letter before.
# Blanks for numbers of tokens, and how these are written in short.
_COUNTS = ("tokens", "sent", "window", "limit", "input", "output")
_IN_SHORT = re.compile(r"(?<![\w.])(\d+(?:\.\d+)?)([kM])(?!\w)")
_MARKS = " )]?!.…’”'\""
_LAST_LATIN = re.compile(r"[A-Za-z]+$")
# How each digit ends when it is read: 영 일 이 삼 사 오 육 칠 팔 구.
_DIGITS = "영일이삼사오육칠팔구"
_FIRST, _LAST = "가", "힣"
_PER_INITIAL, _PER_VOWEL, _RIEUL = 588, 28, 8


class Texts:
    """The texts of one language: `texts("debate.start")`, `texts("debate.round", round=2, rounds=3)`.

    A key whose text differs by number has two entries, `key.one` and `key.other`, chosen by
    `count`. A key the catalogue lacks raises KeyError: every text is tested to be there. `{moot}` stands for
    how the command is typed.
    """

    def __init__(self, language: str, catalogue: Mapping[str, str]) -> None:
        self.language = language
        self._catalogue = catalogue

    @classmethod
    def load(cls, folder: Path, language: str) -> "Texts":
        """Read `<folder>/<language>.json`, a flat object from key to text."""
        # It looks at the disk too, which an event loop must not wait for later.
        command_name()
        return cls(language, json.loads((folder / f"{language}.json").read_text(encoding="utf-8")))

    def __call__(self, key: str, **values: object) -> str:
        """Return the text of a key with its blanks filled."""
        if "count" in values and key not in self._catalogue:
            key = f"{key}.one" if values["count"] == 1 else f"{key}.other"
        text = self._catalogue[key]
        if "{moot}" in text:
            values["moot"] = command_name()
        if not values:
            return text
        if self.language == "ko":
            values = {name: _as_counted(name, value) for name, value in values.items()}
            text = _PARTICLE.sub(lambda match: _fitted(match, values), text)
            text = _ORDINAL.sub(lambda match: _ordinal(match, values), text)
        return text.format(**values)

    def named(self, prefix: str, code: str) -> str:
        """Return the text of `<prefix>.<code>`; "unknown" for a code that only a file can have brought."""
        text = self._catalogue.get(f"{prefix}.{code}", "{")
        return self._catalogue["unknown"] if "{" in text else text

    def __contains__(self, key: str) -> bool:
        return key in self._catalogue


@functools.cache
def command_name() -> str:
    """Return how `moot` is typed in a terminal: by its name where that is found, else by its path."""
    python, name = Path(sys.executable), "moot.exe" if sys.platform == "win32" else "moot"
    if any(os.access(Path(folder, name), os.X_OK) for folder in os.get_exec_path()):
        return "moot"
    # The installed window of Windows has it in a folder beside it, an environment and a build beside Python.
    places = (python.parent / "bin" / name, python.with_name(name))
    file = next((str(place) for place in places if place.is_file()), "")
    return join_command([file] if file else [sys.executable, "-m", "app"])


def join_command(words: Sequence[str], *, windows: bool = sys.platform == "win32") -> str:
    """Return a command line that `split_command` reads as these words."""
    # Late, since every start of a command comes here.
    if windows:
        import subprocess

        return subprocess.list2cmdline(words)
    import shlex

    return shlex.join(words)


def _as_counted(name: str, value: object) -> object:
    """Return a number of tokens in short, such as 27.0k, as Koreans count; anything else as it is."""
    return _IN_SHORT.sub(_in_ten_thousands, value) if name in _COUNTS and isinstance(value, str) else value


def _in_ten_thousands(found: re.Match[str]) -> str:
    number = float(found[1]) * (1_000 if found[2] == "k" else 1_000_000)
    tens = number / 10_000
    if tens < 1:
        return f"{number:,.0f}"
    return (f"{tens:.1f}".removesuffix(".0") if tens < 100 else f"{tens:,.0f}") + "만"


def _fitted(match: re.Match[str], values: Mapping[str, object]) -> str:
    """Return a blank with the particle that fits its value; with both forms where its reading is not
    known.
    """
    both = match["both"]
    final = _final(str(values.get(match["blank"], "")))
    if final is not None:
        closed = final != 0 and not (final == _RIEUL and both == "(으)로")
        if both.startswith("("):
            both = both.replace("(", "").replace(")", "") if closed else both[-1]
        else:
            after_consonant, after_vowel = both.rstrip(")").split("(")
            both = after_consonant if closed else after_vowel
    return match["before"] + both


def _ordinal(match: re.Match[str], values: Mapping[str, object]) -> str:
    """Return which one a number means, in words up to the tenth."""
    number = str(values.get(match[1], ""))
    if number.isascii() and number.isdecimal() and 0 < int(number) <= len(_ORDINALS):
        return f"{_ORDINALS[int(number) - 1]} 번째"
    return match[0]


def _final(text: str) -> int | None:
    """Return the number of the final consonant a text ends with in Korean, 0 for none; None when unknown."""
    text = unicodedata.normalize("NFC", text).rstrip(_MARKS)
    latin = _LAST_LATIN.search(text)
    if latin:
        readings = KOREAN_READINGS.get(latin[0].casefold())
        text = readings[0] if readings else ""
    last = _DIGITS[int(text[-1])] if text[-1:].isdecimal() else text[-1:]
    return (ord(last) - ord(_FIRST)) % _PER_VOWEL if _FIRST <= last <= _LAST else None


def has_hangul(text: str) -> bool:
    """Say whether a text has a letter of the Korean script."""
    return re.search("[\u1100-\u11ff\u3130-\u318f\uac00-\ud7a3]", text) is not None


def language_of(text: str) -> str:
    """Return the language that what a user wrote is answered in."""
    return "ko" if has_hangul(text) else "en"


def next_language(language: str) -> str:
    """Return the language after another one, the first after the last."""
    return LANGUAGES[(LANGUAGES.index(language) + 1) % len(LANGUAGES)]


def choose_language(wanted: str) -> str:
    """Return `wanted` if it is a known language, else the system's, else English."""
    if wanted in LANGUAGES:
        return wanted
    system = os.environ.get("LC_ALL") or os.environ.get("LC_MESSAGES") or os.environ.get("LANG")
    name = (system or locale.getlocale()[0] or "en")[:2].lower()
    name = "ko" if name == "kr" else name
    return name if name in LANGUAGES else "en"


_INITIALS = "ㄱㄲㄴㄷㄸㄹㅁㅂㅃㅅㅆㅇㅈㅉㅊㅋㅌㅍㅎ"
# The final consonants of syllables in their order; a blank for none, and for those that cannot begin the next
# syllable.
_FINALS = " ㄱㄲ ㄴ  ㄷㄹ       ㅁㅂ ㅅㅆㅇㅈㅊㅋㅌㅍㅎ"
_NUMBERS = re.compile(r"\d+|\D")
_NOT_LETTERS = re.compile("[^\u3131-\u318e]+")


def fold(text: str) -> str:
    """Return a text without what does not count in a search: case, width, and how letters are composed."""
    if text.isascii():
        return text.casefold()
    text = unicodedata.normalize("NFC", text)
    # Single Korean letters stay as they are typed.
    return _NOT_LETTERS.sub(lambda found: unicodedata.normalize("NFKC", found[0]), text).casefold()


def fits(text: str, typed: str) -> bool:
    """Return whether a text contains every word typed."""
    return finder(typed)(fold(text) if typed else "")


def finder(typed: str) -> Callable[[str], bool]:
    """Return what says of a folded text whether it contains every word typed."""
    words = [(word, None if word.isascii() else _pattern(word)) for word in fold(typed).split()]
    return lambda folded: all(
        word in folded or (pattern is not None and pattern.search(folded)) for word, pattern in words
    )


@lru_cache(maxsize=1_024)
def name_order(name: str, language: str) -> tuple[tuple[int, int, str], ...]:
    """Return what names are sorted by: numbers by their value, then letters;
    in Korean 가나다 before Latin letters.
    """
    hangul = 1 if language == "ko" else 3
    parts: list[tuple[int, int, str]] = []
    for item in _NUMBERS.findall(fold(name)):
        if item.isdecimal():
            parts.append((0, int(item), ""))
        elif not item.isalpha():
            parts.append((-1, 0, item))
        elif _FIRST <= item <= _LAST or item in _INITIALS:
            parts.append((hangul, 0, item))
        else:
            # Letters with accents stand with those without.
            parts.append((2, 0, unicodedata.normalize("NFD", item)[0]))
    return tuple(parts)


@lru_cache(maxsize=256)
def _pattern(word: str) -> re.Pattern[str]:
    """Return the pattern of a word with Korean letters, between which spaces may stand."""
    parts = [_letter(item) for item in word[:-1]] + [_last(word[-1])]
    return re.compile(r"\s*".join(parts))


def _letter(letter: str) -> str:
    """Return the pattern of a letter; an initial consonant stands for all its syllables."""
    place = _INITIALS.find(letter)
    if place < 0:
        return re.escape(letter)
    start = ord(_FIRST) + place * _PER_INITIAL
    return f"[{letter}{chr(start)}-{chr(start + _PER_INITIAL - 1)}]"


def _last(letter: str) -> str:
    """Return the pattern of the letter typed last, which may not be whole yet."""
    if not _FIRST <= letter <= _LAST:
        return _letter(letter)
    code = ord(letter)
    final = (code - ord(_FIRST)) % _PER_VOWEL
    if not final:
        return f"[{letter}-{chr(code + _PER_VOWEL - 1)}]"
    following = _FINALS[final].strip()
    open_one = chr(code - final)
    return rf"(?:{letter}|{open_one}\s*{_letter(following)})" if following else letter


_ADDRESS = re.compile(
    r"(?<![A-Za-z0-9_])https?://[^\s<>\"'`|\\^{}\[\]“”‘’「」『』《》〈〉（）]+", re.IGNORECASE
)
_HOST = re.compile(r"https?://(?:[^/?#@]*@)*[^/?#@\u1100-\u11ff\u3130-\u318f\uac00-\ud7a3]*")
_NAMES_HOST = re.compile(r"https?://(?:[^/?#@]*@)*\w[^/?#@]*(?:[/?#]|$)")
_HOST_ENDS = ("/", "?", "#")
_AFTER = ".,;:!?(*_~…。、，．！？；：·"
_HANGUL = re.compile(r"[\uac00-\ud7a3]+$")
_PARTICLES = re.compile(
    "(?:은|는|이|가|을|를|의|와|과|도|만|에|에게|에서|께|께서|한테|로|으로|로서|으로서|로써|으로써|까지|부터|마다|조차|마저|밖에"
    "|뿐|처럼|보다|이나|나|이랑|랑|하고|이며|며|이고|고|인|인데|이란|란|이라|라|라고|이라고|라는|이라는|라면|이라면|야|요|이야"
    "|입니다|이다|이에요|예요|선|엔|서|지만|이지만)+"
)
# Behind a name in Hangul only what hardly any name ends with; these four depend on the letter before.
_BEHIND_NAME = re.compile("(?:에서|에게|까지|부터|으로|이라고|라고)(?:는|도|만|의)?$")
_BEHIND_CONSONANT, _BEHIND_VOWEL = "은을", "는를"


def bare_links(text: str) -> Iterator[tuple[int, int]]:
    """Yield the beginning and the end of each address.

    An address ends before what belongs to the sentence: punctuation, a bracket that was opened before it, and
    the particles that Korean joins to it. No address has Hangul in its host.
    """
    for match in _ADDRESS.finditer(text):
        address = _ended(match.group())
        if address:
            yield match.start(), match.start() + len(address)


def _ended(address: str) -> str:
    """Return an address without what the sentence joins to it, "" where that leaves no host."""
    host = _HOST.match(address)
    if host is None:
        return ""
    end = host.end()
    if end < len(address) and address[end] not in _HOST_ENDS:
        address = address[:end]
    before = ""
    while address != before:
        before = address
        address = _without_particle(_balanced(address).rstrip(_AFTER))
    return address if _NAMES_HOST.match(address) else ""


def _balanced(address: str) -> str:
    """Cut an address at a bracket that it does not open itself."""
    depth = 0
    for place, character in enumerate(address):
        depth += (character == "(") - (character == ")")
        if depth < 0:
            return address[:place]
    return address


def _without_particle(address: str) -> str:
    run = _HANGUL.search(address)
    if run is None:
        return address
    words = run.group()
    if address[run.start() - 1].isascii() and _PARTICLES.fullmatch(words):
        return address[: run.start()]
    ending = _BEHIND_NAME.search(words)
    if ending and ending.start():
        return address[: run.start() + ending.start()]
    if len(words) > 1:
        consonant = (ord(words[-2]) - 0xAC00) % 28 > 0
        if words[-1] in (_BEHIND_CONSONANT if consonant else _BEHIND_VOWEL):
            return address[:-1]
    return address


_STAND_IN = "\u2e19"
_END = re.compile(r"(?<=[^\w\s*~\\(\[{<「『《〈“‘])([*~]+)([\u1100-\u11ff\uac00-\ud7a3])")
_TEXTS = ("Text", "Code", "Html", "InlineHtml")

AnyParser = Callable[[str], Iterable[Any]]


def parsed(text: str, parser: AnyParser) -> Iterable[Any]:
    """Return the events a parser of Markdown finds in a text, each with its place or without.

    CommonMark ends no emphasis between a punctuation mark and a letter, as in `**생산성(효율)**은`, as it
    knows no particles. The parser is therefore given a punctuation mark in the place of such a letter,
    and the letter is put back into what it finds.
    """
    if text.isascii() or _STAND_IN in text or not _END.search(text):
        return parser(text)
    letters: list[str] = []

    def stand_in(match: re.Match[str]) -> str:
        letters.append(match[2])
        return match[1] + _STAND_IN

    changed = _END.sub(stand_in, text)
    left = iter(letters)
    events = [_with_letters(event, left) for event in parser(changed)]
    # What is left stands in an address or a title, out of order: such a text is parsed as it is.
    return parser(text) if next(left, None) is not None else events


def _with_letters(event: Any, letters: Iterator[str]) -> Any:
    """Return an event with the letters that belong into its text."""
    if isinstance(event, tuple):
        return _with_letters(event[0], letters), event[1]
    if isinstance(event, dict):
        [(name, value)] = event.items()
        if name in _TEXTS and _STAND_IN in value:
            return {name: re.sub(_STAND_IN, lambda _match: next(letters, _STAND_IN), value)}
    return event


# A formula in a text that is no Markdown, on lines of its own.
ON_LINES = re.compile(r"^[ \t]*\$\$(?:(?!\n[ \t]*\n|\$\$).)+\$\$[ \t]*$", re.DOTALL | re.MULTILINE)
# A formula in a text that is no Markdown, in a line; `$$` alone means something else in a shell.
IN_A_LINE = re.compile(r"(\$\$(?![\s$])[^\n$]*[^\s$]\$\$)(?!\$)")

_TOKEN = re.compile(rb"\\.|\$\$|\n[ \t>]*(?=\n)", re.DOTALL)
_CLOSING = {"\\[": "\\]", "\\(": "\\)", "$$": "$$"}
_OTHER_BLOCK = re.compile(rb"\n[ \t]*(?:[-+*>]\s|#{1,6}\s|\d{1,9}[.)]\s|```|~~~)")
_QUOTED_LINE = re.compile(r"\n[ \t]*>")
_LINE_SO_FAR = re.compile(rb"[ \t>]*(?:(?:[-+*]|\d{1,9}[.)])[ \t]+)?")
_MARK = re.compile(r"`+|\\.|\$\$", re.DOTALL)
_PUNCTUATION = re.compile(r"([!-/:-@\[-`{-~])")
_MONEY = re.compile(r"\d[\d.,]*\s+[^\W\d_]{2,}[^\\]*$")
_DOLLAR = "\x1a"
_TRIES = 8

# Returns the events of a text with their places, in bytes.
Parser = Callable[[str], Iterable[tuple[Any, Any]]]


def parsed_with_formulas(text: str, parser: Parser) -> Iterable[tuple[Any, Any]]:
    """Return the events a parser of Markdown finds in a text; formulas are events `Formula`
    with their source.

    The parser knows dollars only, and would take a line of a formula for a list or a heading. It is therefore
    given a text in which brackets are dollars and such formulas stand on one line; the formula is looked up
    in the source.
    """
    if "$" not in text and "\\(" not in text and "\\[" not in text:
        return parsed(text, parser)
    source, shown = text.encode("utf-8"), with_dollars(text, parser)
    for _ in range(_TRIES):
        events, wrong = [], []
        for event, place in parsed(shown, parser):
            start, end = place["start"], place["end"]
            value = event.get("InlineMath", event.get("DisplayMath")) if isinstance(event, dict) else None
            # What stands between single dollars may be two prices or two variables.
            beside = source[start - 1 : start].isalnum() or source[end : end + 1].isalnum()
            if value is None:
                events.append((event, place))
            elif "DisplayMath" in event or not (beside or _MONEY.match(value)):
                events.append(({"Formula": _source(value, source[start:end].decode("utf-8"))}, place))
            else:
                wrong.append(start)
                events.append(({"Text": source[start:end].decode("utf-8")}, place))
        if not wrong or _DOLLAR in text:
            break
        shown = _without_dollars(shown, wrong)
    return [(_with_dollar(event), place) for event, place in events] if _DOLLAR in shown else events


def with_dollars(text: str, parser: Parser) -> str:
    r"""Return a text for the parser, in which `\(…\)`, `\[…\]` and `$$…$$` stand between dollars
    and on one line.
    """
    if "$$" not in text and "\\(" not in text and "\\[" not in text:
        return text
    source = text.encode("utf-8")
    code = [(place["start"], place["end"]) for event, place in parser(text) if is_code(event)]
    parts, done = [], 0
    for start, end in _marked(source, code):
        inner = source[start + 2 : end - 2]
        line = source[source.rfind(b"\n", 0, start) + 1 : start]
        if not inner.strip() or (_OTHER_BLOCK.search(inner) and not _LINE_SO_FAR.fullmatch(line)):
            continue
        quoted = b">" in line and b"\n" in inner
        parts += [source[done:start], b"$$", inner if quoted else inner.replace(b"\n", b" "), b"$$"]
        done = end
    return b"".join([*parts, source[done:]]).decode("utf-8")


def _marked(source: bytes, code: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Yield where formulas begin and end, in a paragraph and not in code."""
    wanted, start, number = "", 0, 0
    for match in _TOKEN.finditer(source):
        mark = match[0].decode("latin-1")
        while number < len(code) and code[number][1] <= match.start():
            number += 1
        if (number < len(code) and code[number][0] <= match.start()) or mark[0] == "\n":
            wanted = ""
        elif mark == wanted:
            yield start, match.end()
            wanted = ""
        elif mark in _CLOSING and (mark == "$$" or wanted != "$$"):
            wanted, start = _CLOSING[mark], match.start()


def _source(value: str, text: str) -> str:
    """Return a formula as it was written; between its lines may be the marks of a quotation."""
    return text[:2] + value + text[-2:] if _QUOTED_LINE.search(text) else text


def _without_dollars(text: str, places: Sequence[int]) -> str:
    """Return a text for the parser without some dollars, so that what follows them is parsed."""
    source = bytearray(text.encode("utf-8"))
    for place in places:
        source[place] = ord(_DOLLAR)
    return source.decode("utf-8")


def _with_dollar(event: Any) -> Any:
    """Return an event with the dollars that the parser was not shown."""
    if isinstance(event, dict):
        [(name, value)] = event.items()
        if isinstance(value, str):
            return {name: value.replace(_DOLLAR, "$")}
    return event


def is_display(source: str) -> bool:
    """Whether a formula, with its marks, stands on a line of its own."""
    return source.startswith(("$$", "\\["))


def tex_of(source: str) -> str:
    """Return a formula without its marks."""
    width = 1 if source.startswith("$") and not source.startswith("$$") else 2
    return source[width:-width].strip()


def open_as_text(text: str) -> str:
    """Return the last paragraph of a text that still grows, with a formula that is not closed as plain
    text.
    """
    start = _open_formula(text)
    if start < 0:
        return text
    # Lines are kept, so that the source looks as it was written.
    source = _PUNCTUATION.sub(r"\\\1", text[start:].rstrip("\n")).replace("\n", "\\\n")
    before = text[:start].removesuffix("\n")
    return before + ("\\\n" if before.strip() and before != text[:start] else "") + source


def _open_formula(text: str) -> int:
    """Return where the formula begins that is not closed; -1 if there is none."""
    wanted, start = "", -1
    for match in _MARK.finditer(text):
        mark = match[0]
        if wanted:
            wanted = "" if mark == wanted else wanted
        elif mark in _CLOSING or mark[0] == "`":
            wanted, start = _CLOSING.get(mark, mark), match.start()
    return start if wanted and wanted[0] != "`" else -1


def is_code(event: Any) -> bool:
    """Say whether an event of the parser is code: a whole block, or what is in a line."""
    if isinstance(event, str):
        return False
    [(name, value)] = event.items()
    return name == "Code" or (name == "Start" and isinstance(value, dict) and "CodeBlock" in value)
