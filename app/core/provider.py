"""The plug for models: providers' states, requests, the pieces of answers, and what a test or a search found.

Also models that can be downloaded to this computer, the plug that keeps their files, and that of the network.
"""

from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any, Protocol

from app.core.catalog import COMPATIBLE, EMBEDDED, KINDS, LOCAL, ProviderConfig
from app.core.definitions import Effort
from app.core.message import Usage
from app.core.model_facts import ModelFacts, Price

HUB = "https://huggingface.co"


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderStatus:
    """A provider as the faces show it.

    `key_source` is keyring, environment, session or "" (none); `ready` whether a turn may start;
    `problem` a code of `provider.<code>` when it may not (disabled, no_key, keyring_locked, not_installed),
    `place` the file, line and field of an entry that cannot be read.
    """

    config: ProviderConfig
    label: str
    base_url: str
    models: tuple[str, ...]
    default_model: str
    # Whether its server is on this computer or in its network, by its address.
    local: bool
    needs_key: bool
    key_source: str
    ready: bool
    problem: str = ""
    place: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalModel:
    """A model that runs on this computer: of the catalogue, or from a file of the user's.

    `size` is the file's in bytes, `done` how much of it is downloaded, `path` the complete file, "" while
    there is none. `memory` is the estimated need in bytes while it runs, `computer_gb` the memory of the
    smallest computer it is meant for. `licence_page` is an address, `asks` says that the licence must be
    accepted first. `about` is one sentence by language. `tried` is the date on which it was last tried for
    the catalogue, "" if never. `thinking`: it thinks unless told not to. `anyway`: it is loaded also where it
    needs more memory than is free. `options` are sampling settings by their llama.cpp names. A model of the
    user's own has no `repo`.
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
        """Return where the file is: on the mirrors whose addresses `sources` lists,
        with spaces between them, else on the hub.
        """
        place = f"{self.repo}/resolve/{self.revision}/{self.file}"
        return [f"{item.rstrip('/')}/{place}" for item in sources.split() or (HUB,)]


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

    def total_memory(self) -> int:
        """Return the memory of this computer in bytes."""

    def free_memory(self) -> int:
        """Return how many bytes models may take now."""

    async def is_metered(self) -> bool:
        """Return whether the connection to the internet is metered; False where that is not known."""

    async def allow(self, model_id: str) -> None:
        """Let an installed model be loaded also where it needs more memory than is free."""

    async def fetch(
        self, model: LocalModel, source: str, on_progress: Callable[[FetchProgress], None]
    ) -> None:
        """Download a model's file from the first of some mirrors that has it, going on
        where an earlier download stopped.

        `source` lists their addresses, with spaces between them; "" is the usual hub.

        Cancelling pauses it. Raises MootError (model_fetch_…), after which only what can be resumed is kept.
        """

    async def add(self, path: Path) -> LocalModel:
        """Check the header of a GGUF file and keep it as a model on trial; the file stays where it is.
        Raises BadInput.
        """

    async def accept(self, model_id: str) -> None:
        """Keep a model that was on trial."""

    async def remove(self, model_id: str) -> None:
        """Delete a model with what was downloaded of it; a file of the user's own stays. Raises
        StorageError.
        """

    async def check(self, model: LocalModel) -> None:
        """Read a model's file and compare it with what it should be. Raises BadInput."""


def last_part(model: str) -> str:
    """Return a model's name without its maker."""
    return model.rstrip("/").rpartition("/")[2]


class FinishReason(StrEnum):
    """Why a model's answer ended."""

    STOP = "stop"
    LENGTH = "length"
    TOOL_CALLS = "tool_calls"
    CONTENT_FILTER = "content_filter"
    REFUSAL = "refusal"
    CONTEXT_FULL = "context_full"
    TRUNCATED = "truncated"


@dataclass(frozen=True, slots=True, kw_only=True)
class TestResult:
    """The result of testing a provider: `models` the server's own list, `seconds` the time
    of the first answer, and the `model` that was asked.
    """

    ok: bool
    seconds: float = 0.0
    model: str = ""
    models: tuple[str, ...] = ()
    failure: str = ""
    detail: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundServer:
    """A server of models on this computer; `models` are those for chats.

    A server that does not identify itself has no `name`; one that needs a key lists no models before it gets
    it.
    """

    name: str
    kind: str
    address: str
    models: tuple[str, ...]
    needs_key: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class CachePlan:
    """What a provider's cache may keep of a request, because the speaker's next one begins the same.

    `key` is the same for all requests of a speaker in a session. `life` is how long it is worth keeping: 5m,
    1h, or "" for not at all. `brief`: the first part of the first message behind the system text stays the
    same for longer than the rest. `tail`: the last part of the last message is for this call alone. Without
    `grows`, only the system text and the brief come again.
    """

    key: str
    life: str = "5m"
    brief: bool = False
    tail: bool = False
    grows: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelRequest:
    """One call of a model. `messages` are chat messages in OpenAI's form, already legal for all.

    `opener` is text the answer must begin with (an embedded model is steered by it); it is part of the answer
    and streams back as its first text. `options` are sampling settings by their llama.cpp names. `tools` are
    functions in OpenAI's form. With a `schema` (JSON Schema) the answer is an object that fits it, where the
    provider can hold a model to that. `effort` is how much the model thinks. Without a `cache` plan nothing
    of it is kept: it is asked once. In `folder` an external agent works with its own tools.
    """

    provider: str
    model: str
    messages: tuple[Mapping[str, object], ...]
    max_tokens: int | None = None
    temperature: float | None = None
    stop: tuple[str, ...] = ()
    opener: str = ""
    tools: tuple[Mapping[str, object], ...] = ()
    schema: Mapping[str, object] | None = None
    effort: str = Effort.AUTO
    cache: CachePlan | None = None
    options: Mapping[str, object] = field(default_factory=dict)
    folder: str = ""


def one_message(provider: str, model: str, content: object, **fields: Any) -> ModelRequest:
    """Return a request that has a single message, the user's."""
    messages = ({"role": "user", "content": content},)
    return ModelRequest(provider=provider, model=model, messages=messages, **fields)


@dataclass(frozen=True, slots=True, kw_only=True)
class Text:
    """A piece of the answer, of its thinking, or both."""

    text: str = ""
    thinking: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class CallPiece:
    """A piece of a tool call: the calls of an answer are in the order of their numbers.

    `id` and `name` come with a call's first piece, `arguments` is JSON text in any number of pieces.
    """

    index: int
    id: str = ""
    name: str = ""
    arguments: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class PicturePiece:
    """A piece of a picture in base 64: the pictures of an answer are numbered from 0.

    `media_type` comes with a picture's first piece.
    """

    index: int
    data: str
    media_type: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finished:
    """The end of the stream."""

    # Why it ended.
    reason: str = FinishReason.STOP
    # What it used as far as the provider said; whose model it was, who asked for it knows.
    usage: Usage = field(default_factory=Usage)
    # What must be sent back to the provider unchanged, with the answer, while tools run.
    state: Mapping[str, object] | None = None
    # Why each picture that could not be kept was not (PictureFault).
    lost_pictures: tuple[str, ...] = ()
    # The address (http or https) and the title of each source that the provider names, the title "" where it
    # has none.
    sources: tuple[tuple[str, str], ...] = ()
    # The tools that the model was not offered, because its provider accepts no form of them.
    left_out: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentAct:
    """What an external agent says it does, as known by now: `arguments` is JSON text, `text` what came of it.

    `state` is a MessageState: streaming while it runs. What comes later about the same `id` takes its place.
    """

    id: str
    name: str
    arguments: str = ""
    text: str = ""
    state: str = "streaming"


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentOption:
    """An answer that an external agent offers: `name` is its label, `kind` what it means, as
    in `core.message.Prompt`.
    """

    kind: str
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentAsk:
    """An external agent asks whether it may do what it has told of as `act`; `title`
    and `arguments` are what it wants.

    It waits until `Models.answer_agent` is called with the `id`. `options` are what it takes besides allow
    and deny.
    """

    id: str
    act: str
    title: str
    arguments: str = ""
    options: tuple[AgentOption, ...] = ()


Delta = Text | CallPiece | PicturePiece | AgentAct | AgentAsk | Finished


class Models(Protocol):
    """The plug that knows the providers and calls their models."""

    @property
    def local(self) -> LocalModelFiles:
        """The plug that keeps the files of downloaded models."""

    def stream(self, request: ModelRequest) -> AsyncIterator[Delta]:
        """Ask; yield Text and CallPiece pieces, then exactly one Finished. Closing the iterator or
        cancelling its task ends the request. The texts of all pieces are clean (`core.texts.clean_text`).

        Raises ProviderError when the model could not be asked or the answer broke off.
        """

    def answer_agent(self, ask: str, answer: str) -> None:
        """Answer what an external agent asked (`AgentAsk`) as its prompt was answered;
        everything unknown denies.

        Does nothing where nobody waits for it any more.
        """

    async def warm(self) -> None:
        """Wait until the plug is ready for the first request; start it where it does not run."""

    async def test(self, provider: str) -> TestResult:
        """Try a provider with its key: list its models and get one short answer."""

    async def try_out(self, config: ProviderConfig, key: str) -> TestResult:
        """Try a provider that is not saved, with a key that is kept nowhere ("" for none)."""

    async def list_models(self, provider: str) -> TestResult:
        """Fetch a provider's list of models; makes no call of a model."""

    async def found_agents(self) -> Mapping[str, str]:
        """Look for the known external agents; return the files of those that are installed, by recipe.
        Runs none of them.
        """

    async def local_servers(self) -> tuple[FoundServer, ...]:
        """Look for the known servers of models on this computer; asks loopback addresses only."""

    def can_fetch_embedded(self) -> bool:
        """Say whether nothing but its file is missing for the embedded model."""

    def embedded_model(self) -> LocalModel:
        """Return the embedded model, whose file may be missing."""

    async def unload(self, model: str) -> None:
        """End the process that runs a model on this computer, so that its file is open no more;
        its answer breaks off.
        """

    async def remove_embedded(self) -> None:
        """Delete the built-in model's file. Raises BadInput where Moot did not fetch it, StorageError."""

    async def fetch_embedded(self, progress: Callable[[int, int], None]) -> None:
        """Fetch the embedded model's file; `progress` gets (bytes, all bytes). Raises MootError.

        Cancelling ends the download and leaves nothing behind.
        """

    async def listens(self, provider: str) -> bool:
        """Say whether something listens at the provider's address; sends it nothing."""

    def is_free(self, provider: str) -> bool:
        """Say whether a provider's models certainly cost nothing: it is on this computer or its network."""

    def is_subscribed(self, provider: str) -> bool:
        """Say whether a provider is an external agent, for which a subscription pays where it names no
        cost.
        """

    async def price(self, provider: str, model: str) -> Price | None:
        """Return a model's price, None where it is unknown; asks no provider."""

    async def facts(self, provider: str, model: str) -> ModelFacts:
        """Return what is known about a model; asks no provider."""

    def known_facts(self, provider: str, model: str) -> ModelFacts:
        """Return what is known about a model by now, without asking anybody."""

    def note_stable(
        self, provider: str, model: str, stable: int, answers: str = "", address: str = ""
    ) -> None:
        """Keep what the voting check of a model has found, as `ModelFacts` says; -1 alone forgets it."""

    def note_cut(self, provider: str, model: str, read: int) -> bool:
        """Keep that a server has read only so many tokens of a longer request; say whether it is one
        that may do that.
        """


class Network(Protocol):
    """Gives all child processes the proxy and the certificates that the user chose."""

    async def use(self, proxy: str, certificates: str) -> None:
        """Use a proxy, and a PEM file of certificates to trust besides the usual ones; "" for none.

        The processes that run end when they have answered; new ones take what is asked from now on. Raises
        BadInput for what cannot be used.
        """


_COMPATIBLE_LABEL = next(kind.label for kind in KINDS if kind.kind == COMPATIBLE)


def shown_label(status: ProviderStatus, words: Callable[[str], str]) -> str:
    """Return a provider's name; only those that say what it is are translated."""
    if status.label == _COMPATIBLE_LABEL:
        return words("provider.compatible")
    if status.config.kind in (EMBEDDED, LOCAL) and not status.config.label:
        return words(f"provider.{status.config.kind}.label")
    return status.label
