"""Two models of two families on this computer: they debate by default, and sit in a council with their votes uncounted.

The hub is on loopback and serves the built-in model's file under two ids.
"""

import asyncio
import json
from dataclasses import replace
from pathlib import Path

import pytest

from app.core.catalog import LOCAL
from app.core.session import DebateMode, Status
from app.engine.council.record import Record
from app.engine.debate.setup import DebateSetup
from app.engine.engine import CouncilSetup
from app.providers.model_file import find_model
from app.wiring import open_moot
from tests.wire.hub import catalogue_entry, hub

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(300),
    pytest.mark.skipif(find_model() is None, reason="the built-in model is not there"),
]
NAMES = ("gemma-tiny", "qwen-tiny")


async def test_two_families_debate_and_sit_in_a_council(data_dir: Path, tmp_path: Path) -> None:
    content = await asyncio.to_thread(Path(str(find_model())).read_bytes)
    catalogue = tmp_path / "catalogue.json"
    with hub(content) as served:
        entries = [catalogue_entry(name, served, options={"n_predict": 24}, memory=1) for name in NAMES]
        catalogue.write_text(json.dumps(entries))
        moot = await open_moot(data_dir, catalogue=catalogue)
        engine = moot.engine
        await engine.change_settings(lambda settings: replace(settings, model_source=f"{served.address}/ok"))
        for name in NAMES:
            await engine.local_models.fetch(name)
    chosen = [one.participant for one in engine.debates.candidates() if one.chosen]
    assert [(one.provider, one.model) for one in chosen] == [(LOCAL, name) for name in NAMES]
    debate = await engine.debates.start(
        DebateSetup(topic="Tabs or spaces?", participants=(*chosen,), rounds=1)
    )
    assert (await engine.wait(debate)).status == Status.COMPLETED
    assert [one.author.name for one in engine.tail(debate) if one.author.kind == "participant"] == [*NAMES]

    # An Ollama that nobody has looked for yet may sit there as well.
    seats = tuple(one for one in engine.councils.assembled() if one.provider == LOCAL)
    assert [(one.name, one.model) for one in seats] == [(name, name) for name in NAMES]
    setup = DebateSetup(topic="Tabs or spaces?", participants=seats, mode=DebateMode.COUNCIL)
    council = await engine.councils.start(CouncilSetup(setup=setup, differences=False))
    assert (await engine.wait(council)).status == Status.COMPLETED
    await engine.councils.debate(council, 1)
    await engine.wait(council)
    live = engine.live(council)
    assert live is not None
    record = Record(live.debate_session.debate, live.messages)
    assert len(record.answers()) == 2 and record.rounds == 1
    # Both choose by the place of an option.
    assert record.debate.council is not None
    assert set(record.debate.council.voteless) == {one.id for one in seats} and not record.voters()
    assert {moot.models.known_facts(LOCAL, name).stable for name in NAMES} <= {*range(6)}
    await moot.close()
