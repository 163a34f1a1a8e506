"""Participants that read the web before they answer: with links to what was read, in the price, also after a restart."""

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from app.core.catalog import PROGRAM, ProviderConfig
from app.core.council import Ends
from app.core.events import Notice
from app.core.message import MessageState, Role
from app.core.provider import FactSource, ModelFacts, ModelRequest
from app.core.session import DebateTools, Status
from app.core.tool import ToolContext, ToolResult
from app.engine.council.record import Record
from app.engine.turns.reply import PASSED
from tests.builders import Bench, Hang, Script, a_bench, a_log_store, a_setup, left_open, remotes, until
from tests.engine.test_council import debated, held, wanted
from tests.engine.test_turn import a_tool, calling
from tests.engine.test_verdict import TEXTS

OTHER = "https://example.com/air"


def read(request: ModelRequest) -> bool:
    return any(one["role"] == Role.TOOL for one in request.messages)


def reads(request: ModelRequest) -> Script:
    """Read two pages and one twice where there is a tool for it; then say who speaks."""
    if request.tools and not read(request):
        return calling(*(("web_fetch", {"url": url}) for url in ("https://example.org/a", OTHER, OTHER)))
    return [f"I am {request.model}."]


def bench(
    folder: Path, runs: list[str], providers: tuple[ProviderConfig, ...] | None = None, **facts: ModelFacts
) -> Bench:
    """Return an engine with the web tools; a page of example.net cannot be read."""

    async def fetch(arguments: Mapping[str, object], context: ToolContext) -> ToolResult:
        runs.append(str(arguments["url"]))
        return ToolResult(content="Cars took 40 %.", ok="example.net" not in runs[-1])

    tools = (a_tool("web_fetch", fetch, group="web"), a_tool("web_search", group="web"), a_tool("open_url"))
    made = a_bench(a_log_store(folder), tools=tools, providers=providers)
    made.models.otherwise = reads
    made.models.told = dict(facts)
    left_open.append(made)
    return made


def statements(made: Bench, session_id: str) -> list[str]:
    said = made.messages(session_id)
    return [
        one.content
        for one in said
        if one.role == Role.ASSISTANT and one.state == MessageState.DONE and not one.is_interim
    ]


async def test_a_statement_ends_with_links_to_the_pages_that_were_read_for_it(tmp_path: Path) -> None:
    runs: list[str] = []
    made = bench(tmp_path, runs)
    session_id = await made.engine.debates.start(a_setup(2, rounds=1, tools=DebateTools.READING))
    await made.engine.wait(session_id)
    first, second = statements(made, session_id)
    assert first.startswith("I am model-0.\n\n---\n") and second.startswith("I am model-1.\n\n---\n")
    links = [line.partition("](")[2] for line in first.splitlines() if "](" in line]
    assert links == ["https://example.org/a)", f"{OTHER})"]
    # Nothing else than the two tools of the web was offered.
    offered = {one["function"]["name"] for request in made.models.requests for one in request.tools}  # type: ignore[index]
    assert offered == {"web_fetch", "web_search"}
    # What was read is no part of what others are sent, the links are.
    later = str(next(one for one in made.models.requests if one.model == "model-1").messages)
    assert OTHER in later and "Cars took 40 %." not in later


async def test_what_could_not_be_read_or_is_linked_already_gets_no_link(tmp_path: Path) -> None:
    made = bench(tmp_path, [])

    def one_fails(request: ModelRequest) -> Script:
        if not read(request):
            pages = ("https://example.net/gone", OTHER, "https://example.org/b")
            return calling(*(("web_fetch", {"url": page}) for page in pages))
        return [f"As [this]({OTHER}) says."]

    made.models.otherwise = one_fails
    session_id = await made.engine.debates.start(a_setup(2, rounds=1, tools=DebateTools.READING))
    await made.engine.wait(session_id)
    for said in statements(made, session_id):
        assert said.count("](") == 2 and "example.net" not in said
        assert said.endswith("](https://example.org/b)")


async def test_who_has_nothing_to_add_after_reading_passes(tmp_path: Path) -> None:
    made = bench(tmp_path, [])

    def passes(request: ModelRequest) -> Script:
        return reads(request) if not read(request) else ["[PASS]"]

    made.models.otherwise = passes
    setup = a_setup(2, rounds=2, mode="free", tools=DebateTools.READING)
    session_id = await made.engine.debates.start(setup)
    await made.engine.wait(session_id)
    assert any(one.note == PASSED for one in made.messages(session_id))
    assert "](" not in "".join(one.content for one in made.messages(session_id) if one.note == PASSED)


async def test_an_answer_of_a_council_keeps_its_links_and_its_short_answer(tmp_path: Path) -> None:
    made = bench(tmp_path, [])

    def answers(request: ModelRequest) -> Script:
        if request.tools and not read(request):
            return reads(request)
        own = tuple(one for one in request.messages if one["role"] == "user")
        return debated(replace(request, messages=own))

    made.models.otherwise = answers
    session_id = await held(made, wanted(setup=replace(wanted().setup, tools=DebateTools.READING)))
    live = made.engine.live(session_id)
    assert live is not None
    record = Record(live.debate_session.debate, live.messages)
    assert len(record.answers()) == 3
    for answer in record.answers().values():
        assert answer.content.count(f"]({OTHER})") == 1 and "@@" not in answer.content
    assert {one.text for one in record.options()} == {"Postgres", "SQLite"}


async def test_a_restart_while_the_answer_is_written_reads_nothing_twice(tmp_path: Path) -> None:
    runs: list[str] = []
    made = bench(tmp_path, runs)
    made.models.otherwise = lambda request: [Hang()] if read(request) else reads(request)
    setup = a_setup(2, rounds=1, tools=DebateTools.READING)
    session_id = await made.engine.debates.start(setup)
    await until(lambda: made.models.hanging == 1)
    await made.engine.shutdown()
    left_open.clear()
    before = [*runs]
    assert set(before) == {"https://example.org/a", OTHER}
    again = bench(tmp_path, runs)
    await asyncio.to_thread(again.store.prepare)  # type: ignore[attr-defined]
    await again.engine.resume(session_id)
    await again.engine.wait(session_id)
    assert again.debate_of(session_id).status == Status.COMPLETED
    assert sorted(runs[len(before) :]) == sorted(before), "the second participant's alone"
    first, second = statements(again, session_id)
    assert first.count("](") == second.count("](") == 2


@pytest.mark.parametrize("council", [False, True])
async def test_external_agents_and_models_without_tools_go_without_and_one_line_says_so(
    tmp_path: Path, council: bool
) -> None:
    agent = ProviderConfig(id="remote2", kind=PROGRAM, command="claude", models=("model-2",))
    providers = (*(one for one in remotes() if one.id != "remote2"), agent)
    told = {"model-1": ModelFacts(tools=False, source=FactSource.SERVER)}
    made = bench(tmp_path, [], providers)
    made.models.told = told
    setup = a_setup(3, rounds=1, tools=DebateTools.READING)
    if council:
        asked = replace(wanted(), setup=replace(wanted().setup, participants=setup.participants))
        asked = replace(asked, setup=replace(asked.setup, tools=DebateTools.READING))
        session_id = await made.engine.councils.start(asked)
    else:
        session_id = await made.engine.debates.start(setup)
    await made.engine.wait(session_id)
    [said] = [one for one in made.events if isinstance(one, Notice) and one.code == "without_web"]
    second, third = (one.name for one in setup.participants[1:])
    assert said.details == {"names": f"{second}, {third}"}
    assert TEXTS("notice.without_web", **said.details) == (
        f"External agents and models that can’t use tools don’t read the web: {second}, {third}."
    )
    offered = {request.model for request in made.models.requests if request.tools}
    assert offered == {"model-0"}


async def test_reading_is_in_the_price_of_a_debate_and_of_a_council(tmp_path: Path) -> None:
    made = bench(tmp_path, [])
    estimates, councils = made.engine.estimates, made.engine.councils
    setup = a_setup(3, rounds=2)
    plain, web = estimates.debate(setup, 0), estimates.debate(replace(setup, tools=DebateTools.READING), 0)
    # At most three calls before each of six turns, each of which may find a page.
    assert (plain.reads, web.reads, web.turns) == (0, 18, plain.turns)
    assert web.tokens[0] == plain.tokens[0] and web.tokens[1] > plain.tokens[1] + 18 * 5_000
    for ends in (Ends.NONE, Ends.VERDICT):
        asked = replace(wanted(), ends=ends)
        reading = replace(asked, setup=replace(asked.setup, tools=DebateTools.READING))
        before, after = councils.first_estimate(asked), councils.first_estimate(reading)
        assert (before.reads, after.reads, after.turns) == (0, 9, before.turns), "only answers read"
        assert after.tokens[0] == before.tokens[0] and after.tokens[1] > before.tokens[1]
    # Who can't read costs nothing more; a what-if round of two reads less.
    made.models.told = {"model-1": ModelFacts(tools=False, source=FactSource.SERVER)}
    assert estimates.debate(replace(setup, tools=DebateTools.READING), 0).reads == 12
    made.models.told = {}
    session_id = await made.engine.debates.start(replace(setup, rounds=1, tools=DebateTools.READING))
    await made.engine.wait(session_id)
    live = made.engine.live(session_id)
    assert live is not None
    two = [one.id for one in setup.participants[:2]]
    said = live.debate_session, live.messages
    assert councils.estimate(*said, "what_if").reads == 9
    assert councils.estimate(*said, "what_if", two).reads == 6
    assert councils.estimate(*said, "blind").reads == 0


async def test_after_a_call_that_goes_on_no_links_are_written(tmp_path: Path) -> None:
    made = bench(tmp_path, [])

    def twice(request: ModelRequest) -> Script:
        found = sum(one["role"] == Role.TOOL for one in request.messages)
        if found < 2:
            page = f"https://example.org/{found}"
            return [*calling(("web_fetch", {"url": page}), text="Let me look.")]
        return ["Done."]

    made.models.otherwise = twice
    session_id = await made.engine.debates.start(a_setup(2, rounds=1, tools=DebateTools.READING))
    await made.engine.wait(session_id)
    between = [one.content for one in made.messages(session_id) if one.is_interim and one.tool_calls]
    assert between == ["Let me look."] * 4
    assert all(one.startswith("Done.") and one.count("](") == 2 for one in statements(made, session_id))
