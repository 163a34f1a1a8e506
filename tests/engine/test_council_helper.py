"""Who compares a council's answers: chosen at the start, and again when it is asked, among those that may read the session."""

from dataclasses import replace
from pathlib import Path

import pytest

from app.core.catalog import EMBEDDED, EMBEDDED_MODEL
from app.core.council import Participant
from app.core.errors import BadInput
from app.core.session import Council
from app.engine.council.record import Record
from app.engine.engine import CouncilSetup
from tests.builders import a_bench, a_log_store, remotes
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
    assert (councils.helper(session), councils.may_not_read(session)) == ("", None)
    with pytest.raises(BadInput, match="council_no_helper"):
        await councils.compare(session_id)
    # One that is ready is not sent the answers before the user has said so.
    await made.documents.change_providers(lambda _: remotes(2))
    could = councils.may_not_read(session)
    assert could is not None and could.config.id == "remote0" and councils.helper(session) == ""
    with pytest.raises(BadInput, match="council_no_helper"):
        await councils.compare(session_id)
    assert len(asked) == 2
    await made.engine.change_settings(lambda settings: replace(settings, may_read_any=("remote1",)))
    assert (councils.helper(session), councils.may_not_read(session)) == ("remote1/model-1", None)
    assert councils.estimate(session, live.messages, "compare").turns == 1
    assert councils.estimate(session, live.messages, "merge").turns == 2
    await councils.compare(session_id)
    await made.engine.wait(session_id)
    assert [(one.provider, one.model) for one in asked[2:]] == [("remote1", "model-1")]
    assert Record(live.debate_session.debate, live.messages).options()[0].text == "SQLite"
    # The one that compared goes on to do so while it can be asked, then another.
    await made.engine.change_settings(lambda settings: replace(settings, may_read_any=("remote0", "remote1")))
    await councils.merge(session_id)
    await made.engine.wait(session_id)
    await made.documents.change_providers(lambda _: remotes(1))
    await councils.compare(session_id)
    await made.engine.wait(session_id)
    assert [one.provider for one in asked[3:]] == ["remote1", "remote0"]
    await made.engine.shutdown()
