"""All models behind one plug: those of providers through the model host, and external agents through theirs."""

import asyncio
import dataclasses
from collections.abc import AsyncGenerator, Mapping
from typing import Any

from app.children.commands import find_command, search_path
from app.core.catalog import PROGRAM, ProviderConfig
from app.core.external_agents import DEFAULT_MODEL, RECIPES, recipe_of
from app.core.model_facts import ModelFacts, Price, TakesTemperature
from app.core.provider import Delta, ModelRequest, TestResult
from app.providers.external_agents import ExternalAgents
from app.providers.remote import RemoteModels


class AllModels(RemoteModels):
    """Asks external agents where a provider is a program, else the model host."""

    def __init__(self, *, agents: ExternalAgents, **others: Any) -> None:
        super().__init__(**others)
        self.agents = agents

    def stream(self, request: ModelRequest) -> AsyncGenerator[Delta, None]:
        """Ask a model or an external agent; see `core.provider.Models`."""
        program = self._external(request.provider)
        return self.agents.stream(program, request) if program is not None else super().stream(request)

    def answer_agent(self, ask: str, answer: str) -> None:
        """Answer what an external agent asked."""
        self.agents.answer(ask, answer)

    async def test(self, provider: str) -> TestResult:
        """Try a provider; of a program only a session is opened."""
        program = self._external(provider)
        return await (self.agents.test(program) if program is not None else super().test(provider))

    async def list_models(self, provider: str) -> TestResult:
        """Ask a provider for its list of models."""
        program = self._external(provider)
        return await (self.agents.test(program) if program is not None else super().list_models(provider))

    async def found_agents(self) -> Mapping[str, str]:
        """Look for the known external agents on the PATH of the login shell."""
        path = await search_path()
        found = {
            one.name: await asyncio.to_thread(find_command, one.executable, None, path) for one in RECIPES
        }
        return {name: file for name, file in found.items() if file is not None}

    async def price(self, provider: str, model: str) -> Price | None:
        """Return what a model costs; that of a program is between the user and its maker."""
        return None if self._external(provider) is not None else await super().price(provider, model)

    async def facts(self, provider: str, model: str) -> ModelFacts:
        """Return what is known about a model; of a program's nothing is looked up."""
        if self._external(provider) is not None:
            return self.known_facts(provider, model)
        return await super().facts(provider, model)

    def known_facts(self, provider: str, model: str) -> ModelFacts:
        """Return what is known about a model; all models of a program take what it takes: no settings, perhaps pictures."""
        facts, program = super().known_facts(provider, model), self._external(provider)
        if program is None:
            return facts
        images = super().known_facts(provider, DEFAULT_MODEL).images
        return dataclasses.replace(
            facts,
            images=recipe_of(program.recipe).images if images is None else images,
            efforts=(),
            temperature=TakesTemperature.NO,
        )

    async def renew(self) -> None:
        """Let new hosts take what is asked from now on."""
        await super().renew()
        await self.agents.renew()

    async def close(self) -> None:
        """Stop both hosts and wait until they are gone."""
        await super().close()
        await self.agents.close()

    def _external(self, provider: str) -> ProviderConfig | None:
        config = self._providers(provider)
        # An entry that cannot be read is refused where others are.
        readable = config is not None and config.kind == PROGRAM and not self._unreadable(provider)
        return config if readable else None
