"""`moot models`: lists, downloads and deletes the models that run on this computer; used by commands."""

import asyncio
import contextlib
import os
from collections.abc import Iterator

from app.cli.asking import confirmed, unless_interrupted
from app.cli.exit_status import FAULT, OK, PAUSED_OR_STOPPED
from app.cli.follow import Call
from app.cli.printing.output import error_line, json_line, one_line
from app.core.errors import BadInput, MootError, NotFound
from app.core.events import ModelsChanged
from app.core.provider import LocalModel

_MB = 1_000_000


async def list_models(call: Call) -> int:
    """Print every model with its state and size."""
    found = await asyncio.to_thread(call.moot.engine.connections.local_models)
    if call.arguments.json:
        await call.out.write(json_line([_fields(one) for one in found]))
        return OK
    for one in found:
        state = call.texts(f"cli.models.{_state(one)}")
        await call.out.write(one_line(f"{one.id}  {state}  {one.size // _MB} MB  {one.path}") + "\n")
    return OK


async def get_model(call: Call) -> int:
    """Fetch a model's file, checked by its hash, and say how far it is."""
    model = await _model(call)
    if model.path:
        await _say(call, "cli.models.here")
        return OK
    if named := os.environ.get("MOOT_MODEL"):
        raise BadInput("model_named", path=named)
    if not await confirmed(call, call.texts("cli.models.get", model=model.id, size=model.size // _MB)):
        return PAUSED_OR_STOPPED
    try:
        with _progress(call, model) as told:
            fetched = await unless_interrupted(call, _fetch(call, told))
    except MootError as error:
        # The network or the disk failed, not what was typed.
        await call.out.complain(error_line(error, call.texts))
        return FAULT
    if not fetched:
        await call.out.complain(call.texts("cli.not_agreed"))
        return PAUSED_OR_STOPPED
    call.moot.bus.publish(ModelsChanged(session_id=""))
    await _say(call, "cli.models.fetched")
    return OK


async def remove_model(call: Call) -> int:
    """Delete the file of a model that Moot fetched."""
    model = await _model(call)
    if not model.path:
        raise BadInput("model_not_here", model=model.id)
    if not await confirmed(call, call.texts("cli.models.remove", model=model.id, path=one_line(model.path))):
        return PAUSED_OR_STOPPED
    await call.moot.engine.connections.remove_embedded()
    call.moot.bus.publish(ModelsChanged(session_id=""))
    await _say(call, "cli.models.removed")
    return OK


async def _fetch(call: Call, told: "asyncio.Queue[tuple[int, int]]") -> bool:
    await call.moot.engine.connections.fetch_embedded(lambda done, size: told.put_nowait((done, size)))
    return True


@contextlib.contextmanager
def _progress(call: Call, model: LocalModel) -> Iterator["asyncio.Queue[tuple[int, int]]"]:
    """Print each tenth of the model's bytes that has come."""
    told: asyncio.Queue[tuple[int, int]] = asyncio.Queue()

    async def show() -> None:
        shown = 0
        while True:
            done, size = await told.get()
            if (tenth := done * 10 // size) > shown:
                shown = tenth
                row = {"event": "model.progress", "id": model.id, "bytes": done, "size": size}
                words = call.texts("cli.models.progress", percent=tenth * 10, size=size // _MB)
                await call.out.write(json_line(row) if call.arguments.json else words + "\n")

    showing = asyncio.ensure_future(show())
    try:
        yield told
    finally:
        showing.cancel()


async def _model(call: Call) -> LocalModel:
    """Return the model that was named. Raises NotFound."""
    found = await asyncio.to_thread(call.moot.engine.connections.local_models)
    for model in found:
        if model.id == call.arguments.name:
            return model
    raise NotFound("model_not_found", model=call.arguments.name, models=", ".join(one.id for one in found))


async def _say(call: Call, text: str) -> None:
    model = await _model(call)
    words = call.texts(text, model=model.id, path=one_line(model.path))
    await call.out.write(json_line(_fields(model)) if call.arguments.json else words + "\n")


def _state(model: LocalModel) -> str:
    return "installed" if model.path else "missing"


def _fields(model: LocalModel) -> dict[str, object]:
    return {"id": model.id, "state": _state(model), "size": model.size, "path": model.path}
