"""Who compares a council's answers: chosen at the start, and again when it is asked, among those that may read the session."""

from dataclasses import replace
from pathlib import Path

import pytest

from app.core.catalog import EMBEDDED, EMBEDDED_MODEL
from app.core.council import Participant
from app.core.errors import BadInput
from app.core.provider import Price
from app.core.session import Council
from app.engine.council.record import Record
from app.engine.debate.setup import set_up_again
from app.engine.engine import CouncilSetup
from tests.builders import a_bench, a_log_store, a_setup, remotes
from tests.engine.test_council import answer, held, wanted


async def test_a_council_of_small_models_is_compared_once_a_provider_may_read_it(tmp_path: Path) -> None:
    small = tuple(
        Participant(id=f"s{place}", name=name, provider=EMBEDDED, model=EMBEDDED_MODEL)
        for place, name in enumerate(("Ada", "Ben"))
    )
    made = a_bench(a_log_store(tmp_path), providers=remotes(0))
    made.models.otherwise = lambda request: (
        answer(request) if request.provider != EMBEDDED else ["SQLite, one row."]
    )
    councils, asked = made.engine.councils, made.models.requests
    session_id = await held(made, CouncilSetup(setup=replace(wanted().setup, participants=small)))
    live = made.engine.live(session_id)
    assert live is not None and len(asked) == 2
    assert live.debate_session.debate.council == replace(Council(), calibrations=(), offered_rounds=2)
    session = live.debate_session
    assert (councils.providers.helper(session), councils.providers.may_not_read(session)) == ("", None)
    with pytest.raises(BadInput, match="council_no_helper"):
        await councils.further(session_id, "compare")
    # One that is ready is not sent the answers before the user has said so.
    await made.documents.change_providers(lambda _: remotes(2))
    could = councils.providers.may_not_read(session)
    assert could is not None and could.config.id == "remote0" and councils.providers.helper(session) == ""
    with pytest.raises(BadInput, match="council_no_helper"):
        await councils.further(session_id, "compare")
    assert len(asked) == 2
    await made.engine.change_settings(lambda settings: replace(settings, may_read_any=("remote1",)))
    assert (councils.providers.helper(session), councils.providers.may_not_read(session)) == (
        "remote1/model-1",
        None,
    )
    assert councils.estimate(session, live.messages, "compare").turns == 1
    assert councils.estimate(session, live.messages, "merge").turns == 2
    await councils.further(session_id, "compare")
    await made.engine.wait(session_id)
    assert [(one.provider, one.model) for one in asked[2:]] == [("remote1", "model-1")]
    assert Record(live.debate_session.debate, live.messages).options()[0].text == "SQLite"
    # The one that compared goes on to do so while it can be asked, then another.
    await made.engine.change_settings(lambda settings: replace(settings, may_read_any=("remote0", "remote1")))
    await councils.further(session_id, "merge")
    await made.engine.wait(session_id)
    await made.documents.change_providers(lambda _: remotes(1))
    await councils.further(session_id, "compare")
    await made.engine.wait(session_id)
    assert [one.provider for one in asked[3:]] == ["remote1", "remote0"]
    await made.engine.shutdown()


async def test_who_was_chosen_to_help_is_named_priced_and_asked(tmp_path: Path) -> None:
    made = a_bench(a_log_store(tmp_path))
    made.models.otherwise = answer
    made.models.prices = {
        f"model-{place}": Price(read=dollars, written=dollars)
        for place, dollars in ((0, 0.001), (1, 0.001), (2, 0.1))
    }
    councils, estimates = made.engine.councils, made.engine.estimates
    await estimates.ask([(f"remote{place}", f"model-{place}") for place in range(3)])
    by_itself, chosen = wanted(), wanted(setup=replace(wanted().setup, helper="remote2/model-2"))
    assert councils.first_helpers(by_itself) == ("", "remote0/model-0")
    assert councils.first_helpers(chosen) == ("", "remote2/model-2")
    cheap, dear = councils.first_estimate(by_itself), councils.first_estimate(chosen)
    assert cheap.usd is not None and dear.usd is not None and cheap.tokens == dear.tokens
    assert dear.usd[1] - cheap.usd[1] > 0.099 * 400, "what a comparison reads and writes"
    session_id = await held(made, chosen)
    assert [one.model for one in made.models.requests][-1] == "model-2"
    # It stays who helps, and a debate that is set up again has it.
    debate = made.debate_of(session_id).debate
    assert debate.council is not None and debate.council.helper == "remote2/model-2"
    again = set_up_again(debate, debate.participants).setup
    assert again is not None and again.helper == "remote2/model-2"
    await councils.further(session_id, "merge")
    await made.engine.wait(session_id)
    assert [one.model for one in made.models.requests][-1] == "model-2"
    for wrong in ("remote5/model-5", "remote2", "embedded/smollm2-135m", "nobody/model"):
        with pytest.raises(BadInput, match="unknown_helper"):
            councils.check(wanted(setup=replace(wanted().setup, helper=wrong)))
    # Of a provider that may read any session it may be.
    await made.engine.change_settings(lambda settings: replace(settings, may_read_any=("remote5",)))
    councils.check(wanted(setup=replace(wanted().setup, helper="remote5/model-5")))
    await made.engine.shutdown()


async def test_looking_for_a_debate_s_options_is_in_its_price_and_asks_who_was_chosen(tmp_path: Path) -> None:
    made = a_bench(a_log_store(tmp_path))
    made.models.otherwise = lambda request: (
        ['{"options": ["Postgres", "SQLite"]}'] if request.schema is not None else ["A point."]
    )
    made.models.prices = {"model-0": Price(read=0.001), "model-1": Price(read=0.1)}
    councils, estimates = made.engine.councils, made.engine.estimates
    await estimates.ask([("remote0", "model-0"), ("remote1", "model-1")])
    setup = a_setup(2, topic="Postgres or SQLite?", final_ballots=True)
    chosen = replace(setup, helper="remote1/model-1")
    assert (councils.finder(setup), councils.finder(chosen)) == ("remote0/model-0", "remote1/model-1")
    prices = [estimates.debate(one, 0, "", councils.finder(one)) for one in (setup, chosen)]
    cheap, dear = (one.usd for one in prices)
    assert cheap is not None and dear is not None and prices[0].turns == prices[1].turns
    assert dear[1] - cheap[1] > 0.099 * 150
    # Given options, a plain question, and a debate that nobody votes on need no call.
    for spared in (
        {"options": ("Postgres", "SQLite")},
        {"topic": "Should cities ban cars?"},
        {"final_ballots": False},
    ):
        assert councils.finder(replace(chosen, **spared)) == ""
    await made.run(chosen)
    found = [one.model for one in made.models.requests if "about to be debated" in str(one.messages)]
    assert found == ["model-1"]
    await made.engine.shutdown()
