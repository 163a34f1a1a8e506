"""What is read in the words of a council's models: trailers, objects, choices, confidences; pure.

Two candidates are none: a vote that is in doubt is a blank, never a guess.
"""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from app.core.council import Option
from app.core.council_parts import Position
from app.core.json_values import as_list, read_object
from app.core.texts import clean_text
from app.engine.turns.reply import ReplyCleaner

MOST_OPTION = 160
OTHER = "other"
MOST_OPTIONS = 5
# What a judge chooses where no option holds up.
NEITHER = "none"
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
# How many characters an option has at most that must stand alone in a text to be chosen by it.
SHORT = 3

_TRAILER = re.compile(r"\n[ \t>*`]*@@")
_MAY_BE_TRAILER = re.compile(r"\n[\s>*`]*@?$")
_NAMED = re.compile(
    r"\b(?:choice|vote|choose|answer|option)\b[\"'*\s]*(?:is|for|=|:)?[\"'*\s(\[]*([A-Z])(?![A-Za-z0-9])"
    r"|(?:선택|투표|답|옵션)[\"'*\s]*(?:은|는|:|=)?[\"'*\s(\[]*([A-Z])(?![A-Za-z0-9])",
    re.IGNORECASE,
)
_LONE = re.compile(
    r"(?<![A-Za-z0-9'’])(?:[(\[]([A-Z])[)\]]|\*\*([A-Z])\*\*|([B-HJ-Z])"
    r"|(A)(?=\s*(?:or\b|and\b|vs\b|[,/.;:!?]|[가-힣]|$)))(?![A-Za-z0-9'’])"
)
_ONLY = re.compile(r"\W*([A-Z])\W*")
_NOT = re.compile(
    r"(?i)\b(?:not|never|no|neither|nor|against|except|rather than|instead)\b|n['’]t\b|아니|않|말고|못|반대"
)
_MARKS = re.compile(r"\*\*|~~|`|(?<!\w)\*(?=\S)|(?<=\S)\*(?!\w)")
_LINK = re.compile(r"!?\[([^\[\]]*)\]\([^()\s]*\)")
_SENTENCE = re.compile(r"[^.!?。！？\n]+")
_NUMBERED = re.compile(r"(?:^|\s)\(?(\d{1,2})[.)]\s+")
_NEXT = re.compile(r"(?<=[.!?。！？;])\s+(?=[A-ZÀ-Þ가-힣\d“\"'(])|(?<=;)\s+")
# What is no sentence by itself: it leans on another one, or ends with an abbreviation.
_LEANS = re.compile(
    r"(?:it|its|this|that|these|those|they|he|she|so|then|thus|but|and|or|"
    r"therefore|hence|however|otherwise)\b"
    r"|(?:그|이|저)(?:는|가|것|들|를|건|게|런|래서|러나|러므로|리고)|따라서|하지만|또한|즉\b",
    re.IGNORECASE,
)
_ABBREVIATION = re.compile(r"(?:\.[a-z]|\b(?:vs|etc|cf|al|ca|approx|mr|mrs|ms|dr|st|no))\.$", re.IGNORECASE)


@dataclass(slots=True)
class TrailerCleaner(ReplyCleaner):
    """A cleaner that also takes the line that begins with @@ out of the text; `trailer` is that line."""

    trailer: str = ""
    _held: str = ""
    _in_trailer: bool = False
    _before: str = "\n"

    def feed(self, piece: str, *, last: bool = False) -> tuple[str, str]:
        """Add a piece; return the text and the thinking that may be shown now."""
        text, thinking = ReplyCleaner.feed(self, piece, last=last)
        return self._without_trailer(text, last=last), thinking

    def _without_trailer(self, text: str, *, last: bool) -> str:
        self._held += text
        shown = ""
        while self._held:
            if self._in_trailer:
                self._take_trailer()
                continue
            # A line begins where what was shown before ended.
            whole = self._before + self._held
            found = _TRAILER.search(whole)
            kept = None if found or last else _MAY_BE_TRAILER.search(whole)
            end = found.start() if found else kept.start() if kept else len(whole)
            ready = whole[1:end]
            shown += ready
            self._before = ready[-1:] or self._before
            self._held = whole[found.end() :] if found else whole[max(1, end) :]
            if found:
                self._in_trailer, self.trailer = True, ""
            else:
                break
        return shown

    def _take_trailer(self) -> None:
        """Move what is held to the trailer, to the end of the line that closes its braces."""
        for line in self._held.splitlines(keepends=True):
            self.trailer += line
            self._held = self._held[len(line) :]
            if line.endswith("\n") and self.trailer.count("{") <= self.trailer.count("}"):
                self._in_trailer, self._before = False, "\n"
                return


def one_line(value: object, most: int = MOST_OPTION) -> str:
    """Return a value's text on one line, "" where it is no text."""
    text = " ".join(clean_text(value).split()) if isinstance(value, str) else ""
    return text if len(text) <= most else text[: most - 1].rstrip() + "…"


def numbers_in(value: object, most: int) -> list[int]:
    """Return the numbers from 1 to `most` in a JSON array, each once; whatever else it has is passed over."""
    return [*dict.fromkeys(number for number in as_list(value) if type(number) is int and 0 < number <= most)]


def without_marks(text: str) -> str:
    """Return Markdown without the marks of emphasis, code and links."""
    return _MARKS.sub("", _LINK.sub(r"\1", text))


def confidence_of(value: object) -> int | None:
    """Return a confidence in percent; 0.7 and "70 %" are both 70, 1 is 1 %, and None what is none."""
    if isinstance(value, str):
        found = re.fullmatch(r"\s*(\d+(?:[.,]\d+)?)\s*[%％]?\s*", value)
        value = float(found[1].replace(",", ".")) if found else None
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    percent = value * 100 if 0 < value < 1 else value
    return round(percent) if 0 <= percent <= 100 else None


def read_trailer(trailer: str) -> Position:
    """Return the short answer and the confidence that a trailer holds, as far as it holds them."""
    said = read_object(trailer) or {}
    return Position(answer=one_line(said.get("answer")), confidence=confidence_of(said.get("confidence")))


def read_choice(text: str, shown: Sequence[tuple[str, str]]) -> str:
    """Return the id of the option that a text chooses, OTHER for another one, "" where that is in doubt.

    `shown` are the options' ids and texts in the order in which this reader saw them, the first with the
    letter A.
    """
    by_letter = {letter: item for letter, (item, _) in zip(LETTERS, shown, strict=False)}
    said = read_object(text)
    if said is not None and "choice" in said:
        return _named_choice(one_line(said["choice"]), by_letter, shown)
    sentences = [item for item in _SENTENCE.findall(text) if not _NOT.search(item)]
    named = {letter.upper() for one in sentences for pair in _NAMED.findall(one) for letter in pair if letter}
    alone = {letter for item in sentences for found in _LONE.findall(item) for letter in found if letter}
    alone |= {found[1] for sentence in sentences if (found := _ONLY.fullmatch(sentence))}
    by_name, by_sign = ({by_letter.get(item, "") for item in letters} for letters in (named, alone))
    for chosen in (by_name, _texts_in(" ".join(sentences), shown), by_sign):
        if chosen:
            return chosen.pop() if len(chosen) == 1 else ""
    return ""


def same_words(text: str) -> str:
    """Return the letters and digits of a text alone, to tell whether two short answers are the same."""
    return "".join(item for item in unicodedata.normalize("NFKC", text).casefold() if item.isalnum())


def parts_of(claim: str) -> list[str]:
    """Return the numbered parts or the sentences of a claim; the claim alone where one
    of them does not stand by itself.
    """
    numbers = _NUMBERED.findall(claim)
    if len(numbers) > 1 and [*map(int, numbers)] == [*range(1, len(numbers) + 1)]:
        before, *parts = _NUMBERED.split(claim)
        # What stands before the numbers is what they have in common.
        parts = [claim] if before else parts[1::2]
    else:
        parts = _NEXT.split(claim)
    parts = [part.strip(" ,;") for part in parts]
    whole = any(len(part.split()) < 2 or _LEANS.match(part) or _ABBREVIATION.search(part) for part in parts)
    return [claim] if whole else parts


def each_once(texts: Sequence[object]) -> list[str]:
    """Return the first line of each text; of those that say the same, the first."""
    found: dict[str, str] = {}
    for line in map(one_line, texts):
        if words := same_words(line):
            found.setdefault(words, line)
    return [*found.values()]


def numbered_options(texts: Iterable[str], origin: str, sign: str = "o") -> tuple[Option, ...]:
    """Return texts as options, whose ids are this sign and numbers from 1."""
    numbered = enumerate(texts, 1)
    return tuple(Option(id=f"{sign}{number}", text=text, origin=origin) for number, text in numbered)


def _named_choice(choice: str, by_letter: dict[str, str], shown: Sequence[tuple[str, str]]) -> str:
    letter = choice.strip(" .()[]*\"'").upper()
    if letter in by_letter:
        return by_letter[letter]
    if choice.casefold() == OTHER:
        return OTHER
    same = {item for item, text in shown if same_words(text) == same_words(choice) and same_words(text)}
    return same.pop() if len(same) == 1 else ""


def _texts_in(text: str, shown: Sequence[tuple[str, str]]) -> set[str]:
    """Return the options whose text stands in a text word for word, the longest first."""
    found = set()
    for item, words in sorted(shown, key=lambda pair: len(pair[1]), reverse=True):
        # Short ones are parts of other words: "No" of "know", "예" of "예요".
        # A particle may follow a Korean word.
        whole = r"(?<!\w){}(?!\w)" if len(words) <= (SHORT if words.isascii() else 1) else "{}"
        pattern = re.compile(whole.format(re.escape(words)), re.IGNORECASE)
        if words and pattern.search(text):
            text = pattern.sub(" ", text)
            found.add(item)
    return found
