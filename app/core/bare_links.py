"""Finds bare addresses in a text; used by the window and by exported pages.

An address ends before what belongs to the sentence: punctuation, a bracket that was opened before it, and the
particles that Korean joins to it. No address has Hangul in its host.
"""

import re
from collections.abc import Iterator

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
    """Yield the beginning and the end of each address."""
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
