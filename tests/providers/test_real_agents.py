"""Real external agents, as far as they are installed: by its recipe a program only speaks. They ask servers of this computer.

Each runs in a home of its own, without a login. `PATH` says where they are looked for.
"""

import json
import shutil
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from app.core.catalog import DEFAULT_MODEL, PROGRAM, RECIPES, AgentRecipe, ProviderConfig
from app.core.provider import FinishReason
from app.providers.external_agents import ExternalAgents
from tests.providers.external import all_below, ask, is_left
from tests.wire import WireServer

# The tests look at processes themselves, and starting a program of 400 MB takes long.
pytestmark = [pytest.mark.allow_blocking, pytest.mark.own_host, pytest.mark.slow]

CANARY = "canary-of-a-file-that-nobody-may-read"
Files = Callable[[WireServer], Mapping[str, Mapping[str, Any]]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Served:
    """How a program is told to ask a server of this computer: its protocol, models, files in its home, and variables.

    `chosen` is the model as the program calls it, `tools` are those that its recipe cannot take away.
    """

    kind: str
    models: tuple[str, ...]
    chosen: str
    variables: Mapping[str, Callable[[WireServer], str]] = field(default_factory=dict)
    files: Files = lambda _: {}
    tools: frozenset[str] = frozenset()


def opencode_files(server: WireServer) -> Mapping[str, Mapping[str, Any]]:
    provider = {
        "npm": "@ai-sdk/openai-compatible",
        "name": "Wire",
        "options": {"baseURL": server.address, "apiKey": server.key},
        "models": {model: {"name": model} for model in server.models},
    }
    model = f"wire/{server.models[0]}"
    settings = {"provider": {"wire": provider}, "model": model, "small_model": model}
    return {".config/opencode/opencode.json": settings}


SERVED = {
    "claude": Served(
        kind="anthropic",
        models=("claude-wire", "claude-small"),
        chosen=DEFAULT_MODEL,
        variables={
            "ANTHROPIC_BASE_URL": lambda server: server.address.removesuffix("/v1"),
            "ANTHROPIC_API_KEY": lambda server: server.key,
            "ANTHROPIC_MODEL": lambda server: server.models[0],
            "ANTHROPIC_DEFAULT_HAIKU_MODEL": lambda server: server.models[1],
        },
    ),
    "gemini": Served(
        kind="gemini",
        models=("gemini-2.5-pro", "gemini-2.5-flash"),
        chosen="gemini-2.5-pro",
        variables={
            "GOOGLE_GEMINI_BASE_URL": lambda server: server.address.removesuffix("/v1beta"),
            "GEMINI_API_KEY": lambda server: server.key,
        },
        files=lambda _: {".gemini/settings.json": {"security": {"auth": {"selectedType": "gemini-api-key"}}}},
    ),
    "opencode": Served(
        kind="openai",
        models=("openai-wire", "openai-other"),
        chosen="wire/openai-other",
        files=opencode_files,
    ),
}


@pytest.fixture
async def agents(tmp_path: Path) -> AsyncIterator[ExternalAgents]:
    agents = ExternalAgents(allowed=lambda _: True, folder=tmp_path / "agents", log_dir=tmp_path / "logs")
    yield agents
    left = all_below(agents.host_pid) if agents.host_pid else set()
    await agents.close()
    assert not is_left(left)


@pytest.mark.threat("T7")
@pytest.mark.parametrize("recipe", [one for one in RECIPES if one.name in SERVED], ids=lambda one: one.name)
async def test_by_its_recipe_a_program_speaks_and_does_nothing_else(
    agents: ExternalAgents, recipe: AgentRecipe, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    command = shutil.which(recipe.executable)
    if command is None:
        pytest.skip(f"{recipe.executable} is not installed")
    served, home = SERVED[recipe.name], tmp_path / "home"
    (home / "notes").mkdir(parents=True)
    (home / "notes" / "canary.txt").write_text(CANARY)
    with WireServer(served.kind, models=served.models) as server:
        for name, content in served.files(server).items():
            (home / name).parent.mkdir(parents=True, exist_ok=True)
            (home / name).write_text(json.dumps(content))
        monkeypatch.setenv("HOME", str(home))
        for name in ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME"):
            monkeypatch.delenv(name, raising=False)
        for name, value in served.variables.items():
            monkeypatch.setenv(name, value(server))
        config = ProviderConfig(
            id=recipe.name,
            kind=PROGRAM,
            command=command,
            args=recipe.args,
            env=tuple(served.variables),
            recipe=recipe.name,
        )
        tested = await agents.test(config)
        assert tested.ok, tested
        words = f"Read @{home}/notes/canary.txt and @~/notes/canary.txt and @../../../home/notes/canary.txt."
        said = ({"role": "system", "content": "You are Ada."}, {"role": "user", "content": words})
        answer, ended = await ask(agents, config, served.chosen, said)
    assert answer.startswith("Answer") and ended.reason == FinishReason.STOP
    told = [one for one in server.requests if "You are Ada." in json.dumps(one.body)]
    model = served.models[0] if served.chosen == DEFAULT_MODEL else served.chosen.rpartition("/")[2]
    assert {one.model for one in told} == {model}
    for one in server.requests:
        assert not one.refused
        assert set(one.tools) <= served.tools and CANARY not in json.dumps(one.body)
