"""The transcript of a debate as one participant's model sees it, in a form that every provider accepts; pure.

Own words are `assistant`, all others are `user` with a label, neighbours of one role are merged, and the
first and last message are the user's. Small models get the whole debate as one message instead.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache

from app.core.council import Participant
from app.core.files import with_files
from app.core.frozen import Frozen
from app.core.message import Message, MessageState, Role
from app.core.provider import ModelRequest, asked_of, one_message
from app.core.session import Debate
from app.engine.debate.modes import ROLES, motion_of, role_name, system_prompt
from app.engine.history import context_text, merged, summary_for, with_seen
from app.engine.live_session import LiveSession
from app.engine.names import LABEL_OF_PROGRAM, USER_NAMES, addressed, label_of
from app.engine.prompts import Lines, Prompts
from app.engine.request import SMALL_MODEL_OPTIONS, WINDOW, temperature_of

TRANSCRIPT_CONTEXT = 6_000
TRANSCRIPT_PERSONA = 300
TRANSCRIPT_NOTES = 1_500
_OWN_ROLE_LENGTH = 40


class Turn(Frozen):
    """A turn that is asked for, with what its participant's model can be told; pure."""

    debate: Debate
    # What was said. Files of the context and of what the user said are sent as they are: give them as the
    # model takes them.
    messages: Sequence[Message]
    speaker: Participant
    round: int
    # How many messages are sent at most.
    window: int = WINDOW
    # The running notes on what is no longer sent, and what the debate came to before a what-if round.
    notes: str = ""
    verdict: str = ""

    def readable(self) -> list[Message]:
        """Return the messages that the participant may read, in order.

        Failed, cut and empty messages are left out. With an independent opening no participant reads
        another's first statement before having made their own.
        """
        seen = [message for message in self.messages if is_said(message)]
        if self._is_unseen():
            seen = [item for item in seen if item.author.kind == "user" or item.author.id == self.speaker.id]
        return seen

    def shown(self) -> list[Message]:
        """Return those of the readable messages that are sent, at most `window`.

        Always kept, however old: the participant's own last message, the user's latest, and the latest that
        addressed the participant.
        """
        seen = self.readable()
        if len(seen) <= self.window:
            return seen
        keep = self._protected(seen)
        shown = set(range(len(seen) - self.window, len(seen)))
        for place in sorted(keep - shown, reverse=True):
            shown.discard(min(shown - keep))
            shown.add(place)
        return [seen[place] for place in sorted(shown)]

    def pinned(self, shown: Sequence[Message]) -> list[Message]:
        """Return the pinned messages that are not among those `shown`, in the order in
        which they were pinned.
        """
        known = {message.id for message in shown}
        there = {message.id: message for message in self.readable() if message.id not in known}
        return [there[pinned] for pinned in self.debate.pinned if pinned in there]

    def told_notes(self) -> str:
        """Return the notes that are sent: none before a statement that is made without knowing the
        others'.
        """
        return "" if self._is_unseen() else self.notes

    def _is_unseen(self) -> bool:
        return self.debate.independent_opening and self.round == 1

    def _protected(self, seen: list[Message]) -> set[int]:
        found: dict[str, int] = {}
        for place, message in reversed([*enumerate(seen)]):
            if message.author.id == self.speaker.id:
                found.setdefault("own", place)
                continue
            if message.author.kind == "user":
                found.setdefault("user", place)
            others = [item for item in self.debate.participants if item.id != message.author.id]
            if "to" not in found and self.speaker.id in addressed(message.content, others):
                found["to"] = place
        return {*found.values()}


def chat_request(turn: Turn, prompts: Prompts) -> ModelRequest:
    """Return the request of a turn for a model that takes chat messages."""
    debate, speaker = turn.debate, turn.speaker
    names, words = known_names(debate), prompts.lines(debate.language, "assistant")
    items: list[dict[str, object]] = []
    shown = turn.shown()
    for message in shown:
        text, own = defuse(with_files(message, words), names), message.author.id == speaker.id
        said = text if own else f"[{label_of(message.author)}]: {text}"
        items.append({"role": Role.ASSISTANT if own else Role.USER, "content": said})
    system = {"role": Role.SYSTEM, "content": system_prompt(debate, speaker, prompts)}
    # Providers keep the beginning of a request up to a block: the brief is one, and the cue is for this turn
    # alone.
    blocks = [(item["role"], [str(item["content"])]) for item in merged(items)]
    if not blocks or blocks[0][0] != Role.USER:
        blocks.insert(0, (Role.USER, []))
    brief = [_brief(debate, prompts, names, words)]
    if notes := turn.told_notes():
        brief.append(f"{words['debate_notes']}\n{defuse(notes, names)}")
    for item in turn.pinned(shown):
        pinned = words["debate_pinned"].format(name=label_of(item.author))
        brief.append(f"{pinned}\n{defuse(with_files(item, words), names)}")
    blocks[0][1][:0] = brief
    if blocks[-1][0] != Role.USER:
        blocks.append((Role.USER, []))
    blocks[-1][1].append(_cue(turn, prompts))
    messages_sent = [{"role": role, "content": _content(texts)} for role, texts in blocks]
    # What is seen comes before the brief, which names it: a request begins as the last one did.
    files = [file for item in shown if item.author.kind == "user" for file in item.attachments]
    messages_sent[0]["content"] = with_seen((*debate.context, *files), messages_sent[0]["content"])
    return asked_as_set_up(speaker, system, *messages_sent)


def asked_as_set_up(speaker: Participant, *messages: Mapping[str, object]) -> ModelRequest:
    """Return the request that sends chat messages to a participant's model, as that was set up."""
    temperature = temperature_of(speaker.creativity)
    return asked_of(speaker.seat, messages, effort=speaker.effort, temperature=temperature)


def _content(texts: Sequence[str]) -> object:
    return texts[0] if len(texts) == 1 else [{"type": "text", "text": text} for text in texts]


def transcript_request(turn: Turn, prompts: Prompts) -> ModelRequest:
    """Return the request of a turn for a small model: one message, an opener, one line to write."""
    debate, speaker = turn.debate, turn.speaker
    lines = prompts.lines("en", "transcript")
    parts = [lines["motion"].format(topic=motion_of(debate.topic))]
    parts += [f"{item.name} {_stance(item, lines, prompts)}." for item in debate.participants if item.role]
    if persona := _one_line(speaker.persona):
        parts.append(lines["persona"].format(name=speaker.name, text=_cut(persona, TRANSCRIPT_PERSONA)))
    context = " ".join((debate.instructions, *(f"{file.name}: {file.text}" for file in debate.context)))
    if context := _one_line(context):
        parts.append(lines["context"].format(text=_cut(context, TRANSCRIPT_CONTEXT)))
    for told in filter(None, (turn.told_notes(), turn.verdict)):
        parts.append(lines["notes"].format(text=_cut(_one_line(told), TRANSCRIPT_NOTES)))
    parts.append("")
    shown = turn.shown()
    for message in (*turn.pinned(shown), *shown):
        files = (f"{file.name}: {_cut(file.text, TRANSCRIPT_CONTEXT)}" for file in message.attachments)
        parts.append(f"{label_of(message.author)}: {_one_line(' '.join((message.content, *files)))}")
    who = f", who {_stance(speaker, lines, prompts)}" if speaker.role else ""
    parts += ["", lines["instruction"].format(name=speaker.name, who=who)]
    begins = f"{speaker.name}: {opener(speaker, turn.round, debate.rounds, prompts)}"
    request = one_message(*speaker.seat, "\n".join(parts), max_tokens=70, temperature=0.4, opener=begins)
    return replace(request, stop=("\n",), options=dict(SMALL_MODEL_OPTIONS))


def opener(speaker: Participant, round_number: int, rounds: int, prompts: Prompts) -> str:
    """Return the fixed words that open a small model's statement; they keep it on its side."""
    lines = prompts.lines("en", "transcript")
    role = speaker.role
    if role and role not in ROLES:
        role = "own" if len(role) <= _OWN_ROLE_LENGTH and "\n" not in role else ""
    role = role or "none"
    variants = [key for key in lines if key.startswith(f"{role}.middle")]
    middle = variants[(round_number - 2) % len(variants)]
    key = f"{role}.first" if round_number == 1 else f"{role}.last" if round_number >= rounds else middle
    return lines[key].format(role=_one_line(speaker.role))


def notes_of(live: LiveSession) -> Message | None:
    """Return the running notes that are in use, None for none."""
    return summary_for(live, (message.turn_id for message in reversed(live.said)), "")


def notes_sent(live: LiveSession, window: int = WINDOW) -> str:
    """Return the running notes where not all statements are sent, "" where they are or there are no notes."""
    notes = notes_of(live) if live.turns.is_summarized else None
    return notes.content if notes is not None and sum(map(is_said, live.messages)) > window else ""


def is_said(message: Message) -> bool:
    """Whether a message is whole and a statement; running notes, ballots and the calls of tools are none."""
    whole = message.state == MessageState.DONE and bool(message.content.strip() or message.attachments)
    return whole and message.role != Role.SUMMARY and not message.is_interim and not message.part


def known_names(debate: Debate) -> tuple[str, ...]:
    """Return every name that a label could carry."""
    return (*(participant.name for participant in debate.participants), *USER_NAMES)


def defuse(text: str, names: tuple[str, ...]) -> str:
    """Return the text without lines that look like a participant's label, so that no message can be
    forged.
    """
    return _forged(names).sub(r"\1[\2] -", text)


@lru_cache(maxsize=64)
def _forged(names: tuple[str, ...]) -> re.Pattern[str]:
    known = "|".join([LABEL_OF_PROGRAM, *(re.escape(name) for name in sorted(names, key=len, reverse=True))])
    return re.compile(rf"(?i)(^|[\n\r\u2028\u2029\x85\v\f])[^\S\n]*[\[［]\s*({known})\s*[\]］]\s*[:：]")


def _brief(debate: Debate, prompts: Prompts, names: tuple[str, ...], words: Lines) -> str:
    parts = [prompts.text(debate.language, "brief", topic=defuse(debate.topic.strip(), names))]
    for file in debate.context:
        text = defuse(context_text(file, words), names)
        parts.append(prompts.text(debate.language, "context", name=_one_line(file.name), text=text))
    return "\n\n".join(parts)


def _cue(turn: Turn, prompts: Prompts) -> str:
    debate, number = turn.debate, turn.round
    lines, what_if = prompts.lines(debate.language, "tasks"), debate.what_if(number) is not None
    task = "first" if number == 1 else "last" if number >= debate.rounds else "middle"
    blanks = {"round": number, "rounds": debate.rounds, "name": turn.speaker.name}
    cue = prompts.text(debate.language, "cue", task=lines["what_if" if what_if else task], **blanks)
    told = defuse(turn.verdict, known_names(debate))
    return f"{lines['verdict']}\n{told}\n\n{cue}" if told else cue


def _stance(participant: Participant, lines: dict[str, str], prompts: Prompts) -> str:
    if participant.role in ROLES:
        return lines[f"{participant.role}.who"]
    return lines["own.who"].format(role=role_name(participant.role, "en", prompts))


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[:most]} …"
