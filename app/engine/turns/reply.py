"""Cleans a reply while it streams: its own label, words attributed to others, thinking tags.

Text that may still become a label or a tag is kept back until that is clear.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from app.core.session import Participant
from app.core.text import clean_text
from app.engine.names import USER_NAMES, aliases_of

PASSED = "passed"
"""The note of an answer that said there is nothing to add."""

_NOTHING_NEW = "[pass]"
_DECORATION = "[(*_#> \t\"'“"
_NOBODY = re.compile(r"(?!)")
_CLOSING = r"[\])*_ \t\"'”]*"
_THINK = re.compile(r"<(think|thinking|thought)>", re.IGNORECASE)
_TAG_STARTS = ("<think>", "<thinking>", "<thought>")
_BREAK = re.compile(r"[\n\r\u2028\u2029\x85\v\f]")
_SENTENCE_END = re.compile(r"[.!?…。！？][\"'”’)\]]*(?=\s|$)")


@dataclass(slots=True)
class ReplyCleaner:
    """Takes a reply piece by piece and returns what may be shown.

    `text` is all that was returned; `cut` turns true when the reply began to speak for another participant: what
    follows is not this participant's answer.
    """

    own: re.Pattern[str]
    others: re.Pattern[str]
    labels: tuple[str, ...]
    text: str = ""
    cut: bool = False
    _pending: str = ""
    _shown: list[str] = field(default_factory=list)
    _at_line_start: bool = True
    _first_line: bool = True
    _after_thinking: bool = False
    _in_fence: bool = False
    _thinking_end: str = ""

    @classmethod
    def for_speaker(cls, speaker: Participant, participants: Sequence[Participant]) -> "ReplyCleaner":
        """Return a cleaner that knows everybody's names."""
        aliases = aliases_of(participants)
        own = (speaker.name, *aliases.get(speaker.id, ()))
        others = tuple(
            name
            for one in participants
            if one.id != speaker.id
            for name in (one.name, *aliases[one.id])
            if name.casefold() != speaker.name.casefold()
        )
        others += USER_NAMES
        labels = tuple(name.casefold() for name in own + others)
        return cls(own=_label(own), others=_label(others), labels=labels)

    @classmethod
    def for_name(cls, name: str) -> "ReplyCleaner":
        """Return a cleaner for an assistant that speaks alone: it separates thinking and removes its own `[Name]:`."""
        own = re.compile(rf"[\[［]{re.escape(name)}[\]］][:：][ \t]*", re.IGNORECASE)
        return cls(own=own, others=_NOBODY, labels=(name.casefold(),))

    @classmethod
    def cleaned(cls, name: str, text: str) -> str:
        """Return what an assistant that speaks alone says, as it is kept."""
        cleaner = cls.for_name(name)
        cleaner.feed(text)
        cleaner.finish()
        return clean_text(cleaner.text).strip()

    def feed(self, piece: str) -> tuple[str, str]:
        """Add a piece; return the text and the thinking that may be shown now."""
        return self._take(piece, last=False)

    def finish(self) -> tuple[str, str]:
        """Return the text that was kept back; `text` is then complete."""
        shown = self._take("", last=True)
        self.text = "".join(self._shown)
        return shown

    def _take(self, piece: str, *, last: bool) -> tuple[str, str]:
        self._pending += piece
        text: list[str] = []
        thinking: list[str] = []
        while self._pending and not self.cut:
            if self._thinking_end:
                step = self._step_thinking(thinking, last)
            elif self._at_line_start:
                step = self._step_line_start(last)
            else:
                step = self._step_line(text, last)
            if not step:
                break
        shown = "".join(text)
        self._shown.append(shown)
        return shown, "".join(thinking)

    def _step_thinking(self, thinking: list[str], last: bool) -> bool:
        end = self._pending.lower().find(self._thinking_end)
        if end >= 0:
            thinking.append(self._pending[:end])
            self._pending = self._pending[end + len(self._thinking_end) :]
            self._thinking_end = ""
            self._after_thinking = self._at_line_start
            return True
        keep = 0 if last else len(self._thinking_end) - 1
        ready = len(self._pending) - keep
        if ready > 0:
            thinking.append(self._pending[:ready])
            self._pending = self._pending[ready:]
        return False

    def _step_line_start(self, last: bool) -> bool:
        if self._first_line or self._after_thinking:
            # White space may come in a later piece than what it follows.
            self._pending = self._pending.lstrip()
        if not self._pending:
            return False
        tag = _THINK.match(self._pending)
        if tag:
            self._open_thinking(tag)
            return True
        if not last and self._may_become_label():
            return False
        if not self._in_fence:
            own = self.own.match(self._pending)
            if own:
                if own.end() == len(self._pending) and not last:
                    return False
                self._pending = self._pending[own.end() :]
                return True
            other = self.others.match(self._pending)
            if other and not (self._first_line and "[" not in other[0]):
                self.cut = True
                self._pending = ""
                return False
        # Strip this line only: an empty line before a fence must not count it twice.
        if self._pending.lstrip(" \t").startswith(("```", "~~~")):
            self._in_fence = not self._in_fence
        self._at_line_start = self._first_line = self._after_thinking = False
        return True

    def _step_line(self, text: list[str], last: bool) -> bool:
        line_break = _BREAK.search(self._pending)
        end = line_break.end() if line_break else len(self._pending)
        tag = _THINK.search(self._pending, 0, end)
        if tag and not self._in_fence:
            text.append(self._pending[: tag.start()])
            self._pending = self._pending[tag.start() :]
            self._open_thinking(_THINK.match(self._pending))
            return True
        if line_break:
            text.append(self._pending[:end])
            self._pending = self._pending[end:]
            self._at_line_start = True
            return True
        held = 0 if last else self._held_tag()
        text.append(self._pending[: end - held])
        self._pending = self._pending[end - held :]
        return False

    def _open_thinking(self, tag: re.Match[str] | None) -> None:
        assert tag is not None
        self._thinking_end = f"</{tag[1].lower()}>"
        self._pending = self._pending[tag.end() :]

    def _held_tag(self) -> int:
        """Return how many characters at the end may be the start of a thinking tag."""
        start = self._pending.rfind("<")
        tail = self._pending[start:].lower() if start >= 0 else ""
        return len(tail) if tail and any(tag.startswith(tail) for tag in _TAG_STARTS) else 0

    def _may_become_label(self) -> bool:
        if _BREAK.search(self._pending) is not None:
            return False
        start = self._pending.lower()
        if any(tag.startswith(start) for tag in _TAG_STARTS) or _NOTHING_NEW.startswith(start):
            return True
        if start.lstrip() and "```".startswith(start.lstrip()[:3]) and len(start.lstrip()) < 3:
            return True
        name = self._pending.lstrip(_DECORATION).casefold()
        if not name:
            return len(self._pending) < 40
        for label in self.labels:
            if label.startswith(name):
                return True
            if name.startswith(label) and not re.search(r"[^\])*_ \t\"'”]", name[len(label) :]):
                return len(name) < len(label) + 8
        return False


def _label(names: Sequence[str]) -> re.Pattern[str]:
    """Return what matches a label at the start of a line: `[Name]:`, `**Name**:`, `Name：`."""
    alternatives = "|".join(re.escape(name) for name in sorted(set(names), key=len, reverse=True))
    opening = re.escape(_DECORATION)
    return re.compile(rf"[{opening}]*(?:{alternatives}){_CLOSING}[:：][\])*_\"'”]*[ \t]*", re.IGNORECASE)


def is_pass(text: str) -> bool:
    """Whether a reply says that there is nothing new to say."""
    return text.strip().rstrip(".").casefold() == _NOTHING_NEW


def whole_sentences(text: str) -> str:
    """Return the text up to its last full stop; all of it where it has none."""
    ends = [match.end() for match in _SENTENCE_END.finditer(text)]
    return text[: ends[-1]] if ends else text
