"""The same call again and again (row G9): it is refused, and who insists on it is stopped with the reason."""

from collections.abc import Mapping
from pathlib import Path

from app.core.message import MessageState
from app.core.session import Status
from app.core.tool import ToolContext, ToolResult
from tests.engine.test_turn import ANSWER, a_tool, agent, ask, bench, calling, results, status

PATIENT = agent(tools=("echo",), max_steps=8)


async def test_the_same_call_does_not_run_a_third_time(tmp_path: Path) -> None:
    ran: list[object] = []

    async def count(arguments: Mapping[str, object], context: ToolContext) -> ToolResult:
        ran.append(arguments)
        return ToolResult(content="counted")

    script = [calling(("count", '{"a": 1, "b": 2}')), calling(("count", '{"b":2,"a":1}'))]
    script += [calling(("count", {"a": 1, "b": 2})), [ANSWER]]
    made = bench(tmp_path, script, a_tool("count", count))
    session_id = await ask(made)
    assert len(ran) == 2
    assert "called 2 times" in results(made, session_id)[2][1]


async def test_who_makes_the_same_call_for_ever_is_stopped_with_the_reason(tmp_path: Path) -> None:
    """Two of its calls run, the third is refused, and the fourth ends it; beside a new one it may go on."""
    same = ("echo", {"n": 0})
    made = bench(tmp_path, [], a_tool("echo"), agents=(PATIENT,))
    made.models.otherwise = lambda _: calling(same)
    session_id = await ask(made)
    last = made.messages(session_id)[-1]
    assert (last.state, last.error.kind if last.error else "") == (MessageState.FAILED, "repeated")
    assert [state for state, _ in results(made, session_id)] == [
        MessageState.DONE,
        MessageState.DONE,
        MessageState.FAILED,
        MessageState.FAILED,
    ]
    assert status(made, session_id) == Status.PAUSED
    script = [
        calling(same, same, same),
        calling(same, ("echo", {"n": 1})),
        calling(("echo", {"n": 2})),
        [ANSWER],
    ]
    made = bench(tmp_path / "other", script, a_tool("echo"), agents=(PATIENT,))
    session_id = await ask(made)
    assert made.messages(session_id)[-1].state == MessageState.DONE
