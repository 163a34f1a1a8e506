"""`moot models`: what is on this computer or can be downloaded to it."""

import asyncio
import contextlib
import os
from collections.abc import Sequence
from pathlib import Path

from app.cli.command_run import CommandRun
from app.cli.exit_status import FAULT, PAUSED_OR_STOPPED
from app.cli.printing.lines import columns, error_line, lines_text, one_line
from app.core.catalog import EMBEDDED_MODEL, LOCAL
from app.core.errors import BadInput, MootError, ProviderError
from app.core.events import Event, ModelFetching
from app.core.local_models import LocalModel
from app.core.usage import size_text
from app.engine.debate.voting_check import LEAST_STABLE, QUESTIONS


async def list_models(run: CommandRun) -> int:
    """Print every model of this computer, and those that can be downloaded, with state and size."""
    models = run.moot.engine.local_models
    found = await asyncio.to_thread(models.all)
    rows = []
    for one in found:
        parts = [one.id, run.texts(f"cli.models.{_state(one)}", percent=one.done * 100 // one.size)]
        parts += [size_text(run.texts, one.size), one.licence]
        remarks = [one.path]
        if free := models.lacks_memory(one):
            need, left = (size_text(run.texts, size) for size in (one.memory, free))
            remarks.append(run.texts("cli.models.lacks", need=need, free=left, model=one.id))
        if (stable := _stable(run, one)) >= 0:
            remarks.append(run.texts("cli.models.votes", stable=stable, all=len(QUESTIONS)))
            if stable < LEAST_STABLE:
                remarks.append(run.texts("cli.models.no_vote"))
        if not models.fits(one):
            remarks.append(run.texts("error.model_too_large", name=one.name, need=one.computer_gb))
        rows.append((*parts, " · ".join(filter(None, remarks))))
    return await run.answer([_record(run, one) for one in found], lines_text(columns(rows)))


async def get_model(run: CommandRun) -> int:
    """Download a model's file, check its hash, and print the progress; Ctrl+C pauses the download."""
    model = await _model(run)
    models = run.moot.engine.local_models
    if model.path:
        await models.offer(model.id)
        return await _report(run, model.id, "cli.models.here")
    if model.id == EMBEDDED_MODEL and (named := os.environ.get("MOOT_MODEL")):
        raise BadInput("model_named", path=named)
    question = "cli.models.get_licensed" if model.licence else "cli.models.get"
    details = {"licence": model.licence, "page": model.licence_page, "size": size_text(run.texts, model.size)}
    asked = run.texts(question, model=model.id, **details)
    if await models.is_metered():
        asked = f"{run.texts('cli.models.metered')} {asked}"
    if not await run.confirm(asked):
        return PAUSED_OR_STOPPED
    told: asyncio.Queue[ModelFetching] = asyncio.Queue()

    def on_events(events: Sequence[Event]) -> None:
        for event in events:
            if isinstance(event, ModelFetching) and event.model == model.id:
                told.put_nowait(event)

    showing = asyncio.ensure_future(_show(run, told))
    forget = run.moot.bus.subscribe(on_events)
    try:
        await run.unless_interrupted(models.fetch(model.id))
    except BadInput:
        raise
    except MootError as error:
        # The network or the disk failed; the command line was right.
        words = error_line(error, run.texts)
        if run.arguments.json:
            await run.answer({"id": model.id, "state": "failed", "code": error.code}, "")
        await run.out.complain(words)
        return FAULT
    finally:
        forget()
        showing.cancel()
    if run.interrupted.is_set():
        await run.out.complain(run.texts("cli.models.paused_now", model=model.id))
        return PAUSED_OR_STOPPED
    return await _report(run, model.id, "cli.models.fetched")


async def remove_model(run: CommandRun) -> int:
    """Delete the file of a model that Moot downloaded, or what was downloaded of it."""
    model = await _model(run)
    if not model.path and not model.done:
        raise BadInput("model_not_here", model=model.id)
    if not await run.confirm(run.texts("cli.models.remove", model=model.id, path=one_line(model.path))):
        return PAUSED_OR_STOPPED
    await run.moot.engine.local_models.remove(model.id)
    words = run.texts("cli.models.removed", model=model.id)
    return await run.answer(
        {"id": model.id, "state": "missing", "size": model.size, "path": ""}, f"{words}\n"
    )


async def add_model(run: CommandRun) -> int:
    """Add a GGUF file, which stays where it is, after its model has answered once."""
    model = await run.moot.engine.local_models.add(Path(run.arguments.name))
    return await _report(run, model.id, "cli.models.added")


async def check_model(run: CommandRun) -> int:
    """Compare a model's file with its hash, then check whether the model can vote."""
    engine, name = run.moot.engine, run.arguments.name
    await engine.local_models.check(name)
    if name != EMBEDDED_MODEL:
        with contextlib.suppress(ProviderError):
            await engine.debates.check_voting(LOCAL, name)
    return await _report(run, name, "cli.models.whole")


async def allow_model(run: CommandRun) -> int:
    """Let a model be loaded although it needs more memory than is free."""
    model = await _model(run)
    local = run.moot.engine.local_models
    if free := local.lacks_memory(model):
        need, left = (size_text(run.texts, size) for size in (model.memory, free))
        asked = run.texts("cli.models.allow", model=model.id, need=need, free=left)
        if not await run.confirm(asked):
            return PAUSED_OR_STOPPED
    await local.load_anyway(model.id)
    return await _report(run, model.id, "cli.models.allowed")


async def _show(run: CommandRun, told: "asyncio.Queue[ModelFetching]") -> None:
    """Print each further tenth of the model's bytes."""
    shown = 0
    while True:
        event = await told.get()
        done, size = event.progress.done, event.progress.total
        if (tenth := done * 10 // size) > shown:
            shown = tenth
            record = {"event": "model.progress", "id": event.model, "bytes": done, "size": size}
            words = run.texts("cli.models.progress", percent=tenth * 10, size=size_text(run.texts, size))
            await run.answer(record, f"{words}\n")


async def _model(run: CommandRun) -> LocalModel:
    """Return the model that was named. Raises NotFound."""
    return await asyncio.to_thread(run.moot.engine.local_models.find, run.arguments.name)


async def _report(run: CommandRun, model_id: str, text: str) -> int:
    model = await asyncio.to_thread(run.moot.engine.local_models.find, model_id)
    words = run.texts(text, model=model.id, path=one_line(model.path))
    return await run.answer(_record(run, model), f"{words}\n")


def _state(model: LocalModel) -> str:
    if model.path:
        return "installed"
    return "paused" if model.done else "missing"


def _record(run: CommandRun, model: LocalModel) -> dict[str, object]:
    return {
        "id": model.id,
        "name": model.name,
        "state": _state(model),
        "size": model.size,
        "done": model.done,
        "path": model.path,
        "licence": model.licence,
        "memory": model.memory,
        "fits": run.moot.engine.local_models.fits(model),
        "anyway": model.anyway,
        "tried": model.tried,
        "stable": _stable(run, model),
        "votes": _stable(run, model) >= LEAST_STABLE,
    }


def _stable(run: CommandRun, model: LocalModel) -> int:
    """Return how many questions of the voting check a model answered alike, -1 where it was not checked."""
    if model.id == EMBEDDED_MODEL or not model.path:
        return -1
    return run.moot.engine.connections.known_facts(LOCAL, model.id).stable
