"""The debate's modes as data: a new one is one row here, a prompt file and a label."""

from collections.abc import Callable
from dataclasses import dataclass

from app.core.message import Message
from app.core.session import Debate, DebateMode, Participant
from app.engine.debate.next_speaker import next_speaker

SpeakerRule = Callable[[Debate, tuple[Participant, ...], list[Message]], tuple[Participant, str]]


@dataclass(frozen=True, slots=True)
class ModeRules:
    """A mode: its name, the key of its label, its prompt file, and who speaks.

    With no `speaker_rule` the participants speak in the order of the set-up.
    """

    mode: str
    label: str
    prompt: str
    speaker_rule: SpeakerRule | None = None
    may_pass: bool = False


MODES: tuple[ModeRules, ...] = (
    ModeRules(mode=DebateMode.ROUND_ROBIN, label="mode.round-robin", prompt="mode-round-robin"),
    ModeRules(
        mode=DebateMode.FREE, label="mode.free", prompt="mode-free", speaker_rule=next_speaker, may_pass=True
    ),
    ModeRules(mode=DebateMode.ROLES, label="mode.roles", prompt="mode-roles"),
)


def mode_of(name: str) -> ModeRules:
    """Return the row of a mode; raises KeyError for one this version does not know."""
    for row in MODES:
        if row.mode == name:
            return row
    raise KeyError(name)
