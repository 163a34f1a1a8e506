"""The built-in model: what it can do, how it is run, and whether it can run here. Its file: `model_file`."""

import importlib.util
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path

from app.children.packages import PackageError, in_thread
from app.core.agent import Effort
from app.core.catalog import EMBEDDED_MODEL, EMBEDDED_WINDOW
from app.core.errors import MootError
from app.core.model_facts import ModelFacts, TakesTemperature
from app.providers.embedded_server import ServerSpec
from app.providers.model_file import fetch_model

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
    try:
        await in_thread(partial(fetch_model, folder), progress)
    except PackageError as error:
        raise MootError("model_not_fetched", detail=str(error)) from error
