"""Models that can be downloaded to this computer, and the plug that keeps their files."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

HUB = "https://huggingface.co"


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalModel:
    """A model that runs on this computer: of the catalogue, or from a file of the user's.

    `size` is the file's in bytes, `done` how much of it is downloaded, `path` the complete file, "" while there is none.
    `memory` is the estimated need in bytes while it runs, `computer_gb` the memory of the smallest computer it is meant
    for. `licence_page` is an address, `asks` says that the licence must be accepted first. `about` is one sentence by
    language. `tried` is the date on which it was last tried for the catalogue, "" if never. `thinking`: it thinks unless
    told not to. `anyway`: it is loaded also where it needs more memory than is free. `options` are sampling settings by their llama.cpp names. A model of the user's own has no `repo`.
    """

    id: str
    size: int
    path: str = ""
    done: int = 0
    name: str = ""
    maker: str = ""
    family: str = ""
    licence: str = ""
    licence_page: str = ""
    asks: bool = False
    languages: tuple[str, ...] = ()
    repo: str = ""
    revision: str = ""
    file: str = ""
    sha256: str = ""
    n_ctx: int = 8_192
    slots: int = 2
    memory: int = 0
    computer_gb: int = 0
    thinking: bool = False
    anyway: bool = False
    options: Mapping[str, object] = field(default_factory=dict)
    about: Mapping[str, str] = field(default_factory=dict)
    tried: str = ""

    def addresses(self, sources: str) -> list[str]:
        """Return where the file is: on the mirrors whose addresses `sources` lists, with spaces between them, else on the hub."""
        place = f"{self.repo}/resolve/{self.revision}/{self.file}"
        return [f"{one.rstrip('/')}/{place}" for one in sources.split() or (HUB,)]


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchProgress:
    """How far a download is: bytes, bytes a second, and the seconds that are left."""

    done: int
    total: int
    rate: float = 0.0
    left: float = 0.0


class LocalModelFiles(Protocol):
    """The plug that keeps the files of downloaded models; the built-in model is not among them."""

    def models(self) -> tuple[LocalModel, ...]:
        """Return the models of the catalogue, and those added from files; reads the disk."""
        ...

    def total_memory(self) -> int:
        """Return the memory of this computer in bytes."""
        ...

    def free_memory(self) -> int:
        """Return how many bytes models may take now."""
        ...

    async def is_metered(self) -> bool:
        """Return whether the connection to the internet is metered; False where that is not known."""
        ...

    async def allow(self, model_id: str) -> None:
        """Let an installed model be loaded also where it needs more memory than is free."""
        ...

    async def fetch(
        self, model: LocalModel, source: str, on_progress: Callable[[FetchProgress], None]
    ) -> None:
        """Download a model's file from the first of some mirrors that has it, going on where an earlier download stopped.

        `source` lists their addresses, with spaces between them; "" is the usual hub.

        Cancelling pauses it. Raises MootError (model_fetch_…), after which only what can be resumed is kept.
        """
        ...

    async def add(self, path: Path) -> LocalModel:
        """Check the header of a GGUF file and keep it as a model on trial; the file stays where it is. Raises BadInput."""
        ...

    async def accept(self, model_id: str) -> None:
        """Keep a model that was on trial."""
        ...

    async def remove(self, model_id: str) -> None:
        """Delete a model with what was downloaded of it; a file of the user's own stays. Raises StorageError."""
        ...

    async def check(self, model: LocalModel) -> None:
        """Read a model's file and compare it with what it should be. Raises BadInput."""
        ...
