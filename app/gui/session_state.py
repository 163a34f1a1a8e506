"""A session's state as people read it: the same words and tone in side bar, top bar, controls and History."""

from app.core.session import COMPLETED, DebateSession, SessionSummary
from app.gui.i18n import Language

TONES = {"running": "accent", "paused": "warn", "completed": "ok", "error": "error", "waiting": "accent"}
TOO_FEW = "too_few"


def failed(status: str, reason: str) -> bool:
    """Say whether a session came to nothing: also a debate that ended for want of speakers."""
    return status == "error" or (status == COMPLETED and reason == TOO_FEW)


def state_of(session: DebateSession | SessionSummary, language: Language) -> tuple[str, str]:
    """Return a state in a few words and the tone of its chip."""
    status, reason = session.status, session.reason
    if failed(status, reason):
        key = f"status.failed.{reason}"
        return language(key if key in language.texts else "status.error"), "error"
    at = session.debate.round if isinstance(session, DebateSession) else session.round
    rounds = session.debate.rounds if isinstance(session, DebateSession) else session.rounds
    return language.status(status, min(at, rounds)), TONES.get(status, "neutral")
