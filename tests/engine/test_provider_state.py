"""The state that a provider wants back: to the model it came from, also after a restart, and to no other."""

from collections.abc import Sequence
from pathlib import Path

from app.core.events import Notice
from app.core.provider import CallPiece, Finished, ModelRequest
from tests.builders import Bench, Script
from tests.engine.test_turn import a_tool, ask, bench

STATE = {"sent_back": {"reasoning_details": [{"data": "c2ln"}]}, "calls_sent_back": [{"signature": "s"}]}
SCRIPT: Sequence[Script] = [
    [CallPiece(index=0, id="c1", name="echo", arguments="{}"), Finished(reason="tool_calls", state=STATE)],
    ["First."],
    ["Second."],
    ["Second again."],
]


def sent_states(request: ModelRequest) -> list[object]:
    """Return what each of the assistant's messages carries beside its words."""
    said = [one for one in request.messages if one["role"] == "assistant"]
    return [{name: one[name] for name in STATE if name in one} for one in said]


async def asked_twice(tmp_path: Path) -> tuple[Bench, str]:
    made = bench(tmp_path, SCRIPT, a_tool("echo"))
    session_id = await ask(made)
    await made.engine.chats.send(session_id, "And now?")
    await made.engine.wait(session_id)
    return made, session_id


async def test_the_model_that_sent_it_gets_it_back_in_each_request(tmp_path: Path) -> None:
    made, _ = await asked_twice(tmp_path)
    assert [sent_states(one) for one in made.models.requests] == [[], [STATE], [STATE, {}]]


async def test_no_other_model_gets_it(tmp_path: Path) -> None:
    made, session_id = await asked_twice(tmp_path)
    answer = made.messages(session_id)[-1]
    await made.engine.chats.retry(session_id, answer.id, provider="remote1", model="model-1")
    await made.engine.wait(session_id)
    assert made.models.requests[-1].model == "model-1"
    assert sent_states(made.models.requests[-1]) == [{}, {}]


async def test_it_is_in_the_log(tmp_path: Path) -> None:
    made, session_id = await asked_twice(tmp_path)
    await made.engine.shutdown()
    again = bench(tmp_path, SCRIPT[2:], a_tool("echo"))
    await again.engine.chats.send(session_id, "After a restart?")
    await again.engine.wait(session_id)
    assert sent_states(again.models.requests[-1])[0] == STATE


async def test_tools_that_were_left_out_are_named_once(tmp_path: Path) -> None:
    left_out = Finished(left_out=("server__odd", "server__worse"))
    made = bench(tmp_path, [["First.", left_out], ["Second.", left_out]], a_tool("echo"))
    session_id = await ask(made)
    await made.engine.chats.send(session_id, "And now?")
    await made.engine.wait(session_id)
    notices = [one for one in made.events if isinstance(one, Notice) and one.code == "tools_left_out"]
    assert [one.details["tools"] for one in notices] == ["server__odd, server__worse"]
