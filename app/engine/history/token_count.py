"""Estimates how many tokens a model reads, and corrects that by what providers report."""

import json
import operator
import re
from collections.abc import Mapping
from functools import lru_cache
from math import ceil
from typing import NamedTuple

from app.core.provider import ModelRequest

# Tokens a character takes, measured with the tokenizers of six families of models.
_LETTER, _DIGIT, _SIGN, _SPACE, _OTHER = 0.265, 1.1, 0.5, 0.1, 1.0
# Hangul, where it takes more or less beside other letters than it does for most models.
_HANGUL_OF = {"claude": 1.5, "gemma": 0.88}
_NEW_CLAUDE = 1.3

# What a message has beside its words, and what a picture takes, and a page of a PDF file with its text.
_FRAME = 4
PICTURE_TOKENS = 1_000
_PAGE = 2_000

# Of a request of so many tokens at least, a server that reports less than this share has cut the beginning.
_LEAST_CUT, _CUT = 2_000, 0.7
# The fewest tokens that a known tokenizer makes of a letter, a digit, a sign and any other character.
_FEWEST_OF = (0.25, 0.33, 0.1, 0.5)

# A report outside of these has another meaning, such as the tokens without those that were cached.
_BELIEVED = (0.6, 1.7)
_LEAST_LEARNT = 100

_MOST_PIECES = 256

_LETTERS = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
_DIGITS = b"0123456789"
_SPACES = b" \t\n\r\x0b\x0c"
_HANGUL = re.compile("[\u1100-\u11ff\u3130-\u318f\uac00-\ud7a3]+")
_CLAUDE = re.compile(r"claude-(opus|sonnet|haiku)-(\d+)(?:[-.](\d{1,2})(?!\d))?")


def tokens_of(text: str, model: str = "") -> int:
    """Return about how many tokens a text has for a model; "" for any."""
    return _counted_before(text).tokens(model)


class Count(NamedTuple):
    """How many characters of each kind a text has."""

    # Letters, digits, white space and all other characters of ASCII.
    letters: int = 0
    digits: int = 0
    spaces: int = 0
    signs: int = 0
    # What is not in ASCII: Hangul, and the rest.
    hangul: int = 0
    others: int = 0

    def tokens(self, model: str = "") -> int:
        """Return about how many tokens the text has for a model; "" for any."""
        plain = _LETTER * self.letters + _DIGIT * self.digits + _SPACE * self.spaces + _SIGN * self.signs
        hangul = next((weight for name, weight in _HANGUL_OF.items() if name in model), _OTHER)
        whole = plain + self.others * _OTHER + self.hangul * hangul
        return ceil(whole * (_NEW_CLAUDE if _has_new_tokenizer(model) else 1))


def count_of(text: str) -> Count:
    """Return how many characters of each kind a text has."""
    ascii_text = text.encode("ascii", "ignore")
    letters, digits, spaces = (_count_in(ascii_text, kind) for kind in (_LETTERS, _DIGITS, _SPACES))
    hangul = 0 if len(ascii_text) == len(text) else len(text) - len(_HANGUL.sub("", text))
    return Count(
        letters,
        digits,
        spaces,
        signs=len(ascii_text) - letters - digits - spaces,
        hangul=hangul,
        others=len(text) - len(ascii_text) - hangul,
    )


class GrowingText:
    """Counts a text that comes in pieces, of which it keeps only the last ones."""

    def __init__(self) -> None:
        self._count = Count()
        self._pieces: list[str] = []

    def __bool__(self) -> bool:
        return bool(self._pieces)

    def add(self, piece: str) -> None:
        """Add a piece."""
        # To count many pieces at once takes little longer than to count a single one.
        if len(self._pieces) > _MOST_PIECES:
            self._count, self._pieces = self.count, []
        self._pieces.append(piece)

    @property
    def count(self) -> Count:
        """How many characters of each kind the text has so far."""
        return Count(*map(operator.add, self._count, count_of("".join(self._pieces))))


# A request repeats nearly all texts of the one before it.
_counted_before = lru_cache(maxsize=4_096)(count_of)


def _count_in(text: bytes, kind: bytes) -> int:
    return len(text) - len(text.translate(None, kind))


def _has_new_tokenizer(model: str) -> bool:
    """Whether it is a Claude whose tokenizer makes more tokens of a text: Opus 4.7, Sonnet 5 and those after them."""
    found = _CLAUDE.search(model)
    if found is None:
        return False
    version = (int(found[2]), int(found[3] or 0))
    return version >= ((4, 7) if found[1] == "opus" else (5, 0))


def request_tokens(request: ModelRequest) -> int:
    """Return about how many tokens a model reads of a request."""
    tokens = 0
    for message in request.messages:
        tokens += _FRAME + content_tokens(message.get("content"), request.model)
        if calls := message.get("tool_calls"):
            tokens += tokens_of(_as_json(calls), request.model)
    return tokens + sum(tokens_of(_as_json(tool), request.model) for tool in request.tools)


def fewest_tokens(request: ModelRequest) -> int:
    """Return how many tokens any model reads at least of a request's texts; pictures and tools are left out."""
    return int(sum(_fewest_in(message.get("content")) for message in request.messages))


def _fewest_in(content: object) -> float:
    if isinstance(content, list | tuple):
        return sum(map(_fewest_in, content))
    text = content.get("text") if isinstance(content, Mapping) else content
    if not isinstance(text, str):
        return 0.0
    count = count_of(text)
    others = count.hangul + count.others
    counts = (count.letters, count.digits, count.signs, others)
    return sum(each * least for each, least in zip(counts, _FEWEST_OF, strict=True))


def content_tokens(content: object, model: str) -> int:
    """Return the tokens of a message's content: a text, or a list of texts, pictures and PDF files."""
    if isinstance(content, list | tuple):
        return sum(content_tokens(part, model) for part in content)
    if isinstance(content, Mapping):
        text = content.get("text")
        if isinstance(text, str):
            return tokens_of(text, model)
        pages = content.get("pages")
        return _PAGE * pages if isinstance(pages, int) else PICTURE_TOKENS
    return tokens_of(content, model) if isinstance(content, str) else 0


def _as_json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)


class TokenCount:
    """Corrects estimates by what the provider reported for the last request of the same session and model.

    A request is the last one and what is new: corrected by the same factor, their sum is what was reported for the last
    and the estimate of what is new, in the provider's tokens.
    """

    def __init__(self) -> None:
        self._of_session: dict[tuple[str, str, str], float] = {}
        self._of_model: dict[tuple[str, str], float] = {}

    def learn(self, session_id: str, request: ModelRequest, reported: int) -> None:
        """Learn from the tokens that a provider reported for a request."""
        estimated = request_tokens(request)
        if estimated < _LEAST_LEARNT or not _BELIEVED[0] <= reported / estimated <= _BELIEVED[1]:
            return
        factor = reported / estimated
        self._of_session[session_id, request.provider, request.model] = factor
        self._of_model[request.provider, request.model] = factor

    def is_cut(self, session_id: str, request: ModelRequest, reported: int) -> bool:
        """Whether a server that reports so many tokens, with those of its cache, has left out the beginning of a request.

        As long as the model's tokenizer is not known from other reports, the fewest tokens that any would make count.
        """
        learnt = self.factor(session_id, request.provider, request.model) != 1.0
        sent = self.of(session_id, request) if learnt else fewest_tokens(request)
        return sent >= _LEAST_CUT and 0 < reported < _CUT * sent

    def factor(self, session_id: str, provider: str, model: str) -> float:
        """Return what estimates of a session are multiplied with; 1 as long as nothing was reported."""
        of_model = self._of_model.get((provider, model), 1.0)
        return self._of_session.get((session_id, provider, model), of_model)

    def of(self, session_id: str, request: ModelRequest) -> int:
        """Return about how many tokens a request of a session has."""
        return ceil(request_tokens(request) * self.factor(session_id, request.provider, request.model))
