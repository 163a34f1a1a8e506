"""Providers that are not there yet: which servers are offered, what a draft is, which models one begins with."""

import asyncio
from dataclasses import dataclass, replace

import pytest

from app.core.catalog import PROGRAM, ProviderConfig
from app.core.errors import BadInput, NotFound
from app.core.provider import FoundServer, ProviderStatus
from app.core.provider import TestResult as Tried
from app.engine.connections import MOST_OFFERED, Connections
from app.engine.providers import configured, status_of
from tests.builders import ScriptedModels
from tests.memory import MemoryDocuments, MemorySecrets

OLLAMA = FoundServer(name="Ollama", kind="ollama", address="http://127.0.0.1:11434/v1", models=("a", "b"))
LM_STUDIO = FoundServer(
    name="LM Studio", kind="openai-compatible", address="http://127.0.0.1:1234/v1", models=("c",)
)
UNNAMED = replace(LM_STUDIO, name="", address="http://127.0.0.1:8000/v1")


@dataclass
class FindingModels(ScriptedModels):
    """Models that find these servers and list these names."""

    found: tuple[FoundServer, ...] = ()
    listed: tuple[str, ...] = ("x", "y")

    async def local_servers(self) -> tuple[FoundServer, ...]:
        return self.found

    async def try_out(self, config: ProviderConfig, key: str) -> Tried:
        return Tried(ok=True, models=self.listed, model=self.listed[0])

    async def list_models(self, provider: str) -> Tried:
        return Tried(ok=True, models=self.listed)


class Bench:
    """Connections over documents in memory."""

    def __init__(self, *configs: ProviderConfig, found: tuple[FoundServer, ...] = ()) -> None:
        self.documents = MemoryDocuments(configs)
        self.secrets = MemorySecrets()
        self.models = FindingModels(found=found)
        self.connections = Connections(
            self.documents, self.models, self.statuses, self.save, self.secrets_set
        )
        self.keys: dict[str, str] = {}

    def statuses(self) -> list[ProviderStatus]:
        return [status_of(one, self.secrets, "") for one in configured(self.documents)]

    async def save(self, config: ProviderConfig) -> None:
        await asyncio.sleep(0)
        known = [one for one in self.documents.providers() if one.id != config.id]
        await self.documents.change_providers(lambda _: (*known, config))

    async def secrets_set(self, provider_id: str, key: str) -> bool:
        self.keys[provider_id] = key
        return True

    def config(self, provider_id: str) -> ProviderConfig:
        return next(one for one in self.documents.providers() if one.id == provider_id)


async def test_what_is_a_provider_already_is_not_offered_whatever_its_address_is_written_like():
    here = ProviderConfig(
        id="mine", kind="openai-compatible", base_url="http://localhost:1234", models=("c",)
    )
    bench = Bench(ProviderConfig(id="ollama", kind="ollama"), here, found=(OLLAMA, LM_STUDIO, UNNAMED))
    assert await bench.connections.offers() == (OLLAMA, UNNAMED)
    await bench.connections.use(OLLAMA)
    assert await bench.connections.offers() == (UNNAMED,)
    assert bench.config("ollama").models == ("a", "b")
    await bench.save(replace(bench.config("mine"), models=(), enabled=False))
    assert await bench.connections.offers() == (UNNAMED,), "switched off is the user's word"


async def test_each_draft_has_an_id_of_its_own():
    bench = Bench()
    ids = []
    for server in (LM_STUDIO, replace(LM_STUDIO, address="http://127.0.0.1:1235/v1"), UNNAMED):
        ids.append((await bench.connections.use(server)).id)
    assert ids == ["lm-studio", "lm-studio-2", "127-0-0-1-8000"]
    assert bench.config("127-0-0-1-8000").label == "127.0.0.1:8000"
    again = bench.connections.draft("openai-compatible", "http://localhost:1234/v1")
    assert again.id == "lm-studio", "a server is there once"


@pytest.mark.parametrize("address", ["", "nonsense", "http://user:secret@host/v1"])
async def test_an_address_that_is_none_is_refused(address):
    with pytest.raises(BadInput):
        Bench().connections.draft("openai-compatible", address)


@pytest.mark.parametrize(
    ("before", "model", "listed", "after"),
    [
        ((), "gpt-5.2", ("gpt-5.2", "o3"), ()),
        ((), "o3", ("whisper-1", "o3", "o4-mini"), ("o3", "o4-mini")),
        ((), "m-0", tuple(f"m-{n}" for n in range(MOST_OFFERED + 1)), ("m-0",)),
        (("own",), "own", ("own", "o3"), ("own",)),
        (("own",), "o3", ("o3",), ("o3", "own")),
    ],
)
async def test_a_provider_begins_with_what_answered_and_keeps_what_was_chosen(before, model, listed, after):
    bench = Bench(ProviderConfig(id="openai", kind="openai", models=before))
    draft = bench.connections.draft("openai")
    assert await bench.connections.add(draft, "sk-key-0123", Tried(ok=True, models=listed, model=model))
    assert bench.config("openai").models == after
    assert bench.keys == {"openai": "sk-key-0123"}
    kept = bench.connections.list_of("openai")
    assert kept is not None and "whisper-1" not in kept.models


async def test_models_are_offered_withdrawn_and_one_comes_first():
    bench = Bench(ProviderConfig(id="openai", kind="openai"))
    commands = bench.connections
    await commands.offer_model("openai", " own ")
    assert bench.config("openai").models == ("gpt-5.2", "gpt-5.4-mini", "own")
    await commands.offer_model("openai", "own", first=True)
    undo = await commands.withdraw_model("openai", "gpt-5.2")
    assert bench.config("openai").models == ("own", "gpt-5.4-mini")
    for _twice in range(2):
        assert await undo()
        assert bench.config("openai").models == ("own", "gpt-5.2", "gpt-5.4-mini")
    await commands.withdraw_model("openai", "gpt-5.2")
    await commands.withdraw_model("openai", "own")
    for work in (
        commands.withdraw_model("openai", "gpt-5.4-mini"),
        commands.offer_model("openai", "  "),
        commands.offer_model("openai", "two\nlines"),
        commands.offer_model("embedded", "another"),
    ):
        with pytest.raises(BadInput):
            await work
    with pytest.raises(NotFound):
        await commands.offer_model("nobody", "model")
    assert bench.config("openai").models == ("gpt-5.4-mini",)


async def test_two_ticks_in_a_row_both_count():
    bench = Bench(ProviderConfig(id="openai", kind="openai", models=("a",)))
    commands = bench.connections
    await asyncio.gather(*(commands.offer_model("openai", name) for name in "bcd"))
    await asyncio.gather(*(commands.withdraw_model("openai", name) for name in "ac"))
    assert bench.config("openai").models == ("b", "d")


async def test_lists_of_providers_that_are_gone_are_forgotten():
    bench = Bench(ProviderConfig(id="openai", kind="openai"), ProviderConfig(id="gone", kind="openai"))
    for provider in ("openai", "gone"):
        await bench.connections.fetch(provider)
    await bench.documents.change_providers(lambda _: (bench.config("openai"),))
    await bench.connections.fetch("openai")
    assert [one.provider for one in bench.documents.model_lists()] == ["openai"]


async def test_two_lists_that_come_at_once_are_both_kept():
    bench = Bench(ProviderConfig(id="openai", kind="openai"), ProviderConfig(id="other", kind="openai"))
    await asyncio.gather(bench.connections.fetch("openai"), bench.connections.fetch("other"))
    assert {one.provider for one in bench.documents.model_lists()} == {"openai", "other"}


async def test_an_agent_that_is_denied_keeps_nothing_that_was_allowed_to_it():
    say, edit = (ProviderConfig(id=name, kind=PROGRAM, command=name) for name in ("say", "edit"))
    bench = Bench(say, edit)
    theirs = {edit.fingerprint, edit.work_consent("/work"), edit.work_consent("/notes")}
    others = {say.fingerprint, say.work_consent("/work"), "server/tool"}
    await bench.documents.change_consents(lambda _: frozenset(theirs | others))
    await bench.connections.deny_agent("edit")
    assert bench.documents.consents() == others
