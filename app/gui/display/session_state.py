"""A session's state as people read it: the same words and tone in side bar, top bar, controls and History."""

from app.core.reasons import main_code
from app.core.session import Debate, DebateSession, Session, SessionSummary, Status
from app.gui.display.i18n import Language

TONES = {"running": "accent", "paused": "warn", "completed": "ok", "error": "error", "waiting": "warn"}
TOO_FEW = "too_few"
BUSY = "busy"
WITH_THE_USER = ("chat", "group")


def failed(status: str, reason: str) -> bool:
    """Say whether a session came to nothing: also a debate that ended for want of speakers."""
    return status == "error" or (status == Status.COMPLETED and main_code(reason) == TOO_FEW)


def waits_its_turn(session: Session | SessionSummary) -> bool:
    """Say whether a session that runs waits for a busy assistant; of a workflow each step says so itself."""
    return session.status == Status.RUNNING and session.reason == BUSY and session.kind != "workflow"


def modes_of(language: Language, *, group: bool, settings: bool) -> str:
    """Return what the chip of a conversation's mode says: group mode, settings mode, both or neither."""
    modes = (("top.group_mode", group), ("top.settings_mode", settings))
    return " · ".join(language(key) for key, on in modes if on)


def state_of(session: Session | SessionSummary, language: Language) -> tuple[str, str]:
    """Return a state in a few words and the tone of its chip."""
    status, reason = session.status, session.reason
    if failed(status, reason):
        key = f"status.failed.{main_code(reason)}"
        return language(key if key in language.texts else "status.error"), "error"
    if status == Status.IDLE and not isinstance(session, DebateSession) and session.kind in WITH_THE_USER:
        return language("status.your_turn"), "neutral"
    if waits_its_turn(session):
        return language("status.busy"), "warn"
    cursor = session.debate if isinstance(session, DebateSession) else session
    at = min(cursor.round, cursor.rounds) if isinstance(cursor, Debate | SessionSummary) else 0
    return language.status(status, at), TONES.get(status, "neutral")
