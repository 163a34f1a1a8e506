"""Whatever a user does to a chat, no provider is ever sent what it must refuse (hard cases 2 and 5).

`MOOT_TIMES=30 pytest tests/stories/test_legal_requests.py -s` is the long form.
"""

import asyncio
import os

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import seed as with_seed
from hypothesis import strategies as st

from app.providers.remote import RemoteModels
from tests.repeats import repeats
from tests.stories.chat_machine import ACTIONS, GROUP_ACTIONS, KINDS, ChatPlay, Stage, provider_rows
from tests.wire import WireServer

EXAMPLES = repeats(10)
SEED = int(os.environ.get("MOOT_SEED", "0"))


def steps_of(actions: tuple[str, ...]) -> st.SearchStrategy[list[tuple[str, int]]]:
    """Return lists of actions with a number each."""
    return st.lists(st.tuples(st.sampled_from(actions), st.integers(0, 50)), min_size=15, max_size=40)


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.allow_logs
@pytest.mark.allow_blocking
@pytest.mark.parametrize("grouped", [False, True], ids=["chat", "group"])
def test_requests_stay_legal_whatever_the_user_does(grouped: bool) -> None:
    servers = {kind: WireServer(kind).start() for kind in KINDS}
    rows = {row.id: row for row in provider_rows(servers)}
    models = RemoteModels(providers=rows.get, key=lambda kind: servers[kind].key)
    stage = Stage(asyncio.new_event_loop(), servers, models)

    @settings(
        max_examples=EXAMPLES,
        deadline=None,
        database=None,
        phases=(Phase.generate,),
        suppress_health_check=list(HealthCheck),
    )
    @with_seed(SEED)
    @given(
        kind=st.sampled_from(KINDS),
        seed=st.integers(0, 10_000),
        steps=steps_of(GROUP_ACTIONS if grouped else ACTIONS),
    )
    def play_it(kind: str, seed: int, steps: list[tuple[str, int]]) -> None:
        play = ChatPlay(stage, kind, seed, grouped=grouped)
        try:
            for action, number in steps:
                play.act(action, number)
        finally:
            play.close()

    try:
        stage.loop.run_until_complete(models.warm())
        play_it()
    finally:
        stage.loop.run_until_complete(models.close())
        for server in servers.values():
            server.close()
        stage.loop.close()
    print(f"legal requests: {dict(stage.legal)}")
    assert set(stage.legal) == set(KINDS)
