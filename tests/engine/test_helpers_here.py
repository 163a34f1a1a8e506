"""A session whose models all run on this computer: nobody elsewhere helps or judges, whoever was chosen for that."""

from dataclasses import replace
from pathlib import Path

import pytest

from app.core.catalog import EMBEDDED, EMBEDDED_MODEL, ProviderConfig
from app.core.council import ANY_JUDGE, Ends, Participant
from app.core.errors import BadInput
from app.core.events import Notice
from app.core.message import CouncilPart
from app.core.provider import ModelRequest
from app.core.session import Council, Status
from app.engine.engine import CouncilSetup
from tests.builders import Bench, Script, a_bench, a_log_store, a_setup, people, remotes
from tests.engine.test_council import held, wanted
from tests.engine.test_council_verdict import judging
from tests.memory import MemorySecrets

# Of a kind that has its models elsewhere, but asked on this computer; and the other way round.
HERE = ProviderConfig(id="here", kind="openai", base_url="http://localhost:9/v1", models=("gpt-here",))
AWAY = ProviderConfig(
    id="away", kind="openai-compatible", base_url="https://models.example.com/v1", models=("claude-away",)
)
SMALL = tuple(
    Participant(id=f"s{place}", name=name, provider=EMBEDDED, model=EMBEDDED_MODEL)
    for place, name in enumerate(("Ada", "Ben"))
)


def says(request: ModelRequest) -> Script:
    if request.provider == EMBEDDED:
        return ["SQLite, one row."]
    if "about to be debated" in str(request.messages[-1]["content"]):
        return ['{"options": ["Postgres", "SQLite"]}']
    return judging(request)


async def bench(tmp_path: Path, *providers: ProviderConfig) -> Bench:
    keys = MemorySecrets(here="a key")
    made = a_bench(a_log_store(tmp_path), providers=(*providers, AWAY), secrets=keys)
    made.models.otherwise = says
    await made.engine.change_settings(
        lambda settings: replace(settings, may_read_any=("away",), helper_model="away/claude-away")
    )
    return made


def asked(made: Bench) -> set[str]:
    return {request.provider for request in made.models.requests}


@pytest.mark.parametrize("ends", [Ends.VERDICT, Ends.MERGE])
async def test_of_a_council_of_this_computer_nobody_elsewhere_hears(tmp_path: Path, ends: Ends) -> None:
    made = await bench(tmp_path, *remotes(3), HERE)
    councils = made.engine.councils
    session_id = await held(made, wanted(ends=ends))
    if ends == Ends.VERDICT:
        await councils.further(session_id, "stress")
        await made.engine.wait(session_id)
        await councils.judge(session_id, ANY_JUDGE)
        await made.engine.wait(session_id)
    session = made.debate_of(session_id)
    assert councils.providers.outsider(session) == "" and "away" not in asked(made)
    assert "away/claude-away" not in councils.providers.outside(session)
    for step in ("merge", "check", "stress", "judge", "what_if"):
        unasked = councils.estimate(session, made.messages(session_id), step).unasked
        assert "away" not in {provider for provider, _ in unasked}
    with pytest.raises(BadInput, match="council_no_outsider"):
        await councils.further(session_id, "check")
    for step_of in (councils.judge, lambda one, judge: councils.debate(one, 1, judge)):
        with pytest.raises(BadInput, match="reader_elsewhere"):
            await step_of(session_id, "away/claude-away")
    # One on this computer may be asked, of whatever kind its provider is.
    await made.engine.change_settings(lambda settings: replace(settings, may_read_any=("away", "here")))
    assert councils.providers.outsider(session) == "here/gpt-here"
    await councils.further(session_id, "check")
    await made.engine.wait(session_id)
    assert "here" in asked(made) and "away" not in asked(made)
    await made.engine.shutdown()


async def test_one_participant_from_elsewhere_lets_others_elsewhere_help(tmp_path: Path) -> None:
    made = await bench(tmp_path, *remotes(2))
    mixed = (*people(2), Participant(id="x", name="Claude", provider="away", model="claude-away"))
    setup = replace(wanted().setup, participants=mixed)
    session_id = await held(
        made, CouncilSetup(setup=replace(setup, judge="away/claude-away"), ends=Ends.VERDICT)
    )
    council = made.debate_of(session_id).debate.council
    assert council is not None and council.judges == ("away/claude-away",)
    await made.engine.shutdown()


async def test_a_debate_of_this_computer_has_its_options_and_verdict_from_here(tmp_path: Path) -> None:
    made = await bench(tmp_path, *remotes(3))
    setup = a_setup(2, topic="Postgres or SQLite?", final_ballots=True, judge=ANY_JUDGE)
    session_id = await made.run(setup)
    parts = [message.part for message in made.messages(session_id)]
    assert CouncilPart.DIFFERENCES in parts and CouncilPart.READING in parts
    assert asked(made) == {"remote0", "remote1"}
    offered = {one.partition("/")[0] for one in made.engine.debates.judges(session_id)}
    assert offered == {"remote0", "remote1", "remote2"}
    with pytest.raises(BadInput, match="reader_elsewhere"):
        await made.engine.councils.judge(session_id, "away/claude-away")
    for chosen in ({"judge": "away/claude-away"}, {"helper": "away/claude-away"}):
        with pytest.raises(BadInput, match="reader_elsewhere"):
            await made.engine.debates.start(replace(setup, **chosen))
        with pytest.raises(BadInput, match="reader_elsewhere"):
            made.engine.councils.check(wanted(setup=replace(wanted().setup, **chosen), ends=Ends.VERDICT))
    assert asked(made) == {"remote0", "remote1"}
    await made.engine.shutdown()


async def test_where_nobody_here_can_help_that_is_said_and_why(tmp_path: Path) -> None:
    made = await bench(tmp_path, *remotes(0))
    setup = replace(wanted().setup, participants=SMALL)
    debate = a_setup(2, participants=SMALL).ending(Ends.VERDICT)
    for start in (
        made.engine.councils.start(CouncilSetup(setup=setup, ends=Ends.VERDICT)),
        made.engine.debates.start(debate),
    ):
        made.events.clear()
        session_id = await start
        await made.engine.wait(session_id)
        codes = [event.code for event in made.events if isinstance(event, Notice)]
        assert codes == ["nobody_votes_here"]
        assert made.debate_of(session_id).status == Status.COMPLETED and asked(made) == {EMBEDDED}
    session_id = await held(made, CouncilSetup(setup=setup))
    with pytest.raises(BadInput, match="council_no_helper_here"):
        await made.engine.councils.further(session_id, "compare")
    session = made.debate_of(session_id)
    assert made.engine.councils.providers.without_help(session, "council.small") == "council.small_here"
    await made.engine.shutdown()


async def test_who_was_chosen_by_an_earlier_version_is_not_asked_when_it_goes_on(tmp_path: Path) -> None:
    made = await bench(tmp_path, *remotes(3))
    session_id = await held(made, wanted())
    live = made.engine.live(session_id)
    assert live is not None
    debate = live.debate_session.debate
    away = "away/claude-away"
    chosen = {"helper": away, "outsider": away, "judges": (away,)}
    before = replace(debate.council or Council(), again=1, rounds=1, **chosen)
    # A model that is asked about a session is checked before that, unless it was already.
    made.models.stable["claude-away"] = -1
    live.change(debate=replace(debate, council=before, judge=away), status=Status.PAUSED)
    await made.engine.resume(session_id)
    await made.engine.wait(session_id)
    council = made.debate_of(session_id).debate.council
    assert council is not None and asked(made) == {"remote0", "remote1", "remote2"}
    assert council.helper.startswith("remote") and council.outsider == "" and council.judges == ()
    assert CouncilPart.BALLOT in [message.part for message in made.messages(session_id)]
    await made.engine.shutdown()
