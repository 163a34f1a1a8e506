"""Finding the names of participants in text, English or Korean; used by the speaker rule, the
perspective and the cleaning of replies.

A Korean name carries particles ("클로드는", "제미나이님에게"), so a word boundary is not enough.
"""

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

from app.core.council import Participant
from app.core.frozen import Frozen
from app.core.message import Author
from app.core.texts import KOREAN_READINGS

USER_NAMES: tuple[str, ...] = ("User", "사용자")
USER_LABEL = "User"
_THROUGH_MCP = "(through MCP)"
# A pattern of the labels of programs.
LABEL_OF_PROGRAM = rf"[^\[\]［］\n]{{0,80}} {re.escape(_THROUGH_MCP)}"

_PARTICLE = (
    "(?:이라면|선생님|이랑|에게|한테|께서|께선|으로|처럼|보다|부터|까지|이여|라면|"
    "님|씨|은|는|이|가|을|를|의|께|와|과|랑|도|만|야|아|로|여|요)"
)
_LEFT = r"(?<![0-9A-Za-z_가-힣\-])"
_RIGHT = rf"(?P<particles>{_PARTICLE}{{0,3}})(?![0-9A-Za-z_가-힣])"

_FENCE = re.compile(r"^ {0,3}(```|~~~).*?(?:^ {0,3}\1[^\n]*$|\Z)", re.MULTILINE | re.DOTALL)
_QUOTED_LINE = re.compile(r"^[ \t]*>.*$", re.MULTILINE)
_SENTENCE = re.compile(r"[^.!?。！？\n]+[.!?。！？]*")
_LEADING_MARKS = re.compile(r"[\s\"'“‘*_(\-–—]*")
_TITLE = r"\s?(?:선생|교수|박사|대표)?님|씨"
_VOCATIVE_END = re.compile(rf"(?:{_TITLE}|야|아)?\s*[,，:：]|(?:{_TITLE}|야|아)\s")
_ASKS = re.compile(rf"(?:{_TITLE})?(?:에게|한테|께)\s+(?:\S+\s+){{0,2}}(?:묻|물어|질문|여쭈|여쭙)")
_REQUEST = re.compile(
    r"^[\s,，:：]*(?:so|then|and|but|now|please)?[\s,]*\b(?:please|what|why|how|where|when|can|could|would|"
    r"will|do|does|did|are|is|tell|explain|show|answer|consider|respond|give|say|name|prove|clarify|"
    r"address|describe|defend|help|your (?:turn|view|thoughts))\b|\bplease\b"
    r"|세요|십시오|시죠|주시|할까|나요|까요|는가요|습니까|해\s?봐|답해|말해|설명해|어때|어떻|부탁",
    re.IGNORECASE,
)


class Found(Frozen, kw_only=False):
    """A participant's name in a text: where, and with which particles behind it."""

    participant_id: str
    start: int
    end: int
    particles: str


def label_of(author: Author) -> str:
    """Return the name of who said something as models are told it; that
    of a program cannot end the label's brackets.
    """
    if author.program:
        name = re.sub(r"[\[\]［］:：\s]+", " ", author.program).strip()
        return f"{name} {_THROUGH_MCP}"
    return USER_LABEL if author.kind == "user" else author.name


def aliases_of(participants: Sequence[Participant]) -> dict[str, tuple[str, ...]]:
    """Return the names each participant may be called by, by id; a name that fits two belongs to neither."""
    return _aliases(tuple(participants))


@lru_cache(maxsize=64)
def _aliases(participants: tuple[Participant, ...]) -> dict[str, tuple[str, ...]]:
    wanted: dict[str, list[str]] = {}
    for participant in participants:
        names = [participant.name, *KOREAN_READINGS.get(participant.name.casefold(), ()), participant.model]
        wanted[participant.id] = [normal(name) for name in names if name.strip()]
    owners: dict[str, set[str]] = {}
    for participant_id, names in wanted.items():
        for name in names:
            owners.setdefault(name.casefold(), set()).add(participant_id)
    own = {name for name, who in owners.items() if len(who) == 1}
    return {who: tuple(item for item in names if item.casefold() in own) for who, names in wanted.items()}


def normal(text: str) -> str:
    """Return the text composed (NFC), so that 클로드 typed on a Mac is 클로드."""
    return unicodedata.normalize("NFC", text)


def find_names(text: str, participants: Sequence[Participant]) -> list[Found]:
    """Return every name in the text, in order; the longest alias wins ("GPT-4o-mini" before "GPT-4o")."""
    return _found(text, *_pattern(tuple(participants)))


@lru_cache(maxsize=64)
def _pattern(participants: tuple[Participant, ...]) -> tuple[re.Pattern[str], dict[str, str]]:
    aliases = _aliases(participants).items()
    owners = {name.casefold(): participant_id for participant_id, names in aliases for name in names}
    return _any_of(owners), owners


def find_traces(text: str, words: Sequence[tuple[str, str]]) -> list[Found]:
    """Return every one of these words in a text, in order; each comes with a participant's id, ""
    where it fits several.
    """
    return _found(text, *_traces(tuple(words)))


@lru_cache(maxsize=64)
def _traces(words: tuple[tuple[str, str], ...]) -> tuple[re.Pattern[str], dict[str, str]]:
    owners: dict[str, set[str]] = {}
    for who, word in words:
        for name in (word, *KOREAN_READINGS.get(word.casefold(), ())):
            owners.setdefault(normal(name).casefold(), set()).add(who)
    return _any_of(owners), {name: "".join(who) if len(who) == 1 else "" for name, who in owners.items()}


def _any_of(names: Iterable[str]) -> re.Pattern[str]:
    # Without names it fits nowhere.
    either = "|".join(re.escape(name) for name in sorted(names, key=len, reverse=True)) or "(?!)"
    return re.compile(f"{_LEFT}@?(?P<name>{either}){_RIGHT}", re.IGNORECASE)


def _found(text: str, pattern: re.Pattern[str], owners: Mapping[str, str]) -> list[Found]:
    return [
        Found(owners[match["name"].casefold()], match.start("name"), match.end("name"), match["particles"])
        for match in pattern.finditer(text)
    ]


def begins_with(text: str, name: str) -> bool:
    """Return whether a text begins with a name, with or without particles behind it."""
    return re.match(f"{re.escape(name)}{_RIGHT}", text) is not None


def without_quotes(text: str) -> str:
    """Return the text without code fences and quoted lines: names in them are not addressed."""
    return _QUOTED_LINE.sub("", _FENCE.sub("", normal(text)))


def mentioned(text: str, participants: Sequence[Participant]) -> set[str]:
    """Return the ids of all participants whose names occur outside quotations."""
    return {found.participant_id for found in find_names(without_quotes(text), participants)}


def addressed(text: str, participants: Sequence[Participant]) -> list[str]:
    """Return the ids of the participants a text speaks to, in order of their last address.

    An address is `@name`, a name at the start of a question or request ("클로드님, …"), or the
    only name in a question, unless it is possessive ("Gemini의 주장은?" speaks about Gemini).
    """
    text = without_quotes(text)
    spoken_to: dict[str, int] = {}
    for sentence in _SENTENCE.finditer(text):
        for participant_id in _addressed_in(sentence[0], participants):
            spoken_to[participant_id] = sentence.start()
            spoken_to[participant_id] = spoken_to.pop(participant_id)
    return list(spoken_to)


def _addressed_in(sentence: str, participants: Sequence[Participant]) -> Iterable[str]:
    found = find_names(sentence, participants)
    called = [hit for hit in found if sentence[max(0, hit.start - 1) : hit.start] == "@"]
    if called:
        return [hit.participant_id for hit in called]
    for hit in found:
        if _ASKS.match(sentence[hit.end :]):
            return [hit.participant_id]
    question = sentence.rstrip().endswith(("?", "？"))
    for hit in found:
        if _is_vocative(sentence, hit) and (question or _REQUEST.search(sentence[hit.end :])):
            return [hit.participant_id]
    alone = len({hit.participant_id for hit in found}) == 1
    if question and alone and not _is_possessive(sentence, found[-1]):
        return [found[-1].participant_id]
    return []


def _is_vocative(sentence: str, found: Found) -> bool:
    before, after = sentence[: found.start], sentence[found.end :]
    starts = _LEADING_MARKS.fullmatch(before) is not None
    return starts and _VOCATIVE_END.match(after) is not None


def _is_possessive(sentence: str, found: Found) -> bool:
    return found.particles.endswith("의") or sentence[found.end :].startswith(("'s", "’s"))
