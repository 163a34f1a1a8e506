"""Builds chats with calls and sub-agents for the transcript's tests: messages as the engine writes them."""

from collections.abc import Collection, Sequence

from app.core.message import Author, Message, MessageState, Prompt, ToolCall, Usage
from app.core.session import Chat, ChatSession, Session, Status
from app.core.turns import Turns
from app.gui.controllers.window import WindowController
from app.gui.transcript.transcript_model import RowEntry, tree_rows

USER = Author(id="user", name="User", kind="user")
MASTER = Author(id="master", name="Master", kind="main", path=("master",))
SESSION = ChatSession(id="s", title="A chat", status=Status.RUNNING, chat=Chat(assistant_id="master"))
AT = "2026-11-21T14:02:00.000Z"


def agent(name: str, *path: str) -> Author:
    """Return a sub-agent called by those of `path`."""
    whole = (*path, name)
    return Author(id=name, name=name.title(), kind="sub", path=whole, depth=len(whole) - 1)


def asked(number: int, text: str = "Please look.") -> Message:
    """Return what the user said; a turn of its own."""
    return Message(
        id=f"u{number}", turn_id=f"tu{number}", role="user", author=USER, content=text, created_at=AT
    )


def call(
    call_id: str, name: str = "web_fetch", arguments: str = '{"url": "https://example.org/"}'
) -> ToolCall:
    """Return a call."""
    return ToolCall(id=call_id, name=name, arguments=arguments)


def spoke(
    message_id: str,
    turn_id: str,
    text: str = "",
    calls: Sequence[ToolCall] = (),
    *,
    author: Author = MASTER,
    under: tuple[str, str] | None = None,
    **fields: object,
) -> Message:
    """Return a model's message; `under` is (turn, call) of whoever called it."""
    fields.setdefault("usage", Usage(input_tokens=300, output_tokens=50))
    return Message(
        id=message_id,
        turn_id=turn_id,
        role="assistant",
        author=author,
        content=text,
        tool_calls=tuple(calls),
        parent_turn_id=under[0] if under else None,
        parent_call_id=under[1] if under else None,
        created_at=AT,
        **fields,
    )


def gave(
    message_id: str,
    turn_id: str,
    call_id: str,
    text: str = "ok",
    *,
    state: str = MessageState.DONE,
    author: Author = MASTER,
    under: tuple[str, str] | None = None,
    **fields: object,
) -> Message:
    """Return the message with a tool's result."""
    return Message(
        id=message_id,
        turn_id=turn_id,
        role="tool",
        author=author,
        tool_call_id=call_id,
        content=text,
        state=state,
        parent_turn_id=under[0] if under else None,
        parent_call_id=under[1] if under else None,
        created_at=AT,
        **fields,
    )


def question(
    message_id: str, turn_id: str, call_id: str | None, prompt: Prompt, *, role: str = "system"
) -> Message:
    """Return a question to the user that belongs to a call."""
    return Message(
        id=message_id,
        turn_id=turn_id,
        role=role,
        author=MASTER,
        tool_call_id=call_id,
        prompt=prompt,
        created_at=AT,
    )


def a_tree() -> list[Message]:
    """Return a master that calls two sub-agents at once, one of which calls a third; logged as it came."""
    one, two = ("tm", "c1"), ("tm", "c2")
    browser, checker = agent("browser", "master"), agent("checker", "master")
    third, below = agent("reader", "master", "browser"), ("tb", "d1")
    return [
        asked(1),
        spoke("m1", "tm", "Two at once.", [call("c1", "subAgent"), call("c2", "subAgent")]),
        gave("r1", "tm", "c1", "", state=MessageState.STREAMING),
        gave("r2", "tm", "c2", "", state=MessageState.STREAMING),
        spoke("b1", "tb", "", [call("d0"), call("d1", "subAgent")], author=browser, under=one),
        spoke("k1", "tk", "Checking…", author=checker, under=two),
        gave("s0", "tb", "d0", "page", author=browser, under=one),
        gave("s1", "tb", "d1", "", state=MessageState.STREAMING, author=browser, under=one),
        spoke("e1", "te", "Read.", author=third, under=below),
        gave("s1", "tb", "d1", '{"ok": true}', author=browser, under=one),
        spoke("b2", "tb", "Found it.", author=browser, under=one),
        gave("r1", "tm", "c1", '{"ok": true}'),
        gave("r2", "tm", "c2", '{"ok": true}'),
        spoke("m2", "tm", "Both are done."),
    ]


def stored(messages: Sequence[Message]) -> list[Message]:
    """Return the messages as they are read from the disk: the last form of each, where it began."""
    return list({message.id: message for message in messages}.values())


def rows_of(messages: Sequence[Message], folded: Collection[str] = ()) -> list[RowEntry]:
    """Return the rows of a session with these messages."""
    turns = Turns(messages)
    return tree_rows(turns, turns.roots(), folded)


async def bring_in(desk: WindowController, session: Session, messages: Sequence[Message]) -> None:
    """Put a session among the others as an import does, and list it."""
    await desk.engine._store.bring_in(session, messages)
    desk._refresh_sessions()
