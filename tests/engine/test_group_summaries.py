"""Summaries of a group's work: one for all, asked for or made where the group becomes too long."""

from pathlib import Path

from app.core.message import Message, Role, SummaryNote
from app.core.provider import ModelRequest
from app.core.session import Status
from tests.builders import Bench, Script
from tests.engine.request_rules import as_sent, check_legal
from tests.engine.test_group import acting, bench, engines_are_closed, hand, run  # noqa: F401
from tests.engine.test_sub_agents import who
from tests.engine.test_summaries import asks_for_summary
from tests.engine.test_turn import calling

SUMMARY = "Ann built the boat Marigold."
LONG = "Ann built the boat Marigold, plank by plank. " * 200


def _summaries(made: Bench, session_id: str) -> list[Message]:
    return [one for one in made.messages(session_id) if one.role == Role.SUMMARY]


async def test_a_summary_that_was_asked_for_serves_the_orchestrator_and_the_members(tmp_path: Path) -> None:
    steps = acting(
        calling(hand("ann")),
        calling(("reportResult", {"result_in_detail": "It floats."})),
        calling(hand("bo")),
        member=[LONG],
    )

    def answer(request: ModelRequest) -> Script:
        return [SUMMARY] if asks_for_summary(request) else steps(request)

    made = bench(tmp_path, answer)
    session_id = await run(made)
    before = made.engine.summaries.use_of(session_id)
    await made.engine.summaries.make(session_id)
    assert (await made.engine.wait(session_id)).status == Status.IDLE
    [asked] = _summaries(made, session_id)
    after = made.engine.summaries.use_of(session_id)
    assert (asked.note, asked.agent_id, asked.author.id) == (SummaryNote.ASKED, "", "orchestrator")
    assert before and after and after.tokens < before.tokens
    # It begins as the orchestrator's requests do, so that the provider takes it from its cache.
    lead, request = [one for one in made.models.requests if who(one) == "orchestrator"][-2:]
    assert (request.messages[0], request.tools) == (lead.messages[0], lead.tools)
    await made.engine.chats.send(session_id, "Paint it.")
    await made.engine.wait(session_id)
    led, painted = [
        next(one for one in reversed(made.models.requests) if who(one) == name)
        for name in ("orchestrator", "bo")
    ]
    for one in (led, painted):
        check_legal(one)
        assert SUMMARY in as_sent(one) and "[Ann]" not in as_sent(one)
