"""The plug for models: providers' states, requests, the pieces of answers, and what a test or a search found.

Also models that can be downloaded to this computer, the plug that keeps their files, and that of the network;
what is known about a model, and who says so; the plug for a newer version of Moot.
"""

import dataclasses
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from dataclasses import field
from enum import StrEnum
from pathlib import Path
from typing import Any, Protocol

from app.core.catalog import COMPATIBLE, EMBEDDED, KINDS, LOCAL, ProviderConfig
from app.core.definitions import Effort
from app.core.frozen import Frozen
from app.core.message import Usage

LOCAL_WINDOW = 8_192
CLOUD_WINDOW = 128_000


class FactSource(StrEnum):
    """Who says it, the most believed first."""

    USER = "user"
    SERVER = "server"
    ERROR = "error"
    LIST = "list"
    CHECK = "check"
    DEFAULT = "default"


class TakesTemperature(StrEnum):
    """Whether a model takes a temperature; WITHOUT_EFFORT: only while it does not think."""

    YES = "yes"
    NO = "no"
    WITHOUT_EFFORT = "without_effort"


class CacheKind(StrEnum):
    """How a model's server remembers the beginning of a request: not at all, by itself, or
    where marks say so.
    """

    NONE = "none"
    AUTO = "auto"
    MARKS = "marks"


class Price(Frozen):
    """The price of a model in US dollars for one token; both `read` and `written` are 0 where it is free.

    `cached` is for a token that comes from the provider's cache, `cache_write` for one that is put there, and
    `cache_hour` for one that is kept there for an hour; None where it costs as much as without. A request of
    more than `tier` tokens costs more; 0 where all cost the same.
    """

    read: float = 0.0
    written: float = 0.0
    cached: float | None = None
    cache_write: float | None = None
    cache_hour: float | None = None
    tier: int = 0

    @property
    def free(self) -> bool:
        """Whether a call costs nothing."""
        return not self.read and not self.written

    def cost_of(self, read: int, written: int) -> float:
        """Return the US dollars of tokens that were read and written, none of them from a cache."""
        return read * self.read + written * self.written

    def saved(self, cached: int, written: int, *, for_hour: bool = False) -> float:
        """Return the dollars that the cache saved, less what writing to it cost."""
        read = self.read if self.cached is None else self.cached
        write = self.read if self.cache_write is None else self.cache_write
        if for_hour and self.cache_hour is not None:
            write = self.cache_hour
        return cached * (self.read - read) - written * (write - self.read)


class ModelFacts(Frozen):
    """What one source says about a model, or all of them together; a default value means
    that it is not known.

    `window` is how many tokens a request may have, `most_output` an answer. `efforts` are the values of
    Effort that the model takes, `default_effort` is what it does by itself ("none": it does not think),
    `top_effort` is its provider's name for Effort.MAX. `cache_min` is the shortest beginning, in tokens, that
    a cache keeps. `retires_on` is a date, `at` when it was learnt (ISO 8601, UTC).

    Of the voting check (`engine/voting`) `stable` is how many questions it answered alike in both orders, -1
    where it was not checked to the end; `answers` has a letter for each of its answers so far, and `address`
    is where it was asked.
    """

    window: int = 0
    most_output: int = 0
    tools: bool | None = None
    images: bool | None = None
    pdf: bool | None = None
    picture_out: bool | None = None
    efforts: tuple[str, ...] | None = None
    default_effort: str = ""
    top_effort: str = ""
    temperature: str = ""
    cache: str = ""
    cache_min: int = 0
    prices: Price | None = None
    retires_on: str = ""
    stable: int = -1
    answers: str = ""
    address: str = ""
    source: str = FactSource.DEFAULT
    at: str = ""

    def thinks_at(self, effort: str) -> bool:
        """Return whether the model may think when it is asked for an effort; if that is not known, it may."""
        if effort == Effort.AUTO:
            effort = self.default_effort
        return effort != Effort.NONE and self.efforts != ()


class KnownFacts(Frozen):
    """What one source says about a model of a provider, as `models.json` keeps it."""

    provider: str
    model: str
    facts: ModelFacts


class ModelQuirks(Frozen):
    """How a model at an address must be asked, learnt from what it refused.

    `without` are arguments that it refuses. `new_name_of_max_tokens`: it knows max_completion_tokens only.
    `no_system`: it takes no system text. `strict_turns`: user and assistant must alternate. `wants_thought`:
    it wants back what it thought before its calls. `most_output` is the longest answer that may be asked for,
    0 where that is not known.
    """

    without: tuple[str, ...] = ()
    new_name_of_max_tokens: bool = False
    no_system: bool = False
    strict_turns: bool = False
    wants_thought: bool = False
    most_output: int = 0


class KnownQuirks(Frozen):
    """The quirks of a model, as `models.json` keeps them; `at` is when the last was learnt (ISO 8601,
    UTC).
    """

    base_url: str
    model: str
    at: str
    quirks: ModelQuirks


class KnownModels(Frozen):
    """All that is known about models and outlives a restart."""

    facts: tuple[KnownFacts, ...] = ()
    quirks: tuple[KnownQuirks, ...] = ()


def believed(said: Iterable[ModelFacts], *, local: bool) -> ModelFacts:
    """Return what is believed of all that is said about a model; `source` is that of its window."""
    # A later version may have written another source into `models.json`: it is believed least.
    order: dict[str, int] = {source: place for place, source in enumerate(FactSource)}
    usual = ModelFacts(window=LOCAL_WINDOW if local else CLOUD_WINDOW)
    ranked = [*sorted(said, key=lambda facts: order.get(facts.source, len(order))), usual]
    values: dict[str, Any] = {}
    for each in dataclasses.fields(ModelFacts):
        found = (getattr(facts, each.name) for facts in ranked)
        values[each.name] = next((value for value in found if value != each.default), each.default)
    window = next(facts for facts in ranked if facts.window)
    return ModelFacts(**values | {"source": window.source, "at": window.at})


HUB = "https://huggingface.co"


class ProviderStatus(Frozen):
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


class LocalModel(Frozen):
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


class FetchProgress(Frozen):
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


class TestResult(Frozen):
    """The result of testing a provider: `models` the server's own list, `seconds` the time
    of the first answer, and the `model` that was asked.
    """

    ok: bool
    seconds: float = 0.0
    model: str = ""
    models: tuple[str, ...] = ()
    failure: str = ""
    detail: str = ""


class FoundServer(Frozen):
    """A server of models on this computer; `models` are those for chats.

    A server that does not identify itself has no `name`; one that needs a key lists no models before it gets
    it.
    """

    name: str
    kind: str
    address: str
    models: tuple[str, ...]
    needs_key: bool = False


class CachePlan(Frozen):
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


class ModelRequest(Frozen):
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


def asked_of(seat: tuple[str, str], messages: Iterable[Mapping[str, object]], **fields: Any) -> ModelRequest:
    """Return the request that sends messages to a model of a provider."""
    provider, model = seat
    return ModelRequest(provider=provider, model=model, messages=tuple(messages), **fields)


def one_message(provider: str, model: str, content: object, **fields: Any) -> ModelRequest:
    """Return a request that has a single message, the user's."""
    return asked_of((provider, model), [{"role": "user", "content": content}], **fields)


class Text(Frozen):
    """A piece of the answer, of its thinking, or both."""

    text: str = ""
    thinking: str = ""


class CallPiece(Frozen):
    """A piece of a tool call: the calls of an answer are in the order of their numbers.

    `id` and `name` come with a call's first piece, `arguments` is JSON text in any number of pieces.
    """

    index: int
    id: str = ""
    name: str = ""
    arguments: str = ""


class PicturePiece(Frozen):
    """A piece of a picture in base 64: the pictures of an answer are numbered from 0.

    `media_type` comes with a picture's first piece.
    """

    index: int
    data: str
    media_type: str = ""


class Finished(Frozen):
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


class AgentAct(Frozen):
    """What an external agent says it does, as known by now: `arguments` is JSON text, `text` what came of it.

    `state` is a MessageState: streaming while it runs. What comes later about the same `id` takes its place.
    """

    id: str
    name: str
    arguments: str = ""
    text: str = ""
    state: str = "streaming"


class AgentOption(Frozen):
    """An answer that an external agent offers: `name` is its label, `kind` what it means, as
    in `core.message.Prompt`.
    """

    kind: str
    name: str


class AgentAsk(Frozen):
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

    def is_warm(self) -> bool:
        """Say whether a request would be sent at once."""

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


class NewVersion(Frozen):
    """A newer version of Moot: its day as ISO 8601, what is new in each language, and the page about it."""

    version: str
    day: str
    news: Mapping[str, str]
    link: str


class NewVersions(Protocol):
    """Looks for a newer version at one address, which the build names; "" where it names none."""

    address: str

    async def look(self) -> NewVersion | None:
        """Return the newer version that is known, None for none; ask if the last look is a day ago."""


_COMPATIBLE_LABEL = next(kind.label for kind in KINDS if kind.kind == COMPATIBLE)


def shown_label(status: ProviderStatus, words: Callable[[str], str]) -> str:
    """Return a provider's name; only those that say what it is are translated."""
    if status.label == _COMPATIBLE_LABEL:
        return words("provider.compatible")
    if status.config.kind in (EMBEDDED, LOCAL) and not status.config.label:
        return words(f"provider.{status.config.kind}.label")
    return status.label
