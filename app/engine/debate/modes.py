"""The modes of debates as rows of data, the roles, and the system prompt made of both.

A new mode is a name in `DebateMode` (core/session.py), a row in `MODES`, its texts `mode.NAME`, `mode.NAME.hint` and
`cli.help.mode` in resources/i18n, and in resources/prompts a prompt and the line `mode.NAME` of export.txt. The set-up
and the command line list `CLASSIC_MODES`, all modes but the council.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import cycle

from app.core.catalog import provider_kind
from app.core.message import Message
from app.core.provider_kind import RequestForm
from app.core.session import Debate, DebateMode, Participant
from app.engine.debate.next_speaker import next_speaker
from app.engine.prompts import Prompts
from app.engine.requests.answer_style import length_words

SpeakerRule = Callable[[Debate, tuple[Participant, ...], list[Message]], tuple[Participant, str]]


@dataclass(frozen=True, slots=True)
class ModeRules:
    """A mode: its name, its prompt file, and who speaks.

    With no `speaker_rule` the participants speak in the order of the set-up.
    """

    mode: str
    prompt: str
    speaker_rule: SpeakerRule | None = None
    may_pass: bool = False


MODES: tuple[ModeRules, ...] = (
    ModeRules(mode=DebateMode.ROUND_ROBIN, prompt="mode-round-robin"),
    ModeRules(mode=DebateMode.FREE, prompt="mode-free", speaker_rule=next_speaker, may_pass=True),
    ModeRules(mode=DebateMode.ROLES, prompt="mode-roles"),
)


def mode_of(name: str) -> ModeRules:
    """Return the row of a mode; raises KeyError for one this version does not know."""
    for row in MODES:
        if row.mode == name:
            return row
    raise KeyError(name)


class DebateRole(StrEnum):
    """The roles that come with Moot; a user's own is any other text."""

    FOR = "for"
    AGAINST = "against"
    NEUTRAL = "neutral"
    OPTIMIST = "optimist"
    REALIST = "realist"
    DEVILS_ADVOCATE = "devils-advocate"


ROLES: tuple[str, ...] = tuple(DebateRole)
SIDES: tuple[str, ...] = (DebateRole.FOR, DebateRole.AGAINST)


def form_of(kind: str) -> str:
    """Return how a debate is put to the models of a provider kind: as chat turns or one transcript."""
    row = provider_kind(kind)
    return row.form if row else RequestForm.CHAT


def with_sides(participants: Sequence[Participant], kinds: Sequence[str]) -> tuple[Participant, ...]:
    """Give sides in turn to the participants of a small model that have no role.

    Such a model agrees with whatever it read last; a side makes its participants differ.
    """
    sides = cycle(SIDES)
    return tuple(
        replace(one, role=next(sides)) if not one.role and form_of(kind) == RequestForm.TRANSCRIPT else one
        for one, kind in zip(participants, kinds, strict=True)
    )


def system_prompt(debate: Debate, speaker: Participant, prompts: Prompts) -> str:
    """Return a participant's system prompt; the user's own text replaces the generated one."""
    if speaker.system_prompt.strip():
        return speaker.system_prompt
    language = debate.language
    roster = ", ".join(_in_roster(one, speaker, language, prompts) for one in debate.participants)
    count = len(debate.participants)
    parts = [
        prompts.text(language, "participant", name=speaker.name, count=count, roster=roster),
    ]
    if speaker.persona.strip():
        parts.append(prompts.text(language, "persona", text=speaker.persona.strip()))
    if debate.instructions:
        parts.append(prompts.line(language, "assistant", "folder", text=debate.instructions))
    parts.append(prompts.text(language, mode_of(debate.mode).prompt))
    if speaker.role:
        parts.append(role_text(speaker.role, language, prompts))
    parts += length_words(speaker.length, prompts.lines(language, "assistant"))
    parts.append(prompts.text(language, "rules", name=speaker.name))
    return "\n\n".join(parts)


def role_text(role: str, language: str, prompts: Prompts) -> str:
    """Return what a role asks of its holder."""
    if role in ROLES:
        return prompts.line(language, "roles", role)
    return prompts.line(language, "roles", "own", role=" ".join(role.split()))


def role_name(role: str, language: str, prompts: Prompts) -> str:
    """Return the name of a role: the label of a built-in one, else the user's words."""
    return prompts.line(language, "roles", f"{role}.name") if role in ROLES else " ".join(role.split())


def _in_roster(participant: Participant, speaker: Participant, language: str, prompts: Prompts) -> str:
    words = [participant.name]
    if participant.role:
        words.append(f"({role_name(participant.role, language, prompts)})")
    if participant.id == speaker.id:
        words.append(prompts.line(language, "roles", "you"))
    return " ".join(words)
