"""What a summary stands for, as pure functions: where it ends, for whom it holds, and that every request is legal."""

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from app.core.events import EventBus
from app.core.message import Attachment, Author, Message, MessageState, Role, SummaryNote, ToolCall
from app.core.provider import ModelFacts, ModelRequest, Price
from app.core.session import Chat, ChatSession
from app.core.settings import Settings
from app.core.store import StoredSession
from app.engine.history import PastTurn, limit_for, summary_for, turns_to_replace
from app.engine.library.agents import AgentModel
from app.engine.live_session import LiveSession
from app.engine.request import AgentTurn, Attempt, Told, build_request
from tests.builders import PROMPTS, user_said
from tests.engine.request_rules import as_sent, check_legal
from tests.engine.test_turn import agent


def _limit(window: int, history: str, most_output: int = 4_000, tier: int = 0, chat: str = "") -> int:
    prices = Price(read=1.0, written=1.0, tier=tier)
    facts = ModelFacts(window=window, most_output=most_output, prices=prices)
    return limit_for(facts, Chat(assistant_id="main", history=chat), Settings(history=history))


def test_limits() -> None:
    assert _limit(128_000, "default") == 64_000
    assert _limit(128_000, "thrifty") == 24_000
    assert _limit(128_000, "thrifty", chat="all") == 115_200 - 4_000
    assert _limit(128_000, "all", most_output=64_000) == 115_200 - 32_000
    assert _limit(8_192, "default", most_output=0) == int(0.9 * 8_192) - 2_048
    assert _limit(1_000_000, "all", tier=200_000) == 200_000


def _turns(*tokens: int) -> list[PastTurn]:
    return [PastTurn(f"t{place}", one, place % 2 == 0, ()) for place, one in enumerate(tokens)]


def test_where_a_summary_ends() -> None:
    assert turns_to_replace(_turns(*[1_000] * 25), 24_000) == 20
    assert turns_to_replace(_turns(*[1_000] * 25), 100_000) == 0
    assert turns_to_replace(_turns(5_000, 20_000, 100), 24_000) == 2
    assert turns_to_replace(_turns(30_000), 24_000) == 0
    assert turns_to_replace(_turns(5_000, 5_000, 30_000), 24_000) == 2


def _user(turn_id: str, follows: str) -> Message:
    return replace(user_said(f"Question of {turn_id}"), turn_id=turn_id, follows=follows)


def _live(
    messages: list[Message], head: str, unused: tuple[str, ...] = (), pinned: tuple[str, ...] = ()
) -> LiveSession:
    chat = Chat(assistant_id="main", head=head, unused_summaries=unused, pinned=pinned)
    session = ChatSession(id="0" * 26, title="", chat=chat)
    return LiveSession(StoredSession(session=session, messages=messages), EventBus())


def _summary(through: str, text: str, number: int = 0, **fields: object) -> Message:
    base = Message(
        id=f"s{number}{through}",
        turn_id=through,
        role=Role.SUMMARY,
        author=Author(id="main", name="Main"),
        content=text,
        through=through,
        note=SummaryNote.AUTO,
    )
    return replace(base, **fields)  # type: ignore[arg-type]


def _answer_of(turn_id: str, follows: str, calls: int = 0) -> list[Message]:
    author = Author(id="main", name="Main")
    first = Message(
        id=f"m{turn_id}",
        turn_id=turn_id,
        role=Role.ASSISTANT,
        author=author,
        follows=follows,
        content="" if calls else f"Answer of {turn_id}",
        tool_calls=tuple(ToolCall(id=f"{turn_id}c{at}", name="find", arguments="{}") for at in range(calls)),
    )
    results = [
        Message(
            id=f"r{call.id}",
            turn_id=turn_id,
            role=Role.TOOL,
            author=author,
            follows=follows,
            tool_call_id=call.id,
            content="found\n" * 200,
        )
        for call in first.tool_calls
    ]
    last = replace(first, id=f"n{turn_id}", tool_calls=(), content=f"Answer of {turn_id}")
    return [first, *results, *([last] if calls else [])]


def _turn(head: str) -> AgentTurn:
    model = AgentModel(provider="p", model="m", row=None)
    return AgentTurn(
        turn_id="new", agent=agent(), agent_model=model, stack=("main",), mode="default", follows=head
    )


def _sent(live: LiveSession, head: str) -> ModelRequest:
    return build_request(_turn(head), live, Told(), Attempt(), PROMPTS.lines("en", "assistant"))


def test_a_summary_holds_for_every_branch_behind_it_and_for_none_before_it() -> None:
    said = [_user("a", ""), *_answer_of("b", "a"), _user("c", "b"), *_answer_of("d", "c")]
    live = _live([*said, _user("e", "d"), _user("e2", "d"), _user("c2", "b"), _summary("d", "NOTES")], "e")
    for head in ("e", "e2"):
        text = as_sent(_sent(live, head))
        assert "NOTES" in text and "Answer of b" not in text and f"Question of {head}" in text
    text = as_sent(_sent(live, "c2"))
    assert "NOTES" not in text and "Answer of b" in text


def test_the_deepest_summary_counts_then_ones_own_then_the_newest() -> None:
    said = [_user("a", ""), *_answer_of("b", "a"), _user("c", "b"), *_answer_of("d", "c"), _user("e", "d")]
    early, old, new = _summary("b", "EARLY"), _summary("d", "OLD", 1), _summary("d", "NEW", 2)
    own = _summary("d", "OWN", 0, agent_id="main")
    live = _live([*said, early, old, new, own], "e")
    path = ["e", "d", "c", "b", "a"]
    assert summary_for(live, path, "main") == own
    assert summary_for(live, path, "other") == new
    live = _live([*said, early, old, new, own], "e", unused=(new.id, own.id))
    assert summary_for(live, path, "main") == old
    live = _live([*said, early, replace(old, content=" "), replace(new, state=MessageState.FAILED)], "e")
    assert summary_for(live, path, "main") == early


def test_what_is_pinned_is_sent_word_for_word_behind_the_summary_in_the_order_of_pinning() -> None:
    file = Attachment(name="terms.txt", text="Net 30 days.")
    asked = replace(_user("c", "b"), attachments=(file,))
    said = [_user("a", ""), *_answer_of("b", "a", calls=1), asked, *_answer_of("d", "c"), _user("e", "d")]
    pins = ("md", asked.id, "nb")

    def sent(*pinned: str, notes: bool = True, head: str = "e") -> str:
        summaries = [_summary("d", "NOTES")] if notes else []
        request = _sent(_live([*said, *summaries, _user("z", "")], head, pinned=pinned), head)
        check_legal(request)
        return as_sent(request)

    text = sent(*pins)
    places = [
        text.index(one)
        for one in ("NOTES", "Answer of d", "Question of c", "Net 30", "Answer of b", "Question of e")
    ]
    assert places == sorted(places) and "found" not in text and "Question of a" not in text
    # One more changes nothing of what is sent before it.
    assert sent(*pins[:2])[: places[3]] == text[: places[3]]
    assert sent("md", notes=False) == sent(notes=False), "what is sent anyway is not sent twice"
    assert "Answer of d" not in sent(*pins, head="z"), "another version holds none of them"


@settings(max_examples=300, deadline=None, database=None)
@given(
    turns=st.lists(st.sampled_from(["user", "answer", "calls", "failed", "cut"]), min_size=1, max_size=12),
    through=st.integers(0, 11),
    lost=st.sets(st.integers(0, 40), max_size=6),
    pruned=st.integers(0, 40),
)
def test_any_cut_of_any_log_gives_a_legal_request_with_the_users_newest_message(
    turns: list[str], through: int, lost: set[int], pruned: int
) -> None:
    said: list[Message] = []
    for place, kind in enumerate(turns):
        before = f"t{place - 1}" if place else ""
        if kind == "user":
            said.append(_user(f"t{place}", before))
            continue
        messages = _answer_of(f"t{place}", before, calls=2 if kind in ("calls", "cut") else 0)
        if kind == "failed":
            messages = [replace(one, state=MessageState.FAILED) for one in messages]
        said += messages[:2] if kind == "cut" else messages
    first = {one.turn_id: one.id for one in reversed(said)}
    kept = [one for at, one in enumerate(said) if at not in lost or one.id in first.values()]
    head = f"t{len(turns) - 1}"
    notes = _summary(f"t{min(through, len(turns) - 1)}", "NOTES")
    at = kept[min(pruned, len(kept) - 1)]
    short = _summary(at.turn_id, "- find", 9, through_message=at.id)
    live = _live([*kept, notes, short], head, pinned=tuple(one.id for one in reversed(said[::2])))
    request = _sent(live, head)
    check_legal(request)
    text = as_sent(request)
    assert "NOTES" in text
    newest = [one.content for one in kept if one.role == Role.USER][-1:]
    assert all(one in text for one in newest)
