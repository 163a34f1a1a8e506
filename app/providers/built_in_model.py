"""The built-in model: what it can do, how it is run, and whether it can run here. Its file: `model_file`."""

import asyncio
import importlib.util
import threading
from collections.abc import Callable
from functools import cache
from pathlib import Path

from app.core.catalog import EMBEDDED_MODEL, EMBEDDED_WINDOW
from app.core.errors import MootError
from app.core.model_facts import Effort, ModelFacts, TakesTemperature
from app.providers.embedded_server import ServerSpec
from app.providers.model_file import ModelFileError, fetch_model

_EMBEDDED_MEMORY = 400_000_000
EMBEDDED_FACTS = ModelFacts(
    window=EMBEDDED_WINDOW,
    tools=False,
    images=False,
    pdf=False,
    efforts=(),
    default_effort=Effort.NONE,
    temperature=TakesTemperature.YES,
)


def embedded_spec(model_file: Path) -> ServerSpec:
    """Return how the built-in model is run."""
    return ServerSpec(
        model=EMBEDDED_MODEL, file=str(model_file), n_ctx=EMBEDDED_WINDOW, slots=4, memory=_EMBEDDED_MEMORY
    )


@cache
def has_llama() -> bool:
    """Return whether the library that runs the built-in model is installed; cached, as it is asked often."""
    return importlib.util.find_spec("xllamacpp") is not None


async def fetch_beside(folder: Path, progress: Callable[[int, int], None]) -> None:
    """Fetch the model's file in a thread of its own; `progress` gets (bytes, all bytes).

    Cancelling ends the download and leaves nothing. Raises MootError (model_not_fetched).
    """
    loop = asyncio.get_running_loop()
    stopped = threading.Event()

    def told(done: int, total: int) -> None:
        if stopped.is_set():
            raise ModelFileError("stopped")
        loop.call_soon_threadsafe(progress, done, total)

    fetching = asyncio.ensure_future(asyncio.to_thread(fetch_model, folder, told))
    try:
        await asyncio.shield(fetching)
    except ModelFileError as error:
        detail = str(error).removeprefix("the model could not be fetched: ")
        raise MootError("model_not_fetched", detail=detail) from error
    except asyncio.CancelledError:
        stopped.set()
        # The downloader is a child process: wait until it has left the folder.
        await asyncio.gather(fetching, return_exceptions=True)
        raise
