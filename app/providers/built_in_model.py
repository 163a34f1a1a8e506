"""The built-in model: what it can do, how it is run, and whether it can run here. Its file: `model_file`."""

import importlib.util
from functools import cache
from pathlib import Path

from app.core.catalog import EMBEDDED_MODEL, EMBEDDED_WINDOW
from app.core.model_facts import Effort, ModelFacts, TakesTemperature
from app.providers.embedded_server import ServerSpec

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
