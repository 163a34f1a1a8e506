"""What can be done with a message of a conversation; the menu and the bar over a row offer the same."""

from app.core.message import Message, MessageState, Role
from app.gui.transcript.message_row import CONTINUE, RETRY
from app.gui.transcript.row_words import is_cut

COPY = "copy"
EDIT = "edit"
CONTINUE_FROM = "continue_from"

WORDS = {
    COPY: "transcript.copy_message",
    RETRY: "transcript.retry",
    EDIT: "transcript.edit",
    CONTINUE: "transcript.continue",
    CONTINUE_FROM: "transcript.continue_from",
}
ICONS = {
    COPY: "copy",
    RETRY: "refresh-cw",
    EDIT: "pencil",
    CONTINUE: "play",
    CONTINUE_FROM: "workflow",
}


def offered(message: Message, *, chat: bool, writable: bool) -> tuple[str, ...]:
    """Return the actions of a message; those of a sub-agent belong to a turn above and are only copied."""
    if (
        not chat
        or not writable
        or message.parent_turn_id is not None
        or message.state == MessageState.STREAMING
    ):
        return (COPY,)
    if message.role == Role.USER:
        return (COPY, EDIT, RETRY, CONTINUE_FROM)
    cut = message.state == MessageState.STOPPED or is_cut(message)
    if message.state == MessageState.FAILED:
        return (COPY, RETRY)
    return (COPY, RETRY, CONTINUE if cut else CONTINUE_FROM)
