"""Local servers are looked for before they are offered; nothing else is asked."""

from app.core.catalog import ProviderConfig
from tests.builders import Bench


async def test_a_local_server_that_does_not_listen_is_not_offered(bench: Bench) -> None:
    await bench.engine.save_provider(ProviderConfig(id="ollama", kind="ollama", models=("llama3.2",)))
    bench.models.silent = frozenset({"ollama"})
    assert await bench.engine.look_for_servers()
    found = {one.config.id: one for one in bench.engine.providers()}["ollama"]
    assert (found.ready, found.problem) == (False, "no_server")
    assert not await bench.engine.look_for_servers()
    bench.models.silent = frozenset()
    assert await bench.engine.look_for_servers()
    assert {one.config.id: one for one in bench.engine.providers()}["ollama"].ready


async def test_who_is_not_on_this_computer_is_never_looked_for(bench: Bench) -> None:
    bench.models.silent = frozenset(one.config.id for one in bench.engine.providers() if not one.local)
    await bench.engine.look_for_servers()
    assert all(one.problem != "no_server" for one in bench.engine.providers())
