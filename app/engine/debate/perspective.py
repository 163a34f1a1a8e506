"""The transcript of a debate as one participant's model sees it, in a form that every provider accepts; pure.

Own words are `assistant`, all others are `user` with a label, neighbours of one role are merged, and the first
and last message are the user's. Small models get the whole debate as one message instead.
"""

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache

from app.core.council import Participant
from app.core.files import with_files
from app.core.message import Message, MessageState, Role
from app.core.provider import ModelRequest
from app.core.session import Debate
from app.engine.debate.modes import ROLES, motion_of, role_name, system_prompt
from app.engine.history import summary_for
from app.engine.live_session import LiveSession
from app.engine.names import LABEL_OF_PROGRAM, USER_NAMES, addressed, label_of
from app.engine.prompts import Prompts
from app.engine.request import SMALL_MODEL_OPTIONS, WINDOW, temperature_of
from app.engine.request_items import context_text, merged, with_seen

TRANSCRIPT_CONTEXT = 6_000
TRANSCRIPT_PERSONA = 300
TRANSCRIPT_NOTES = 1_500
_OWN_ROLE_LENGTH = 40


def chat_request(
    debate: Debate,
    messages: Sequence[Message],
    speaker: Participant,
    round_number: int,
    prompts: Prompts,
    *,
    window: int = WINDOW,
    notes: str = "",
    verdict: str = "",
) -> ModelRequest:
    """Return the request of a turn for a model that takes chat messages.

    Files of the context and of what the user said are sent as they are: give them as the model takes them.

    `notes` are the running notes on what is no longer sent, `verdict` what the debate came to before a what-if round.
    """
    names, words = known_names(debate), prompts.lines(debate.language, "assistant")
    items: list[dict[str, object]] = []
    readable = _readable(debate, messages, speaker, round_number)
    shown = _last_of(debate, readable, speaker, window)
    for message in shown:
        text, own = defuse(with_files(message, words), names), message.author.id == speaker.id
        said = text if own else f"[{label_of(message.author)}]: {text}"
        items.append({"role": Role.ASSISTANT if own else Role.USER, "content": said})
    system = {"role": Role.SYSTEM, "content": system_prompt(debate, speaker, prompts)}
    # Providers keep the beginning of a request up to a block: the brief is one, and the cue is for this turn alone.
    blocks = [(one["role"], [str(one["content"])]) for one in merged(items)]
    if not blocks or blocks[0][0] != Role.USER:
        blocks.insert(0, (Role.USER, []))
    brief = [_brief(debate, prompts, names, words)]
    if _may_read(debate, notes, round_number):
        brief.append(f"{words['debate_notes']}\n{defuse(notes, names)}")
    for one in _pinned(debate, readable, shown):
        pinned = words["debate_pinned"].format(name=label_of(one.author))
        brief.append(f"{pinned}\n{defuse(with_files(one, words), names)}")
    blocks[0][1][:0] = brief
    if blocks[-1][0] != Role.USER:
        blocks.append((Role.USER, []))
    blocks[-1][1].append(_cue(debate, speaker, round_number, prompts, verdict))
    messages_sent = [{"role": role, "content": _content(texts)} for role, texts in blocks]
    # What is seen comes before the brief, which names it: a request begins as the last one did.
    files = [file for one in shown if one.author.kind == "user" for file in one.attachments]
    messages_sent[0]["content"] = with_seen((*debate.context, *files), messages_sent[0]["content"])
    return ModelRequest(
        provider=speaker.provider,
        model=speaker.model,
        messages=(system, *messages_sent),
        effort=speaker.effort,
        temperature=temperature_of(speaker.creativity),
    )


def _content(texts: Sequence[str]) -> object:
    return texts[0] if len(texts) == 1 else [{"type": "text", "text": text} for text in texts]


def transcript_request(
    debate: Debate,
    messages: Sequence[Message],
    speaker: Participant,
    round_number: int,
    prompts: Prompts,
    *,
    window: int = WINDOW,
    notes: str = "",
    verdict: str = "",
) -> ModelRequest:
    """Return the request of a turn for a small model: one message, an opener, one line to write."""
    lines = prompts.lines("en", "transcript")
    parts = [lines["motion"].format(topic=motion_of(debate.topic))]
    parts += [f"{one.name} {_stance(one, lines, prompts)}." for one in debate.participants if one.role]
    persona = _one_line(speaker.persona)
    if persona:
        parts.append(lines["persona"].format(name=speaker.name, text=_cut(persona, TRANSCRIPT_PERSONA)))
    context = " ".join((debate.instructions, *(f"{file.name}: {file.text}" for file in debate.context)))
    context = _one_line(context)
    if context:
        parts.append(lines["context"].format(text=_cut(context, TRANSCRIPT_CONTEXT)))
    for told in filter(None, (notes if _may_read(debate, notes, round_number) else "", verdict)):
        parts.append(lines["notes"].format(text=_cut(_one_line(told), TRANSCRIPT_NOTES)))
    parts.append("")
    readable = _readable(debate, messages, speaker, round_number)
    shown = _last_of(debate, readable, speaker, window)
    for message in (*_pinned(debate, readable, shown), *shown):
        said = [
            message.content,
            *(f"{one.name}: {_cut(one.text, TRANSCRIPT_CONTEXT)}" for one in message.attachments),
        ]
        parts.append(f"{label_of(message.author)}: {_one_line(' '.join(said))}")
    who = f", who {_stance(speaker, lines, prompts)}" if speaker.role else ""
    parts += ["", lines["instruction"].format(name=speaker.name, who=who)]
    return ModelRequest(
        provider=speaker.provider,
        model=speaker.model,
        messages=({"role": Role.USER, "content": "\n".join(parts)},),
        max_tokens=70,
        temperature=0.4,
        stop=("\n",),
        opener=f"{speaker.name}: {opener(speaker, round_number, debate.rounds, prompts)}",
        options=dict(SMALL_MODEL_OPTIONS),
    )


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


def visible(
    debate: Debate,
    messages: Sequence[Message],
    speaker: Participant,
    round_number: int,
    *,
    window: int = WINDOW,
) -> list[Message]:
    """Return the messages a participant may see, at most `window`, in order.

    Failed, cut and empty messages are left out. With an independent opening no participant reads another's first
    statement before having made their own. Always kept, however old: the participant's own last message, the user's
    latest, and the latest that addressed the participant.
    """
    return _last_of(debate, _readable(debate, messages, speaker, round_number), speaker, window)


def _last_of(debate: Debate, seen: list[Message], speaker: Participant, window: int) -> list[Message]:
    if len(seen) <= window:
        return seen
    keep = _protected(debate, seen, speaker)
    shown = set(range(len(seen) - window, len(seen)))
    for place in sorted(keep - shown, reverse=True):
        shown.discard(min(shown - keep))
        shown.add(place)
    return [seen[place] for place in sorted(shown)]


def _readable(
    debate: Debate, messages: Sequence[Message], speaker: Participant, round_number: int
) -> list[Message]:
    seen = [message for message in messages if is_said(message)]
    if debate.independent_opening and round_number == 1:
        seen = [one for one in seen if one.author.kind == "user" or one.author.id == speaker.id]
    return seen


def _pinned(debate: Debate, readable: Sequence[Message], shown: Sequence[Message]) -> list[Message]:
    """Return the pinned messages that are not among those `shown`, in the order in which they were pinned."""
    wanted = set(debate.pinned).difference(one.id for one in shown)
    found = [one for one in readable if one.id in wanted]
    return sorted(found, key=lambda one: debate.pinned.index(one.id))


def notes_of(live: LiveSession) -> Message | None:
    """Return the running notes that are in use, None for none."""
    return summary_for(live, (one.turn_id for one in reversed(live.said)), "")


def notes_sent(live: LiveSession, window: int = WINDOW) -> str:
    """Return the running notes where not all statements are sent, "" where they are or there are no notes."""
    notes = notes_of(live) if live.turns.is_summarized else None
    return notes.content if notes is not None and sum(map(is_said, live.messages)) > window else ""


def _may_read(debate: Debate, notes: str, round_number: int) -> bool:
    """Whether a turn is sent notes: not before a statement that is made without knowing the others'."""
    return bool(notes) and not (debate.independent_opening and round_number == 1)


def is_said(message: Message) -> bool:
    """Whether a message is whole and a statement; running notes, ballots and the calls of tools are none."""
    whole = message.state == MessageState.DONE and bool(message.content.strip() or message.attachments)
    return whole and message.role != Role.SUMMARY and not message.is_interim and not message.part


def _protected(debate: Debate, seen: list[Message], speaker: Participant) -> set[int]:
    found: dict[str, int] = {}
    for place, message in reversed([*enumerate(seen)]):
        if message.author.id == speaker.id:
            found.setdefault("own", place)
            continue
        if message.author.kind == "user":
            found.setdefault("user", place)
        others = [one for one in debate.participants if one.id != message.author.id]
        if "to" not in found and speaker.id in addressed(message.content, others):
            found["to"] = place
    return {*found.values()}


def known_names(debate: Debate) -> tuple[str, ...]:
    """Return every name that a label could carry."""
    return (*(one.name for one in debate.participants), *USER_NAMES)


def defuse(text: str, names: tuple[str, ...]) -> str:
    """Return the text without lines that look like a participant's label, so that no message can be forged."""
    return _forged(names).sub(r"\1[\2] -", text)


@lru_cache(maxsize=64)
def _forged(names: tuple[str, ...]) -> re.Pattern[str]:
    known = "|".join([LABEL_OF_PROGRAM, *(re.escape(one) for one in sorted(names, key=len, reverse=True))])
    return re.compile(
        rf"(^|[\n\r\u2028\u2029\x85\v\f])[^\S\n]*[\[［]\s*({known})\s*[\]］]\s*[:：]", re.IGNORECASE
    )


def _brief(debate: Debate, prompts: Prompts, names: tuple[str, ...], words: Mapping[str, str]) -> str:
    parts = [prompts.text(debate.language, "brief", topic=defuse(debate.topic.strip(), names))]
    for file in debate.context:
        text = defuse(context_text(file, words), names)
        parts.append(prompts.text(debate.language, "context", name=_one_line(file.name), text=text))
    return "\n\n".join(parts)


def _cue(debate: Debate, speaker: Participant, round_number: int, prompts: Prompts, verdict: str) -> str:
    lines, what_if = prompts.lines(debate.language, "tasks"), debate.what_if(round_number) is not None
    task = "first" if round_number == 1 else "last" if round_number >= debate.rounds else "middle"
    cue = prompts.text(
        debate.language,
        "cue",
        round=round_number,
        rounds=debate.rounds,
        name=speaker.name,
        task=lines["what_if" if what_if else task],
    )
    told = defuse(verdict, known_names(debate))
    return f"{lines['verdict']}\n{told}\n\n{cue}" if told else cue


def _stance(participant: Participant, lines: dict[str, str], prompts: Prompts) -> str:
    if participant.role in ROLES:
        return lines[f"{participant.role}.who"]
    return lines["own.who"].format(role=role_name(participant.role, "en", prompts))


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[:most]} …"
