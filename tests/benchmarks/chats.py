"""Long chats with calls to measure the engine and the transcript with, as they are in memory."""

from dataclasses import replace

from app.core.events import EventBus
from app.core.ids import new_id
from app.core.message import Author, Message, Role, ToolCall
from app.core.session import Chat, ChatSession
from app.core.store import StoredSession
from app.engine.live_session import LiveSession


def long_chat(count: int) -> LiveSession:
    """Return a chat of so many messages: a question, a call, its result, an answer, and again."""
    messages: list[Message] = []
    before = ""
    user, ann = Author(id="user", name="User", kind="user"), Author(id="a", name="Ann", path=("a",))
    while len(messages) < count:
        asked, answered = new_id(), new_id()
        call = ToolCall(id=f"c{len(messages)}", name="look", arguments='{"at": "the sea"}')
        base = Message(id="", turn_id=answered, role=Role.ASSISTANT, author=ann, follows=asked)
        messages += [
            Message(
                id=new_id(),
                turn_id=asked,
                role=Role.USER,
                author=user,
                content="And the sea? " * 10,
                follows=before,
            ),
            replace(base, id=new_id(), tool_calls=(call,)),
            replace(base, id=new_id(), role=Role.TOOL, tool_call_id=call.id, content="It is calm. " * 50),
            replace(base, id=new_id(), content="The sea is calm today. " * 20),
        ]
        before = answered
    session = ChatSession(id=new_id(), title="The sea", chat=Chat(assistant_id="a", head=before))
    return LiveSession(StoredSession(session=session, messages=messages), EventBus())
