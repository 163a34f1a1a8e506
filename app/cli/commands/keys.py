"""`moot keys`: lists, stores and removes the keys of providers; used by commands."""

import asyncio

from app.cli.asking import asked, unless_interrupted
from app.cli.exit_status import FAULT, OK, PAUSED_OR_STOPPED
from app.cli.follow import Call
from app.cli.printing.output import json_line, one_line
from app.core.errors import BadInput, NotFound
from app.core.events import Event, KeysChanged, Notice
from app.core.provider import ProviderStatus
from app.core.store import KeyNews
from app.storage.secrets import variable_name


async def list_keys(call: Call) -> int:
    """Print where the key of each provider comes from; never a key."""
    found = call.moot.engine.providers()
    if call.arguments.json:
        rows = [
            {
                "provider": one.config.id,
                "needs_key": one.needs_key,
                "source": one.key_source,
                "problem": _unread(one),
            }
            for one in found
        ]
        await call.out.write(json_line(rows))
        return OK
    for one in found:
        key = call.texts(f"cli.key.{one.key_source or ('none' if one.needs_key else 'needless')}")
        if problem := _unread(one):
            key = call.texts(f"provider.{problem}")
        await call.out.write(one_line(f"{one.config.id}  {one.label}  {key}") + "\n")
    return OK


async def set_key(call: Call) -> int:
    """Read a key from the terminal, unseen, or from standard input, and keep it."""
    status = _provider(call)
    provider = status.config.id
    question = call.texts("cli.keys.prompt", provider=one_line(status.label)) + " "
    key = await asked(call, question, secret=True)
    if key is None:
        await call.out.complain(call.texts("cli.not_agreed"))
        return PAUSED_OR_STOPPED
    if not await _store(call, provider, key):
        return FAULT
    await _say(call, "cli.keys.stored", provider)
    return OK


async def _store(call: Call, provider: str, key: str) -> bool:
    """Keep a key; where the keyring asks its user first, wait for that. Say why it is not kept."""
    keys = call.moot.engine.keys
    answered: asyncio.Future[bool] = asyncio.get_running_loop().create_future()

    def listen(events: tuple[Event, ...]) -> None:
        codes = {event.code for event in events if isinstance(event, Notice)}
        if codes & {f"key_{KeyNews.KEPT}", f"key_{KeyNews.NOT_KEPT}"} and not answered.done():
            answered.set_result(f"key_{KeyNews.KEPT}" in codes)

    unsubscribe = call.moot.bus.subscribe(listen)
    try:
        kept = await keys.set(provider, key)
        call.moot.bus.publish(KeysChanged(session_id=""))
        if not kept:
            instead = call.texts("cli.keys.instead", variable=variable_name(provider))
            await call.out.complain(f"{call.texts(f'keyring.{keys.problem}')} {instead}")
        if not kept and keys.problem == "waiting":
            kept = bool(await unless_interrupted(call, answered))
    finally:
        unsubscribe()
    return kept


async def remove_key(call: Call) -> int:
    """Forget a key that Moot keeps; one in the environment is not Moot's to forget."""
    status = _provider(call)
    provider = status.config.id
    if status.key_source == "environment":
        raise BadInput("key_in_environment", provider=provider)
    if not status.key_source and not _unread(status):
        raise BadInput("no_key_kept", provider=provider)
    try:
        await call.moot.engine.keys.remove(provider)
    finally:
        call.moot.bus.publish(KeysChanged(session_id=""))
    await _say(call, "cli.keys.removed", provider)
    return OK


def _provider(call: Call) -> ProviderStatus:
    """Return the provider that was named. Raises NotFound, which does not repeat what looks like a key."""
    for status in call.moot.engine.providers():
        if status.config.id == call.arguments.name:
            return status
    raise NotFound("provider_not_found", provider=call.moot.secrets.redact(call.arguments.name))


def _unread(status: ProviderStatus) -> str:
    """Return why a key could not be read: a code of `provider.<code>`, "" where it could."""
    return status.problem if status.problem.startswith("keyring_") else ""


async def _say(call: Call, text: str, provider: str) -> None:
    if call.arguments.json:
        [one] = [one for one in call.moot.engine.providers() if one.config.id == provider]
        await call.out.write(json_line({"provider": provider, "source": one.key_source}))
    else:
        await call.out.write(call.texts(text, provider=provider) + "\n")
