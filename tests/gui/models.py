"""What a window knows of models: tests that need a price give it one."""

from collections.abc import Awaitable, Callable

import pytest

from app.core.provider import Price
from app.engine.engine import Engine
from app.providers.remote import RemoteModels
from tests.app_driver import Person


def models_of(engine: Engine) -> RemoteModels:
    """Return the client that an engine asks its models with."""
    return engine.connections._models  # type: ignore[return-value]


async def usual_price(_provider: str, _model: str) -> Price | None:
    """Return what a model costs, the same for each."""
    return Price(read=0.000002, written=0.00001)


def give_prices(
    monkeypatch: pytest.MonkeyPatch,
    engine: Engine,
    price: Callable[[str, str], Awaitable[Price | None]] = usual_price,
) -> None:
    """Let `price` say what models cost, before any of them is asked."""
    monkeypatch.setattr(models_of(engine), "price", price)


async def give_keys(person: Person, *providers: str) -> None:
    """Give these providers keys, and offer their models in Setup."""
    desk = person.window.controller
    for provider in providers:
        await desk.engine.keys.set(provider, "sk-canary-typed-by-hand")
    await desk._refresh_one_by_one()
