"""Cleans a reply while it streams: its own label, words attributed to others, thinking.

Thinking stands at the beginning, between tags; where a model's template holds the opening tag, only the
closing one comes, and what was shown before it was thinking. Everywhere else tags are text: an answer may be
about them. Text that may still become a label or a tag is kept back until that is clear.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from app.core.council import Participant
from app.engine.names import USER_NAMES, aliases_of

# The note of an answer that said there is nothing to add.
PASSED = "passed"

_NOTHING_NEW = "[pass]"
_DECORATION = "[(*_#> \t\"'“"
_NOBODY = re.compile(r"(?!)")
_CLOSING = r"[\])*_ \t\"'”]*"
# The tags that open thinking at the beginning of an answer, each with the one that ends it.
_THINKING = {
    **{f"<{name}>": f"</{name}>" for name in ("think", "thinking", "thought", "reasoning", "seed:think")},
    "[think]": "[/think]",
    "◁think▷": "◁/think▷",
    "<|start_thinking|>": "<|end_thinking|>",
    "<|channel|>analysis<|message|>": "<|end|>",
    "<|start|>assistant<|channel|>analysis<|message|>": "<|end|>",
}
_FINAL = "<|channel|>final<|message|>"
# What stands between thinking and the answer.
_ANSWERING = (_FINAL, f"<|start|>assistant{_FINAL}", "<|start_response|>")
# `<|end|>` ends every part of such an answer, not only thinking.
_ENDS = tuple(dict.fromkeys(end for end in _THINKING.values() if end != "<|end|>"))
_TAGS = (*_THINKING, *_ENDS, *_ANSWERING)
_TAG_SIGNS = "<[◁"
_BREAK = re.compile(r"[\n\r\u2028\u2029\x85\v\f]")
_BEFORE_MENTION = " \t\"'“‘`("
_AFTER_MENTION = " \t\"'”’`.,;:!?)"
_SENTENCE_END = re.compile(r"[.!?…。！？][\"'”’)\]]*(?=\s|$)")


def _any_of(tags: Iterable[str]) -> re.Pattern[str]:
    return re.compile("|".join(map(re.escape, sorted(tags, key=len, reverse=True))), re.IGNORECASE | re.ASCII)


_OPENING, _CLOSING_TAG, _ANSWER_MARK = _any_of(_THINKING), _any_of(_ENDS), _any_of(_ANSWERING)
_MENTIONED = _any_of(tag for tag in (*_THINKING, *_ENDS) if "><" not in tag and "|>a" not in tag)


@dataclass(slots=True)
class ReplyCleaner:
    """Takes a reply piece by piece and returns what may be shown.

    It keeps nothing that it has returned.
    """

    own: re.Pattern[str]
    others: re.Pattern[str]
    labels: tuple[str, ...]
    # Whether the reply began to speak for another participant: what follows is not this participant's answer.
    cut: bool = False
    # Whether all text that was returned before the last piece was thinking.
    taken_back: bool = False
    # Whether no closing tag can say so any more: thinking has come, in the reply or beside it, or it is about
    # tags.
    settled: bool = False
    _pending: str = ""
    _at_line_start: bool = True
    _first_line: bool = True
    _after_thinking: bool = False
    _in_fence: bool = False
    _in_code: bool = False
    _last: str = ""
    _thinking_end: re.Pattern[str] | None = None
    _longest_end: int = 0

    @classmethod
    def for_speaker(cls, speaker: Participant, participants: Sequence[Participant]) -> "ReplyCleaner":
        """Return a cleaner that knows everybody's names."""
        aliases = aliases_of(participants)
        own = (speaker.name, *aliases.get(speaker.id, ()))
        rest = (item for item in participants if item.id != speaker.id)
        names = (name for item in rest for name in (item.name, *aliases[item.id]))
        others = (*(name for name in names if name.casefold() != speaker.name.casefold()), *USER_NAMES)
        labels = tuple(name.casefold() for name in own + others)
        return cls(own=_label(own), others=_label(others), labels=labels)

    @classmethod
    def for_name(cls, name: str) -> "ReplyCleaner":
        """Return a cleaner for an assistant that speaks alone: it separates thinking
        and removes its own `[Name]:`.
        """
        own = re.compile(rf"[\[［]{re.escape(name)}[\]］][:：][ \t]*", re.IGNORECASE)
        return cls(own=own, others=_NOBODY, labels=(name.casefold(),))

    @classmethod
    def cleaned(cls, name: str, text: str) -> str:
        """Return what an assistant that speaks alone says, as it is kept."""
        cleaner = cls.for_name(name)
        said, _ = cleaner.feed(text)
        rest, _ = cleaner.finish()
        return (rest if cleaner.taken_back else said + rest).strip()

    def finish(self) -> tuple[str, str]:
        """Return the text and the thinking that were kept back."""
        return self.feed("", last=True)

    def feed(self, piece: str, *, last: bool = False) -> tuple[str, str]:
        """Add a piece; return the text and the thinking that may be shown now."""
        self._pending += piece
        self.taken_back = False
        text: list[str] = []
        thinking: list[str] = []
        while self._pending and not self.cut:
            if self._thinking_end:
                step = self._step_thinking(self._thinking_end, thinking, last)
            elif self._at_line_start:
                step = self._step_line_start(last)
            else:
                step = self._step_line(text, thinking, last)
            if not step:
                break
        return "".join(text), "".join(thinking)

    def _step_thinking(self, end: re.Pattern[str], thinking: list[str], last: bool) -> bool:
        found = end.search(self._pending)
        if found:
            thinking.append(self._pending[: found.start()])
            self._pending = self._pending[found.end() :]
            self._thinking_end = None
            self._after_thinking = True
            return True
        keep = 0 if last else self._longest_end - 1
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
        if self._first_line and (tag := _OPENING.match(self._pending)):
            self._open_thinking(tag)
            return True
        if self._first_line and (tag := _ANSWER_MARK.match(self._pending)):
            self._pending = self._pending[tag.end() :]
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

    def _step_line(self, text: list[str], thinking: list[str], last: bool) -> bool:
        line_break = _BREAK.search(self._pending)
        end = line_break.end() if line_break else len(self._pending)
        tag = None if self._in_fence else _MENTIONED.search(self._pending, 0, end)
        if tag and (tag.end() < len(self._pending) or last):
            self._pass(tag.start(), text)
            length = tag.end() - tag.start()
            if self._ends_thinking(tag[0], self._pending[length : length + 1]):
                self._take_back(text, thinking)
                self._pending = self._pending[length:]
            else:
                self.settled = self.settled or not self._in_code
                self._pass(length, text)
            return True
        if line_break:
            self._pass(end, text)
            self._at_line_start = True
            self._in_code, self._last = False, ""
            return True
        self._pass(tag.start() if tag else end - (0 if last else self._held_tag()), text)
        return False

    def _pass(self, end: int, text: list[str]) -> None:
        """Show the beginning of what is pending."""
        ready, self._pending = self._pending[:end], self._pending[end:]
        if ready:
            text.append(ready)
            self._in_code ^= ready.count("`") % 2 == 1
            self._last = ready[-1]

    def _ends_thinking(self, tag: str, after: str) -> bool:
        """Whether a tag in the text ends thinking whose beginning never came; `after` is the next character,
        if any.
        """
        if self.settled or self._in_code or not _CLOSING_TAG.fullmatch(tag):
            return False
        at_end = not after or _BREAK.match(after) is not None
        return at_end or not ((self._last and self._last in _BEFORE_MENTION) or after in _AFTER_MENTION)

    def _take_back(self, text: list[str], thinking: list[str]) -> None:
        """Turn all text so far into thinking; what follows begins the answer."""
        thinking += text
        text.clear()
        self.taken_back = self.settled = True
        self._at_line_start = self._first_line = self._after_thinking = True
        self._last = ""

    def _open_thinking(self, tag: re.Match[str]) -> None:
        end = _THINKING[tag[0].lower()]
        self._thinking_end, self._longest_end = _any_of([end]), len(end)
        self.settled = True
        self._pending = self._pending[tag.end() :]

    def _held_tag(self) -> int:
        """Return how many characters at the end may be the start of a tag."""
        start = max(map(self._pending.rfind, _TAG_SIGNS))
        tail = self._pending[start:].lower() if start >= 0 else ""
        return len(tail) if tail and any(tag.startswith(tail) for tag in _TAGS) else 0

    def _may_become_label(self) -> bool:
        if _BREAK.search(self._pending) is not None:
            return False
        start = self._pending.lower()
        if any(tag.startswith(start) for tag in _TAGS) or _NOTHING_NEW.startswith(start):
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
