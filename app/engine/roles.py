"""The roles a participant can argue from, and the system prompt made of them; used by the perspective."""

from collections.abc import Sequence
from dataclasses import replace

from app.core.catalog import CHAT, TRANSCRIPT, provider_kind
from app.core.session import Debate, Participant
from app.engine.debate_modes import mode_of
from app.engine.prompts import Prompts

FOR = "for"
AGAINST = "against"
NEUTRAL = "neutral"
OPTIMIST = "optimist"
REALIST = "realist"
DEVILS_ADVOCATE = "devils-advocate"

ROLES: tuple[str, ...] = (FOR, AGAINST, NEUTRAL, OPTIMIST, REALIST, DEVILS_ADVOCATE)
SIDES: tuple[str, ...] = (FOR, AGAINST)


def form_of(kind: str) -> str:
    """Return how a debate is put to the models of a provider kind: as chat turns or one transcript."""
    row = provider_kind(kind)
    return row.form if row else CHAT


def with_sides(participants: Sequence[Participant], kinds: Sequence[str]) -> tuple[Participant, ...]:
    """Give sides in turn to the voices of a small model that have no role.

    Such a model agrees with whatever it read last; a side is what makes its voices differ.
    """
    seated = []
    given = 0
    for participant, kind in zip(participants, kinds, strict=True):
        if not participant.role and form_of(kind) == TRANSCRIPT:
            participant = replace(participant, role=SIDES[given % len(SIDES)])
            given += 1
        seated.append(participant)
    return tuple(seated)


def system_prompt(debate: Debate, speaker: Participant, prompts: Prompts) -> str:
    """Return what tells the speaker who they are; the user's own text replaces it whole."""
    if speaker.system_prompt.strip():
        return speaker.system_prompt
    language = debate.language
    roster = ", ".join(
        one.name
        + _role_in_roster(one, language, prompts)
        + (_you(language, prompts) if one.id == speaker.id else "")
        for one in debate.participants
    )
    parts = [
        prompts.text(
            language, "participant", name=speaker.name, count=len(debate.participants), roster=roster
        ),
        prompts.text(language, mode_of(debate.mode).prompt),
    ]
    if speaker.role:
        parts.append(role_text(speaker.role, language, prompts))
    parts.append(prompts.text(language, "rules", name=speaker.name))
    return "\n\n".join(parts)


def role_text(role: str, language: str, prompts: Prompts) -> str:
    """Return what a role asks of its holder."""
    if role in ROLES:
        return prompts.line(language, "roles", role)
    return prompts.line(language, "roles", "own", role=" ".join(role.split()))


def role_name(role: str, language: str, prompts: Prompts) -> str:
    """Return a role as one reads it: the label of a built-in one, else the user's words."""
    return prompts.line(language, "roles", f"{role}.name") if role in ROLES else " ".join(role.split())


def _role_in_roster(participant: Participant, language: str, prompts: Prompts) -> str:
    return f" ({role_name(participant.role, language, prompts)})" if participant.role else ""


def _you(language: str, prompts: Prompts) -> str:
    return " " + prompts.line(language, "roles", "you")
