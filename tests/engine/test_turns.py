"""What is shown of a tree of turns is found without walking over all of it, and is the same."""

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from app.core.events import EventBus
from app.core.message import Author, Message, MessageState, Role
from app.core.session import Chat, ChatSession
from app.core.store import StoredSession
from app.engine.live_session import LiveSession

ANN = Author(id="a", name="Ann", path=("a",))


@st.composite
def trees(draw: st.DrawFn) -> tuple[list[Message], str]:
    """Turns that follow or call each other, their messages mixed; and the turn a chat stands at."""
    count = draw(st.integers(1, 9))
    roots: list[str] = []
    starts = []
    for number in range(count):
        called = number > 0 and draw(st.booleans())
        role = draw(st.sampled_from((Role.USER, "assistant")))
        starts.append(
            Message(
                id="",
                turn_id=f"t{number}",
                role="assistant" if called else role,
                author=ANN,
                follows=draw(st.sampled_from(["", *roots])),
                parent_turn_id=f"t{draw(st.integers(0, number - 1))}" if called else None,
                parent_call_id="c" if called else None,
            )
        )
        if not called:
            roots.append(f"t{number}")
    order = [*range(count), *draw(st.lists(st.integers(0, count - 1), max_size=12))]
    messages = [replace(starts[turn], id=f"m{place}") for place, turn in enumerate(order)]
    return messages, draw(st.sampled_from(["", "unknown", *roots]))


def plain_shown(live: LiveSession, path: list[str]) -> list[str]:
    """Say it the long way: a message is shown where the turn at the top of its chain is on the path."""
    found = []
    for message in live.messages:
        turn_id = message.turn_id
        while (parent := live.turns.said(turn_id)[0].parent_turn_id) is not None:
            turn_id = parent
        if turn_id in path:
            found.append(message.id)
    return found


def plain_versions(live: LiveSession, turn_id: str) -> tuple[str, ...]:
    """Say it the long way: go through all turns."""
    first = live.turns.said(turn_id)[0]
    others = [(other, live.turns.said(other)[0]) for other in live.turns.ids]
    return tuple(
        other
        for other, start in others
        if start.parent_turn_id is None and (start.follows, start.role) == (first.follows, first.role)
    )


@settings(deadline=None)
@given(trees(), st.booleans())
def test_the_index_says_what_a_walk_over_all_turns_says(tree: tuple[list[Message], str], live_: bool) -> None:
    messages, head = tree
    session = ChatSession(id="s", title="", chat=Chat(assistant_id="a", head=head))
    live = LiveSession(StoredSession(session=session, messages=[] if live_ else list(messages)), EventBus())
    for message in messages if live_ else ():
        live.start_message(message)
        live.append_text(message.id, "Text.")
        live.finish_message(message)
    if live_:
        live.change(chat=Chat(assistant_id="a", head=head))
    path = list(live.turns.back_from(head))
    expected = []
    turn_id = head
    while live.turns.said(turn_id):
        expected.append(turn_id)
        turn_id = live.turns.said(turn_id)[0].follows or ""
    assert path == expected
    assert [one.id for one in live.shown()] == plain_shown(live, path)
    assert all(one.state != MessageState.STREAMING for one in live.shown())
    counted = {each: plain_versions(live, each) for each in path}
    assert live.turns.versions_shown(live.chat_session.chat.head) == {
        each: (group.index(each) + 1, len(group)) for each, group in counted.items() if len(group) > 1
    }
    for each in live.turns.ids:
        assert live.turns.versions(each) == plain_versions(live, each)
        assert live.turns.latest_leaf(each) in live.turns.ids
        assert live.turns.said(live.turns.root(each))[0].parent_turn_id is None
    assert live.turns.versions("unknown") == ()


def test_turns_that_call_each_other_are_not_followed_for_ever() -> None:
    ring = [
        Message(
            id=f"m{one}", turn_id=one, role="assistant", author=ANN, parent_turn_id=other, parent_call_id="c"
        )
        for one, other in (("a", "b"), ("b", "a"))
    ]
    session = ChatSession(id="s", title="", chat=Chat(assistant_id="a"))
    assert LiveSession(StoredSession(session=session, messages=ring), EventBus()).shown() == []
