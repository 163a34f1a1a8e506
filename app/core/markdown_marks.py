"""What Markdown's parser does not know: bare addresses, emphasis before Korean particles, and formulas.

For the last two it is given another text, of which each part takes as many bytes of UTF-8 as what it stands
for: so the places the parser tells are those of the text itself.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

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


ON_LINES = re.compile(r"^[ \t]*\$\$(?:(?!\n[ \t]*\n|\$\$).)+\$\$[ \t]*$", re.DOTALL | re.MULTILINE)
"""A formula in a text that is no Markdown, on lines of its own."""
IN_A_LINE = re.compile(r"(\$\$(?![\s$])[^\n$]*[^\s$]\$\$)(?!\$)")
"""A formula in a text that is no Markdown, in a line; `$$` alone means something else in a shell."""

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

Parser = Callable[[str], Iterable[tuple[Any, Any]]]
"""Returns the events of a text with their places, in bytes."""


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
            if value is None:
                events.append((event, place))
            elif "DisplayMath" in event or _is_formula(
                value, source[start - 1 : start], source[end : end + 1]
            ):
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


def _is_formula(value: str, before: bytes, after: bytes) -> bool:
    """Whether what stands between single dollars is a formula; it may be two prices or two variables."""
    return not before.isalnum() and not after.isalnum() and not _MONEY.match(value)


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
    source = _PUNCTUATION.sub(r"\\\1", text[start:].rstrip("\n"))
    before = text[:start].removesuffix("\n")
    return (
        before + ("\\\n" if before.strip() and before != text[:start] else "") + source.replace("\n", "\\\n")
    )


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
