"""Summaries of a group's work: one for all, asked for or made where the group becomes too long."""

from collections.abc import Mapping
from pathlib import Path

from app.core.errors import FailureKind, ProviderError
from app.core.message import Message, Role, SummaryNote
from app.core.provider import ModelRequest
from app.core.session import Status
from app.core.tool import ToolContext, ToolResult
from tests.builders import Bench, Script
from tests.engine.request_rules import as_sent, check_legal
from tests.engine.test_group import acting, bench, hand, run
from tests.engine.test_sub_agents import who
from tests.engine.test_summaries import asks_for_summary
from tests.engine.test_turn import a_tool, agent, calling

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


REPORT = calling(("reportResult", {"result_in_detail": "It floats."}))
OWN = "Ann measured: the mast is 812 cm."


async def _measure(arguments: Mapping[str, object], context: ToolContext) -> ToolResult:
    return ToolResult(content=f"Part {arguments['part']} is 812 cm. " + "Wood, rope and sails. " * 400)


def _crew_that_measures(tmp_path: Path, own: Script) -> Bench:
    """Return a group whose Ann measures three parts with her tool whenever she is called."""
    parts = [calling(*(("measure", {"part": part}) for part in range(3))), [LONG]]
    steps = acting(*[one for _ in range(3) for one in (calling(hand("ann")), REPORT)])

    def answer(request: ModelRequest) -> Script:
        if asks_for_summary(request):
            return [SUMMARY] if who(request) == "orchestrator" else own
        if who(request) == "ann":
            return parts[request.messages[-1]["role"] == "tool"]
        return steps(request)

    crew = (agent("ann", name="Ann", tools=("measure",)), agent("bo", name="Bo"))
    return bench(tmp_path, answer, crew=crew, tools=(a_tool("measure", _measure),))


def _last(made: Bench, name: str) -> str:
    return next(as_sent(one) for one in reversed(made.models.requests) if who(one) == name)


async def _again(made: Bench, session_id: str) -> None:
    """Summarise for all, and have Ann called once more."""
    await made.engine.summaries.make(session_id)
    await made.engine.wait(session_id)
    await made.engine.chats.send(session_id, "Once more.")
    assert (await made.engine.wait(session_id)).status == Status.IDLE


async def test_a_member_whose_tools_said_much_has_notes_of_its_own(tmp_path: Path) -> None:
    made = _crew_that_measures(tmp_path, [OWN])
    session_id = await run(made)
    await _again(made, session_id)
    shared, own = _summaries(made, session_id)
    assert (shared.agent_id, own.agent_id) == ("", "ann")
    assert SUMMARY in shared.content and OWN in own.content and "> Ship it." in own.content
    assert own.through == shared.through and own.model == "remote0/model-0" and own.usage is not None
    [asked] = [one for one in made.models.requests if asks_for_summary(one) and who(one) == "ann"]
    assert "Part 2 is 812 cm." in as_sent(asked) and SUMMARY not in as_sent(asked)
    assert OWN in _last(made, "ann") and SUMMARY not in _last(made, "ann")
    assert SUMMARY in _last(made, "orchestrator") and OWN not in _last(made, "orchestrator")
    await _again(made, session_id)
    *_, again = [one for one in made.models.requests if asks_for_summary(one) and who(one) == "ann"]
    assert OWN in as_sent(again), "the earlier notes are merged into the new ones"
    assert [one.agent_id for one in _summaries(made, session_id)] == ["", "ann", "", "ann"]
    *_, shared, own = _summaries(made, session_id)
    await made.engine.summaries.use(session_id, own.id, used=False)
    await made.engine.chats.send(session_id, "@Ann Once more.")
    await made.engine.wait(session_id)
    assert SUMMARY in _last(made, "ann") and len(_summaries(made, session_id)) == 4, (
        "not against the user's will"
    )
    await made.engine.summaries.use(session_id, shared.id, used=True)
    await made.engine.summaries.use(session_id, own.id, used=True)
    live = made.engine.live(session_id)
    assert live is not None and not live.session.unused_summaries
    for request in made.models.requests:
        check_legal(request)


async def test_where_no_model_writes_them_they_list_what_the_tools_returned(tmp_path: Path) -> None:
    made = _crew_that_measures(tmp_path, [ProviderError(FailureKind.SERVER)])
    session_id = await run(made)
    await _again(made, session_id)
    _, own = _summaries(made, session_id)
    assert own.note == SummaryNote.EXTRACT and SUMMARY in own.content
    assert '- measure({"part": 2}) → Part 2 is 812 cm.' in own.content and len(own.content) < 1_000
