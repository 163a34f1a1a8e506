"""No other model answers where the one that was chosen or set up cannot be asked."""

from dataclasses import replace
from pathlib import Path

from app.core.catalog import ProviderConfig
from app.core.definitions import Agent
from tests.builders import a_bench, a_log_store, remotes


async def test_the_default_stays_with_the_users_own_server_that_does_not_run(tmp_path: Path) -> None:
    made = a_bench(a_log_store(tmp_path), providers=remotes(2))
    made.models.silent = {"remote0"}
    await made.engine.look_for_servers()
    assert [one.name for one in made.engine.models_for(None)] == ["remote0/model-0"]
    # Nobody set up a usual entry whose server was never there.
    usual = ProviderConfig(id="ollama", kind="ollama")
    await made.documents.change_providers(lambda known: (usual, *known[1:]))
    # Nor did anybody take the models of the one that is there.
    for made.models.silent in ({"ollama"}, set()):
        await made.engine.look_for_servers()
        assert [one.name for one in made.engine.models_for(None)] == ["remote1/model-1"]
    await made.documents.change_providers(lambda known: (replace(usual, models=("qwen3:8b",)), *known[1:]))
    assert [one.name for one in made.engine.models_for(None)] == ["ollama/qwen3:8b"]
    await made.engine.shutdown()


async def test_a_helper_that_does_not_run_is_asked_all_the_same(tmp_path: Path) -> None:
    made = a_bench(a_log_store(tmp_path), providers=remotes(2))
    made.models.silent = {"remote1"}
    await made.engine.look_for_servers()
    await made.engine.change_settings(
        lambda one: replace(one, helper_model="remote1/model-1", may_read_any=("remote1",))
    )
    (own,) = made.engine.models_for(Agent(id="a", name="A", provider="remote0", model="model-0"))
    assert made.engine._directory.helper_for(None, own).name == "remote1/model-1"
    await made.engine.shutdown()
