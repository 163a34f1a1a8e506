"""Removes the approvals from a session that comes from a file, such as an import or a backup.

Approvals hold only where they were given. Used by the engine's import and by storage's restore.
"""

from collections.abc import Sequence
from dataclasses import replace

from app.core.definitions import STEP
from app.core.frozen import Frozen
from app.core.message import Message, PromptType, Role
from app.core.session import Reason, Session, Status
from app.core.turns import failed_result

CLOSED_RESULT = (
    "This call was not run: the session comes from a file, and approvals are not taken from files."
)


class Unapproved(Frozen):
    """A session without approvals: `messages` are all of its messages, `written` those that are new
    or changed.
    """

    session: Session
    messages: tuple[Message, ...]
    written: tuple[Message, ...]


def without_approvals(session: Session, messages: Sequence[Message]) -> Unapproved:
    """Return a session in which no call can run on the strength of an earlier approval.

    Each call without a result gets one that says it was not run, the questions of such a call and every open
    approval are dismissed, and lasting permissions are removed, with the folder that was chosen.
    """
    finished = {(msg.turn_id, msg.tool_call_id) for msg in messages if msg.role == Role.TOOL and msg.ended}
    results: dict[tuple[str, str | None], Message] = {}
    for message in messages:
        for call in message.tool_calls:
            # A step of a workflow is written down as a call, but no tool has its name.
            is_step = session.workflow is not None and call.name == STEP
            if not is_step and (message.turn_id, call.id) not in finished:
                closed = failed_result(message, call.id, CLOSED_RESULT)
                results.setdefault((message.turn_id, call.id), closed)
    kept: list[Message] = []
    changed: list[Message] = []
    for message in messages:
        kept.append(message)
        if message.asks and _is_of_call(message, results):
            kept[-1] = message.dismissed()
            changed.append(kept[-1])
    written = (*changed, *results.values())
    if session.chat is not None or session.debate is not None:
        session = replace(session, **session.allowing(()))  # type: ignore[arg-type]
        if session.chat is not None:
            session = replace(session, chat=replace(session.chat, chosen_folder=""))
        if written and session.status == Status.WAITING:
            session = replace(session, status=Status.PAUSED, reason=Reason.FROM_FILE)
    return Unapproved(session=session, messages=(*kept, *results.values()), written=written)


def _is_of_call(message: Message, results: dict[tuple[str, str | None], Message]) -> bool:
    """Say whether a question asks for an approval, or belongs to a call that had no result."""
    assert message.prompt is not None
    return message.prompt.type == PromptType.APPROVAL or (message.turn_id, message.tool_call_id) in results
