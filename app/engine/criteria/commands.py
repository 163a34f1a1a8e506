"""What the user does with the criteria of a session; `engine.criteria` for window and terminal."""

from collections.abc import Sequence
from dataclasses import dataclass

from app.core.criteria import CriterionState, accepted, criteria_of
from app.core.errors import BadInput
from app.core.session import Status
from app.engine.sessions import Sessions


@dataclass(eq=False, repr=False)
class Criteria:
    """The commands of criteria; all raise BadInput, NotFound or StorageError in words."""

    _sessions: Sessions

    async def choose(self, session_id: str, texts: Sequence[str]) -> None:
        """Say when the work of a session is done; a criterion that was there stays as it is."""
        live = await self._sessions.open_chat(session_id)
        known = {one.text: one for one in live.session.criteria}
        live.change(criteria=tuple(known.get(one.text, one) for one in criteria_of(texts)))

    async def accept(self, session_id: str) -> None:
        """Take the work as it is: what is not met is accepted, and the session is completed."""
        live = await self._sessions.open_chat(session_id)
        criteria, works = live.session.criteria, live.session.status in (Status.RUNNING, Status.WAITING)
        missing = any(one.state in (CriterionState.UNMET, CriterionState.UNKNOWN) for one in criteria)
        if works or not missing:
            raise BadInput("nothing_to_accept", title=live.session.title)
        live.change(criteria=accepted(criteria), status=Status.COMPLETED, reason="")
