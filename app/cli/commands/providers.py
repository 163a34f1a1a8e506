"""`moot providers`, `moot keys` and `moot usage`."""

import asyncio
from dataclasses import asdict, replace

from app.cli.command_run import CommandRun
from app.cli.exit_status import FAULT, PAUSED_OR_STOPPED
from app.cli.printing.lines import columns, key_text, lines_text, one_line, provider_state
from app.core.catalog import provider_kind, shown_label
from app.core.errors import BadInput
from app.core.events import Event, KeysChanged, Notice
from app.core.message import AMOUNTS
from app.core.provider import ProviderStatus
from app.core.store import KeyNews
from app.core.usage import money_text, saved_text, used_text
from app.storage.secrets import variable_name


async def list_providers(run: CommandRun) -> int:
    """Print every provider with its state, the source of its key and its models."""
    await run.moot.engine.look_for_servers()
    found = run.moot.engine.providers()
    lines = columns(
        (
            one.config.id,
            shown_label(one, run.texts),
            provider_state(one, run.texts),
            key_text(one, run.texts),
            ", ".join(one.models) or "-",
        )
        for one in found
    )
    return await run.answer([_status_record(one) for one in found], lines_text(lines))


def _status_record(status: ProviderStatus) -> dict[str, object]:
    fields = asdict(status)
    config = fields.pop("config")
    return {"id": config["id"], "kind": config["kind"], "enabled": config["enabled"], **fields}


async def list_keys(run: CommandRun) -> int:
    """Print where the key of each provider comes from; never a key."""
    found = run.moot.engine.providers()
    records = [
        {
            "provider": one.config.id,
            "needs_key": one.needs_key,
            "source": one.key_source,
            "problem": _unread(one),
        }
        for one in found
    ]
    rows = []
    for one in found:
        problem = _unread(one)
        key = run.texts(f"provider.{problem}") if problem else key_text(one, run.texts)
        rows.append((one.config.id, shown_label(one, run.texts), key))
    return await run.answer(records, lines_text(columns(rows)))


async def set_key(run: CommandRun) -> int:
    """Read a key from the terminal, hidden, or from standard input, and store it.

    A provider of the catalogue that the user does not have yet is added.
    """
    engine, name = run.moot.engine, run.arguments.name
    row = provider_kind(name)
    if row is not None and row.needs_key and all(one.config.id != name for one in engine.providers()):
        new = engine.connections.draft(name)
        name, label = new.id, row.label
    else:
        new, label = None, run.provider_named().label
    question = run.texts("cli.keys.prompt", provider=one_line(label)) + " "
    key = await run.ask(question, secret=True)
    if key is None:
        await run.out.complain(run.texts("cli.not_agreed"))
        return PAUSED_OR_STOPPED
    if new is not None:
        await engine.save_provider(new)
    if not await _store(run, name, key):
        return FAULT
    return await _report_key(run, "cli.keys.stored", name)


async def _store(run: CommandRun, provider: str, key: str) -> bool:
    """Store a key, waiting while the keyring asks its user; report why it is not stored."""
    keys = run.moot.engine.keys
    answered: asyncio.Future[bool] = asyncio.get_running_loop().create_future()

    def listen(events: tuple[Event, ...]) -> None:
        codes = {event.code for event in events if isinstance(event, Notice)}
        if codes & {f"key_{KeyNews.KEPT}", f"key_{KeyNews.NOT_KEPT}"} and not answered.done():
            answered.set_result(f"key_{KeyNews.KEPT}" in codes)

    unsubscribe = run.moot.bus.subscribe(listen)
    try:
        kept = await keys.set(provider, key)
        run.moot.bus.publish(KeysChanged(session_id=""))
        if not kept:
            instead = run.texts("cli.keys.instead", variable=variable_name(provider))
            await run.out.complain(f"{run.texts(f'keyring.{keys.problem}')} {instead}")
        if not kept and keys.problem == "waiting":
            kept = bool(await run.unless_interrupted(answered))
    finally:
        unsubscribe()
    return kept


async def remove_key(run: CommandRun) -> int:
    """Remove a key that Moot has stored; a key in the environment cannot be removed."""
    status = run.provider_named()
    provider = status.config.id
    if status.key_source == "environment":
        raise BadInput("key_in_environment", provider=provider)
    if not status.key_source and not _unread(status):
        raise BadInput("no_key_kept", provider=provider)
    try:
        await run.moot.engine.keys.remove(provider)
    finally:
        run.moot.bus.publish(KeysChanged(session_id=""))
    return await _report_key(run, "cli.keys.removed", provider)


def _unread(status: ProviderStatus) -> str:
    """Return why a key could not be read, a code of `provider.<code>`, or ""."""
    return status.problem if status.problem.startswith("keyring_") else ""


async def _report_key(run: CommandRun, text: str, provider: str) -> int:
    [source] = [one.key_source for one in run.moot.engine.providers() if one.config.id == provider]
    return await run.answer(
        {"provider": provider, "source": source}, run.texts(text, provider=provider) + "\n"
    )


async def usage(run: CommandRun) -> int:
    """Print what each month used and cost, the newest first."""
    records, lines = [], []
    for month, total in await run.moot.engine.usage.months():
        used = replace(total.used, cost_usd=total.cost_usd)
        records.append(
            {
                "month": month,
                "calls": total.calls,
                **{name: getattr(used, name) for name in AMOUNTS},
                "unpriced_calls": total.unpriced,
                "estimated_calls": total.estimated,
            }
        )
        money, tokens = money_text(run.texts, total), used_text(total)
        line = run.texts("cli.usage", month=month, money=money, count=total.calls, tokens=tokens)
        lines.append(" · ".join(filter(None, (line, saved_text(run.texts, total)))))
    return await run.answer(records, lines_text(lines))
